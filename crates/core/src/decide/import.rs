//! Taking in a plan of the older format. It comes in parked: an import never turns plan mode on.

use crate::command::ImportedPlan;
use crate::decide::Decider;
use crate::event::{Event, SessionEvent};
use crate::plan::PlanContent;
use crate::refusal::Refusal;

impl Decider<'_> {
    /// Older conversations may have keys that a new one could not have, so the session is opened here.
    pub(super) fn import(&self, imported: &ImportedPlan) -> Result<Vec<Event>, Refusal> {
        if self.snapshot.plan(&imported.id).is_some() {
            return Err(Refusal::conflict(format!("Plan {} is here already.", imported.id)));
        }
        // What was done counts like what is to be done: both are kept and shown.
        let runs = imported.execution.iter().flat_map(|execution| &execution.steps);
        let outcomes = runs.map(|run| run.description.len() + run.note.as_ref().map_or(0, String::len));
        self.policy.limits.check_plan(imported.content.size() + outcomes.sum::<usize>())?;
        let steps = imported.execution.as_ref().map_or(0, |execution| execution.steps.len());
        self.policy.limits.check_steps(steps.max(imported.content.steps().len()))?;
        if let PlanContent::Collect(collected) = &imported.content {
            for step in &collected.steps {
                self.policy.limits.check_depth("arguments of a step", &step.arguments)?;
            }
        }
        self.policy.limits.check_line("title", imported.title.as_deref().unwrap_or_default())?;
        self.policy.limits.check_line("description", imported.origin.description.as_deref().unwrap_or_default())?;
        let mut events = Vec::new();
        if self.snapshot.session.is_none() {
            events.push(Event::Session(SessionEvent::Opened));
        }
        let number = self.snapshot.session.as_ref().map_or(0, |session| session.plans_made) + 1;
        events.push(Event::Session(SessionEvent::PlanImported { number, plan: Box::new(imported.clone()) }));
        Ok(events)
    }
}
