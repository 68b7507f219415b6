//! Sessions with schedules and runs. Due ones are taken with `SKIP LOCKED`, so exactly one process gets each.

use std::time::Duration;

use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerResult, Page, StoredSession};
use planwright_engine::server_ledger::RunsFilter;

use super::readers::{Readers, get, select_sessions, small, sound};
use super::rows;
use crate::auto_rows::column;
use crate::encode;

pub(super) async fn take_due(
    readers: &Readers,
    now: Timestamp,
    keep: Duration,
    limit: u32,
) -> LedgerResult<Vec<SessionIdentity>> {
    let now = now.as_microsecond();
    let until = now.saturating_add(i64::try_from(keep.as_micros()).unwrap_or(i64::MAX));
    let found = readers.write(include_str!("sql/take_due.sql"), &[&now, &until, &i64::from(limit)]).await?;
    let mut taken = Vec::with_capacity(found.len());
    for row in &found {
        // A session whose name cannot be read is taken, so that it does not stand in the way of the others.
        taken.extend(encode::set_damage_aside(sound(rows::identity(row)))?);
    }
    Ok(taken)
}

/// In the order of their row ids, which never change.
pub(super) async fn sessions_with_runs(
    readers: &Readers,
    which: RunsFilter,
    after: Option<u64>,
    limit: u32,
) -> LedgerResult<Page<StoredSession>> {
    let select = select_sessions!("JOIN auto_session ON auto_session.session_id = session.id");
    let sql = format!("{select} WHERE auto_session.{} AND session.id > $1 ORDER BY session.id LIMIT $2", column(which));
    let after = after.map_or(i64::MIN, small);
    let found = readers.query(&sql, &[&after, &i64::from(limit)]).await?;
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    for row in &found {
        encode::note(&mut page, sound(rows::stored_session(row)))?;
    }
    let last = found.last().filter(|_| found.len() == limit as usize);
    page.next = last.map(|row| get::<i64>(row, 0)).transpose()?.map(i64::unsigned_abs);
    Ok(page)
}
