//! What processes that stay need of a store: queries over all sessions, health, and requests that clients may send twice.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::plan::PlanStatus;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{Lease, LedgerError, LedgerResult, Page, StoredSession};
use planwright_engine::server_ledger::{
    Claim, ClaimedRequest, JournalSource, PlanAnywhere, RunsFilter, ServerLedger, StoreChange, StoreCounts, StoreFacts,
    StoredAnswer, Unfinished,
};
use tokio::sync::broadcast;
use tokio::time::timeout;

use crate::backend::{Backend, SqlLedger};
use crate::overview::{in_hand, not_paused};
use crate::restore::replay_journal;
use crate::sessions::{identity, walk};
use crate::sql::{Row, sql};
use crate::{claims, encode, paging, plans, pointers};

/// Health checks wait for the database no longer than this.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);
const REMOVE_PROBE: &str = "DELETE FROM claimed_request WHERE key = ''";

#[async_trait]
impl<B: Backend> ServerLedger for SqlLedger<B> {
    fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.0.changes()
    }

    async fn plans_anywhere(
        &self,
        statuses: &[PlanStatus],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanAnywhere>> {
        plans::plans_anywhere(&self.0, statuses, after, limit).await
    }

    async fn asking(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        walk(&self.0, "", "session.asks_person", after_row(after), limit).await
    }

    async fn take_due(&self, now: Timestamp, keep: Duration, limit: u32) -> LedgerResult<Vec<SessionIdentity>> {
        let now = now.as_microsecond();
        let until = now.saturating_add(micros(keep));
        let statement = format!(
            "WITH due AS (
                 SELECT session_id AS id FROM auto_session WHERE due_at IS NOT NULL AND due_at <= ?1 AND taken_until <= ?1
                 ORDER BY due_at, session_id LIMIT ?3 {})
             UPDATE auto_session SET taken_until = ?2 FROM due WHERE auto_session.session_id = due.id
             RETURNING due_at, session_id, (SELECT session.channel || ':' || session.conversation FROM session
                 WHERE session.id = auto_session.session_id)",
            B::SKIP_LOCKED
        );
        let rows = self.0.write(sql!(statement, now, until, limit)).await?;
        let mut taken = Vec::with_capacity(rows.len());
        for row in &rows {
            // A session whose name cannot be read is taken, so that it does not stand in the way of the others.
            if let Ok(session) = encode::set_damage_aside(identity(row, 2))? {
                taken.push((row.get::<i64>(0)?, row.get::<i64>(1)?, session));
            }
        }
        taken.sort_unstable_by_key(|(due_at, id, _)| (*due_at, *id));
        Ok(taken.into_iter().map(|(_, _, session)| session).collect())
    }

    async fn sessions_with_runs(
        &self,
        which: RunsFilter,
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<StoredSession>> {
        let condition = match which {
            RunsFilter::Running => "auto_session.running",
            RunsFilter::Waiting => "auto_session.waits",
        };
        let join = "JOIN auto_session ON auto_session.session_id = session.id";
        walk(&self.0, join, condition, after_row(after), limit).await
    }

    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        let (columns, tables, ended, now) = (B::SESSION_COLUMNS, B::SESSION_TABLES, B::ENDED, B::NOW);
        let (in_hand, not_paused) = (in_hand!(), not_paused!());
        let statement = format!(
            "SELECT {columns}, lease.owner, lease.fence, lease.expires_at > {ended}
             FROM {tables} LEFT JOIN lease ON lease.session_id = session.id
             WHERE NOT session.asks_person AND session.id IN (SELECT id FROM session WHERE turn_open
                     UNION SELECT plan.session_id FROM plan JOIN execution ON execution.plan_id = plan.id
                     WHERE plan.status = 'EXECUTING' AND {in_hand} AND {not_paused})
                 AND session.id > ?1 AND (lease.expires_at IS NULL OR lease.expires_at <= {now})
             ORDER BY session.id LIMIT ?2"
        );
        let rows = self.0.query(sql!(statement, after_row(after), limit)).await?;
        paging::walked_page(&rows, limit, unfinished::<B>)
    }

    async fn counts(&self) -> LedgerResult<StoreCounts> {
        let statement = concat!(
            "SELECT (SELECT count(*) FROM session),
                 (SELECT count(*) FROM session WHERE planning), (SELECT count(*) FROM session WHERE turn_open),
                 (SELECT count(*) FROM plan WHERE plan.status = 'READY' AND ",
            in_hand!(),
            "), (SELECT count(*) FROM plan WHERE plan.status = 'EXECUTING' AND ",
            in_hand!(),
            ")"
        );
        let rows = self.0.query(sql!(statement)).await?;
        let row = rows.first().ok_or_else(|| LedgerError::Internal("the database counts nothing".to_owned()))?;
        Ok(StoreCounts {
            sessions: row.get(0)?,
            planning: row.get(1)?,
            turns: row.get(2)?,
            plans_ready: row.get(3)?,
            plans_executing: row.get(4)?,
        })
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        let facts = timeout(CHECK_TIMEOUT, self.0.facts()).await.map_err(|_| late())??;
        // It changes nothing, and fails where nothing may be changed.
        timeout(CHECK_TIMEOUT, self.0.write(sql!(REMOVE_PROBE))).await.map_err(|_| late())??;
        Ok(facts)
    }

    async fn check_writable(&self) -> LedgerResult<()> {
        if let Some(recent) = self.0.health().recent() {
            return recent;
        }
        // A row that is committed has to reach the disk, which fails when the disk is full.
        let probe = async {
            self.0.facts().await?;
            let add = "INSERT INTO claimed_request (key, fingerprint, at, claim) VALUES ('', '', 0, '')
                       ON CONFLICT (key) DO UPDATE SET at = 0";
            self.0.write_all(vec![sql!(add), sql!(REMOVE_PROBE)]).await
        };
        timeout(CHECK_TIMEOUT, probe).await.map_err(|_| late())??;
        self.0.health().note_success();
        Ok(())
    }

    async fn claim(&self, request: &ClaimedRequest, now: Timestamp, keep: Duration) -> LedgerResult<Claim> {
        claims::claim(&self.0, request, now, keep).await
    }

    async fn keep_answer(&self, key: &str, answer: &StoredAnswer) -> LedgerResult<()> {
        claims::keep_answer(&self.0, key, answer).await
    }

    async fn forget_claim(&self, key: &str) -> LedgerResult<()> {
        self.0.write(sql!("DELETE FROM claimed_request WHERE key = ?1", key)).await.map(drop)
    }

    async fn restore(&self, session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> LedgerResult<()> {
        let restored = replay_journal(session, journal.as_ref())?;
        self.0.restore(restored, journal).await
    }

    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        pointers::all(&self.0).await
    }
}

fn unfinished<B: Backend>(row: &Row) -> LedgerResult<Unfinished> {
    let stored = B::read_session(row)?;
    let session = stored.session.identity;
    let first = row.0.len() - 3;
    let left_by = match row.get(first + 2)? {
        Some(true) => Some(Lease { session: session.clone(), owner: row.get(first)?, fence: row.get(first + 1)? }),
        Some(false) | None => None,
    };
    Ok(Unfinished { session, seq: stored.head.seq, left_by })
}

fn after_row(after: Option<u64>) -> i64 {
    after.map_or(i64::MIN, |id| i64::try_from(id).unwrap_or(i64::MAX))
}

/// A time in microseconds.
pub(crate) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

fn late() -> LedgerError {
    LedgerError::Unavailable(format!("nothing could be written within {} seconds", CHECK_TIMEOUT.as_secs()))
}
