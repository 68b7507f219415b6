//! The records about approvers and the approval policy.

use async_trait::async_trait;
use planwright_core::approval::record::SealedRecord;
use planwright_engine::ledger::{ApprovalStore, LedgerError, LedgerResult};

use crate::backend::{Backend, SqlLedger};
use crate::sql::{Row, Value, sql};

#[async_trait]
impl<B: Backend> ApprovalStore for SqlLedger<B> {
    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>> {
        let rows = self.0.lookup(sql!("SELECT seq, hash, body FROM approval_record ORDER BY seq")).await?;
        let record = |row: &Row| {
            let (seq, hash) = numbered_hash(row)?;
            let body = row.raw_text(2, || what(seq))?.unwrap_or_default();
            Ok(SealedRecord { seq, body, hash })
        };
        rows.iter().map(record).collect()
    }

    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>> {
        let rows = self.0.lookup(sql!("SELECT seq, hash FROM approval_record ORDER BY seq DESC LIMIT 1")).await?;
        Ok(rows.first().map(numbered_hash).transpose()?.map(|(_, hash)| hash))
    }

    async fn add_approval_record(&self, record: &SealedRecord) -> LedgerResult<bool> {
        // The number is taken if another process was faster. A record that was written before the connection broke is known
        // again by its hash.
        let statement = "INSERT INTO approval_record (seq, body, hash) VALUES (?1, ?2, ?3)
                         ON CONFLICT (seq) DO UPDATE SET seq = approval_record.seq WHERE approval_record.hash = ?3
                         RETURNING seq";
        let body = Value::raw_text(&record.body);
        Ok(!self.0.write(sql!(statement, record.seq, body, record.hash.to_vec())).await?.is_empty())
    }
}

fn numbered_hash(row: &Row) -> LedgerResult<(u64, [u8; 32])> {
    let seq = row.get(0)?;
    let hash = row.get::<&[u8]>(1)?.try_into();
    Ok((seq, hash.map_err(|_| LedgerError::damaged(what(seq), "its hash is not one"))?))
}

fn what(seq: u64) -> String {
    format!("record {seq} of the approvers")
}
