//! Requests that clients may send twice. Of several processes that claim the same request at once, one inserts its row.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use planwright_engine::ledger::{Claim, ClaimedRequest, LedgerError, LedgerResult, StoredAnswer};

use crate::encode::{self, micros};
use crate::sql::{Row, Sql, Value, sql};

/// How many requests that are too old are removed with each new one: more than come in, and few enough to be quick.
const FORGOTTEN_AT_ONCE: i64 = 20;
/// How often another process may forget the same request between the insert and the read.
const ATTEMPTS: u32 = 5;

pub(crate) async fn claim<B: Sql>(
    sql: &B,
    request: &ClaimedRequest,
    now: Timestamp,
    keep: Duration,
) -> LedgerResult<Claim> {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
    static CLAIMS: AtomicU64 = AtomicU64::new(0);
    // A claim is known again when the connection broke before it was answered.
    let claim = format!("{:016x}-{}", *PROCESS, CLAIMS.fetch_add(1, Ordering::Relaxed));
    let now = now.as_microsecond();
    let cutoff = now.saturating_sub(micros(keep));
    let forget = format!(
        "DELETE FROM claimed_request WHERE key IN (
             SELECT key FROM claimed_request WHERE at < ?1 ORDER BY at LIMIT ?2 {})",
        B::SKIP_LOCKED
    );
    // A row that is too old does not count. A row of this very claim exists because the statement was sent twice.
    let add = "INSERT INTO claimed_request (key, fingerprint, at, claim) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, at = excluded.at,
                   claim = excluded.claim, status = NULL, body = NULL
               WHERE claimed_request.at < ?5 OR claimed_request.claim = excluded.claim
               RETURNING key";
    let (key, fingerprint) = (&request.key, &request.fingerprint);
    for _ in 0..ATTEMPTS {
        let forget = sql!(forget.clone(), cutoff, FORGOTTEN_AT_ONCE);
        let written = sql.write_all(vec![forget, sql!(add, key, fingerprint, now, &claim, cutoff)]).await?;
        if written.last().is_some_and(|rows| !rows.is_empty()) {
            return Ok(Claim::New);
        }
        let find = "SELECT fingerprint, at, status, body FROM claimed_request WHERE key = ?1";
        if let Some(row) = sql.lookup(sql!(find, key)).await?.first() {
            return known(row, request);
        }
    }
    Err(LedgerError::Unavailable("others claim and forget the same request all the time".to_owned()))
}

/// The answer to a client that sends it again.
fn known(row: &Row, request: &ClaimedRequest) -> LedgerResult<Claim> {
    let what = || format!("the claimed request {}", request.key);
    if row.get::<&str>(0)? != request.fingerprint {
        return Ok(Claim::Other);
    }
    match (row.get::<Option<i64>>(2)?, row.raw_text(3, what)?) {
        (Some(status), Some(body)) => {
            let status = u16::try_from(status).map_err(|error| LedgerError::damaged(what(), error))?;
            Ok(Claim::Answered(StoredAnswer { status, body }))
        }
        (None, _) | (_, None) => Ok(Claim::Begun { at: encode::timestamp(what, row.get(1)?)? }),
    }
}

pub(crate) async fn keep_answer(sql: &impl Sql, key: &str, answer: &StoredAnswer) -> LedgerResult<()> {
    let statement = "UPDATE claimed_request SET status = ?2, body = ?3 WHERE key = ?1";
    sql.write(sql!(statement, key, answer.status, Value::raw_text(&answer.body))).await.map(drop)
}
