//! The version of the schema: the one that this program works with, and the one that the file has.

use planwright_engine::ledger::LedgerError;
use rusqlite::Connection;

use super::TransactionError;

/// The version of the schema that this program works with.
pub(super) const KNOWN_SCHEMA: u32 = 17;

/// Fails if a newer program has upgraded the file. Asked inside a write transaction it holds until its end.
pub(super) fn schema_version(connection: &Connection) -> Result<u32, TransactionError> {
    let found = connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get::<_, u32>(0))?;
    if found > KNOWN_SCHEMA { Err(LedgerError::TooNew { found, known: KNOWN_SCHEMA }.into()) } else { Ok(found) }
}
