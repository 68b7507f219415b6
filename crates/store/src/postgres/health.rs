//! Whether the database can be read and written now.

use std::time::Duration;

use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::StoreFacts;
use tokio::time::timeout;

use super::changes::Changes;
use super::readers::{Readers, get};
use super::writer_pool::WriterPool;

/// Health checks wait for the database no longer than this.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
const REMOVE_PROBE: &str = "DELETE FROM claimed_request WHERE key = ''";

pub(super) async fn check(writers: &WriterPool, readers: &Readers, changes: &Changes) -> LedgerResult<StoreFacts> {
    let ask = async {
        let facts = readers.query("SELECT version(), version FROM planwright_schema WHERE one = 1", &[]).await?;
        let row = facts.first().ok_or_else(|| LedgerError::Internal("the schema has no version".to_owned()))?;
        let (kind, schema): (String, i32) = (get(row, 0)?, get(row, 1)?);
        // The rest of it is about how it was built.
        let kind = kind.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ");
        LedgerResult::Ok(StoreFacts { kind, schema: schema.unsigned_abs(), told_by_others: changes.reach_others() })
    };
    if !writers.are_open() {
        return Err(LedgerError::Unavailable("the writer has stopped".to_owned()));
    }
    let facts = timeout(HEALTH_TIMEOUT, ask).await.map_err(|_| late())??;
    // It changes nothing, and fails where nothing may be changed.
    timeout(HEALTH_TIMEOUT, readers.write(REMOVE_PROBE, &[])).await.map_err(|_| late())??;
    Ok(facts)
}

/// The outcome of a write that ended a short while ago, else of a probe.
pub(super) async fn check_writable(writers: &WriterPool, readers: &Readers) -> LedgerResult<()> {
    match readers.health().recent() {
        Some(recent) => recent,
        None => write_probe(writers, readers).await,
    }
}

/// Commits a row and removes it again.
async fn write_probe(writers: &WriterPool, readers: &Readers) -> LedgerResult<()> {
    if !writers.are_open() {
        return Err(LedgerError::Unavailable("the writer has stopped".to_owned()));
    }
    let write = async {
        let sql = "INSERT INTO claimed_request (key, fingerprint, at, claim) VALUES ('', '', 0, '')
                   ON CONFLICT (key) DO UPDATE SET at = 0";
        readers.write(sql, &[]).await?;
        readers.write(REMOVE_PROBE, &[]).await
    };
    timeout(HEALTH_TIMEOUT, write).await.map_err(|_| late())??;
    readers.health().note_success();
    Ok(())
}

fn late() -> LedgerError {
    LedgerError::Unavailable(format!("the database gave no answer within {} seconds", HEALTH_TIMEOUT.as_secs()))
}
