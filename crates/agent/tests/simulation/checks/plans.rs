//! People decide about exactly what they were shown, and a plan that is over does not change any more.

use std::collections::BTreeSet;

use planwright_core::actor::ActorKind;
use planwright_core::event::{Event, PlanEvent, SessionEvent, TurnEvent};
use planwright_core::ids::PlanId;
use planwright_core::plan::PlanStatus;
use planwright_core::policy::Policy;

use super::runs::{only_reads, standing};
use super::{Kept, Written};

#[derive(Default)]
pub(super) struct Plans {
    /// Every version that was shown: the plan and its digest.
    shown: BTreeSet<(PlanId, String)>,
}

impl Plans {
    pub(super) fn apply(&mut self, written: &Written<'_>, policy: &Policy) -> Kept {
        for (id, plan) in written.before.plans.iter().filter(|(_, plan)| plan.status.is_final()) {
            if written.after.plans.get(id) != Some(plan) {
                return Err(format!("plan {} was {} and changed", plan.number, plan.status));
            }
        }
        match &written.entry.event {
            Event::Session(SessionEvent::PlanShown { shown }) => {
                self.shown.insert((shown.plan.clone(), shown.digest.to_string()));
                Ok(())
            }
            Event::Turn { event: TurnEvent::Ended { ending, .. }, .. } => {
                self.shown.extend(ending.shown.iter().map(|shown| (shown.plan.clone(), shown.digest.to_string())));
                Ok(())
            }
            Event::Plan { id, event: PlanEvent::Approved { approval } } => {
                let plan = written.before.plan(id).ok_or("there is no such plan")?;
                let rule = written.entry.by.kind == ActorKind::Policy && standing(policy) && only_reads(plan);
                let may = written.is_by_a_person() || rule;
                if !may || plan.status != PlanStatus::Ready || plan.digest() != approval.digest {
                    return Err(format!("a plan that is {} was approved by {}", plan.status, written.entry.by.name));
                }
                if !rule && !self.shown.contains(&(id.clone(), approval.digest.to_string())) {
                    return Err("what was approved was never shown".to_owned());
                }
                Ok(())
            }
            Event::Plan { event: PlanEvent::Rejected { .. }, .. }
            | Event::Plan { event: PlanEvent::RevisionRequested { .. }, .. }
                if !written.is_by_a_person() =>
            {
                Err("only a person decides".to_owned())
            }
            _ => Ok(()),
        }
    }
}
