//! What a plan waits for, if it waits for a person. The inbox, notifications and auto runs follow this one rule.

use crate::ids::StepId;
use crate::plan::content::{PlanContent, RecordedCall};
use crate::plan::execution::StepStatus;
use crate::plan::{Plan, PlanStatus};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitingFor {
    Approval,
    /// The result of a step is unknown. `position` is its 1-based index within the plan.
    UncertainStep {
        position: usize,
        description: String,
        note: Option<String>,
    },
    /// A step of a plan that is approved step by step ended. A person looks at it before the next one begins.
    StepEnded {
        position: usize,
        description: String,
        status: StepStatus,
        note: Option<String>,
    },
    /// The execution ended because a step failed. A person does it again, skips it or changes the plan.
    StepFailed {
        position: usize,
        description: String,
        note: Option<String>,
    },
    /// Whether an execution on which no process works any more continues or ends.
    Paused,
    /// Many calls of the agent were refused while the plan is carried out. A person looks at them; the work goes on.
    RefusedCalls {
        count: u32,
    },
    /// It is approved, and its next call cannot be made. A person changes what is in the way, or the plan.
    CannotRun {
        /// A sentence.
        why: String,
    },
}

/// How many refused calls a person is told about.
const MANY_REFUSED: u32 = 5;

impl Plan {
    /// Whether it waits for a person. No run works meanwhile. A plan that failed holds no run up.
    pub fn waits_for_person(&self) -> bool {
        if self.status == PlanStatus::PartiallyCompleted {
            return false;
        }
        match self.waiting_for() {
            Some(
                WaitingFor::Approval
                | WaitingFor::UncertainStep { .. }
                | WaitingFor::StepEnded { .. }
                | WaitingFor::Paused,
            ) => true,
            Some(WaitingFor::StepFailed { .. } | WaitingFor::RefusedCalls { .. } | WaitingFor::CannotRun { .. })
            | None => false,
        }
    }

    /// What a person should look at: what it waits for, or calls that were refused in numbers.
    pub fn wants_a_look(&self) -> Option<WaitingFor> {
        self.waiting_for().or_else(|| {
            let execution = self.execution.as_ref().filter(|_| self.status == PlanStatus::Executing)?;
            let count = execution.steps.iter().fold(0_u32, |count, run| count.saturating_add(run.permissions.refused));
            (count >= MANY_REFUSED).then_some(WaitingFor::RefusedCalls { count })
        })
    }

    /// The recorded call that is made next, with its 1-based position. `None` if there is none, or if a person decides first.
    pub fn next_recorded_call(&self) -> Option<(usize, &RecordedCall)> {
        let PlanContent::Collect(collected) = &self.content else { return None };
        let skipped = self.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
        let execution = self.execution.as_ref();
        let is_open = |step: &StepId| match self.status {
            PlanStatus::Approved => skipped.iter().all(|skip| skip.step != *step),
            PlanStatus::Executing => {
                execution.and_then(|execution| execution.step(step)).is_some_and(|run| !run.status.is_settled())
            }
            PlanStatus::Collecting
            | PlanStatus::Ready
            | PlanStatus::PartiallyCompleted
            | PlanStatus::Completed
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => false,
        };
        let waits = execution.filter(|_| self.status == PlanStatus::Executing).is_some_and(|execution| {
            execution.paused_since().is_some()
                || execution.step_pause().is_some()
                || execution.steps.iter().any(|run| run.status == StepStatus::Uncertain)
        });
        (1..).zip(&collected.steps).find(|(_, call)| is_open(&call.id)).filter(|_| !waits)
    }

    pub fn waiting_for(&self) -> Option<WaitingFor> {
        match self.status {
            PlanStatus::Ready => Some(WaitingFor::Approval),
            PlanStatus::Executing => {
                let execution = self.execution.as_ref()?;
                let steps = &execution.steps;
                if let Some(pause) = execution.step_pause() {
                    let (position, run) = (pause.step, steps.get(pause.step.checked_sub(1)?)?);
                    let (description, status, note) = (run.description.clone(), run.status, run.note.clone());
                    return Some(WaitingFor::StepEnded { position, description, status, note });
                }
                let at = |status: StepStatus| (1..).zip(steps).find(move |(_, run)| run.status == status);
                let Some((position, run)) = at(StepStatus::Uncertain) else {
                    return execution.paused_since().map(|_| WaitingFor::Paused);
                };
                // A process is still at work on another step.
                if at(StepStatus::InProgress).is_some() && execution.paused_since().is_none() {
                    return None;
                }
                let (description, note) = (run.description.clone(), run.note.clone());
                Some(WaitingFor::UncertainStep { position, description, note })
            }
            PlanStatus::PartiallyCompleted => {
                let execution = self.execution.as_ref()?;
                // A person who only stopped at a step has looked at it.
                if execution.steps.iter().all(|run| run.status != StepStatus::Failed) {
                    return None;
                }
                // What is decided next is about the step that it is stuck at, which need not be the one that failed.
                let (position, run) = execution.stuck_at()?;
                let (description, note) = (run.description.clone(), run.note.clone());
                Some(match run.status {
                    StepStatus::Uncertain => WaitingFor::UncertainStep { position, description, note },
                    StepStatus::Failed
                    | StepStatus::Pending
                    | StepStatus::InProgress
                    | StepStatus::Completed
                    | StepStatus::Skipped => WaitingFor::StepFailed { position, description, note },
                })
            }
            PlanStatus::Collecting
            | PlanStatus::Approved
            | PlanStatus::Completed
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => None,
        }
    }
}
