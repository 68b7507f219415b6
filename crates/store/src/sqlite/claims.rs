//! Requests that clients may send twice. Only the writer thread claims them, so the first caller gets the claim.

use std::time::Duration;

use jiff::Timestamp;
use planwright_engine::ledger::LedgerError;
use planwright_engine::server_ledger::{Claim, ClaimedRequest, StoredAnswer};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;
use crate::claims::{ClaimRow, FORGOTTEN_AT_ONCE, cutoff};

pub(super) fn claim(
    connection: &Connection,
    request: &ClaimedRequest,
    now: Timestamp,
    keep: Duration,
) -> Result<Claim, TransactionError> {
    let cutoff = cutoff(now, keep);
    let sql = "DELETE FROM claimed_request WHERE key = ?3 AND at < ?1
                   OR key IN (SELECT key FROM claimed_request WHERE at < ?1 ORDER BY at LIMIT ?2)";
    connection.prepare_cached(sql)?.execute(params![cutoff, FORGOTTEN_AT_ONCE, request.key])?;
    let sql = "INSERT INTO claimed_request (key, fingerprint, at) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO NOTHING";
    let values = params![request.key, request.fingerprint, now.as_microsecond()];
    if connection.prepare_cached(sql)?.execute(values)? == 1 {
        return Ok(Claim::New);
    }
    let sql = "SELECT fingerprint, at, status, body FROM claimed_request WHERE key = ?1";
    let known = connection.prepare_cached(sql)?.query_row([&request.key], |row| {
        Ok(ClaimRow { fingerprint: row.get(0)?, at: row.get(1)?, status: row.get(2)?, body: row.get(3)? })
    });
    let known = known.optional()?.ok_or_else(|| LedgerError::Internal("a claimed request is gone".to_owned()))?;
    Ok(known.claim(request)?)
}

pub(super) fn keep_answer(connection: &Connection, key: &str, answer: &StoredAnswer) -> Result<(), TransactionError> {
    let sql = "UPDATE claimed_request SET status = ?2, body = ?3 WHERE key = ?1";
    connection.prepare_cached(sql)?.execute(params![key, answer.status, answer.body])?;
    Ok(())
}

pub(super) fn forget(connection: &Connection, key: &str) -> Result<(), TransactionError> {
    connection.prepare_cached("DELETE FROM claimed_request WHERE key = ?1")?.execute([key])?;
    Ok(())
}
