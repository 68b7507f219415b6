//! What an approved plan permits of a client's calls, while it is carried out.
//!
//! A document that says what it needs, a built plan that names commands, and recorded calls of the client are precise enough to
//! decide by: what they cover is allowed, what a rule of the settings denies is denied, and a person is asked about the rest. About
//! any other plan nothing is said.

use planwright_core::gate::ToolEffect;
use planwright_core::ids::StepId;
use planwright_core::permission::{
    CallTarget, Permission, PermissionCall, PermissionOutcome, PermissionReason, PermissionRules, PlanCover,
    RUN_COMMAND, WorkspaceKind, decide_permission,
};
use planwright_core::plan::content::CallRunner;
use planwright_core::plan::digest::is_same;
use planwright_core::plan::{Plan, PlanContent, PlanNeeds};
use serde_json::{Value, json};

use super::changed_files::changed_paths;
use super::tools::{self, ToolKind};
use super::wire::{HookPlace, ToolRequest};
use crate::config::Settings;
use crate::failure::Failure;

/// The name under which rules and plans know every change of a file.
const WRITE_FILE: &str = "write_file";
/// What Claude Code and Codex put before the name of a server.
const OF_SERVER: &str = "mcp__";

/// Whether a recorded call of Codex's shell is this one. Its hooks are told another name of the tool, and the line alone.
fn is_line_of_codex(tool: &str, arguments: &Value, request: &ToolRequest) -> bool {
    let (recorded, made) = (json!({ "cmd": request.input.get("command") }), json!({ "command": arguments.get("cmd") }));
    tool == "exec_command" && request.tool == "Bash" && *arguments == recorded && request.input == made
}

/// What is decided about the call, if the plan decides.
pub(super) fn decide(
    plan: &Plan,
    settings: &Settings,
    place: &HookPlace,
    request: &ToolRequest,
) -> Result<Option<PermissionOutcome>, Failure> {
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let is_approved = |step: &StepId| skipped.iter().all(|skip| skip.step != *step);
    let mut is_recorded = false;
    let needs = match &plan.content {
        PlanContent::Collect(collected) => {
            let mut calls = collected.steps.iter().filter(|call| call.runner == CallRunner::Client).peekable();
            if calls.peek().is_none() {
                return Ok(None);
            }
            let is_this = |tool: &str, arguments: &Value| {
                (tool == request.tool && is_same(arguments, &request.input))
                    || is_line_of_codex(tool, arguments, request)
            };
            let is_here = tools::runs_in_project(&request.input, &place.project, &place.folder);
            is_recorded = is_here && calls.any(|call| is_approved(&call.id) && is_this(&call.tool, &call.arguments));
            Some(PlanNeeds::default())
        }
        PlanContent::Document(_) | PlanContent::Build(_) => plan.content.declared_needs(is_approved),
    };
    let Some(mut needs) = needs else { return Ok(None) };
    let mut commands = plan.content.commands(is_approved);
    if tools::kind(&request.tool) == ToolKind::Commands
        && !tools::runs_as_planned(&request.input, &place.project, &place.folder)
    {
        (needs, commands) = Default::default();
    }
    // An agent may name the tool of a server as its client does.
    for named in &mut needs.tools {
        if let Some(bare) = named.strip_prefix(OF_SERVER) {
            *named = bare.to_owned();
        }
    }
    // What allows beside the plan lives in the store, for our own agent.
    let stopping = settings.permissions.iter().filter(|rule| rule.decide != Permission::Allow).cloned().collect();
    let rules = PermissionRules::new(stopping).map_err(Failure::from)?;
    let cover = PlanCover { commands: &commands, calls: &[], files: &[], needs: Some(&needs) };
    let paths = changed_paths(place, request);
    let line = tools::shell_text(&request.input);
    let (tool, target) = match tools::kind(&request.tool) {
        _ if !paths.is_empty() => (WRITE_FILE, CallTarget::Paths(&paths)),
        ToolKind::Commands => (RUN_COMMAND, CallTarget::Command(&line)),
        ToolKind::ChangesFiles => (WRITE_FILE, CallTarget::None),
        ToolKind::Server => (request.tool.strip_prefix(OF_SERVER).unwrap_or(&request.tool), CallTarget::None),
        ToolKind::Reads
        | ToolKind::Notes
        | ToolKind::Network
        | ToolKind::Agents
        | ToolKind::Skills
        | ToolKind::Unknown => (request.tool.as_str(), CallTarget::None),
    };
    let call = PermissionCall { tool, arguments: &request.input, effect: ToolEffect::Changes, target };
    let outcome = decide_permission(&rules, &call, WorkspaceKind::Project, Some(&cover));
    // A rule that denies beats the plan.
    Ok(Some(match outcome.permission {
        Permission::Allow | Permission::Ask if is_recorded => {
            PermissionOutcome { permission: Permission::Allow, reason: PermissionReason::RecordedCall }
        }
        Permission::Allow | Permission::Ask | Permission::Deny => outcome,
    }))
}
