//! What an approved plan permits of a client's calls, while it is carried out.
//!
//! A document that says what it needs, a built plan that names commands, and recorded calls of the client are precise enough to
//! decide by: what they cover is allowed, what a rule of the settings denies is denied, and a person is asked about the rest. About
//! any other plan nothing is said.

use std::path::{Component, Path, PathBuf};

use planwright_core::gate::ToolEffect;
use planwright_core::ids::StepId;
use planwright_core::permission::{
    CallTarget, Permission, PermissionCall, PermissionOutcome, PermissionRules, PlanCover, RUN_COMMAND, WorkspaceKind,
    decide_permission,
};
use planwright_core::plan::content::CallRunner;
use planwright_core::plan::digest::is_same;
use planwright_core::plan::{Plan, PlanContent, PlanNeeds};
use serde_json::Value;

use super::tools::{self, ToolKind};
use super::wire::{HookPlace, ToolRequest};
use crate::config::Settings;
use crate::failure::Failure;

/// The name under which rules and plans know every change of a file.
const WRITE_FILE: &str = "write_file";

/// What is decided about the call, if the plan decides.
pub(super) fn decide(
    plan: &Plan,
    settings: &Settings,
    place: &HookPlace,
    request: &ToolRequest,
) -> Result<Option<PermissionOutcome>, Failure> {
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let is_approved = |step: &StepId| skipped.iter().all(|skip| skip.step != *step);
    let needs = match &plan.content {
        PlanContent::Collect(collected) => {
            let mut calls = collected.steps.iter().filter(|call| call.runner == CallRunner::Client).peekable();
            if calls.peek().is_none() {
                return Ok(None);
            }
            let is_this = |tool: &str, arguments: &Value| tool == request.tool && is_same(arguments, &request.input);
            if calls.any(|call| is_approved(&call.id) && is_this(&call.tool, &call.arguments)) {
                let reason = planwright_core::permission::PermissionReason::RecordedCall;
                return Ok(Some(PermissionOutcome { permission: Permission::Allow, reason }));
            }
            Some(PlanNeeds::default())
        }
        PlanContent::Document(_) | PlanContent::Build(_) => plan.content.declared_needs(is_approved),
    };
    let Some(needs) = needs else { return Ok(None) };
    // What allows beside the plan lives in the store, for our own agent.
    let stopping = settings.permissions.iter().filter(|rule| rule.decide != Permission::Allow).cloned().collect();
    let rules = PermissionRules::new(stopping).map_err(Failure::from)?;
    let (commands, files) = (plan.content.commands(is_approved), plan.content.files());
    let cover = PlanCover { commands: &commands, calls: &[], files: &files, needs: Some(&needs) };
    let paths = changed_paths(place, request);
    let line = tools::shell_text(&request.input);
    let (tool, target) = match tools::kind(&request.tool) {
        _ if !paths.is_empty() => (WRITE_FILE, CallTarget::Paths(&paths)),
        ToolKind::Commands => (RUN_COMMAND, CallTarget::Command(&line)),
        ToolKind::ChangesFiles => (WRITE_FILE, CallTarget::None),
        ToolKind::Server => (request.tool.strip_prefix("mcp__").unwrap_or(&request.tool), CallTarget::None),
        ToolKind::Reads | ToolKind::Notes | ToolKind::Network | ToolKind::Agents | ToolKind::Unknown => {
            (request.tool.as_str(), CallTarget::None)
        }
    };
    let call = PermissionCall { tool, arguments: &request.input, effect: ToolEffect::Changes, target };
    Ok(Some(decide_permission(&rules, &call, WorkspaceKind::Project, Some(&cover))))
}

/// The files that a call changes, below the project. One outside of it keeps its whole path, which no plan covers.
fn changed_paths(place: &HookPlace, request: &ToolRequest) -> Vec<String> {
    let text = |field: &str| request.input.get(field).and_then(Value::as_str).map(str::to_owned);
    let named: Vec<String> = match tools::kind(&request.tool) {
        ToolKind::ChangesFiles => {
            let listed = request.input.get("files").and_then(Value::as_array).into_iter().flatten();
            let listed = listed.filter_map(|file| file.as_str().map(str::to_owned));
            let fields = ["file_path", "filePath", "path", "notebook_path", "dirPath"];
            let patch =
                ["command", "input", "patch"].into_iter().filter_map(text).flat_map(|text| patched_files(&text));
            fields.into_iter().filter_map(text).chain(listed).chain(patch).collect()
        }
        // Codex changes files with a patch in its shell.
        ToolKind::Commands => text("command").map(|line| shell_patch(&line)).unwrap_or_default(),
        ToolKind::Reads
        | ToolKind::Notes
        | ToolKind::Network
        | ToolKind::Agents
        | ToolKind::Server
        | ToolKind::Unknown => Vec::new(),
    };
    named.iter().map(|path| below_project(place, Path::new(path))).collect()
}

/// The files of `apply_patch` with one text between its marks, and nothing else in the line.
fn shell_patch(line: &str) -> Vec<String> {
    let Some(rest) = line.trim().strip_prefix("apply_patch") else { return Vec::new() };
    let Some(begin) = rest.find("*** Begin Patch") else { return Vec::new() };
    let Some((patch, end)) = rest[begin..].split_once("*** End Patch") else { return Vec::new() };
    // Without quotes around its mark the shell would read the patch.
    let Some(mark) = rest[..begin].trim().strip_prefix("<<").map(str::trim) else { return Vec::new() };
    let quoted = ['\'', '"'].iter().find_map(|quote| mark.strip_prefix(*quote)?.strip_suffix(*quote));
    let is_whole = quoted.is_some_and(|mark| mark.chars().all(|c| c.is_ascii_alphanumeric()) && end.trim() == mark);
    if is_whole { patched_files(patch) } else { Vec::new() }
}

/// The files that a patch names.
fn patched_files(patch: &str) -> Vec<String> {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let named = patch.lines().filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark)));
    named.map(|path| path.trim().to_owned()).collect()
}

fn below_project(place: &HookPlace, path: &Path) -> String {
    let whole = resolved(&place.folder.join(path));
    let project = resolved(&place.project);
    let shown = whole.strip_prefix(&project).unwrap_or(&whole);
    shown.to_string_lossy().into_owned()
}

/// The path without `..` and links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
        plain = plain.canonicalize().unwrap_or(plain);
    }
    plain
}
