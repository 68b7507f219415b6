//! Rows of an earlier version, put where they belong now.

use tokio_postgres::{Client, Error};

use crate::encode::SessionState;
use crate::runs::{PlanRows, earlier_plan};

/// Earlier versions kept the steps' outcomes in the plan's own row. What cannot be read is left as it is.
pub(super) async fn move_runs_out(client: &Client) -> Result<(), Error> {
    let candidates = "SELECT id FROM plan WHERE position('\"execution\":' IN body) > 0
                          AND NOT EXISTS (SELECT 1 FROM execution WHERE execution.plan_id = plan.id)
                      ORDER BY id";
    let find = client.prepare("SELECT body FROM plan WHERE id = $1 FOR UPDATE").await?;
    let update = client.prepare("UPDATE plan SET body = $2 WHERE id = $1").await?;
    // The columns that the table has in this version of the schema.
    let set_execution = "INSERT INTO execution (plan_id, steps, updated_at) VALUES ($1, $2, $3)
                         ON CONFLICT (plan_id) DO UPDATE SET steps = excluded.steps, updated_at = excluded.updated_at";
    let set_execution = client.prepare(set_execution).await?;
    let set_runs = client.prepare(include_str!("sql/set_runs.sql")).await?;
    for row in client.query(candidates, &[]).await? {
        let id: &str = row.try_get(0)?;
        let Some(found) = client.query_opt(&find, &[&id]).await? else { continue };
        let Some(plan) = earlier_plan(id, found.try_get(0)?) else { continue };
        let Ok(rows) = PlanRows::all(&plan) else { continue };
        let Some(execution) = rows.execution() else { continue };
        let (positions, bodies): (Vec<_>, Vec<_>) = rows.runs.iter().map(|(at, body)| (*at, body.as_str())).unzip();
        client.execute(&set_runs, &[&vec![id; positions.len()], &positions, &bodies]).await?;
        client.execute(&update, &[&id, &rows.body]).await?;
        // Comes last: a plan that has it was moved.
        client.execute(&set_execution, &[&id, &execution.steps, &execution.updated_at]).await?;
    }
    Ok(())
}

/// How many sessions are looked at at once.
const SESSIONS: i64 = 500;

/// Earlier versions kept a session's state in one text only. What cannot be read is left as it is.
pub(super) async fn fill_session_columns(client: &Client) -> Result<(), Error> {
    let find = client.prepare("SELECT id, state FROM session WHERE id > $1 ORDER BY id LIMIT $2").await?;
    let update = client.prepare("UPDATE session SET turn_open = $2, planning = $3 WHERE id = $1").await?;
    let mut after = i64::MIN;
    loop {
        let found = client.query(&find, &[&after, &SESSIONS]).await?;
        let Some(last) = found.last() else { return Ok(()) };
        after = last.try_get(0)?;
        for row in &found {
            let Some(state) = SessionState::earlier(row.try_get(1)?) else { continue };
            if state.turn_open || state.planning {
                let id: i64 = row.try_get(0)?;
                client.execute(&update, &[&id, &state.turn_open, &state.planning]).await?;
            }
        }
    }
}
