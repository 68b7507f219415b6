//! Requests that clients may send twice. Of several processes that claim the same request at once, one inserts its row.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::{Claim, ClaimedRequest, StoredAnswer};
use tokio_postgres::{Error, Row};

use super::errors::DatabaseError;
use super::readers::Readers;
use crate::claims::{ClaimRow, FORGOTTEN_AT_ONCE, cutoff};

/// How often another process may forget the same request between the insert and the read.
const ATTEMPTS: u32 = 5;

/// `process` distinguishes this process from all others.
pub(super) async fn claim(
    readers: &Readers,
    process: &str,
    request: &ClaimedRequest,
    now: Timestamp,
    keep: Duration,
) -> LedgerResult<Claim> {
    static CLAIMS: AtomicU64 = AtomicU64::new(0);
    // A claim is known again when the connection broke before it was answered.
    let claim = format!("{process}-{}", CLAIMS.fetch_add(1, Ordering::Relaxed));
    let cutoff = cutoff(now, keep);
    readers.write(include_str!("sql/forget_claims.sql"), &[&cutoff, &FORGOTTEN_AT_ONCE]).await?;
    let (key, fingerprint, at) = (&request.key, &request.fingerprint, now.as_microsecond());
    for _ in 0..ATTEMPTS {
        let claimed = readers.write(include_str!("sql/claim.sql"), &[key, fingerprint, &at, &claim, &cutoff]).await?;
        if !claimed.is_empty() {
            return Ok(Claim::New);
        }
        let sql = "SELECT fingerprint, at, status, body FROM claimed_request WHERE key = $1";
        if let Some(row) = readers.query(sql, &[key]).await?.first() {
            return known(row).map_err(|error| DatabaseError::from(error).to_error())?.claim(request);
        }
    }
    Err(LedgerError::Unavailable("others claim and forget the same request all the time".to_owned()))
}

fn known(row: &Row) -> Result<ClaimRow, Error> {
    let body: Option<Vec<u8>> = row.try_get("body")?;
    Ok(ClaimRow {
        fingerprint: row.try_get("fingerprint")?,
        at: row.try_get("at")?,
        status: row.try_get("status")?,
        body: body.map(|body| String::from_utf8_lossy(&body).into_owned()),
    })
}

pub(super) async fn keep_answer(readers: &Readers, key: &str, answer: &StoredAnswer) -> LedgerResult<()> {
    let sql = "UPDATE claimed_request SET status = $2, body = $3 WHERE key = $1";
    readers.write(sql, &[&key, &i64::from(answer.status), &answer.body.as_bytes()]).await?;
    Ok(())
}

pub(super) async fn forget(readers: &Readers, key: &str) -> LedgerResult<()> {
    readers.write("DELETE FROM claimed_request WHERE key = $1", &[&key]).await?;
    Ok(())
}
