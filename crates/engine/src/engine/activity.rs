//! Whether a plan that is `EXECUTING` is being worked on right now.

use planwright_core::actor::Actor;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;

use super::Engine;
use crate::agent::is_gone;
use crate::ledger::LedgerResult;

/// What happens with an execution at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// A process works on it.
    Running,
    /// No process works on it; it waits for a person.
    Paused,
    /// The agent that drafted it over another program carries it out and reports.
    LeftTo(Actor),
}

impl Engine {
    /// `None` unless the plan is `EXECUTING`.
    pub async fn activity(&self, session: &SessionIdentity, plan: &Plan) -> LedgerResult<Option<Activity>> {
        if plan.status != PlanStatus::Executing {
            return Ok(None);
        }
        // Recorded and built plans are carried out by Planwright, whoever drafted them.
        if plan.style() == PlanStyle::Document
            && let Some(agent) = self.drafted_elsewhere(plan).await?
        {
            return Ok(Some(Activity::LeftTo(agent)));
        }
        let lease = self.ledger.lease(session).await?;
        let live = lease.is_some_and(|lease| !is_gone(&lease.owner));
        let turn = self.session(session).await?.turn;
        let worked_on = turn.is_some_and(|turn| turn.purpose.plan() == Some(&plan.id));
        let paused = plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        Ok(Some(if live && (worked_on || !paused) { Activity::Running } else { Activity::Paused }))
    }
}
