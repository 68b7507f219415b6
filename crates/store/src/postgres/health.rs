//! Whether the database can be read and written now.

use std::time::Duration;

use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::StoreFacts;
use tokio::time::timeout;

use super::changes::Changes;
use super::readers::{Readers, get};
use super::writer_pool::WriterPool;

/// Whoever asks wants to know it now.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn check(writers: &WriterPool, readers: &Readers, changes: &Changes) -> LedgerResult<StoreFacts> {
    if !writers.are_open() {
        return Err(LedgerError::Unavailable("the writer has stopped".to_owned()));
    }
    let ask = async {
        let facts = readers.query("SELECT version(), version FROM planwright_schema WHERE one = 1", &[]).await?;
        // It changes nothing, and is refused where nothing can be changed.
        readers.query("DELETE FROM claimed_request WHERE key = ''", &[]).await?;
        let row = facts.first().ok_or_else(|| LedgerError::Internal("the schema has no version".to_owned()))?;
        let (kind, schema): (String, i32) = (get(row, 0)?, get(row, 1)?);
        // The rest of it is about how it was built.
        let kind = kind.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ");
        Ok(StoreFacts { kind, schema: schema.unsigned_abs(), told_by_others: changes.reach_others() })
    };
    let late =
        || LedgerError::Unavailable(format!("the database gave no answer within {} seconds", PATIENCE.as_secs()));
    timeout(PATIENCE, ask).await.map_err(|_| late())?
}
