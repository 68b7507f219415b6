//! Leases, by this machine's clock.

use std::time::Duration;

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, Leasing, Submission};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;
use super::rows::find_session;
use crate::leasing::{Holder, is_free_for};

/// The time in milliseconds, as SQLite says it.
macro_rules! now {
    () => {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    };
}

pub(super) use now;

pub(super) fn acquire(
    connection: &Connection,
    session: &SessionIdentity,
    owner: &str,
    ttl: Duration,
) -> Result<Option<Lease>, TransactionError> {
    let row = find_session(connection, session)?
        .ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
    let holder = holder(connection, row.id)?;
    Ok(take_if_free(connection, row.id, session, holder.as_ref(), owner, ttl)?)
}

pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), TransactionError> {
    let Some(row) = find_session(connection, &lease.session)? else { return Ok(()) };
    Ok(end_lease(connection, row.id, lease)?)
}

/// The holder of the lease, if the submission depends on it.
pub(super) fn holder_for(
    connection: &Connection,
    session_id: Option<i64>,
    submission: &Submission,
) -> rusqlite::Result<Option<Holder>> {
    match (&submission.leasing, session_id) {
        (Leasing::None, _) | (_, None) => Ok(None),
        (Leasing::Take { .. } | Leasing::Held(_) | Leasing::Release(_), Some(session_id)) => {
            holder(connection, session_id)
        }
    }
}

pub(super) fn holder(connection: &Connection, session_id: i64) -> rusqlite::Result<Option<Holder>> {
    let sql = concat!("SELECT owner, fence, expires_at > ", now!(), " FROM lease WHERE session_id = ?1");
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Holder { owner: row.get(0)?, fence: row.get::<_, i64>(1)?.unsigned_abs(), running: row.get(2)? })
    };
    connection.prepare_cached(sql)?.query_row([session_id], read).optional()
}

/// Who had the session last, let it run out and never gave it back.
pub(super) fn left(
    connection: &Connection,
    session_id: i64,
    session: &SessionIdentity,
) -> rusqlite::Result<Option<Lease>> {
    let sql =
        concat!("SELECT owner, fence FROM lease WHERE session_id = ?1 AND expires_at > 0 AND expires_at <= ", now!());
    let read = |row: &rusqlite::Row<'_>| {
        let (owner, fence) = (row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs());
        Ok(Lease { session: session.clone(), owner, fence })
    };
    connection.prepare_cached(sql)?.query_row([session_id], read).optional()
}

/// The lease that some process holds and that has not run out.
pub(super) fn current(connection: &Connection, session: &SessionIdentity) -> Result<Option<Lease>, TransactionError> {
    let sql = concat!(
        "SELECT lease.owner, lease.fence FROM lease JOIN session ON session.id = lease.session_id
         WHERE session.conversation = ?1 AND session.channel = ?2 AND lease.expires_at > ",
        now!()
    );
    let read = |row: &rusqlite::Row<'_>| {
        let (owner, fence) = (row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs());
        Ok(Lease { session: session.clone(), owner, fence })
    };
    let names = params![session.conversation.as_str(), session.channel.as_str()];
    Ok(connection.prepare_cached(sql)?.query_row(names, read).optional()?)
}

/// The lease after a submission was carried out.
pub(super) fn settle(
    connection: &Connection,
    session_id: i64,
    holder: Option<&Holder>,
    submission: &Submission,
) -> rusqlite::Result<Option<Lease>> {
    match &submission.leasing {
        Leasing::None | Leasing::Held(_) => Ok(None),
        Leasing::Take { owner, ttl } => {
            take(connection, session_id, &submission.session, holder, owner, *ttl).map(Some)
        }
        Leasing::Release(lease) => end_lease(connection, session_id, lease).map(|()| None),
    }
}

/// The lease after a submission that had been carried out before. A lease that it released stays released.
pub(super) fn settle_again(
    connection: &Connection,
    session_id: i64,
    submission: &Submission,
) -> rusqlite::Result<Option<Lease>> {
    match &submission.leasing {
        Leasing::None | Leasing::Held(_) | Leasing::Release(_) => Ok(None),
        Leasing::Take { owner, ttl } => {
            let holder = holder(connection, session_id)?;
            take_if_free(connection, session_id, &submission.session, holder.as_ref(), owner, *ttl)
        }
    }
}

fn take_if_free(
    connection: &Connection,
    session_id: i64,
    session: &SessionIdentity,
    holder: Option<&Holder>,
    owner: &str,
    ttl: Duration,
) -> rusqlite::Result<Option<Lease>> {
    if !is_free_for(holder, owner) {
        return Ok(None);
    }
    take(connection, session_id, session, holder, owner, ttl).map(Some)
}

/// No other process writes while this transaction is open, so `holder` is still the holder.
fn take(
    connection: &Connection,
    session_id: i64,
    session: &SessionIdentity,
    holder: Option<&Holder>,
    owner: &str,
    ttl: Duration,
) -> rusqlite::Result<Lease> {
    let next = Holder::next(holder, owner);
    let sql = concat!(
        "INSERT INTO lease (session_id, owner, fence, expires_at) VALUES (?1, ?2, ?3, ",
        now!(),
        " + ?4) ON CONFLICT (session_id) DO UPDATE SET
             owner = excluded.owner, fence = excluded.fence, expires_at = excluded.expires_at"
    );
    connection.prepare_cached(sql)?.execute(params![session_id, next.owner, next.fence as i64, millis(ttl)])?;
    Ok(next.lease(session))
}

pub(super) fn renew(connection: &Connection, lease: &Lease, ttl: Duration) -> Result<bool, TransactionError> {
    let Some(row) = find_session(connection, &lease.session)? else { return Ok(false) };
    // One that was given back has run out long ago.
    let sql = concat!(
        "UPDATE lease SET expires_at = ",
        now!(),
        " + ?4 WHERE session_id = ?1 AND owner = ?2 AND fence = ?3 AND expires_at > 0"
    );
    let values = params![row.id, lease.owner, lease.fence as i64, millis(ttl)];
    Ok(connection.prepare_cached(sql)?.execute(values)? == 1)
}

fn millis(ttl: Duration) -> i64 {
    i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX / 2)
}

fn end_lease(connection: &Connection, session_id: i64, lease: &Lease) -> rusqlite::Result<()> {
    let sql = "UPDATE lease SET expires_at = 0 WHERE session_id = ?1 AND owner = ?2 AND fence = ?3";
    connection.prepare_cached(sql)?.execute(params![session_id, lease.owner, lease.fence as i64])?;
    Ok(())
}
