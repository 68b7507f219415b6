//! A session written back from its journal, at once.

use planwright_core::ids::{PlanId, RequestId};
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{JournalSource, LedgerError, RunsRow};

use super::executions::write_runs;
use super::rows::{session_id, write_search_text};
use super::submit::EntryRow;
use super::writer::WriterState;
use super::{TransactionError, auto, memory, waiting};
use crate::encode::SessionState;
use crate::plan_rows::PlanRows;
use crate::restore::{JournalReplay, RestoredEntry, RestoredSession};

impl WriterState {
    pub(super) fn restore(
        &mut self,
        restored: &RestoredSession,
        journal: &dyn JournalSource,
    ) -> Result<(), TransactionError> {
        let session = &restored.identity;
        if session_id(&self.connection, session)?.is_some() {
            return Err(Refusal::conflict(format!("There is a session {session} already.")).into());
        }
        let state = SessionState::of(&restored.session)?;
        let id = self.write_session(None, Some(&state), restored.head.seq as i64, session)?;
        let mut replay = JournalReplay::new(session, journal)?;
        for entry in replay.by_ref() {
            self.write_entries(id, std::iter::once(row(&entry?)))?;
        }
        replay.check_end(&restored.head)?;
        self.note_activity(id, None, self.connection.last_insert_rowid())?;
        for plan in restored.snapshot.plans.values() {
            let rows = PlanRows::all(plan)?;
            let seq = restored.last_about.get(&plan.id).map_or(0, |seq| *seq as i64);
            let missing = || LedgerError::Internal(format!("plan {} cannot be written: it has no content", plan.id));
            self.write_plan(id, plan, rows.body.as_deref().ok_or_else(missing)?, seq, true)?;
            write_runs(&self.connection, &rows, seq)?;
        }
        for row in restored.memories() {
            memory::write(&self.connection, id, &row)?;
        }
        write_search_text(&self.connection, id, &restored.session.search_text())?;
        let waiting = crate::waiting::waiting(&restored.snapshot);
        waiting::write(&self.connection, waiting.iter().map(|(plan, since)| (plan, Some(*since))))?;
        auto::write(&self.connection, id, RunsRow::of(&restored.session))?;
        self.written.push(session.clone());
        Ok(())
    }
}

fn row(entry: &RestoredEntry) -> EntryRow<'_> {
    EntryRow {
        seq: entry.seq,
        plan: entry.plan.as_ref().map(PlanId::as_str),
        request: entry.request.as_ref().map(RequestId::as_str),
        version: entry.version,
        body: &entry.body,
        hash: &entry.hash.0,
    }
}
