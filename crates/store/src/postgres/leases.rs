//! Leases of sessions whose rows are locked, by the database's clock, which is the same for every machine.

use std::time::Duration;

use deadpool_postgres::Transaction;
use tokio_postgres::{Error, Row};

use super::errors::DatabaseError;
use super::statement::{PooledClient as _, StatementMode};
use crate::leases::MAX_TTL;
use crate::leasing::Holder;

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
