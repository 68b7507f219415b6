//! What may become of a step, and through whom. Steps of documents are the agent's own to report on.

use planwright_core::actor::ActorKind;
use planwright_core::event::{Event, PlanEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::ids::{PlanId, StepId};
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::execution::{Execution, StepStatus};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::policy::{Policy, StandingApproval};
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::Purpose;

use super::{Kept, Written};
use crate::tools::effect_of;

/// What is noted with a step that a person wants to have done again.
const RETRIED: &str = "to be done again, as a person decided";

pub(super) fn apply(written: &Written<'_>, policy: &Policy) -> Kept {
    match &written.entry.event {
        Event::Plan { id: plan, event: PlanEvent::StepBegun { step, .. } } => begun(written, plan, step, policy),
        Event::Plan { id: plan, event: PlanEvent::StepEnded { step, outcome, .. } } => {
            ended(written, plan, step, outcome.status)
        }
        Event::Plan { id: plan, event: PlanEvent::ExecutionStarted { execution } } => {
            let plan = written.before.plan(plan).ok_or("there is no such plan")?;
            let rule = written.entry.by.kind == ActorKind::Policy && standing(policy);
            let reports = written.entry.by.kind == ActorKind::Agent && plan.style() == PlanStyle::Document;
            if !written.is_by_a_person() && !rule && !reports {
                return Err("no person or policy asked for it to be carried out".to_owned());
            }
            match &plan.execution {
                Some(earlier) if plan.style() != PlanStyle::Document => follows(earlier, execution),
                Some(_) | None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn begun(written: &Written<'_>, plan: &PlanId, step: &StepId, policy: &Policy) -> Kept {
    let (plan, status) = run(written.before, plan, step)?;
    is_approved(plan, step, policy)?;
    if plan.style() == PlanStyle::Document {
        return Ok(());
    }
    let done = |need: &StepId| {
        let run = plan.execution.as_ref().and_then(|execution| execution.step(need));
        run.is_some_and(|run| run.status == StepStatus::Completed)
    };
    if let Some(need) = needs(plan, step).iter().find(|need| !done(need)) {
        return Err(format!("it needs {need}, which is not done"));
    }
    match (status, written.entry.by.kind) {
        (StepStatus::Pending, ActorKind::System) | (StepStatus::InProgress, ActorKind::Agent) => Ok(()),
        (status, by) => Err(format!("it is {} and was begun by {by:?}", status.as_str())),
    }
}

fn ended(written: &Written<'_>, plan: &PlanId, step: &StepId, now: StepStatus) -> Kept {
    let (plan, before) = run(written.before, plan, step)?;
    let by = written.entry.by.kind;
    let turn = written.before.session.as_ref().and_then(|session| session.turn.as_ref());
    let own = turn.is_some_and(
        |turn| matches!(&turn.purpose, Purpose::Step { plan: p, step: s, .. } if *p == plan.id && s == step),
    );
    let fits = match (plan.style(), before, now) {
        (PlanStyle::Document, _, _) => true,
        // Only the specialist knows that it is done, and says so in its own turn.
        (PlanStyle::Build, StepStatus::InProgress, StepStatus::Completed | StepStatus::Skipped) => {
            by == ActorKind::Agent && own
        }
        (
            PlanStyle::Build,
            StepStatus::InProgress,
            StepStatus::Failed | StepStatus::Pending | StepStatus::Uncertain,
        ) => own,
        (PlanStyle::Collect, StepStatus::InProgress, now) => by == ActorKind::System && now != StepStatus::InProgress,
        (_, StepStatus::Uncertain, StepStatus::Pending | StepStatus::Skipped) => by == ActorKind::Person,
        // What needs a skipped step is skipped with it.
        (_, StepStatus::Pending, StepStatus::Skipped) => by == ActorKind::Person || needs_skipped(plan, step),
        (_, _, _) => false,
    };
    if fits { Ok(()) } else { Err(format!("it was {} and became {} by {by:?}", before.as_str(), now.as_str())) }
}

fn needs_skipped(plan: &Plan, step: &StepId) -> bool {
    let run = |need: &StepId| plan.execution.as_ref().and_then(|execution| execution.step(need));
    needs(plan, step).iter().any(|need| run(need).is_some_and(|run| run.status == StepStatus::Skipped))
}

/// What was done stays done, and a step with an unknown result waits, unless a person decides about it.
fn follows(earlier: &Execution, next: &Execution) -> Kept {
    for run in &next.steps {
        let before = earlier.step(&run.step).map(|run| run.status);
        let fits = match before {
            Some(StepStatus::Completed) => run.status == StepStatus::Completed,
            Some(StepStatus::Uncertain | StepStatus::InProgress) => match run.status {
                StepStatus::Uncertain | StepStatus::Skipped => true,
                StepStatus::Pending => run.note.as_deref() == Some(RETRIED),
                StepStatus::InProgress | StepStatus::Completed | StepStatus::Failed => false,
            },
            Some(StepStatus::Skipped) => run.status == StepStatus::Skipped,
            Some(StepStatus::Pending | StepStatus::Failed) | None => {
                matches!(run.status, StepStatus::Pending | StepStatus::Skipped)
            }
        };
        if !fits {
            return Err(format!("step {} was {before:?} and is {} now", run.step, run.status.as_str()));
        }
    }
    Ok(())
}

fn run<'a>(snapshot: &'a Snapshot, plan: &PlanId, step: &StepId) -> Result<(&'a Plan, StepStatus), String> {
    let plan = snapshot.plan(plan).ok_or("there is no such plan")?;
    if plan.status != PlanStatus::Executing {
        return Err(format!("its plan is {}", plan.status));
    }
    let run = plan.execution.as_ref().and_then(|execution| execution.step(step)).ok_or("there is no such step")?;
    Ok((plan, run.status))
}

fn needs<'a>(plan: &'a Plan, step: &StepId) -> &'a [StepId] {
    match &plan.content {
        PlanContent::Document(_) | PlanContent::Collect(_) => &[],
        PlanContent::Build(built) => {
            built.steps.iter().find(|other| other.id == *step).map(|step| step.needs.as_slice()).unwrap_or_default()
        }
    }
}

/// An actor who may approve approved this step, in the text that the plan still has.
pub(super) fn is_approved(plan: &Plan, step: &StepId, policy: &Policy) -> Kept {
    let approval = plan.approval.as_ref().ok_or("its plan was never approved")?;
    let may = match approval.by.kind {
        ActorKind::Person => true,
        ActorKind::Policy => standing(policy) && only_reads(plan),
        ActorKind::Agent | ActorKind::System => false,
    };
    if !may || approval.digest != plan.digest() {
        return Err(format!("no actor who may approve approved what the plan says: {approval:?}"));
    }
    if approval.approved.contains(step) { Ok(()) } else { Err("this step was not approved".to_owned()) }
}

pub(super) fn standing(policy: &Policy) -> bool {
    policy.standing_approval == StandingApproval::ReadOnly
}

pub(super) fn only_reads(plan: &Plan) -> bool {
    match &plan.content {
        PlanContent::Document(_) | PlanContent::Build(_) => false,
        PlanContent::Collect(collected) => {
            collected.steps.iter().all(|call| effect_of(&call.tool) == Some(ToolEffect::ReadsOnly))
        }
    }
}
