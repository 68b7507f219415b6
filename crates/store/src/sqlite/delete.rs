//! A session and everything of it, gone at once.

use planwright_core::refusal::Refusal;
use planwright_engine::ledger::Lease;

use super::rows::session_id;
use super::writer::WriterState;
use super::{TransactionError, leases};
use crate::backend::SESSION_ROWS;
use crate::leasing::check_held;

/// How many deletions are remembered for processes that look for them many times a second.
const TRACES: i64 = 500;

impl WriterState {
    pub(super) fn delete_session(&mut self, lease: &Lease) -> Result<(), TransactionError> {
        let session = &lease.session;
        let id = session_id(&self.connection, session)?
            .ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
        check_held(leases::holder(&self.connection, id)?.as_ref(), lease)?;
        for sql in SESSION_ROWS {
            self.connection.prepare_cached(sql)?.execute([id])?;
        }
        let sql = "INSERT INTO deleted_session (name, journal_end) SELECT ?1, coalesce(max(id), 0) FROM journal";
        let last = self.connection.prepare_cached(sql)?.insert([session.to_string()])?;
        let sql = "DELETE FROM deleted_session WHERE id <= ?1";
        self.connection.prepare_cached(sql)?.execute([last - TRACES])?;
        self.cache.take(session);
        self.written.push(session.clone());
        Ok(())
    }
}
