//! Beginning the work of an approved plan, and continuing where it stopped.

use crate::approval::Require;
use crate::command::{StepOutcome, StuckChoice};
use crate::decide::Decider;
use crate::decide::execution::{finished, step_ended, with_outcomes};
use crate::event::{Event, PlanEvent};
use crate::ids::StepId;
use crate::plan::content::PlanStep;
use crate::plan::execution::{Execution, StepStatus};
use crate::plan::lifecycle::Action;
use crate::plan::{Approval, Plan, PlanStatus, PlanStyle};
use crate::refusal::Refusal;

const SKIPPED: &str = "skipped, as a person decided";
const RETRIED: &str = "to be done again, as a person decided";

impl Decider<'_> {
    /// The work of a plan that these events approve.
    pub(super) fn begin_approved(&self, plan: &Plan, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let mut approved = plan.clone();
        approved.approval = events.iter().find_map(|event| match event {
            Event::Plan { event: PlanEvent::Approved { approval, .. }, .. } => Some(approval.clone().into()),
            _ => None,
        });
        events.extend(self.started(&approved, self.execution_of(&approved)));
        self.activate_document(plan, events)
    }

    /// `after_step` is the step that the person looked at before they said so.
    pub(super) fn resume(&self, plan: &Plan, after_step: Option<usize>) -> Result<Vec<Event>, Refusal> {
        if let Some(seen) = after_step {
            check_looked_at(plan, seen)?;
        }
        let active = self.snapshot.active().is_some_and(|active| active.id == plan.id);
        // A document that was parked while it was carried out continues where it stopped.
        let parked = plan.style() == PlanStyle::Document && plan.status == PlanStatus::Executing && !active;
        let running = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
        let renewed = self.renew_approval(plan)?;
        let plan = renewed.as_ref().unwrap_or(plan);
        self.check_approved(plan)?;
        let mut events = match running.filter(|running| running.paused_since().is_some()) {
            Some(paused) => {
                vec![Event::of_plan(&plan.id, PlanEvent::ExecutionResumed { execution: paused.id.clone() })]
            }
            None if parked => Vec::new(),
            None => self.start_execution(plan)?,
        };
        self.activate_document(plan, &mut events)?;
        events.splice(0..0, renewal(renewed.as_ref()));
        Ok(events)
    }

    /// An approval from before the session was restored, or from before the agent's program came into it, permits nothing. A
    /// person who continues the plan approves it again;
    /// where that takes a signature, resuming is not enough.
    fn renew_approval(&self, plan: &Plan) -> Result<Option<Plan>, Refusal> {
        let why = self.snapshot.session.as_ref().and_then(|session| session.earlier_approval(plan));
        let (Some(why), Some(earlier)) = (why, plan.approval.as_deref()) else { return Ok(None) };
        let required = plan.requirement(&self.policy.approval);
        if required == Require::Verified {
            return Err(Refusal::policy_denied(format!(
                "Plan {} {why}. Ask for changes (`/plan revise`) to get a version that can be approved again.",
                plan.number
            )));
        }
        let approval = Approval {
            by: self.context.by.clone(),
            at: self.context.at,
            required: Some(required),
            valid_until: self.approval_end(),
            signatures: Vec::new(),
            with_program: self.is_joined_by_program(),
            ..earlier.clone()
        };
        Ok(Some(Plan { approval: Some(approval.into()), ..plan.clone() }))
    }

    pub(super) fn is_joined_by_program(&self) -> bool {
        self.snapshot.session.as_ref().is_some_and(|session| session.is_joined_by_program())
    }

    /// An agent works from a document in the conversation, so the document is the active plan while it does.
    fn activate_document(&self, plan: &Plan, events: &mut Vec<Event>) -> Result<(), Refusal> {
        match plan.style() {
            PlanStyle::Document => self.activate(PlanStyle::Document, plan.id.clone(), events),
            PlanStyle::Collect | PlanStyle::Build => Ok(()),
        }
    }

    pub(super) fn settle(&self, plan: &Plan, step: &StepId, choice: StuckChoice) -> Result<Vec<Event>, Refusal> {
        plan.permits(Action::Execute)?;
        let execution = plan.execution.as_ref();
        let status = execution.and_then(|execution| execution.step(step)).map(|run| run.status);
        match (execution, plan.status, status) {
            (Some(execution), PlanStatus::Executing, Some(StepStatus::Uncertain)) => {
                let renewed = match choice {
                    StuckChoice::Retry | StuckChoice::Skip => self.renew_approval(plan)?,
                    StuckChoice::Stop => None,
                };
                let mut events = settle_running(plan, execution, step, choice);
                events.splice(0..0, renewal(renewed.as_ref()));
                Ok(events)
            }
            (Some(_), PlanStatus::PartiallyCompleted, Some(StepStatus::Uncertain | StepStatus::Failed)) => {
                self.settle_stopped(plan, step, choice)
            }
            _ => Err(Refusal::wrong_status(format!(
                "Step {step} of plan {} is not one that it stopped at.",
                plan.number
            ))),
        }
    }

    /// A new execution, in which the step is done again or left out.
    fn settle_stopped(&self, plan: &Plan, step: &StepId, choice: StuckChoice) -> Result<Vec<Event>, Refusal> {
        let mut execution = self.execution_of(plan);
        let set = |execution: &mut Execution, step: &StepId, status, note: String| {
            if let Some(run) = execution.steps.iter_mut().find(|run| run.step == *step) {
                if status == StepStatus::Pending && run.status == StepStatus::Uncertain {
                    run.tried(run.note.clone());
                }
                run.status = status;
                run.note = Some(note);
            }
        };
        match choice {
            StuckChoice::Retry => set(&mut execution, step, StepStatus::Pending, RETRIED.to_owned()),
            StuckChoice::Skip => {
                set(&mut execution, step, StepStatus::Skipped, SKIPPED.to_owned());
                for (dependent, why) in dependents(&plan.content.steps(), step) {
                    set(&mut execution, &dependent, StepStatus::Skipped, why);
                }
            }
            StuckChoice::Stop => return Ok(Vec::new()),
        }
        let renewed = self.renew_approval(plan)?;
        let plan = renewed.as_ref().unwrap_or(plan);
        self.check_approved(plan)?;
        let mut events = self.started(plan, execution);
        self.activate_document(plan, &mut events)?;
        events.splice(0..0, renewal(renewed.as_ref()));
        Ok(events)
    }
}

