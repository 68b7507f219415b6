//! The rows of executions and of their steps.

use planwright_engine::ledger::{LedgerResult, is_working};
use rusqlite::{Connection, params};

use super::TransactionError;
use super::rows::text;
use super::sql::run;
use crate::plan_rows::{ExecutionRow, PlanRows, plan_before_version_3};
use crate::sql::sql;

/// How the steps of a plan went, in order.
pub(super) fn read_runs(
    connection: &Connection,
    plan: &str,
    what: impl Fn() -> String,
) -> Result<Vec<(i64, String)>, TransactionError> {
    let sql = "SELECT position, body FROM step_run WHERE plan_id = ?1 ORDER BY position";
    let runs = run(connection, &sql!(sql, plan))?;
    let runs = runs.iter().map(|run| Ok((run.read(0, &what)?, run.read(1, &what)?)));
    Ok(runs.collect::<LedgerResult<_>>()?)
}

/// Writes what changed beside the plan's own row. The stored rows are the ones that were read before, so they may be
/// overwritten.
pub(super) fn write_runs(connection: &Connection, rows: &PlanRows<'_>, seq: i64) -> rusqlite::Result<()> {
    let id = rows.plan.id.as_str();
    if rows.runs_anew {
        connection.prepare_cached("DELETE FROM step_run WHERE plan_id = ?1")?.execute([id])?;
    }
    let Some(execution) = rows.execution() else { return Ok(()) };
    let sql = "INSERT INTO execution (plan_id, steps, seq, updated_at, pause, working) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (plan_id) DO UPDATE SET steps = excluded.steps, seq = excluded.seq,
               updated_at = excluded.updated_at, pause = excluded.pause, working = excluded.working";
    let ExecutionRow { steps, updated_at, pause } = execution;
    let values = params![id, steps, seq, updated_at, pause, is_working(rows.plan)];
    connection.prepare_cached(sql)?.execute(values)?;
    write_steps(connection, id, rows)
}

fn write_steps(connection: &Connection, id: &str, rows: &PlanRows<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO step_run (plan_id, position, body) VALUES (?1, ?2, ?3)
               ON CONFLICT (plan_id, position) DO UPDATE SET body = excluded.body";
    let mut statement = connection.prepare_cached(sql)?;
    for (position, body) in &rows.runs {
        statement.execute(params![id, position, body])?;
    }
    Ok(())
}

/// Earlier versions kept the steps' outcomes in the plan's own row. What cannot be read is left as it is.
pub(super) fn move_runs_out(connection: &Connection) -> rusqlite::Result<()> {
    let ids = connection
        .prepare("SELECT row_id FROM plan WHERE instr(body, '\"execution\":') > 0 ORDER BY row_id")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut find = connection.prepare("SELECT id, body, seq FROM plan WHERE row_id = ?1")?;
    let mut update = connection.prepare("UPDATE plan SET body = ?2 WHERE row_id = ?1")?;
    for row_id in ids {
        let (id, body, seq) =
            find.query_row([row_id], |row| Ok((text(row, 0), text(row, 1), row.get::<_, i64>(2)?)))?;
        let Some(plan) = plan_before_version_3(&id, &body) else { continue };
        let Ok(rows) = PlanRows::all(&plan) else { continue };
        let Some(execution) = rows.execution() else { continue };
        update.execute(params![row_id, rows.body])?;
        // The columns that the table has in this version of the schema.
        let sql = "INSERT INTO execution (plan_id, steps, seq, updated_at) VALUES (?1, ?2, ?3, ?4)";
        connection.prepare_cached(sql)?.execute(params![id, execution.steps, seq, execution.updated_at])?;
        write_steps(connection, &id, &rows)?;
    }
    Ok(())
}
