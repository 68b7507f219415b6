//! `planwright hook`: what a client's hooks call. It opens the store and nothing else, because a client waits for it before
//! every call of a tool.
//!
//! - `server_entries`: the store and the session of the server, as the client's configuration has them
//! - `tools`: which tools pass before a plan is approved

mod server_entries;
mod tools;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use planwright_engine::ledger::LedgerError;
use planwright_store::Location;
use planwright_surfaces::mcp::folder::folder_session;
use serde_json::{Value, json};

use super::mcp::named_by_person;
use crate::cli::{Global, HookEvent};
use crate::config::Settings;
use crate::failure::{Exit, ExitResult, Failure};

use self::server_entries::{ServerEntry, Target};

/// The characters of a plan that are brought back.
const MAX_PLAN: usize = 20_000;

pub(crate) async fn run(global: &Global, event: HookEvent) -> ExitResult {
    let mut text = String::new();
    let read = std::io::stdin().take(16 * 1024 * 1024).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("stdin cannot be read: {error}")))?;
    let details: Value = serde_json::from_str(&text).unwrap_or_default();
    let call = HookCall::read(global, &details);
    // As for the server, a path without a beginning is one below the project. The agent's folder may be any.
    let _ = std::env::set_current_dir(&call.project);
    let answer = match event {
        HookEvent::PreToolUse => before_call(&call, &details).await,
        HookEvent::SessionStart => at_start(&call).await?,
    };
    if let Some(answer) = answer {
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(Exit::Done)
}

/// Where the client and its agent work.
struct HookCall {
    /// The folder that the client was started in. It stays when the agent changes its own.
    project: PathBuf,
    /// The agent's folder.
    folder: PathBuf,
    servers: Vec<ServerEntry>,
}

impl HookCall {
    fn read(global: &Global, details: &Value) -> Self {
        let named = |field: &str| details.get(field).and_then(Value::as_str).map(PathBuf::from);
        let own = || std::env::current_dir().ok();
        let folder = named("cwd").or_else(own).unwrap_or_default();
        let project = named("project").or_else(|| std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from));
        let project = project.filter(|folder| folder.is_absolute()).unwrap_or_else(|| folder.clone());
        let servers = server_entries::servers(global, &project, details);
        Self { project, folder, servers }
    }
}

async fn before_call(call: &HookCall, details: &Value) -> Option<Value> {
    let tool = details.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let input = details.get("tool_input").unwrap_or(&Value::Null);
    if approves_by_shell(input) {
        return Some(deny("An agent does not decide about plans. A person does, in a terminal of their own."));
    }
    let is_shell = tools::is_shell(tool);
    if tools::is_reader(tool, input) || (is_shell && tools::is_reading_line(input, &call.project, &call.folder)) {
        return None;
    }
    // Planwright's own gate decides about the tools of its server.
    if call.servers.iter().any(|server| is_tool_of(tool, server)) {
        return None;
    }
    for server in &call.servers {
        let found = match &server.target {
            Ok(target) => session_of(target, &call.project).await,
            Err(reason) => Err(Failure::usage(format!(
                "the entry `{}` of the client's configuration does not tell where the plans are: {reason}",
                server.name
            ))),
        };
        let reason = match found {
            Ok(None) => continue,
            Ok(Some(snapshot)) => blocked(&snapshot, is_shell),
            // Without the plan it is not known whether it is approved.
            Err(failure) => Some(format!("Planwright cannot tell whether the plan is approved: {}", failure.message())),
        };
        if let Some(reason) = reason {
            return Some(deny(&reason));
        }
    }
    None
}

/// Whether it is a tool of Planwright's server, or one of a server behind it.
fn is_tool_of(tool: &str, server: &ServerEntry) -> bool {
    let Some(name) = tools::tool_of_server(tool, &server.name) else { return false };
    if tools::is_own_tool(name) {
        return true;
    }
    let (Some(upstream), Ok(target)) = (ServerName::of_tool(name), &server.target) else { return false };
    let is_added = || target.upstream.iter().any(|name| *name == upstream.to_string());
    let is_configured = || {
        Settings::read(&target.global).is_ok_and(|found| found.mcp_servers.iter().any(|server| server.name == upstream))
    };
    is_added() || is_configured()
}

