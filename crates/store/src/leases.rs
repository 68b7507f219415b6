//! Leases by the database's clock, and the signs of life of processes.

use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, LeaseStore, LedgerResult};

use crate::backend::{Backend, SqlLedger};
use crate::server::micros;
use crate::sessions::SESSION_ID;
use crate::sql::sql;

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

    async fn heartbeat(&self, owner: &str, now: Timestamp) -> LedgerResult<()> {
        let note = "INSERT INTO process_heartbeat (process, at) VALUES (?1, ?2)
                    ON CONFLICT (process) DO UPDATE SET at = excluded.at";
        let oldest = now.checked_sub(FORGET_AFTER).unwrap_or(Timestamp::UNIX_EPOCH).as_microsecond();
        let forget = sql!("DELETE FROM process_heartbeat WHERE at < ?1", oldest);
        self.0.write_all(vec![sql!(note, owner, now.as_microsecond()), forget]).await.map(drop)
    }

    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>> {
        let rows = self.0.lookup(sql!("SELECT at FROM process_heartbeat WHERE process = ?1", owner)).await?;
        let at: Option<i64> = rows.first().map(|row| row.get(0)).transpose()?;
        // A row that is not a time is no sign of life; the next one replaces it.
        Ok(at.and_then(|at| Timestamp::from_microsecond(at).ok()))
    }
}
