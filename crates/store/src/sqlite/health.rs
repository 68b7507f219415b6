//! Whether the file can be read and written now.

use std::time::Duration;

use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::StoreFacts;
use tokio::time::timeout;

use super::queries::Readers;
use super::writer::Writer;

/// Whoever asks wants to know it now.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn check(writer: &Writer, readers: &Readers) -> LedgerResult<StoreFacts> {
    let facts = readers.read(|connection| {
        let version: String = connection.query_row("SELECT sqlite_version()", [], |row| row.get(0))?;
        let schema = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        // Something of everybody's has to be read, which a damaged file does not give.
        connection.query_row("SELECT count(*) FROM (SELECT id FROM session LIMIT 1)", [], |_| Ok(()))?;
        Ok(StoreFacts { kind: format!("SQLite {version}"), schema, told_by_others: false })
    });
    let facts = facts.await?;
    // It has to wait for its place like everything that is written, and for the lock that all processes share.
    let late = || LedgerError::Unavailable(format!("nothing could be written within {} seconds", PATIENCE.as_secs()));
    let written = writer.ask(|state| {
        // It changes nothing, and is refused where nothing can be changed.
        state.connection.prepare_cached("DELETE FROM claimed_request WHERE key = ''")?.execute([])?;
        Ok(())
    });
    timeout(PATIENCE, written).await.map_err(|_| late())??;
    Ok(facts)
}
