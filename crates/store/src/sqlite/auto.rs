//! The rows that schedules and runs are found by.

use planwright_engine::ledger::RunsRow;
use rusqlite::{Connection, params};

use super::TransactionError;

pub(super) fn write(connection: &Connection, session_id: i64, row: RunsRow) -> Result<(), TransactionError> {
    if row.is_empty() {
        connection.prepare_cached("DELETE FROM auto_session WHERE session_id = ?1")?.execute([session_id])?;
        return Ok(());
    }
    // A session whose schedules changed can be taken again.
    let sql = "INSERT INTO auto_session (session_id, due_at, running, waits, taken_until) VALUES (?1, ?2, ?3, ?4, 0)
               ON CONFLICT (session_id) DO UPDATE SET
                   taken_until = CASE WHEN due_at IS excluded.due_at THEN taken_until ELSE 0 END,
                   due_at = excluded.due_at, running = excluded.running, waits = excluded.waits";
    connection.prepare_cached(sql)?.execute(params![session_id, row.due_at, row.running, row.waits])?;
    Ok(())
}
