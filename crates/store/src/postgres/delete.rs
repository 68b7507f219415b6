//! A session and everything of it, gone at once.

use std::time::Duration;

use deadpool_postgres::Transaction;
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{Lease, LedgerResult};
use tokio::time::timeout;

use super::changes::Changes;
use super::client_pool::{ClientPool, Retry, WRITE_SETTINGS, give_back, retry};
use super::errors::DatabaseError;
use super::statement::{PooledClient as _, StatementMode};
use super::target::PooledReader;
use super::{leases, schema};
use crate::backend::SESSION_ROWS;
use crate::leasing::check_held;

/// A long conversation has many entries.
const DELETION: Duration = Duration::from_secs(120);

/// For processes that look for what was deleted. They do so all the time, so traces are not kept for long.
const LEAVE_A_TRACE: &str =
    "INSERT INTO deleted_session (channel, conversation, deleted_at) VALUES ($1, $2, clock_timestamp())";
const FORGET_TRACES: &str = "DELETE FROM deleted_session WHERE id IN (
    SELECT id FROM deleted_session WHERE deleted_at < now() - interval '10 minutes'
    ORDER BY deleted_at LIMIT 100 FOR UPDATE SKIP LOCKED)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deletion {
    Done,
    NotFound,
}

pub(super) async fn delete(clients: &ClientPool, changes: &Changes, lease: &Lease) -> LedgerResult<()> {
    let mut retry = Retry::new();
    let deleted = retry!(retry, attempt(clients, changes, lease)).map_err(|error| error.to_error())?;
    // A session that is gone now was deleted by an attempt whose answer was lost.
    if deleted == Deletion::NotFound && !retry.answer_lost {
        return Err(Refusal::not_found(format!("There is no session {}.", lease.session)).into());
    }
    changes.notify_here(vec![lease.session.clone()]);
    Ok(())
}

async fn attempt(clients: &ClientPool, changes: &Changes, lease: &Lease) -> Result<Deletion, DatabaseError> {
    let mut client = clients.client().await?;
    let work = delete_with(&mut client, clients.mode(), changes, lease);
    let outcome = timeout(DELETION, work).await.unwrap_or(Err(DatabaseError::TimedOut));
    give_back(client, &outcome);
    outcome
}

/// All writers of the session wait for its row first, and so does this.
async fn delete_with(
    client: &mut PooledReader,
    mode: StatementMode,
    changes: &Changes,
    lease: &Lease,
) -> Result<Deletion, DatabaseError> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(WRITE_SETTINGS).await?;
    let Some(id) = lock(&transaction, mode, lease).await? else { return Ok(Deletion::NotFound) };
    schema::check_version(&transaction.query_as(mode, schema::VERSION, &[]).await?)?;
    check_held(leases::holder(&transaction, mode, id).await?.as_ref(), lease)?;
    for sql in SESSION_ROWS {
        transaction.query_as(mode, &sql.replace('?', "$"), &[&id]).await?;
    }
    let (channel, conversation) = (lease.session.channel.as_str(), lease.session.conversation.as_str());
    transaction.query_as(mode, LEAVE_A_TRACE, &[&channel, &conversation]).await?;
    transaction.query_as(mode, FORGET_TRACES, &[]).await?;
    transaction.commit().await?;
    changes.notify_others(client, std::slice::from_ref(&lease.session)).await;
    Ok(Deletion::Done)
}

async fn lock(transaction: &Transaction<'_>, mode: StatementMode, lease: &Lease) -> Result<Option<i64>, DatabaseError> {
    let sql = "SELECT id FROM session WHERE conversation = $1 AND channel = $2 FOR UPDATE";
    let (conversation, channel) = (lease.session.conversation.as_str(), lease.session.channel.as_str());
    let rows = transaction.query_as(mode, sql, &[&conversation, &channel]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}
