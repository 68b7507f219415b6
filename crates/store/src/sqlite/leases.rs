//! Leases that commands take, hold and release, by this machine's clock.

use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, Leasing, Submission};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::leasing::{Holder, is_free_for};

/// The time in milliseconds, as SQLite says it.
macro_rules! now {
    () => {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    };
}

pub(super) use now;

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

fn millis(ttl: Duration) -> i64 {
    i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX / 2)
}

fn end_lease(connection: &Connection, session_id: i64, lease: &Lease) -> rusqlite::Result<()> {
    let sql = "UPDATE lease SET expires_at = 0 WHERE session_id = ?1 AND owner = ?2 AND fence = ?3";
    connection.prepare_cached(sql)?.execute(params![session_id, lease.owner, lease.fence as i64])?;
    Ok(())
}
