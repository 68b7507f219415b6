//! Leases, by the database's clock, which is the same for every machine.

use std::time::Duration;

use deadpool_postgres::Transaction;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, LedgerError, LedgerResult};
use tokio_postgres::{Error, Row};

use super::errors::DatabaseError;
use super::readers::{Readers, get};
use super::statement::{Parameter, PooledClient as _, StatementMode};
use crate::leasing::Holder;

/// A lease has to be renewed within this time.
const MAX_TTL: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(super) async fn acquire(
    readers: &Readers,
    session: &SessionIdentity,
    owner: &str,
    ttl: Duration,
) -> LedgerResult<Option<Lease>> {
    let micros = micros(ttl);
    let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
    let rows =
        readers.write(include_str!("sql/acquire_lease.sql"), &[&conversation, &channel, &owner, &micros]).await?;
    if let Some(row) = rows.first() {
        let fence: i64 = row.try_get(0).map_err(|error| LedgerError::Internal(error.to_string()))?;
        return Ok(Some(Lease { session: session.clone(), owner: owner.to_owned(), fence: fence.unsigned_abs() }));
    }
    match readers.session(session).await? {
        Some(_) => Ok(None),
        None => Err(Refusal::not_found(format!("There is no session {session}.")).into()),
    }
}

pub(super) async fn renew(readers: &Readers, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
    let (conversation, channel) = (lease.session.conversation.as_str(), lease.session.channel.as_str());
    let fence = i64::try_from(lease.fence).unwrap_or(i64::MAX);
    let values: [&dyn Parameter; 5] = [&conversation, &channel, &lease.owner, &fence, &micros(ttl)];
    Ok(!readers.write(include_str!("sql/renew_lease.sql"), &values).await?.is_empty())
}

/// The lease that some process holds and that has not run out.
pub(super) async fn current(readers: &Readers, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
    let sql = "SELECT lease.owner, lease.fence FROM lease JOIN session ON session.id = lease.session_id
               WHERE session.conversation = $1 AND session.channel = $2 AND lease.expires_at > clock_timestamp()";
    let rows = readers.query(sql, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (owner, fence) = (get::<String>(row, 0)?, get::<i64>(row, 1)?.unsigned_abs());
    Ok(Some(Lease { session: session.clone(), owner, fence }))
}

pub(super) async fn release(readers: &Readers, lease: &Lease) -> LedgerResult<()> {
    let (conversation, channel) = (lease.session.conversation.as_str(), lease.session.channel.as_str());
    let fence = i64::try_from(lease.fence).unwrap_or(i64::MAX);
    readers.write(include_str!("sql/release_lease.sql"), &[&conversation, &channel, &lease.owner, &fence]).await?;
    Ok(())
}

/// The holder of the lease of a session whose row this transaction has locked.
pub(super) async fn holder(
    transaction: &Transaction<'_>,
    mode: StatementMode,
    session_id: i64,
) -> Result<Option<Holder>, DatabaseError> {
    let sql = "SELECT owner, fence, expires_at > clock_timestamp() AS running FROM lease WHERE session_id = $1";
    let rows = transaction.query_as(mode, sql, &[&session_id]).await?;
    Ok(rows.first().map(holder_of).transpose()?)
}

pub(super) fn holder_of(row: &Row) -> Result<Holder, Error> {
    let fence: i64 = row.try_get("fence")?;
    Ok(Holder { owner: row.try_get("owner")?, fence: fence.unsigned_abs(), running: row.try_get("running")? })
}

/// A time to run, as the statements take it.
pub(super) fn micros(ttl: Duration) -> f64 {
    ttl.min(MAX_TTL).as_micros() as f64
}
