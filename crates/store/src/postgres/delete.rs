//! A session and everything of it, gone at once.

use std::time::Duration;

use deadpool_postgres::{Object, Transaction};
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{Lease, LedgerResult};
use tokio::time::timeout;

use super::changes::Changes;
use super::errors::Failure;
use super::leases;
use super::readers::{ATTEMPTS, Readers, give_back, is_stale};
use crate::leasing::check_held;

/// A long conversation has many entries.
const DELETION: Duration = Duration::from_secs(120);

/// A deletion that was answered is on disk, and it does not wait for ever for somebody who writes, unless the database's
/// owner chose how long.
const SETTINGS: &str = "
    SELECT set_config('lock_timeout', '10s', true) WHERE current_setting('lock_timeout', true) = '0';
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit', true) = 'off'";

/// The session's own row goes last, so that nothing is ever left without one.
const EVERYTHING: [&str; 7] = [
    "DELETE FROM pointer WHERE session_id = $1",
    "DELETE FROM lease WHERE session_id = $1",
    "DELETE FROM step_run WHERE plan_id IN (SELECT id FROM plan WHERE session_id = $1)",
    "DELETE FROM execution WHERE plan_id IN (SELECT id FROM plan WHERE session_id = $1)",
    "DELETE FROM plan WHERE session_id = $1",
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
    NotThere,
}

pub(super) async fn delete(readers: &Readers, changes: &Changes, lease: &Lease) -> LedgerResult<()> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match attempt(readers, changes, lease).await {
            Err(failure) if is_stale(&failure) && attempts < ATTEMPTS => {}
            Err(failure) => return Err(failure.to_error()),
            // Or the attempt before came through, and only its answer was lost.
            Ok(outcome) if outcome == Deletion::Done || attempts > 1 => {
                changes.notify_here(vec![lease.session.clone()]);
                return Ok(());
            }
            Ok(_) => {
                return Err(Refusal::not_found(format!("There is no session {}.", lease.session)).into());
            }
        }
    }
}

async fn attempt(readers: &Readers, changes: &Changes, lease: &Lease) -> Result<Deletion, Failure> {
    let mut client = readers.client().await?;
    let outcome = timeout(DELETION, delete_with(&mut client, changes, lease)).await.unwrap_or(Err(Failure::TimedOut));
    give_back(client, &outcome);
    outcome
}

/// Everybody who writes to the session waits for its row first, and so does this.
async fn delete_with(client: &mut Object, changes: &Changes, lease: &Lease) -> Result<Deletion, Failure> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    let Some(id) = lock(&transaction, lease).await? else { return Ok(Deletion::NotThere) };
    check_held(leases::holder(&transaction, id).await?.as_ref(), lease)?;
    for sql in EVERYTHING {
        let statement = transaction.prepare_cached(sql).await?;
        transaction.execute(&statement, &[&id]).await?;
    }
    let (channel, conversation) = (lease.session.channel.as_str(), lease.session.conversation.as_str());
    let statement = transaction.prepare_cached(LEAVE_A_TRACE).await?;
    transaction.execute(&statement, &[&channel, &conversation]).await?;
    let statement = transaction.prepare_cached(FORGET_TRACES).await?;
    transaction.execute(&statement, &[]).await?;
    transaction.commit().await?;
    changes.notify_others(client, std::slice::from_ref(&lease.session)).await;
    Ok(Deletion::Done)
}

async fn lock(transaction: &Transaction<'_>, lease: &Lease) -> Result<Option<i64>, Failure> {
    let sql = "SELECT id FROM session WHERE conversation = $1 AND channel = $2 FOR UPDATE";
    let statement = transaction.prepare_cached(sql).await?;
    let (conversation, channel) = (lease.session.conversation.as_str(), lease.session.channel.as_str());
    let row = transaction.query_opt(&statement, &[&conversation, &channel]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}
