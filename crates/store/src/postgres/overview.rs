//! Queries over all sessions: the plans that wait, unfinished work, and counts.

use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, LedgerError, LedgerResult, Page};
use planwright_engine::server_ledger::{PlanAnywhere, StoreCounts, Unfinished};
use tokio_postgres::{Error, Row};

use super::readers::{Readers, get, select_sessions, small, sound};
use super::rows::{self, Read};
use crate::encode;
use crate::overview::{below, in_hand, in_one_of, key_of, not_paused};
use crate::paging::{self, PageEnd, page_end};

pub(super) async fn plans_anywhere(
    readers: &Readers,
    statuses: &[PlanStatus],
    after: Option<u64>,
    limit: u32,
) -> LedgerResult<Page<PlanAnywhere>> {
    let Some(wanted) = in_one_of(statuses) else {
        return Ok(Page { items: Vec::new(), damaged: Vec::new(), next: None });
    };
    // An execution says to the nanosecond when its plan changed; without its last letter that is in the order of time. A
    // damaged time is last, or brought into the range of what the database can print, so that it does not fail the list.
    let changed = r#"coalesce(CASE WHEN execution.updated_at IS NULL
               THEN to_char(to_timestamp(least(greatest(plan.updated_at, 0), 253402300799000000) / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
                   || '.' || lpad((least(greatest(plan.updated_at, 0), 253402300799000000) % 1000000)::text, 6, '0')
               WHEN execution.updated_at ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.*Z$'
               THEN rtrim(execution.updated_at, 'Z') END, '') COLLATE "C""#;
    let sql = format!(
        "SELECT plan.id, plan.number, plan.status, plan.style, plan.title, plan.updated_at,
               execution.steps, execution.updated_at AS changed_at, execution.pause,
               session.channel, session.conversation, session.state, {changed} AS key
           FROM plan JOIN session ON session.id = plan.session_id LEFT JOIN execution ON execution.plan_id = plan.id
           WHERE {wanted} AND {changed} < $1
           ORDER BY {changed} DESC, plan.id DESC
           LIMIT $2"
    );
    let (below, mut read) = (below(after)?, paging::first_read(limit));
    loop {
        let found = readers.query(&sql, &[&below, &i64::from(read)]).await?;
        let mut keys = Vec::with_capacity(found.len());
        for row in &found {
            keys.push(key_of(&get::<String>(row, 12)?));
        }
        match page_end(&keys, limit, read) {
            PageEnd::After { rows, next } => {
                let mut page = Page { items: Vec::new(), damaged: Vec::new(), next };
                found.iter().take(rows).try_for_each(|row| encode::note(&mut page, sound(plan_anywhere(row))))?;
                return Ok(page);
            }
            PageEnd::ReadMore(more) => read = more,
        }
    }
}

fn plan_anywhere(row: &Row) -> Read<PlanAnywhere> {
    let (number, state): (i64, &str) = (row.try_get("number")?, row.try_get("state")?);
    let name = rows::name(row)?;
    let what = || format!("plan {number} of {name}");
    let session = match rows::identity(row)? {
        Ok(session) => session,
        Err(damaged) => return Ok(Err(damaged)),
    };
    let summary = rows::plan_summary(row, &session)?;
    Ok(summary.and_then(|plan| {
        let state = encode::session_from_text(what, state)?;
        let active = state.plan_mode.active_plan.as_ref() == Some(&plan.id);
        Ok(PlanAnywhere { session, plan, active })
    }))
}

pub(super) async fn unfinished(readers: &Readers, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
    let sql = concat!(
        "SELECT found.*, lease.owner AS left_by, lease.fence AS left_fence FROM (",
        select_sessions!(
            "WHERE session.id IN (SELECT id FROM session WHERE turn_open
                                  UNION SELECT plan.session_id FROM plan JOIN execution ON execution.plan_id = plan.id
                                  WHERE plan.status = 'EXECUTING' AND "
        ),
        in_hand!(),
        " AND ",
        not_paused!(),
        ") AND session.id > $2 AND NOT EXISTS (SELECT 1 FROM lease
                           WHERE lease.session_id = session.id AND lease.expires_at > clock_timestamp())
           ORDER BY session.id LIMIT $1
         ) AS found LEFT JOIN lease ON lease.session_id = found.id AND lease.expires_at > to_timestamp(0)
         ORDER BY found.id"
    );
    let after = after.map_or(i64::MIN, small);
    let found = readers.query(sql, &[&i64::from(limit), &after]).await?;
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    for row in &found {
        match encode::set_damage_aside(sound(rows::stored_session(row)))? {
            Ok(stored) => {
                let session = stored.session.identity;
                let left_by = left_by(row, &session).map_err(|error| LedgerError::Internal(error.to_string()))?;
                page.items.push(Unfinished { session, seq: stored.head.seq, left_by });
            }
            Err(damaged) => page.damaged.push(damaged),
        }
    }
    if let Some(last) = found.last().filter(|_| found.len() == limit as usize) {
        page.next = Some(get::<i64>(last, 0)?.unsigned_abs());
    }
    Ok(page)
}

fn left_by(row: &Row, session: &SessionIdentity) -> Result<Option<Lease>, Error> {
    let (owner, fence): (Option<String>, Option<i64>) = (row.try_get("left_by")?, row.try_get("left_fence")?);
    let lease = |(owner, fence): (String, i64)| Lease { session: session.clone(), owner, fence: fence.unsigned_abs() };
    Ok(owner.zip(fence).map(lease))
}

pub(super) async fn counts(readers: &Readers) -> LedgerResult<StoreCounts> {
    let sql = concat!(
        "SELECT (SELECT count(*) FROM session),
             (SELECT count(*) FROM session WHERE planning), (SELECT count(*) FROM session WHERE turn_open),
             (SELECT count(*) FROM plan WHERE plan.status = 'READY' AND ",
        in_hand!(),
        "), (SELECT count(*) FROM plan WHERE plan.status = 'EXECUTING' AND ",
        in_hand!(),
        ")"
    );
    let found = readers.query(sql, &[]).await?;
    let row = found.first().ok_or_else(|| LedgerError::Internal("the database counts nothing".to_owned()))?;
    let count = |column| get::<i64>(row, column).map(i64::unsigned_abs);
    Ok(StoreCounts {
        sessions: count(0)?,
        planning: count(1)?,
        turns: count(2)?,
        plans_ready: count(3)?,
        plans_executing: count(4)?,
    })
}
