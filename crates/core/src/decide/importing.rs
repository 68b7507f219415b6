//! Taking in a plan of the older format. It comes in parked: an import never turns plan mode on.

use crate::command::ImportedPlan;
use crate::decide::Case;
use crate::event::Event;
use crate::refusal::Refusal;

impl Case<'_> {
    /// Older conversations may have keys that a new one could not have, so the session is opened here.
    pub(super) fn import(&self, imported: &ImportedPlan) -> Result<Vec<Event>, Refusal> {
        if self.desk.plan(&imported.id).is_some() {
            return Err(Refusal::conflict(format!("Plan {} is here already.", imported.id)));
        }
        self.policy.limits.check_plan(imported.content.size())?;
        self.policy.limits.check_steps(imported.content.steps().len())?;
        let mut events = Vec::new();
        if self.desk.session.is_none() {
            events.push(Event::SessionOpened);
        }
        let number = self.desk.session.as_ref().map_or(0, |session| session.plans_made) + 1;
        events.push(Event::PlanImported { number, plan: Box::new(imported.clone()) });
        Ok(events)
    }
}
