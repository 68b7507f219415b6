//! The records about approvers and the approval policy.

use planwright_core::approval::record::SealedRecord;
use planwright_engine::ledger::LedgerError;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;

pub(super) fn records(connection: &Connection) -> Result<Vec<SealedRecord>, TransactionError> {
    let mut statement = connection.prepare_cached("SELECT seq, body, hash FROM approval_record ORDER BY seq")?;
    let mut rows = statement.query([])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, i64>(0)?.unsigned_abs();
        let hash: Vec<u8> = row.get(2)?;
        let hash = hash.try_into().map_err(|_| damaged(seq))?;
        records.push(SealedRecord { seq, body: row.get(1)?, hash });
    }
    Ok(records)
}

pub(super) fn head(connection: &Connection) -> Result<Option<[u8; 32]>, TransactionError> {
    let sql = "SELECT seq, hash FROM approval_record ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let last = statement.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
    let Some((seq, hash)) = last else { return Ok(None) };
    Ok(Some(hash.try_into().map_err(|_| damaged(seq.unsigned_abs()))?))
}

/// The number is taken if another process was faster.
pub(super) fn add(connection: &Connection, record: &SealedRecord) -> Result<bool, TransactionError> {
    let sql = "INSERT INTO approval_record (seq, body, hash) VALUES (?1, ?2, ?3) ON CONFLICT (seq) DO NOTHING";
    let added = connection.prepare_cached(sql)?.execute(params![record.seq as i64, record.body, record.hash])?;
    Ok(added == 1)
}

fn damaged(seq: u64) -> LedgerError {
    LedgerError::damaged(format!("record {seq} of the approvers"), "its hash is not one")
}
