//! What migrations do that SQL alone cannot. Statements are unnamed, because a pooler may be in between.

use planwright_engine::ledger::text_for_row;
use tokio_postgres::{Client, Error};

use super::rows::row;
use super::statement::{execute, query};
use crate::encode::{self, SessionState};
use crate::plan_rows::{PlanRows, plan_before_version_3};
use crate::version_backfill::{EVENTS, VersionCounter};
use crate::waiting::{CANDIDATE, CANDIDATES, since_of_candidate};

/// Earlier versions kept the steps' outcomes in the plan's own row. What cannot be read is left as it is.
pub(super) async fn move_runs_out(client: &Client) -> Result<(), Error> {
    let candidates = "SELECT id FROM plan WHERE position('\"execution\":' IN body) > 0
                          AND NOT EXISTS (SELECT 1 FROM execution WHERE execution.plan_id = plan.id)
                      ORDER BY id";
    let find = "SELECT body FROM plan WHERE id = $1 FOR UPDATE";
    let update = "UPDATE plan SET body = $2 WHERE id = $1";
    // The columns that the table has in this version of the schema.
    let set_execution = "INSERT INTO execution (plan_id, steps, updated_at) VALUES ($1, $2, $3)
                         ON CONFLICT (plan_id) DO UPDATE SET steps = excluded.steps, updated_at = excluded.updated_at";
    let set_runs = include_str!("sql/set_runs.sql");
    for row in query(client, candidates, &[]).await? {
        let id: &str = row.try_get(0)?;
        let found = query(client, find, &[&id]).await?;
        let Some(found) = found.first() else { continue };
        let Some(plan) = plan_before_version_3(id, found.try_get(0)?) else { continue };
        let Ok(rows) = PlanRows::all(&plan) else { continue };
        let (Some(execution), Some(body)) = (rows.execution(), &rows.body) else { continue };
        let (positions, bodies): (Vec<_>, Vec<_>) = rows.runs.iter().map(|(at, body)| (*at, body.as_str())).unzip();
        execute(client, set_runs, &[&vec![id; positions.len()], &positions, &bodies]).await?;
        execute(client, update, &[&id, body]).await?;
        // Comes last: a plan that has it was moved.
        execute(client, set_execution, &[&id, &execution.steps, &execution.updated_at]).await?;
    }
    Ok(())
}

/// How many sessions are read at once.
const SESSIONS: i64 = 500;

/// Earlier versions kept a session's state in one text only. What cannot be read is left as it is.
pub(super) async fn fill_session_columns(client: &Client) -> Result<(), Error> {
    let find = "SELECT id, state FROM session WHERE id > $1 ORDER BY id LIMIT $2";
    let update = "UPDATE session SET turn_open = $2, planning = $3 WHERE id = $1";
    let mut after = i64::MIN;
    loop {
        let found = query(client, find, &[&after, &SESSIONS]).await?;
        let Some(last) = found.last() else { return Ok(()) };
        after = last.try_get(0)?;
        for row in &found {
            let Some(state) = SessionState::earlier(row.try_get(1)?) else { continue };
            if state.turn_open || state.planning {
                let id: i64 = row.try_get(0)?;
                execute(client, update, &[&id, &state.turn_open, &state.planning]).await?;
            }
        }
    }
}

/// How many entries are read at once: each of them can be a large document.
const ENTRIES: i64 = 50;

/// Earlier versions did not note which entry made which version. A plan with an entry that cannot be read is numbered up to
/// that entry.
pub(super) async fn fill_versions(client: &Client) -> Result<(), Error> {
    let find = "SELECT session_id, seq, plan_id, body FROM journal
                WHERE (session_id > $1 OR (session_id = $1 AND seq > $2)) AND plan_id IS NOT NULL
                    AND (position($3 IN body) > 0 OR position($4 IN body) > 0 OR position($5 IN body) > 0
                        OR position('{\"session\":' IN body) <> 1)
                ORDER BY session_id, seq LIMIT $6";
    let update = "UPDATE journal SET version = $3 WHERE session_id = $1 AND seq = $2";
    let [first, second, third] = EVENTS;
    let (mut counter, mut after) = (VersionCounter::default(), (i64::MIN, i64::MIN));
    loop {
        let found = query(client, find, &[&after.0, &after.1, &first, &second, &third, &ENTRIES]).await?;
        let Some(last) = found.last() else { return Ok(()) };
        after = (last.try_get(0)?, last.try_get(1)?);
        for row in &found {
            let (session_id, seq): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
            if let Some(version) = counter.note(row.try_get(2)?, row.try_get(3)?) {
                execute(client, update, &[&session_id, &seq, &i64::from(version)]).await?;
            }
        }
    }
}

/// Earlier versions had no list of the plans that may wait for a person.
pub(super) async fn fill_waiting_plans(client: &Client) -> Result<(), Error> {
    let candidate = format!("{CANDIDATE} $1");
    let runs = "SELECT position, body FROM step_run WHERE plan_id = $1 ORDER BY position";
    let set = include_str!("sql/set_waiting.sql");
    for found in query(client, CANDIDATES, &[]).await? {
        let id: &str = found.try_get(0)?;
        let runs = query(client, runs, &[&id]).await?;
        let runs = runs.iter().map(|run| Ok((run.try_get(0)?, run.try_get(1)?))).collect::<Result<_, Error>>()?;
        let plan = query(client, &candidate, &[&id]).await?;
        let Some(plan) = plan.first().map(row).transpose()? else { continue };
        if let Some(since) = since_of_candidate(&plan, runs) {
            execute(client, set, &[&vec![id], &vec![since]]).await?;
        }
    }
    Ok(())
}

/// Earlier versions had no text that a search looks through, and did not mark the sessions of agents. What cannot be read has neither.
pub(super) async fn fill_from_states(client: &Client) -> Result<(), Error> {
    let find = "SELECT id, state FROM session WHERE id > $1 ORDER BY id LIMIT $2";
    let mut after = i64::MIN;
    loop {
        let found = query(client, find, &[&after, &SESSIONS]).await?;
        let Some(last) = found.last() else { return Ok(()) };
        after = last.try_get(0)?;
        let (mut ids, mut texts) = (Vec::<i64>::new(), Vec::<String>::new());
        for row in &found {
            let Ok(session) = encode::session_from_text(String::new, row.try_get(1)?) else { continue };
            ids.push(row.try_get(0)?);
            texts.push(text_for_row(&session.search_text()));
            if !session.clients.is_empty() {
                execute(client, "UPDATE session SET has_agents = true WHERE id = $1", &[&row.try_get::<_, i64>(0)?])
                    .await?;
            }
        }
        execute(client, include_str!("sql/set_texts.sql"), &[&ids, &texts]).await?;
    }
}
