//! What is tried, step by step, and what has to be true afterwards.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use planwright_core::session::SessionIdentity;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::model::{FILES, REQUEST, evidence};
use super::observed::{SeenPlan, short};
use super::stage::{Broken, Stage, StepResult, Who, failed};
use crate::failure::{Exit, Failure};

const FIRST: &str = "# Move the blog\n\n- [ ] copy the posts\n- [ ] switch the address\n";
const SECOND: &str = "# Move the blog\n\n- [ ] delete the posts\n- [ ] switch the address\n";
/// The session of Planwright's own agent.
const WORK: &str = "cli:demo-work";
/// What a shell says of a command that SIGKILL ended.
const KILLED: i32 = 128 + 9;

pub(super) type Step = fn(&mut Stage) -> StepResult;

pub(super) const STEPS: [(&str, Step); 7] = [
    ("The agent drafts a plan", draft),
    ("It tries to edit a file before the plan is approved", edit_before),
    ("It tries to approve its own plan", approve_itself),
    ("It swaps the plan after the person has read it", swap),
    ("The person approves what the plan says now, and the same edit passes", approve),
    ("A process is killed in the middle of an approved plan", kill),
    ("One word in the journal is changed", tamper),
];

/// Holds if it is true.
fn holds(is_true: bool, seen: impl Into<String>) -> StepResult {
    let seen = seen.into();
    if is_true { Ok(seen) } else { Err(Broken::DoesNotHold(seen)) }
}

fn is_exit(code: i32, exit: Exit) -> bool {
    code == exit as i32
}

/// The session of the agent's program, which has the name of its folder.
fn session(stage: &Stage) -> StepResult {
    let sessions = stage.look(&["sessions", "--json"])?.json();
    let listed = sessions["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = listed.iter().find(|one| one["channel"] == "mcp").and_then(|one| one["sessionId"].as_str());
    found.map(|key| format!("mcp:{key}")).ok_or_else(|| Broken::DoesNotHold("the agent has no session".to_owned()))
}

fn draft(stage: &mut Stage) -> StepResult {
    let answer = stage.calls("plan_set_content", &json!({ "plan_markdown": FIRST }))?;
    tell_stored(stage, &answer)?;
    let session = session(stage)?;
    let plan = stage.plan(&session)?;
    let seen = format!("the store has plan 1 of {session}: {plan}");
    holds(plan.status == "READY" && answer["digest"] == plan.digest.as_str(), seen)
}

fn tell_stored(stage: &Stage, answer: &Value) -> Result<(), Failure> {
    let text = |name: &str| answer[name].as_str().unwrap_or("nothing").to_owned();
    stage.tell(&format!("status {}, digest {}…", text("status"), short(&text("digest"))))
}

/// Asks the hook as a client does before its agent edits a file. The reason if the edit is denied.
fn ask_hook(stage: &mut Stage) -> StepResult<Option<String>> {
    let project = stage.path("project");
    let call = json!({
        "session_id": "demo", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": { "file_path": project.join("blog.md"), "old_string": "old", "new_string": "new" },
    });
    fs::write(stage.path("call.json"), call.to_string()).map_err(failed)?;
    stage.tell_typed(Who::Agent, "planwright hook pre-tool-use   (what Claude Code asks before it edits blog.md)")?;
    let number = stage.begin(Who::Agent, "cd project && exec planwright hook pre-tool-use < ../call.json")?;
    let ran = stage.end(number)?;
    if ran.code != 0 {
        return Err(Broken::DoesNotHold(format!("the hook ended with exit code {}: {}", ran.code, ran.message())));
    }
    let answer = ran.json()["hookSpecificOutput"].take();
    let decision = answer["permissionDecision"].as_str().unwrap_or("no objection");
    let reason = answer["permissionDecisionReason"].as_str().unwrap_or_default();
    stage.tell(format!("{decision}  {reason}").trim_end())?;
    Ok((decision == "deny").then(|| reason.to_owned()))
}

fn edit_before(stage: &mut Stage) -> StepResult {
    let denied = ask_hook(stage)?;
    let plan = stage.plan(&session(stage)?)?;
    match denied {
        Some(_) => holds(plan.status == "READY", format!("the edit is denied, and the plan is {}", plan.status)),
        None => holds(false, "the edit was not denied"),
    }
}

fn approve_itself(stage: &mut Stage) -> StepResult {
    let session = session(stage)?;
    let plan = stage.plan(&session)?;
    let ran = stage.types(Who::Agent, &approval(&session, &plan))?;
    let after = stage.plan(&session)?;
    let seen = format!("exit code {}, and the plan is {}", ran.code, after.status);
    holds(is_exit(ran.code, Exit::Refused) && after == plan, seen)
}

fn approval(session: &str, plan: &SeenPlan) -> String {
    format!("planwright plan approve 1 --session {session} --digest {}", plan.digest)
}

fn swap(stage: &mut Stage) -> StepResult {
    let session = session(stage)?;
    let read = stage.plan(&session)?;
    stage.tell(&format!("The person reads {read}"))?;
    let answer = stage.calls("plan_set_content", &json!({ "plan_markdown": SECOND }))?;
    tell_stored(stage, &answer)?;
    let ran = stage.types(Who::Person, &approval(&session, &read))?;
    let now = stage.plan(&session)?;
    let seen = format!("exit code {}; the plan is {now}", ran.code);
    holds(is_exit(ran.code, Exit::Stale) && now.status == "READY" && now.digest != read.digest, seen)
}

fn approve(stage: &mut Stage) -> StepResult {
    let session = session(stage)?;
    let plan = stage.plan(&session)?;
    let ran = stage.types(Who::Person, &approval(&session, &plan))?;
    let after = stage.plan(&session)?;
    if ran.code != 0 || after.status != "APPROVED" || after.digest != plan.digest {
        return holds(false, format!("exit code {}, and the plan is {after}", ran.code));
    }
    let denied = ask_hook(stage)?;
    let about_edit = if denied.is_none() { "is not denied any more" } else { "is still denied" };
    holds(denied.is_none(), format!("the plan is {}, and the edit {about_edit}", after.status))
}

fn kill(stage: &mut Stage) -> StepResult {
    let line = format!("planwright chat --session {WORK} --plan document '{REQUEST}'");
    let drafted = stage.types(Who::Person, &line)?;
    if drafted.code != 0 {
        return holds(false, format!("Planwright's own agent drafted nothing: exit code {}", drafted.code));
    }
    let plan = stage.plan(WORK)?;
    let line = approval(WORK, &plan);
    stage.tell_typed(Who::Person, &line)?;
    let number = stage.begin(Who::Person, &format!("echo $$ > work.pid\nexec {line}"))?;
    let waits = || stage.model.is_waited_for().then_some(());
    stage.until("the work did not get to its second step", waits)?;
    kill_process(process(stage)?, Signal::KILL)
        .map_err(|error| Failure::unexpected(format!("it cannot be killed: {error}")))?;
    let killed = stage.end(number)?;
    stage.tell_answer(&killed)?;
    let (between, before) = (stage.plan(WORK)?, written(stage)?);
    stage.tell(&format!(
        "{}, {} of {} steps done, files: {}",
        between.status,
        between.done,
        between.steps.len(),
        names(&before)
    ))?;
    let is_in_the_middle = between.status == "EXECUTING" && between.done == 1 && before.len() == 2;
    if killed.code != KILLED || !is_in_the_middle {
        return holds(false, "the process was not killed in the middle of the plan");
    }
    let resumed = stage.types(Who::Person, &format!("planwright plan resume 1 --session {WORK}"))?;
    let (end, after) = (stage.plan(WORK)?, written(stage)?);
    let kept = before.iter().all(|file| after.contains(file));
    let asked = stage.model.written();
    let seen = format!(
        "{}, {} of {} steps done. The files of before the kill {}, and the model asked for {} writes: {}",
        end.status,
        end.done,
        end.steps.len(),
        if kept { "were not written again (same inode, same time)" } else { "are not the same any more" },
        asked.len(),
        asked.join(", "),
    );
    holds(resumed.code == 0 && end.status == "COMPLETED" && kept && after.len() == FILES.len() && asked == FILES, seen)
}

/// The process that carries the plan out.
fn process(stage: &Stage) -> StepResult<Pid> {
    let text = fs::read_to_string(stage.path("work.pid")).map_err(failed)?;
    let pid = text.trim().parse().ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| Broken::DoesNotHold("the process that carries the plan out is not known".to_owned()))
}

