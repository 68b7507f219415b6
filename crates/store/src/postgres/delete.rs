//! A session and everything of it, gone at once.

use std::time::Duration;

use deadpool_postgres::{Object, Transaction};
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{Lease, LedgerResult};
use tokio::time::timeout;

use super::changes::Changes;
use super::errors::DatabaseError;
use super::readers::{Readers, WRITE_SETTINGS, WriteRetry, give_back};
use super::statement::{PooledClient as _, StatementMode};
use super::{leases, schema};
use crate::leasing::check_held;

/// A long conversation has many entries.
const DELETION: Duration = Duration::from_secs(120);

/// The session's own row goes last, so that nothing is ever left without one.
const EVERYTHING: [&str; 12] = [
    "DELETE FROM pointer WHERE session_id = $1",
    "DELETE FROM lease WHERE session_id = $1",
    "DELETE FROM step_run WHERE plan_id IN (SELECT id FROM plan WHERE session_id = $1)",
    "DELETE FROM execution WHERE plan_id IN (SELECT id FROM plan WHERE session_id = $1)",
    "DELETE FROM plan WHERE session_id = $1",
    "DELETE FROM memory_posting WHERE scope_id IN (SELECT id FROM memory_scope WHERE session_id = $1)",
    "DELETE FROM memory_vector WHERE memory IN (SELECT id FROM memory_item WHERE scope_id IN
         (SELECT id FROM memory_scope WHERE session_id = $1))",
    "DELETE FROM memory_item WHERE scope_id IN (SELECT id FROM memory_scope WHERE session_id = $1)",
    "DELETE FROM memory_scope WHERE session_id = $1",
    "DELETE FROM auto_session WHERE session_id = $1",
    "DELETE FROM journal WHERE session_id = $1",
    "DELETE FROM session WHERE id = $1",
];

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

pub(super) async fn delete(readers: &Readers, changes: &Changes, lease: &Lease) -> LedgerResult<()> {
    let mut retry = WriteRetry::new();
    loop {
        match attempt(readers, changes, lease).await {
            Ok(Deletion::NotFound) if !retry.answer_lost => {
                return Err(Refusal::not_found(format!("There is no session {}.", lease.session)).into());
            }
            // A session that is gone now was deleted by an attempt whose answer was lost.
            Ok(Deletion::Done | Deletion::NotFound) => {
                changes.notify_here(vec![lease.session.clone()]);
                return Ok(());
            }
            Err(error) => retry.before_next(error).await.map_err(|error| error.to_error())?,
        }
    }
}

async fn attempt(readers: &Readers, changes: &Changes, lease: &Lease) -> Result<Deletion, DatabaseError> {
    let mut client = readers.client().await?;
    let work = delete_with(&mut client, readers.mode(), changes, lease);
    let outcome = timeout(DELETION, work).await.unwrap_or(Err(DatabaseError::TimedOut));
    give_back(client, &outcome);
    outcome
}

/// All writers of the session wait for its row first, and so does this.
async fn delete_with(
    client: &mut Object,
    mode: StatementMode,
    changes: &Changes,
    lease: &Lease,
) -> Result<Deletion, DatabaseError> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(WRITE_SETTINGS).await?;
    let Some(id) = lock(&transaction, mode, lease).await? else { return Ok(Deletion::NotFound) };
    schema::check_version(&transaction.query_as(mode, schema::VERSION, &[]).await?)?;
    check_held(leases::holder(&transaction, mode, id).await?.as_ref(), lease)?;
    for sql in EVERYTHING {
        transaction.query_as(mode, sql, &[&id]).await?;
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
