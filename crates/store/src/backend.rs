//! What each database does in its own way: commits, snapshots, deletion, restoring, changes, and how a session is stored.

use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, JournalSource, Lease, LedgerResult, StoreChange, StoreFacts, StoredSession, Submission,
};
use tokio::sync::broadcast;

use crate::restore::RestoredSession;
use crate::sql::{Row, Sql};
use crate::write_health::WriteHealth;

/// A ledger on one of the databases. The ports of the engine are implemented for it once.
#[derive(Debug)]
pub struct SqlLedger<B>(pub(crate) B);

pub(crate) trait Backend: Sql {
    /// The columns of [`Self::read_session`], of which the first is the id of the row, from [`Self::SESSION_TABLES`].
    const SESSION_COLUMNS: &'static str;
    /// The tables `session` and `journal`: each session with the last entry of its journal.
    const SESSION_TABLES: &'static str;
    /// The columns and, last, a number that grows with every write to a session, of those for which it is below `?1`: the most
    /// recently active first, at most `?2`.
    const RECENT_SESSIONS: &'static str;
    /// The same of the sessions whose ids are in the list `?3`.
    const FOUND_SESSIONS: &'static str;
    /// Every table with each of its columns that a text may stand in, and whether that column has bytes.
    const ALL_COLUMNS: &'static str;
    /// When a plan changed last, as a text that is in the order of time; NULL or empty for a time that cannot be read.
    const PLAN_CHANGED: &'static str;

    /// A session, as one row of its columns says it.
    fn read_session(row: &Row) -> LedgerResult<StoredSession>;

    fn submit(&self, submission: Submission) -> impl Future<Output = LedgerResult<Committed>> + Send;

    fn session(&self, session: &SessionIdentity) -> impl Future<Output = LedgerResult<Option<StoredSession>>> + Send;

    fn snapshot(
        &self,
        session: &SessionIdentity,
        plan: Option<&PlanId>,
    ) -> impl Future<Output = LedgerResult<Snapshot>> + Send;

    fn delete_session(&self, lease: &Lease) -> impl Future<Output = LedgerResult<()>> + Send;

    fn restore(
        &self,
        restored: RestoredSession,
        journal: Arc<dyn JournalSource>,
    ) -> impl Future<Output = LedgerResult<()>> + Send;

    fn changes(&self) -> broadcast::Receiver<StoreChange>;

    fn health(&self) -> &WriteHealth;

    /// What the database's own check finds wrong with its files, in its words.
    fn check_pages(&self) -> impl Future<Output = LedgerResult<Vec<String>>> + Send;

    /// Reads what is known about the store. Fails if it cannot be read, or if its writers have ended.
    fn facts(&self) -> impl Future<Output = LedgerResult<StoreFacts>> + Send;
}

/// The rows of a session, the first one last, so that nothing is ever left without it. `?1` is its id.
pub(crate) const SESSION_ROWS: [&str; 17] = [
    "DELETE FROM pointer WHERE session_id = ?1",
    "DELETE FROM lease WHERE session_id = ?1",
    "DELETE FROM session_folder WHERE session_id = ?1",
    "DELETE FROM file_piece WHERE session_id = ?1",
    "DELETE FROM project_place WHERE session_id = ?1",
    "DELETE FROM step_run WHERE plan_id IN (SELECT id FROM plan WHERE session_id = ?1)",
    "DELETE FROM execution WHERE plan_id IN (SELECT id FROM plan WHERE session_id = ?1)",
    "DELETE FROM waiting_plan WHERE plan_id IN (SELECT id FROM plan WHERE session_id = ?1)",
    "DELETE FROM plan WHERE session_id = ?1",
    "DELETE FROM memory_posting WHERE scope_id IN (SELECT id FROM memory_scope WHERE session_id = ?1)",
    "DELETE FROM memory_vector WHERE memory IN (SELECT id FROM memory_item WHERE scope_id IN
         (SELECT id FROM memory_scope WHERE session_id = ?1))",
    "DELETE FROM memory_item WHERE scope_id IN (SELECT id FROM memory_scope WHERE session_id = ?1)",
    "DELETE FROM memory_scope WHERE session_id = ?1",
    "DELETE FROM auto_session WHERE session_id = ?1",
    "DELETE FROM session_text WHERE session_id = ?1",
    "DELETE FROM journal WHERE session_id = ?1",
    "DELETE FROM session WHERE id = ?1",
];
