//! `planwright hook`: what a client's hooks call. It opens the store and nothing else, because a client waits for it before
//! every call of a tool.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::visible;
use planwright_engine::ledger::LedgerError;
use planwright_store::Location;
use planwright_surfaces::mcp::folder::folder_session;
use serde_json::{Value, json};

use crate::cli::{Global, HookEvent};
use crate::config::Settings;
use crate::failure::{Exit, ExitResult, Failure};

/// Tools of clients that only read, in lower case and without `_` and `-`. Every other tool waits for the approval.
const READERS: [&str; 20] = [
    "read",
    "readfile",
    "readmanyfiles",
    "glob",
    "grep",
    "ls",
    "list",
    "listdirectory",
    "searchfilecontent",
    "findfiles",
    "websearch",
    "webfetch",
    "googlewebsearch",
    "todowrite",
    "todoread",
    "task",
    "exitplanmode",
    "askuserquestion",
    "notebookread",
    "toolsearch",
];
/// The characters of a plan that are brought back.
const MAX_PLAN: usize = 20_000;

pub(crate) async fn run(global: &Global, event: HookEvent) -> ExitResult {
    let mut text = String::new();
    let read = std::io::stdin().take(16 * 1024 * 1024).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("stdin cannot be read: {error}")))?;
    let details: Value = serde_json::from_str(&text).unwrap_or_default();
    let folder = details.get("cwd").and_then(Value::as_str).map(PathBuf::from);
    let folder = folder.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let answer = match event {
        HookEvent::PreToolUse => before_call(global, &folder, &details).await,
        HookEvent::SessionStart => at_start(global, &folder).await?,
    };
    if let Some(answer) = answer {
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(Exit::Done)
}

async fn before_call(global: &Global, folder: &Path, details: &Value) -> Option<Value> {
    let tool = details.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    if approves_by_shell(details.get("tool_input").unwrap_or(&Value::Null)) {
        return Some(deny("An agent does not decide about plans. A person does, in a terminal of their own."));
    }
    if is_reader(tool) {
        return None;
    }
    match session_of(global, folder).await {
        Ok(Some(snapshot)) => blocked(&snapshot).map(|reason| deny(&reason)),
        Ok(None) => None,
        // Without the plan it is not known whether it is approved.
        Err(failure) => {
            Some(deny(&format!("Planwright cannot tell whether the plan is approved: {}", failure.message())))
        }
    }
}

/// Why a call that changes things has to wait, if it has to.
fn blocked(snapshot: &Snapshot) -> Option<String> {
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
    Some(format!("{reason} A person turns plan work off with `planwright plan off`."))
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

fn is_reader(tool: &str) -> bool {
    let plain: String = tool.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    // Planwright's own gate decides about its tools.
    READERS.contains(&plain.as_str()) || plain.starts_with("mcpplanwright") || plain.starts_with("planwright")
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

async fn at_start(global: &Global, folder: &Path) -> Result<Option<Value>, Failure> {
    let Some(snapshot) = session_of(global, folder).await? else { return Ok(None) };
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

/// The session of the folder. `None` if no agent works there over MCP.
async fn session_of(global: &Global, folder: &Path) -> Result<Option<Snapshot>, Failure> {
    let settings = Settings::read(global)?;
    if let Location::Sqlite(path) = &settings.location
        && matches!(path.try_exists(), Ok(false))
    {
        return Ok(None);
    }
    let session = match std::env::var("PLANWRIGHT_SESSION").ok().filter(|name| name.contains(':')) {
        Some(name) => name.parse()?,
        None => folder_session(folder),
    };
    let ledger = planwright_store::open(&settings.location).await.map_err(Failure::from)?;
    let snapshot: Result<Snapshot, LedgerError> = ledger.snapshot(&session, None).await;
    let snapshot = snapshot.map_err(Failure::from)?;
    Ok(snapshot.session.is_some().then_some(snapshot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_pass_and_every_other_tool_waits() {
        for tool in ["Read", "read_file", "Grep", "mcp__planwright__plan_get", "planwright_plan_get", "list_directory"]
        {
            assert!(is_reader(tool), "{tool}");
        }
        for tool in ["Edit", "Write", "Bash", "bash", "run_shell_command", "apply_patch", "mcp__github__push", ""] {
            assert!(!is_reader(tool), "{tool}");
        }
    }

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
