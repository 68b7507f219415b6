//! Whether a plan that is `EXECUTING` is being worked on right now.

use planwright_core::choices::{Activity, WaitingAsk};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;

use crate::history::History;
use crate::ledger::{Ledger, LedgerResult};
use crate::lookup;
use crate::process::is_gone;

/// What happens with the execution of the plan at this moment; `None` unless the plan is `EXECUTING`.
pub(super) async fn activity(
    ledger: &dyn Ledger,
    history: &History,
    session: &SessionIdentity,
    plan: &Plan,
) -> LedgerResult<Option<Activity>> {
    if plan.status != PlanStatus::Executing {
        return Ok(None);
    }
    // A person looks at a step first, whichever agent continues then.
    if plan.execution.as_ref().is_some_and(|execution| execution.step_pause().is_some_and(|pause| pause.external)) {
        return Ok(Some(Activity::Paused));
    }
    let stored = lookup::session(ledger, session).await?;
    let turn = stored.turn.as_ref().filter(|turn| turn.purpose.plan() == Some(&plan.id));
    let is_active = stored.plan_mode.active_plan.as_ref() == Some(&plan.id);
    // The agent of another program works beside its client's question.
    if let Some(waiting) = WaitingAsk::about(&stored, plan) {
        return Ok(Some(Activity::Asking(Box::new(waiting))));
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
        // The agent of another program works on the active plan only.
        return Ok(Some(if !is_active || plan.is_paused() { Activity::Paused } else { Activity::LeftTo(agent) }));
    }
    Ok(Some(if live && (turn.is_some() || !plan.is_paused()) { Activity::Running } else { Activity::Paused }))
}
