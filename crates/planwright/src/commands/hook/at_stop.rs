//! When the agent is about to end its turn: it is reminded of the open steps of its plan, once for each step that was done.

use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::quoted;
use serde_json::Value;

use super::memory::HookMemory;
use super::wire::{self, HookInput};
use super::{Lookup, servers_of, session_of};
use crate::cli::{ClientName, Global};
use crate::config::Settings;
use crate::failure::Failure;

pub(super) async fn remind(global: &Global, client: ClientName, input: &HookInput) -> Result<Option<Value>, Failure> {
    if wire::was_reminded(&input.details) {
        return Ok(None);
    }
    for server in servers_of(global, client, &input.place).iter().filter(|server| !server.is_own_again) {
        let Ok(target) = &server.target else { continue };
        let Lookup::Found(snapshot, _) = session_of(target, &input.place.project).await? else { continue };
        let Some(OpenSteps { work, done, text }) = open_steps(&snapshot) else { continue };
        let settings = Settings::read(&target.global)?;
        let mut memory = HookMemory::read(&settings.data, &snapshot.identity);
        // A step that is reported as open and as done in turns keeps no agent at work for ever.
        if memory.reminded_of.as_ref() == Some(&work) && done <= memory.reminded_done {
            return Ok(None);
        }
        (memory.reminded_of, memory.reminded_done) = (Some(work), done);
        // What cannot be remembered is not said: it would be said again and again.
        memory.write(&settings.data, &snapshot.identity)?;
        return Ok(wire::reminder(client, &text));
    }
    Ok(None)
}

struct OpenSteps {
    /// Names the plan, and its execution once that has begun.
    work: String,
    /// How many steps are done.
    done: usize,
    /// What the agent is told.
    text: String,
}

/// The open steps of the active plan, if the agent may work on them.
fn open_steps(snapshot: &Snapshot) -> Option<OpenSteps> {
    let is_on = snapshot.session.as_ref()?.plan_mode.enabled;
    let plan = snapshot.active().filter(|_| is_on)?;
    let (id, done, total, next) = match (plan.status, &plan.execution) {
        (PlanStatus::Executing, Some(execution)) if execution.paused_since().is_none() => {
            let progress = execution.progress();
            (execution.id.to_string(), progress.done, progress.total, progress.next?.description)
        }
        (PlanStatus::Approved, _) => {
            let steps = plan.content.steps();
            ("approved".to_owned(), 0, steps.len(), steps.first()?.description.clone())
        }
        _ => return None,
    };
    Some(OpenSteps { work: format!("{} {id}", plan.id), done, text: text(plan, done, total, &next) })
}

fn text(plan: &Plan, done: usize, total: usize, next: &str) -> String {
    let next: String = next.chars().take(200).collect();
    format!(
        "Plan {} has open steps: {done} of {total} are done, and the next one is {}. Report with plan_progress what is done, failed or \
         skipped, and go on with the plan. If you wait for the person, say so and end your turn: this is said once.",
        plan.number,
        quoted(&next)
    )
}
