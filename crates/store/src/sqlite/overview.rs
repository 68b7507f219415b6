//! Queries over all sessions: the plans that wait, unfinished work, and counts.

use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult, Page, StoredSession};
use planwright_engine::server_ledger::{PlanAnywhere, StoreCounts, Unfinished};
use rusqlite::{Connection, Row, params};

use super::TransactionError;
use super::leases::{self, now};
use super::paged::read_page;
use super::queries::{stored, summary};
use super::rows::{number, read_session, select_sessions, text};
use crate::encode;
use crate::overview::{below, in_hand, in_one_of, key_of, not_paused};

pub(super) fn plans_anywhere(
    connection: &Connection,
    statuses: &[PlanStatus],
    after: Option<u64>,
    limit: u32,
) -> Result<Page<PlanAnywhere>, TransactionError> {
    let Some(wanted) = in_one_of(statuses) else {
        return Ok(Page { items: Vec::new(), damaged: Vec::new(), next: None });
    };
    // An execution says to the nanosecond when its plan changed; without its last letter that is in the order of time. A
    // time that cannot be read is last.
    let changed = "CASE WHEN execution.updated_at IS NULL
             THEN strftime('%Y-%m-%dT%H:%M:%S', plan.updated_at / 1000000, 'unixepoch')
                 || printf('.%06d', plan.updated_at % 1000000)
             WHEN execution.updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z'
             THEN rtrim(execution.updated_at, 'Z') END";
    let sql = format!(
        "SELECT plan.number, plan.id, plan.status, plan.style, plan.title, plan.updated_at,
             execution.steps, execution.seq, execution.updated_at, execution.pause,
             session.channel || ':' || session.conversation, session.state, coalesce({changed}, '')
         FROM plan JOIN session ON session.id = plan.session_id LEFT JOIN execution ON execution.plan_id = plan.id
         WHERE {wanted} AND coalesce({changed}, '') < ?1
         ORDER BY coalesce({changed}, '') DESC, plan.row_id DESC
         LIMIT ?2"
    );
    read_page(connection, &sql, below(after)?, limit, |row| {
        Ok((key_of(&row.get::<_, String>(12)?), plan_anywhere(row)))
    })
}

fn plan_anywhere(row: &Row<'_>) -> LedgerResult<PlanAnywhere> {
    let position = number(row, 0, || "a plan".to_owned())?;
    let name = text(row, 10, || "a session".to_owned())?;
    let what = || format!("plan {position} of {name}");
    let session: SessionIdentity = name.parse().map_err(|error| LedgerError::damaged(what(), error))?;
    let plan = summary(row, position, &session)?;
    let state = encode::session_from_text(what, &text(row, 11, what)?)?;
    let active = state.plan_mode.active_plan.as_ref() == Some(&plan.id);
    Ok(PlanAnywhere { session, plan, active })
}

pub(super) fn unfinished(
    connection: &Connection,
    after: Option<u64>,
    limit: u32,
) -> Result<Page<Unfinished>, TransactionError> {
    let sql = concat!(
        select_sessions!(
            "LEFT JOIN lease ON lease.session_id = s.id
             WHERE NOT s.asks_person AND s.id IN (SELECT id FROM session WHERE turn_open
                            UNION SELECT plan.session_id FROM plan JOIN execution ON execution.plan_id = plan.id
                            WHERE plan.status = 'EXECUTING' AND "
        ),
        in_hand!(),
        " AND ",
        not_paused!(),
        ") AND s.id > ?1 AND coalesce(lease.expires_at, 0) <= ",
        now!(),
        " ORDER BY s.id LIMIT ?2"
    );
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let after = after.map_or(i64::MIN, |id| i64::try_from(id).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![after, limit])?;
    let (mut count, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        (count, last) = (count + 1, Some(row.get::<_, i64>(0)?.unsigned_abs()));
        match encode::set_damage_aside(read_session(row))? {
            Ok(row) => {
                let session = row.session.identity;
                let left_by = leases::left(connection, row.id, &session)?;
                page.items.push(Unfinished { session, seq: row.head.seq, left_by });
            }
            Err(damaged) => page.damaged.push(damaged),
        }
    }
    page.next = last.filter(|_| count == limit);
    Ok(page)
}

/// In the order of their row ids, which never change.
pub(super) fn asking(
    connection: &Connection,
    after: Option<u64>,
    limit: u32,
) -> Result<Page<StoredSession>, TransactionError> {
    let sql = select_sessions!("WHERE s.asks_person AND s.id > ?1 ORDER BY s.id LIMIT ?2");
    let after = after.map_or(i64::MIN, |id| i64::try_from(id).unwrap_or(i64::MAX));
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![after, limit])?;
    let (mut count, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        (count, last) = (count + 1, Some(row.get::<_, i64>(0)?.unsigned_abs()));
        encode::note(&mut page, read_session(row).and_then(stored))?;
    }
    page.next = last.filter(|_| count == limit);
    Ok(page)
}

pub(super) fn counts(connection: &Connection) -> Result<StoreCounts, TransactionError> {
    let sql = concat!(
        "SELECT (SELECT count(*) FROM session),
             (SELECT count(*) FROM session WHERE planning), (SELECT count(*) FROM session WHERE turn_open),
             (SELECT count(*) FROM plan WHERE plan.status = 'READY' AND ",
        in_hand!(),
        "), (SELECT count(*) FROM plan WHERE plan.status = 'EXECUTING' AND ",
        in_hand!(),
        ")"
    );
    let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(connection.prepare_cached(sql)?.query_row([], |row| {
        Ok(StoreCounts {
            sessions: count(row, 0)?,
            planning: count(row, 1)?,
            turns: count(row, 2)?,
            plans_ready: count(row, 3)?,
            plans_executing: count(row, 4)?,
        })
    })?)
}