/// A file as it lies there: its name, its number in the file system, and when it was written.
type Written = (String, u64, i64, i64);

/// The files that the plan's steps wrote.
fn written(stage: &Stage) -> StepResult<Vec<Written>> {
    let session: SessionIdentity = WORK.parse().map_err(Failure::from)?;
    let folder = stage.path("data").join("users").join(session.folder_name()).join("files");
    let found = FILES.iter().filter_map(|name| {
        let metadata = fs::metadata(folder.join(name)).ok()?;
        Some(((*name).to_owned(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
    });
    Ok(found.collect())
}

fn names(files: &[Written]) -> String {
    files.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(", ")
}

fn tamper(stage: &mut Stage) -> StepResult {
    let whole = stage.types(Who::Person, "planwright verify")?;
    if whole.code != 0 {
        return holds(false, format!("the journals were not whole before: exit code {}", whole.code));
    }
    let file = stage.path("data").join("planwright.db");
    let (old, new) = (evidence(FILES[1]), evidence(FILES[1]).replace("written", "deleted"));
    let (changed, places) = replaced(&fs::read(&file).map_err(failed)?, old.as_bytes(), new.as_bytes());
    fs::write(&file, changed).map_err(failed)?;
    stage.tell(&format!("planwright.db: `{old}` becomes `{new}` wherever it stands, in {places} places"))?;
    let found = stage.types(Who::Person, "planwright verify")?;
    let names_it = found.stdout.contains(WORK);
    let seen =
        format!("exit code {}; the session {WORK} is {}", found.code, if names_it { "named" } else { "not named" });
    holds(places > 0 && is_exit(found.code, Exit::Damaged) && names_it, seen)
}

/// The bytes with every `old` replaced by `new`, which is as long, and how many there were.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> (Vec<u8>, usize) {
    let mut changed = bytes.to_vec();
    let places: Vec<usize> =
        bytes.windows(old.len()).enumerate().filter(|(_, window)| *window == old).map(|(at, _)| at).collect();
    for at in &places {
        changed[*at..at + new.len()].copy_from_slice(new);
    }
    (changed, places.len())
}
