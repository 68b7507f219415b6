//! Whether a plan that is `EXECUTING` is being worked on right now.

use planwright_core::actor::Actor;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;

use crate::history::History;
use crate::ledger::{Ledger, LedgerResult};
use crate::lookup;
use crate::process::is_gone;

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

impl Activity {
    /// `None` unless the plan is `EXECUTING`.
    pub(super) async fn of(
        ledger: &dyn Ledger,
        history: &History,
        session: &SessionIdentity,
        plan: &Plan,
    ) -> LedgerResult<Option<Self>> {
        if plan.status != PlanStatus::Executing {
            return Ok(None);
        }
        // A person looks at a step first, whichever agent continues then.
        if plan.execution.as_ref().is_some_and(|execution| execution.step_pause().is_some_and(|pause| pause.external)) {
            return Ok(Some(Self::Paused));
        }
        let lease = ledger.lease(session).await?;
        let live = lease.is_some_and(|lease| !is_gone(&lease.owner));
        // A process that carries a recorded or built plan out here holds the lease. Otherwise the agent that drafted the
        // plan over another program works on it, except for recorded calls that Planwright makes.
        let theirs = match plan.style() {
            PlanStyle::Document => true,
            PlanStyle::Build => !live,
            PlanStyle::Collect => !live && plan.waits_for_client(),
        };
        if theirs && let Some(agent) = history.external_author(plan).await? {
            return Ok(Some(Self::LeftTo(agent)));
        }
        let turn = lookup::session(ledger, session).await?.turn;
        let worked_on = turn.is_some_and(|turn| turn.purpose.plan() == Some(&plan.id));
        let paused = plan.is_paused();
        Ok(Some(if live && (worked_on || !paused) { Self::Running } else { Self::Paused }))
    }
}
