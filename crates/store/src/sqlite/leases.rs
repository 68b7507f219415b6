//! Who works on a session, by this machine's clock.

use std::time::Duration;

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, Submission};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Fault;
use super::rows::find_session;

const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

pub(super) fn acquire(
    connection: &Connection,
    session: &SessionIdentity,
    owner: &str,
    ttl: Duration,
) -> Result<Option<Lease>, Fault> {
    let row = find_session(connection, session)?
        .ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
    // Somebody new, or somebody who let it run out, gets the next fence.
    let sql = format!(
        "INSERT INTO lease (session_id, owner, fence, expires_at) VALUES (?1, ?2, 1, {NOW} + ?3)
         ON CONFLICT (session_id) DO UPDATE SET
             fence = fence + (owner <> excluded.owner OR expires_at <= {NOW}),
             owner = excluded.owner,
             expires_at = excluded.expires_at
         WHERE owner = excluded.owner OR expires_at <= {NOW}
         RETURNING fence"
    );
    let ttl = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX / 2);
    let fence: Option<i64> =
        connection.prepare_cached(&sql)?.query_row(params![row.id, owner, ttl], |row| row.get(0)).optional()?;
    Ok(fence.map(|fence| Lease { session: session.clone(), owner: owner.to_owned(), fence: fence.unsigned_abs() }))
}

pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), Fault> {
    let Some(row) = find_session(connection, &lease.session)? else { return Ok(()) };
    let sql = "UPDATE lease SET expires_at = 0 WHERE session_id = ?1 AND owner = ?2 AND fence = ?3";
    connection.prepare_cached(sql)?.execute(params![row.id, lease.owner, lease.fence as i64])?;
    Ok(())
}

/// Refuses what comes from somebody who no longer holds the session.
pub(super) fn check(connection: &Connection, session_id: Option<i64>, submission: &Submission) -> Result<(), Fault> {
    let Some(lease) = &submission.lease else { return Ok(()) };
    let sql = "SELECT owner, fence FROM lease WHERE session_id = ?1";
    let held: Option<(String, i64)> =
        connection.prepare_cached(sql)?.query_row([session_id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let same_session = lease.session == submission.session;
    match held {
        Some((owner, fence)) if same_session && owner == lease.owner && fence.unsigned_abs() == lease.fence => Ok(()),
        _ => Err(Refusal::conflict(format!("Session {} is held by somebody else now.", lease.session)).into()),
    }
}
