//! Plans that are approved step by step: a person looks after each step, and releases the next one.

use crate::command::{Command, ExecutionCommand};
use crate::decide::Decider;
use crate::decide::execution::{PauseCounts, paused};
use crate::event::{Event, PlanEvent};
use crate::ids::{PlanId, StepId};
use crate::plan::execution::{Execution, StepPause, StepStatus};
use crate::plan::{Plan, PlanStatus};
use crate::refusal::Refusal;

impl Decider<'_> {
    /// Pauses the execution with the outcome of the step, in the same entry of the journal. A process that ends right
    /// after it leaves an execution that waits.
    pub(super) fn pausing_after_step(&self, mut events: Vec<Event>, command: &Command) -> Vec<Event> {
        let is_external = match command {
            // What a person decides about a step is their look at it.
            Command::Decide(_) => return events,
            // The agents of this program report in a turn.
            Command::External(_) => true,
            Command::Execution(ExecutionCommand::Report(_)) => {
                self.snapshot.session.as_ref().is_some_and(|it| it.turn.is_none())
            }
            Command::Execution(_)
            | Command::Session(_)
            | Command::Draft(_)
            | Command::Answer(_)
            | Command::Turn(_)
            | Command::Workbook(_)
            | Command::Memory(_)
            | Command::Auto(_)
            | Command::Import(_) => false,
        };
        let Some((plan, step)) = events.iter().find_map(settled_step) else { return events };
        let Some(before) = self.snapshot.plan(plan).filter(|plan| is_step_by_step(plan)) else { return events };
        let mut after = self.snapshot.clone();
        events.iter().for_each(|event| after.apply(event, self.context, 0));
        let Some(now) = after.plan(plan).filter(|plan| plan.status == PlanStatus::Executing) else { return events };
        let Some(execution) = &now.execution else { return events };
        let pause = match earlier_pause(before, execution, step) {
            Some(earlier) => earlier,
            None if !leaves_steps(execution) => None,
            None => {
                let index = execution.steps.iter().position(|run| run.step == *step);
                index.map(|index| StepPause { step: index + 1, external: is_external })
            }
        };
        if pause.is_some() {
            events.push(paused(now, execution, PauseCounts::kept(execution), pause));
        }
        events
    }
}

/// Whether a step is left that a person can release. One whose result is unknown waits for another decision.
fn leaves_steps(execution: &Execution) -> bool {
    !execution.is_settled() && execution.steps.iter().all(|run| run.status != StepStatus::Uncertain)
}

fn settled_step(event: &Event) -> Option<(&PlanId, &StepId)> {
    match event {
        Event::Plan { id, event: PlanEvent::StepEnded { step, outcome, .. } } if outcome.status.is_settled() => {
            Some((id, step))
        }
        _ => None,
    }
}

/// The pause before a report that corrects the outcome of a step that had ended already. Such a report releases nothing
/// and uses no release up. `None` if the step ends now.
fn earlier_pause(before: &Plan, now: &Execution, step: &StepId) -> Option<Option<StepPause>> {
    let earlier = before.execution.as_ref().filter(|earlier| earlier.id == now.id)?;
    earlier.step(step).filter(|run| run.status.is_settled())?;
    Some(earlier.step_pause())
}

pub(super) fn is_step_by_step(plan: &Plan) -> bool {
    plan.approval.as_ref().is_some_and(|approval| approval.step_by_step)
}

/// Refuses to begin a step that no person has released. `statuses` are those of the other steps.
pub(super) fn check_released(
    plan: &Plan,
    execution: &Execution,
    mut statuses: impl Iterator<Item = (usize, StepStatus)>,
) -> Result<(), Refusal> {
    if !is_step_by_step(plan) {
        return Ok(());
    }
    if let Some(pause) = execution.step_pause() {
        return Err(look_first(plan, pause.step));
    }
    let is_open = |status: StepStatus| matches!(status, StepStatus::InProgress | StepStatus::Uncertain);
    match statuses.find(|(_, status)| is_open(*status)) {
        Some((position, _)) => Err(Refusal::wrong_status(format!(
            "Plan {} is approved step by step, and step {position} has no outcome yet. Report its outcome first.",
            plan.number
        ))),
        None => Ok(()),
    }
}

pub(super) fn look_first(plan: &Plan, step: usize) -> Refusal {
    Refusal::wrong_status(format!(
        "Plan {} is approved step by step. A person looks at step {step} first. Do not continue before they have \
         released the next step.",
        plan.number
    ))
}
