//! Small records in the ledger, each with its key.

use planwright_engine::ledger::{ChatStore, LedgerError, LedgerResult};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A record, and the revision that a change names.
#[derive(Debug, Clone)]
pub(crate) struct Stored<T> {
    pub(crate) revision: u64,
    pub(crate) value: T,
}

/// `None` also for a record that cannot be read: a later version wrote it.
pub(crate) async fn read<T: DeserializeOwned>(
    ledger: &(impl ChatStore + ?Sized),
    key: &str,
) -> LedgerResult<Option<Stored<T>>> {
    let Some(record) = ledger.keyed_record(key).await? else { return Ok(None) };
    let value = serde_json::from_str(&record.body).ok();
    Ok(value.map(|value| Stored { revision: record.revision, value }))
}

/// Writes a record if its revision is still `expected`; 0 for a new one.
pub(crate) async fn write<T: Serialize>(
    ledger: &(impl ChatStore + ?Sized),
    key: &str,
    expected: u64,
    value: &T,
) -> LedgerResult<bool> {
    ledger.put_keyed_record(key, expected, &text(value)?).await
}

/// Writes a record, whatever was in it.
pub(crate) async fn replace<T: Serialize>(
    ledger: &(impl ChatStore + ?Sized),
    key: &str,
    value: &T,
) -> LedgerResult<()> {
    let body = text(value)?;
    for _ in 0..16 {
        let revision = ledger.keyed_record(key).await?.map_or(0, |record| record.revision);
        if ledger.put_keyed_record(key, revision, &body).await? {
            return Ok(());
        }
    }
    Err(LedgerError::Unavailable("other processes change the same record all the time".to_owned()))
}

pub(crate) fn text<T: Serialize>(value: &T) -> LedgerResult<String> {
    serde_json::to_string(value).map_err(|error| LedgerError::Internal(format!("a record cannot be written: {error}")))
}
