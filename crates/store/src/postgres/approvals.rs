//! The records about approvers and the approval policy.

use planwright_core::approval::record::SealedRecord;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use tokio_postgres::{Error, Row};

use super::errors::DatabaseError;
use super::readers::Readers;

pub(super) async fn records(readers: &Readers) -> LedgerResult<Vec<SealedRecord>> {
    let rows = readers.query("SELECT seq, body, hash FROM approval_record ORDER BY seq", &[]).await?;
    rows.iter().map(record).collect()
}

pub(super) async fn head(readers: &Readers) -> LedgerResult<Option<[u8; 32]>> {
    let sql = "SELECT seq, ''::bytea, hash FROM approval_record ORDER BY seq DESC LIMIT 1";
    let last = readers.query(sql, &[]).await?.first().map(record).transpose()?;
    Ok(last.map(|record| record.hash))
}

/// The number is taken if another process was faster. A record that was written before the connection broke is known again
/// by its hash.
pub(super) async fn add(readers: &Readers, record: &SealedRecord) -> LedgerResult<bool> {
    let sql = "INSERT INTO approval_record (seq, body, hash) VALUES ($1, $2, $3)
               ON CONFLICT (seq) DO UPDATE SET seq = approval_record.seq WHERE approval_record.hash = $3 RETURNING seq";
    let (seq, body, hash) = (record.seq as i64, record.body.as_bytes(), record.hash.as_slice());
    Ok(!readers.write(sql, &[&seq, &body, &hash]).await?.is_empty())
}

fn record(row: &Row) -> LedgerResult<SealedRecord> {
    let columns =
        || -> Result<(i64, Vec<u8>, Vec<u8>), Error> { Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)) };
    let (seq, body, hash) = columns().map_err(|error| DatabaseError::from(error).to_error())?;
    let what = || format!("record {seq} of the approvers");
    let hash = hash.try_into().map_err(|_| LedgerError::damaged(what(), "its hash is not one"))?;
    let body = String::from_utf8(body).map_err(|error| LedgerError::damaged(what(), error))?;
    Ok(SealedRecord { seq: seq.unsigned_abs(), body, hash })
}
