//! Which process works on what: leases by the database's clock, signs of life, unfinished and due work, claimed requests.

use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{
    Claim, ClaimedRequest, Lease, LeaseOwner, LeaseStore, LedgerError, LedgerResult, Page, RunsFilter, StoredAnswer,
    StoredSession, Unfinished,
};

use crate::backend::{Backend, SqlLedger};
use crate::encode::{self, micros};
use crate::overview::BUSY_SESSIONS;
use crate::sessions::{SESSION_ID, identity, walk};
use crate::sql::{Row, sql};
use crate::{claims, paging};

/// A lease has to be renewed within this time.
pub(crate) const MAX_TTL: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Processes that were not alive for so long are forgotten.
const FORGET_AFTER: SignedDuration = SignedDuration::from_hours(24);

#[async_trait]
impl<B: Backend> LeaseStore for SqlLedger<B> {
    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        // The session's row is locked, so that a write under the lease that runs out is either before this or refused.
        // A new owner, or one whose lease expired, gets the next fence.
        let (lock, now, until) = (B::LOCK_ROW, B::NOW, B::from_now("?4"));
        let statement = format!(
            "WITH held AS (SELECT id FROM session WHERE conversation = ?1 AND channel = ?2 {lock})
             INSERT INTO lease (session_id, owner, fence, expires_at) SELECT id, ?3, 1, {until} FROM held WHERE true
             ON CONFLICT (session_id) DO UPDATE SET
                 fence = lease.fence + CASE WHEN lease.owner = excluded.owner AND lease.expires_at > {now} THEN 0 ELSE 1 END,
                 owner = excluded.owner, expires_at = excluded.expires_at
             WHERE lease.owner = excluded.owner OR lease.expires_at <= {now}
             RETURNING fence"
        );
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let rows = self.0.write(sql!(statement, conversation, channel, owner, micros(ttl.min(MAX_TTL)))).await?;
        if let Some(row) = rows.first() {
            return Ok(Some(Lease { session: session.clone(), owner: owner.to_owned(), fence: row.get(0)? }));
        }
        match self.0.session(session).await? {
            Some(_) => Ok(None),
            None => Err(Refusal::not_found(format!("There is no session {session}.")).into()),
        }
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        // One that was given back has run out long ago.
        let statement = format!(
            "UPDATE lease SET expires_at = {} WHERE session_id = {SESSION_ID} AND owner = ?3 AND fence = ?4
                 AND expires_at > {} RETURNING fence",
            B::from_now("?5"),
            B::ENDED
        );
        let Lease { session, owner, fence } = lease;
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let ttl = micros(ttl.min(MAX_TTL));
        Ok(!self.0.write(sql!(statement, conversation, channel, owner, *fence, ttl)).await?.is_empty())
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        let statement =
            format!("SELECT owner, fence FROM lease WHERE session_id = {SESSION_ID} AND expires_at > {}", B::NOW);
        let rows = self.0.lookup(sql!(statement, session.conversation.as_str(), session.channel.as_str())).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Lease { session: session.clone(), owner: row.get(0)?, fence: row.get(1)? }))
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        let statement = format!(
            "UPDATE lease SET expires_at = {} WHERE session_id = {SESSION_ID} AND owner = ?3 AND fence = ?4",
            B::ENDED
        );
        let Lease { session, owner, fence } = lease;
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        self.0.write(sql!(statement, conversation, channel, owner, *fence)).await.map(drop)
    }

    async fn lease_clock(&self) -> LedgerResult<Timestamp> {
        let rows = self.0.lookup(sql!(format!("SELECT {}", B::NOW_MICROS))).await?;
        let row = rows.first().ok_or_else(|| LedgerError::Internal("the store tells no time".to_owned()))?;
        encode::timestamp(|| "the clock of the store".to_owned(), row.get(0)?)
    }

    async fn lease_owners(&self, of: Option<&SessionIdentity>, longest: Duration) -> LedgerResult<Vec<LeaseOwner>> {
        let latest = B::from_now("?1");
        let (which, since) = match of {
            Some(_) => ("SELECT id FROM session WHERE conversation = ?2 AND channel = ?3".to_owned(), B::ENDED),
            None => (BUSY_SESSIONS.to_owned(), B::NOW),
        };
        let statement = format!(
            "SELECT owner, CAST(max(CASE WHEN expires_at > {latest} THEN 1 ELSE 0 END) AS bigint) FROM lease
             WHERE session_id IN ({which}) AND expires_at > {since} GROUP BY owner"
        );
        let longest = micros(longest.min(MAX_TTL));
        let rows = match of {
            Some(session) => {
                let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
                self.0.query(sql!(statement, longest, conversation, channel)).await?
            }
            None => self.0.query(sql!(statement, longest)).await?,
        };
        let owner = |row: &Row| Ok(LeaseOwner { owner: row.get(0)?, is_too_long: row.get::<i64>(1)? > 0 });
        rows.iter().map(owner).collect()
    }

    async fn shorten_leases(&self, owner: &str, ttl: Duration) -> LedgerResult<()> {
        let latest = B::from_now("?2");
        let statement = format!("UPDATE lease SET expires_at = {latest} WHERE owner = ?1 AND expires_at > {latest}");
        self.0.write(sql!(statement, owner, micros(ttl.min(MAX_TTL)))).await.map(drop)
    }

    async fn heartbeat(&self, owner: &str, now: Timestamp) -> LedgerResult<()> {
        let note = "INSERT INTO process_heartbeat (process, at) VALUES (?1, ?2)
                    ON CONFLICT (process) DO UPDATE SET at = excluded.at";
        let oldest = now.checked_sub(FORGET_AFTER).unwrap_or(Timestamp::UNIX_EPOCH).as_microsecond();
        // Those of agents are by another clock.
        let forget = sql!("DELETE FROM process_heartbeat WHERE at < ?1 AND process NOT LIKE 'agent/%'", oldest);
        self.0.write_all(vec![sql!(note, owner, now.as_microsecond()), forget]).await.map(drop)
    }

    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>> {
        let rows = self.0.lookup(sql!("SELECT at FROM process_heartbeat WHERE process = ?1", owner)).await?;
        let at: Option<i64> = rows.first().map(|row| row.get(0)).transpose()?;
        // A row that is not a time is no sign of life; the next one replaces it.
        Ok(at.and_then(|at| Timestamp::from_microsecond(at).ok()))
    }

    async fn sign_of_life(&self, program: &str) -> LedgerResult<()> {
        let now = B::NOW_MICROS;
        let note = format!(
            "INSERT INTO process_heartbeat (process, at) VALUES (?1, {now})
             ON CONFLICT (process) DO UPDATE SET at = excluded.at"
        );
        let forget = format!("DELETE FROM process_heartbeat WHERE at < {now} - ?1 AND process LIKE 'agent/%'");
        let day = i64::try_from(FORGET_AFTER.as_micros()).unwrap_or(i64::MAX);
        self.0.write_all(vec![sql!(note, program), sql!(forget, day)]).await.map(drop)
    }

    async fn silent_for(&self, program: &str) -> LedgerResult<Option<Duration>> {
        let statement = format!("SELECT {} - at FROM process_heartbeat WHERE process = ?1", B::NOW_MICROS);
        let rows = self.0.lookup(sql!(statement, program)).await?;
        let age: Option<i64> = rows.first().map(|row| row.get(0)).transpose()?;
        Ok(age.map(|age| Duration::from_micros(u64::try_from(age).unwrap_or(0))))
    }

    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        let (columns, tables, ended, now) = (B::SESSION_COLUMNS, B::SESSION_TABLES, B::ENDED, B::NOW);
        let statement = format!(
            "SELECT {columns}, lease.owner, lease.fence, lease.expires_at > {ended}
             FROM {tables} LEFT JOIN lease ON lease.session_id = session.id
             WHERE NOT session.asks_person AND session.id IN ({BUSY_SESSIONS}) AND session.id > ?1
                 AND (lease.expires_at IS NULL OR lease.expires_at <= {now})
             ORDER BY session.id LIMIT ?2"
        );
        let rows = self.0.query(sql!(statement, paging::walked_from(after), limit)).await?;
        paging::walked_page(&rows, limit, unfinished::<B>)
    }

    async fn asking(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        walk(&self.0, "session.asks_person", after, limit).await
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
        // The row of a run leads to its session: their number is what is asked for, that of all sessions is not.
        let (columns, tables) = (B::SESSION_COLUMNS, B::SESSION_TABLES);
        let statement = format!(
            "SELECT {columns} FROM auto_session CROSS JOIN {tables}
             WHERE {condition} AND auto_session.session_id > ?1 AND session.id = auto_session.session_id
             ORDER BY auto_session.session_id LIMIT ?2"
        );
        let rows = self.0.query(sql!(statement, paging::walked_from(after), limit)).await?;
        paging::walked_page(&rows, limit, B::read_session)
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
