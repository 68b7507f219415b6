//! After a call of one of the client's own tools: what it found out or why it failed goes into the workbook, as for the calls of
//! Planwright's own agent. It decides nothing, so it says nothing when it cannot tell.

use planwright_core::actor::Actor;
use planwright_engine::workbook::EndedCall;
use serde_json::Value;

use super::memory::HookMemory;
use super::outcome::CallOutcome;
use super::tools::{self, ToolKind};
use super::wire::{self, HookInput, ToolRequest};
use super::{Lookup, engine_of, is_tool_of, servers_of, session_of};
use crate::cli::{ClientName, Global};
use crate::config::Settings;
use crate::failure::Failure;

/// Notes the call. The answer is a hint for the agent, if the call failed the same way again and again.
pub(super) async fn note(global: &Global, client: ClientName, input: &HookInput) -> Result<Option<Value>, Failure> {
    let HookInput { place, request: ToolRequest { tool, input: arguments }, details } = input;
    let Some(outcome) = CallOutcome::of(details) else { return Ok(None) };
    if !outcome.has_failed && !is_research(client, input) {
        return Ok(None);
    }
    let servers = servers_of(global, client, place);
    // Plan and workbook tools are not noted, and a server behind ours notes its calls itself.
    if servers.iter().any(|server| is_tool_of(tool, server)) {
        return Ok(None);
    }
    for server in servers.iter().filter(|server| !server.is_own_again) {
        let Ok(target) = &server.target else { continue };
        let Lookup::Found(snapshot, ledger) = session_of(target, &place.project).await? else { continue };
        let settings = Settings::read(&target.global)?;
        let files = &settings.policy.planning_files;
        let Some(session) = snapshot.session.as_deref().filter(|session| session.has_planning_files(files)) else {
            continue;
        };
        if session.current_workbook().is_none() {
            continue;
        }
        let engine = engine_of(&settings, ledger);
        let identity = &snapshot.identity;
        let by = Actor::system(identity.channel.as_str());
        let arguments = arguments.to_string();
        let call = EndedCall { tool, arguments: &arguments, answer: &outcome.text };
        let request = engine.submitter().request(identity, &by);
        if outcome.has_failed {
            let (attempts, _) = engine.workbook_middleware().note_error(request, call).await?;
            let is_enough = files.error_attempts > 0 && attempts >= files.error_attempts;
            let name = wire::event_name(details).unwrap_or("PostToolUse");
            return Ok(is_enough.then(|| wire::context(client, name, &again(attempts))).flatten());
        }
        let mut memory = HookMemory::read(&settings.data, identity);
        memory.research = memory.research.wrapping_add(1);
        memory.write(&settings.data, identity)?;
        if files.findings_every > 0 && memory.research.is_multiple_of(files.findings_every) {
            engine.workbook_middleware().note_finding(request, call).await?;
        }
        return Ok(None);
    }
    Ok(None)
}

/// Whether the call looked something up.
fn is_research(client: ClientName, input: &HookInput) -> bool {
    let HookInput { place, request, .. } = input;
    let ToolRequest { tool, input } = request;
    let reads = matches!(tools::kind(tool), ToolKind::Reads | ToolKind::Network);
    let is_line = || tools::is_reading_call(client, request, &place.project, &place.folder);
    (reads && tools::is_reader(client, tool, input)) || is_line()
}

fn again(attempts: u32) -> String {
    format!(
        "This very call has now failed {attempts} times in the same way. Do not repeat it: look at the error table in `progress` \
         with read_plan, find out why, and try another way or ask the person."
    )
}