/// Why a call that changes things has to wait, if it has to.
fn blocked(snapshot: &Snapshot, is_shell: bool) -> Option<String> {
    let mode = &snapshot.session.as_ref()?.plan_mode;
    if !mode.enabled {
        return None;
    }
    let reason = match snapshot.active().map(|plan| (plan, plan.status)) {
        Some((_, PlanStatus::Approved | PlanStatus::Executing)) => return None,
        Some((plan, PlanStatus::Ready)) => format!(
            "Plan {} waits for a person's approval. Edits and commands are denied until then; wait with plan_await_decision.",
            plan.number
        ),
        Some((plan, PlanStatus::PartiallyCompleted)) => {
            format!("Plan {} ended with open steps. A person resumes it, or you write the next plan.", plan.number)
        }
        Some((plan, PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded)) => {
            format!("Plan {} is finished. Write the next plan with the plan tools of Planwright first.", plan.number)
        }
        Some((_, PlanStatus::Collecting)) | None => {
            "There is no approved plan. Write one with the plan tools of Planwright first; reading is allowed."
                .to_owned()
        }
    };
    let hint = if is_shell {
        " Commands that certainly only read pass: ls, cat, grep, find, git log and the like, with plain words, in pipes and lists."
    } else {
        ""
    };
    Some(format!("{reason}{hint} A person turns plan work off with `planwright plan off`."))
}

fn deny(reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
        "decision": "block",
        "reason": reason,
    })
}

/// Whether the input of a tool runs a command that decides. It is the client's last line of defence, not the only one: the
/// approval policy refuses such commands as well.
fn approves_by_shell(input: &Value) -> bool {
    let text = match input.get("command").or_else(|| input.get("cmd")) {
        Some(Value::String(line)) => line.clone(),
        Some(Value::Array(text_words)) => text_words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        Some(_) | None => return false,
    };
    let text_words: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || "-_./".contains(c))).collect();
    let is_program = |word: &&str| word.rsplit('/').next() == Some("planwright");
    let Some(at) = text_words.iter().position(is_program) else { return false };
    let decides = ["approve", "reject", "resume", "approver", "chat", "uninstall", "token"];
    text_words[at + 1..].iter().any(|word| decides.contains(word))
}

async fn at_start(call: &HookCall) -> Result<Option<Value>, Failure> {
    let Some(Ok(target)) = call.servers.first().map(|server| &server.target) else { return Ok(None) };
    let Some(snapshot) = session_of(target, &call.project).await? else { return Ok(None) };
    let is_on = snapshot.session.as_ref().is_some_and(|session| session.plan_mode.enabled);
    let Some(plan) = snapshot.active().filter(|_| is_on) else { return Ok(None) };
    if plan.status == PlanStatus::Collecting && plan.is_empty() {
        return Ok(None);
    }
    let context = brought_back(plan, &snapshot.identity);
    Ok(Some(json!({
        "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": context },
        "context": context,
    })))
}

/// The plan as data for the agent's context.
fn brought_back(plan: &Plan, session: &SessionIdentity) -> String {
    let text: String = visible(&plan.markdown()).chars().take(MAX_PLAN).collect();
    let progress = plan.execution.as_ref().map_or_else(String::new, |execution| {
        let progress = execution.progress();
        format!(" {} of {} steps are done.", progress.done, progress.total)
    });
    format!(
        "Planwright keeps this plan (session {session}, plan {}, status {}, digest {}).{progress} Work by it only while its status \
         is APPROVED or EXECUTING, and report with plan_progress; plan_get tells how it stands now. The text of the plan:\n\n{text}",
        plan.number,
        plan.status.as_str(),
        plan.digest()
    )
}

/// The session of the server. `None` if no agent works there over MCP.
async fn session_of(target: &Target, project: &Path) -> Result<Option<Snapshot>, Failure> {
    let settings = Settings::read(&target.global)?;
    let not_found = || {
        Failure::unavailable(
            "the server that the client calls keeps its plans elsewhere; start it as `planwright mcp`, with `--data` or `--session` \
             where they are needed",
        )
    };
    if let Location::Sqlite(path) = &settings.location
        && matches!(path.try_exists(), Ok(false))
    {
        return if target.is_remote { Err(not_found()) } else { Ok(None) };
    }
    let ledger = planwright_store::open(&settings.location).await.map_err(Failure::from)?;
    let session = match target.session.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => named_by_person(&*ledger, name).await?,
        None => folder_session(project),
    };
    let snapshot: Result<Snapshot, LedgerError> = ledger.snapshot(&session, None).await;
    let snapshot = snapshot.map_err(Failure::from)?;
    match snapshot.session {
        Some(_) => Ok(Some(snapshot)),
        None if target.is_remote => Err(not_found()),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_decide_are_recognised_however_they_are_written() {
        for (input, decides) in [
            (json!({ "command": "planwright plan approve 1" }), true),
            (json!({ "command": "cd x && /usr/bin/planwright --data y plan approve" }), true),
            (json!({ "command": ["planwright", "plan", "reject"] }), true),
            (json!({ "command": "printf y | planwright chat" }), true),
            (json!({ "command": "planwright plan show" }), false),
            (json!({ "command": "cargo test approve" }), false),
            (json!({ "path": "planwright plan approve" }), false),
        ] {
            assert_eq!(approves_by_shell(&input), decides, "{input}");
        }
    }
}