/// The approval that a person gave again.
fn renewal(renewed: Option<&Plan>) -> Option<Event> {
    let plan = renewed?;
    let approval = plan.approval.as_deref()?.clone();
    Some(Event::of_plan(&plan.id, PlanEvent::Approved { approval }))
}

/// A person releases the next step only after a look at the one that ended last.
fn check_looked_at(plan: &Plan, seen: usize) -> Result<(), Refusal> {
    let waiting = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
    let now = waiting.and_then(Execution::step_pause).map(|pause| pause.step);
    match now {
        Some(now) if now == seen => Ok(()),
        Some(now) => Err(Refusal::stale(format!(
            "Plan {} waits after step {now} now, not after step {seen}. Look at step {now} before you continue.",
            plan.number
        ))),
        None => Err(Refusal::stale(format!(
            "Plan {} does not wait after step {seen} any more. It is {}.",
            plan.number, plan.status
        ))),
    }
}

fn settle_running(plan: &Plan, execution: &Execution, step: &StepId, choice: StuckChoice) -> Vec<Event> {
    match choice {
        StuckChoice::Retry => {
            vec![step_ended(plan, execution, step, outcome_with(StepStatus::Pending, RETRIED.to_owned()))]
        }
        StuckChoice::Skip => {
            let mut events = skipped(plan, execution, step, outcome_with(StepStatus::Skipped, SKIPPED.to_owned()));
            let after = with_outcomes(execution, &events);
            // No step is left to report on, so nothing else would end the execution.
            events.extend(after.is_settled().then(|| finished(plan, &after)));
            events
        }
        StuckChoice::Stop => vec![finished(plan, execution)],
    }
}

/// The step is skipped, and with it every open one that needs it.
pub(super) fn skipped(plan: &Plan, execution: &Execution, step: &StepId, outcome: StepOutcome) -> Vec<Event> {
    let open = |step: &StepId| execution.step(step).is_some_and(|run| run.status == StepStatus::Pending);
    let others = dependents(&plan.content.steps(), step).into_iter().filter(|(step, _)| open(step));
    let others = others.map(|(step, why)| step_ended(plan, execution, &step, outcome_with(StepStatus::Skipped, why)));
    std::iter::once(step_ended(plan, execution, step, outcome)).chain(others).collect()
}

const fn outcome_with(status: StepStatus, note: String) -> StepOutcome {
    StepOutcome { status, note: Some(note), evidence: None }
}

/// Every step that builds on this one, directly or through others, and why it cannot be done without it.
fn dependents(steps: &[PlanStep], step: &StepId) -> Vec<(StepId, String)> {
    let mut without = vec![step.clone()];
    let mut found = Vec::new();
    // Steps only need earlier ones, so one look in order finds them all.
    for other in steps {
        let Some(need) = other.needs.iter().find(|need| without.contains(need)) else { continue };
        let position = steps.iter().position(|step| step.id == *need).map_or(0, |index| index + 1);
        found.push((other.id.clone(), format!("needs step {position}, which is skipped")));
        without.push(other.id.clone());
    }
    found
}
