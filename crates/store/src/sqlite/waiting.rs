//! The rows of the list of plans that may wait for a person.

use planwright_core::ids::PlanId;
use rusqlite::{Connection, params};

use super::TransactionError;
use super::executions::read_runs;
use super::sql::run;
use crate::sql::sql;
use crate::waiting::{CANDIDATE, CANDIDATES, since_of_candidate};

pub(super) fn write<'a>(
    connection: &Connection,
    changes: impl IntoIterator<Item = (&'a PlanId, Option<i64>)>,
) -> rusqlite::Result<()> {
    for (plan, since) in changes {
        match since {
            Some(since) => set(connection, plan.as_str(), since)?,
            None => {
                connection.prepare_cached("DELETE FROM waiting_plan WHERE plan_id = ?1")?.execute([plan.as_str()])?;
            }
        }
    }
    Ok(())
}

fn set(connection: &Connection, plan: &str, since: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO waiting_plan (plan_id, changed_at) VALUES (?1, ?2)
               ON CONFLICT (plan_id) DO UPDATE SET changed_at = excluded.changed_at";
    connection.prepare_cached(sql)?.execute(params![plan, since]).map(drop)
}

/// Earlier versions had no such list.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let candidates = run(connection, &sql!(CANDIDATES))?;
    let candidate = format!("{CANDIDATE} ?1");
    for id in candidates.iter().filter_map(|row| row.get::<&str>(0).ok()) {
        let runs = match read_runs(connection, id, || "outcomes of steps".to_owned()) {
            Ok(runs) => runs,
            // An outcome that cannot be read is damage of its plan.
            Err(TransactionError::Ledger(_)) => Vec::new(),
            Err(TransactionError::Sqlite(error)) => return Err(error),
        };
        let found = run(connection, &sql!(candidate.clone(), id))?;
        if let Some(since) = found.first().and_then(|row| since_of_candidate(row, runs)) {
            set(connection, id, since)?;
        }
    }
    Ok(())
}
