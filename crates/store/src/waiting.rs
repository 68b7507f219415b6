//! The list of plans that may wait for a person, in the order of their last change. A plan has a row in it while it may wait, so
//! the inbox reads no other plan.

use std::collections::BTreeMap;

use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{LedgerError, LedgerResult, waiting_since};

use crate::encode;
use crate::plans::{plan_columns, read_plan};
use crate::sql::Row;

/// When each loaded plan changed last that may wait, in microseconds.
pub(crate) type WaitingSince = BTreeMap<PlanId, i64>;

/// The rows to be written: `None` for a plan that waits no more.
pub(crate) type WaitingChanges = BTreeMap<PlanId, Option<i64>>;

pub(crate) fn waiting(snapshot: &Snapshot) -> WaitingSince {
    let Some(session) = snapshot.session.as_deref() else { return WaitingSince::new() };
    let since = |id: &PlanId, plan: &Plan| Some((id.clone(), waiting_since(session, plan)?));
    snapshot.plans.iter().filter_map(|(id, plan)| since(id, plan)).collect()
}

/// What a command changed in the list.
pub(crate) fn changes(before: &WaitingSince, snapshot: &Snapshot) -> WaitingChanges {
    let after = waiting(snapshot);
    let gone = before.keys().filter(|id| !after.contains_key(*id)).map(|id| (id.clone(), None));
    let new = after.iter().filter(|(id, since)| before.get(*id) != Some(*since));
    gone.chain(new.map(|(id, since)| (id.clone(), Some(*since)))).collect()
}

/// The plans that a migration looks at: only these can be in the list.
pub(crate) const CANDIDATES: &str =
    "SELECT id FROM plan WHERE status IN ('READY', 'APPROVED', 'EXECUTING', 'PARTIALLY_COMPLETED') ORDER BY id";

/// A candidate; the placeholder for its id follows.
pub(crate) const CANDIDATE: &str = concat!(
    "SELECT ",
    plan_columns!(),
    ", session.channel || ':' || session.conversation, session.state, plan.updated_at
     FROM plan JOIN session ON session.id = plan.session_id LEFT JOIN execution ON execution.plan_id = plan.id
     WHERE plan.id = "
);

/// When a stored plan changed last, if it may wait. One that cannot be read is in the list, which names its damage.
pub(crate) fn since_of_candidate(row: &Row, runs: Vec<(i64, String)>) -> Option<i64> {
    read_candidate(row, runs).unwrap_or_else(|_| row.get(11).ok())
}

fn read_candidate(row: &Row, runs: Vec<(i64, String)>) -> LedgerResult<Option<i64>> {
    let what = || "a plan".to_owned();
    let session: SessionIdentity =
        row.read::<&str>(9, what)?.parse().map_err(|error| LedgerError::damaged(what(), error))?;
    let state = encode::session_from_text(what, row.read(10, what)?)?;
    Ok(waiting_since(&state, &read_plan(row, &session, runs)?))
}
