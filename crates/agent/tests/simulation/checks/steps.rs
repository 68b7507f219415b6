//! Every recorded call is made as it was recorded, after it was approved, and once: or again because it may be, or because
//! a person said so.

use std::collections::BTreeMap;

use planwright_core::actor::ActorKind;
use planwright_core::event::{Event, PlanEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::ids::{PlanId, StepId};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::content::RecordedCall;
use planwright_core::plan::execution::StepStatus;
use planwright_core::policy::Policy;
use planwright_core::snapshot::Snapshot;

use super::runs::is_approved;
use super::{Kept, Made, Written};
use crate::tools::{effect_of, number_in};

#[derive(Default)]
pub(super) struct Steps {
    /// By the number that each call carries.
    recorded: BTreeMap<u64, Facts>,
}

struct Facts {
    plan: PlanId,
    call: RecordedCall,
    begun_by: Vec<String>,
    /// How it last ended, and who wrote that.
    ended: Option<(StepStatus, ActorKind)>,
    made_by: Vec<String>,
    /// Where its calls stand in the record of what happened.
    places: Vec<usize>,
    had_effect: bool,
}

impl Facts {
    fn changes(&self) -> bool {
        effect_of(&self.call.tool) == Some(ToolEffect::Changes)
    }
}

impl Steps {
    pub(super) fn has(&self, number: u64) -> bool {
        self.recorded.contains_key(&number)
    }

    pub(super) fn had_effect(&mut self, place: usize) {
        if let Some(facts) = self.recorded.values_mut().find(|facts| facts.places.contains(&place)) {
            facts.had_effect = true;
        }
    }

    pub(super) fn apply(&mut self, written: &Written<'_>) -> Kept {
        match &written.entry.event {
            Event::Plan { id: plan, event: PlanEvent::StepRecorded { step } } => {
                let Some(number) = number_in(&step.arguments) else { return Ok(()) };
                let facts = Facts {
                    plan: plan.clone(),
                    call: step.clone(),
                    begun_by: Vec::new(),
                    ended: None,
                    made_by: Vec::new(),
                    places: Vec::new(),
                    had_effect: false,
                };
                match self.recorded.insert(number, facts) {
                    Some(_) => Err(format!("call {number} was recorded before")),
                    None => Ok(()),
                }
            }
            Event::Plan { id: plan, event: PlanEvent::StepBegun { step, .. } } => {
                let Some(facts) = self.of(plan, step) else { return Ok(()) };
                let (changes, again) = (facts.changes(), !facts.begun_by.is_empty());
                facts.begun_by.push(written.owner.to_owned());
                match facts.ended.take() {
                    _ if !again || !changes => Ok(()),
                    // Resuming a plan tries the step that failed once more.
                    Some((StepStatus::Failed, _) | (StepStatus::Pending, ActorKind::Person)) => Ok(()),
                    ended => Err(format!("it changes things and was begun before, and that ended as {ended:?}")),
                }
            }
            Event::Plan { id: plan, event: PlanEvent::StepEnded { step, outcome, .. } } => {
                let Some(facts) = self.of(plan, step) else { return Ok(()) };
                facts.ended = Some((outcome.status, written.entry.by.kind));
                if outcome.status == StepStatus::Completed && !facts.had_effect {
                    return Err("it is said to be done and was not".to_owned());
                }
                Ok(())
            }
            // A person may have said that it is to be done again, although its result was unknown.
            Event::Plan { id: plan, event: PlanEvent::ExecutionStarted { execution } } if written.is_by_a_person() => {
                for run in execution.steps.iter().filter(|run| run.status == StepStatus::Pending) {
                    if let Some(facts) = self.of(plan, &run.step) {
                        facts.ended = facts.ended.or(Some((StepStatus::Pending, ActorKind::Person)));
                        if facts.ended.is_some_and(|(status, _)| status == StepStatus::Uncertain) {
                            facts.ended = Some((StepStatus::Pending, ActorKind::Person));
                        }
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn of(&mut self, plan: &PlanId, step: &StepId) -> Option<&mut Facts> {
        self.recorded.values_mut().find(|facts| facts.plan == *plan && facts.call.id == *step)
    }

    pub(super) fn made(&mut self, made: &Made<'_>, now: &Snapshot, policy: &Policy) -> Kept {
        let facts = self.recorded.get_mut(&made.number).ok_or("there is no such step")?;
        if facts.call.tool != made.tool || facts.call.arguments != *made.arguments {
            return Err(format!("recorded was {:?}", facts.call));
        }
        let plan = now.plan(&facts.plan).ok_or("its plan is gone")?;
        is_approved(plan, &facts.call.id, policy)?;
        let executing =
            |snapshot: &Snapshot| snapshot.plan(&facts.plan).is_some_and(|plan| plan.status == PlanStatus::Executing);
        if !made.known.iter().any(executing) {
            return Err(format!("its plan is not carried out but {}", plan.status));
        }
        if facts.begun_by.is_empty() {
            return Err("it was not begun".to_owned());
        }
        let count = |among: &[String]| among.iter().filter(|other| *other == made.owner).count();
        if facts.changes() && count(&facts.made_by) >= count(&facts.begun_by) {
            return Err(format!("it changes things, {:?} began it and {:?} did it", facts.begun_by, facts.made_by));
        }
        facts.made_by.push(made.owner.to_owned());
        facts.places.push(made.place);
        Ok(())
    }
}
