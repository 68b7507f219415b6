//! Whether the file can be read and written now.

use std::time::Duration;

use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::StoreFacts;
use tokio::time::timeout;

use super::readers::Readers;
use super::writer::Writer;

/// Health checks wait for other writers no longer than this.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
const REMOVE_PROBE: &str = "DELETE FROM claimed_request WHERE key = ''";

pub(super) async fn check(writer: &Writer, readers: &Readers) -> LedgerResult<StoreFacts> {
    let facts = readers.read(|connection| {
        let version: String = connection.query_row("SELECT sqlite_version()", [], |row| row.get(0))?;
        let schema = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        // Reading a table fails where the file is damaged.
        connection.query_row("SELECT count(*) FROM (SELECT id FROM session LIMIT 1)", [], |_| Ok(()))?;
        Ok(StoreFacts { kind: format!("SQLite {version}"), schema, told_by_others: false })
    });
    let facts = facts.await?;
    // It takes the lock and changes nothing, and fails where nothing may be changed.
    let written = writer.ask(|state| {
        state.connection.prepare_cached(REMOVE_PROBE)?.execute([])?;
        Ok(())
    });
    timeout(HEALTH_TIMEOUT, written).await.map_err(|_| late())??;
    Ok(facts)
}

/// The outcome of a write that ended a short while ago, else of a probe.
pub(super) async fn check_writable(writer: &Writer) -> LedgerResult<()> {
    match writer.health().recent() {
        Some(recent) => recent,
        None => write_probe(writer).await,
    }
}

/// Commits a change that leaves nothing behind. A page has to reach the disk for it, which fails when the disk is full.
async fn write_probe(writer: &Writer) -> LedgerResult<()> {
    let written = writer.ask(|state| {
        let sql = "INSERT INTO claimed_request (key, fingerprint, at) VALUES ('', '', 0) ON CONFLICT (key) DO NOTHING";
        state.connection.prepare_cached(sql)?.execute([])?;
        state.connection.prepare_cached(REMOVE_PROBE)?.execute([])?;
        Ok(())
    });
    timeout(HEALTH_TIMEOUT, written).await.map_err(|_| late())?
}

fn late() -> LedgerError {
    LedgerError::Unavailable(format!("nothing could be written within {} seconds", HEALTH_TIMEOUT.as_secs()))
}
