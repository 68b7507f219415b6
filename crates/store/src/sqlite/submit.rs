//! One command inside the writer's transaction: the session is loaded, the command is decided, the outcome is written.

use planwright_core::event::Event;
use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::plan::Plan;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult, PlanModeBefore, Submission};
use rusqlite::{OptionalExtension as _, params};

use super::executions::write_runs;
use super::rows::{ACTIVITY_LAG, check_not_cut_off, find_session, load};
use super::session_cache::CachedSession;
use super::writer::WriterState;
use super::{TransactionError, auto, leases, memory, rows, waiting};
use crate::apply_command::{AppliedCommand, apply_command, needs_active_plan};
use crate::encode::SessionState;
use crate::leasing::admit;
use crate::plan_rows::PlanRows;

/// A row of the journal.
pub(super) struct EntryRow<'a> {
    pub(super) seq: u64,
    pub(super) plan: Option<&'a str>,
    /// Set on the first entry that a request led to.
    pub(super) request: Option<&'a str>,
    /// The version of its plan that the entry made, if it made one.
    pub(super) version: Option<u32>,
    pub(super) body: &'a str,
    pub(super) hash: &'a [u8; 32],
}

impl WriterState {
    pub(super) fn submit(&mut self, submission: &Submission) -> Result<Committed, TransactionError> {
        let found = self.load(submission)?;
        let session_id = found.as_ref().map(|found| found.session_id);
        let holder = leases::holder_for(&self.connection, session_id, submission)?;
        let admitted = admit(holder.as_ref(), submission);
        // A request that was carried out before gets its answer, even if another owner holds the lease now.
        if (self.careful || admitted.is_err())
            && let Some(committed) = self.already_done(found.as_ref(), submission)?
        {
            return Ok(committed);
        }
        if let Err(error) = admitted {
            // Callers that wait for the session ask often. The session stays in the cache for its holder.
            found.into_iter().for_each(|found| self.cache.keep(found));
            return Err(error.into());
        }
        let (mut snapshot, mut head, bytes, activity) = match found {
            Some(found) => (found.snapshot, found.head, found.bytes, Some(found.activity)),
            None => (Snapshot::new(submission.session.clone()), Head::START, None, None),
        };
        let plan_mode_before = Some(PlanModeBefore::of(&snapshot));
        let outcome = apply_command(&mut snapshot, &mut head, submission);
        let written = match &outcome {
            Ok(applied) if !applied.entries.is_empty() => {
                self.written.push(submission.session.clone());
                let (session_id, last) = self.write(session_id, &snapshot, head, applied, submission)?;
                Some((session_id, self.note_activity(session_id, activity, last)?))
            }
            Ok(_) | Err(_) => None,
        };
        let added = outcome.as_ref().map_or(Some(0), AppliedCommand::bytes_added);
        let bytes = bytes.zip(added).map(|(bytes, added)| bytes + added);
        let stored = written.or(session_id.zip(activity));
        let kept = stored.map(|(session_id, activity)| CachedSession {
            session_id,
            head,
            snapshot: snapshot.clone(),
            activity,
            bytes,
        });
        // A request that writes nothing may be one that wrote the first time; one that writes twice fails by itself.
        if written.is_none()
            && let Some(committed) = self.already_done(kept.as_ref(), submission)?
        {
            return Ok(committed);
        }
        if let Some(kept) = kept {
            self.cache.keep(kept);
        }
        let events = outcome?.events;
        let lease = match stored {
            Some((session_id, _)) => leases::settle(&self.connection, session_id, holder.as_ref(), submission)?,
            None => None,
        };
        Ok(Committed { events, seq: head.seq, snapshot, lease, plan_mode_before })
    }

    /// The session with the plans that this command needs; `None` if there is no such session.
    fn load(&mut self, submission: &Submission) -> Result<Option<CachedSession>, TransactionError> {
        let mut kept = match self.cache.take(&submission.session) {
            Some(kept) => kept,
            None => {
                let Some(row) = find_session(&self.connection, &submission.session)? else { return Ok(None) };
                let mut snapshot = Snapshot::new(submission.session.clone());
                snapshot.session = Some(row.session.into());
                CachedSession { session_id: row.id, head: row.head, snapshot, activity: row.activity, bytes: None }
            }
        };
        let needs_active = needs_active_plan(&submission.command);
        let subject = submission.command.subject();
        let last = load(&self.connection, &mut kept.snapshot, kept.session_id, subject, needs_active)?;
        let named = submission.command.memory_subject(kept.snapshot.session.as_deref()).cloned();
        if let Some(named) = named {
            memory::load(&self.connection, &mut kept.snapshot, kept.session_id, &named)?;
        }
        check_not_cut_off(&submission.session, last, &kept.head)?;
        if last > 0 {
            kept.bytes = None;
        }
        Ok(Some(kept))
    }

    /// The outcome of this very request, if it was carried out before. It is rarely read: the index on requests fails a
    /// repeated one, and only then requests are looked up before they are carried out.
    fn already_done(
        &self,
        found: Option<&CachedSession>,
        submission: &Submission,
    ) -> Result<Option<Committed>, TransactionError> {
        let request = submission.context.request.as_str();
        let mut statement = self.connection.prepare_cached("SELECT session_id, seq FROM journal WHERE request = ?1")?;
        let first: Option<(i64, i64)> =
            statement.query_row([request], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((session_id, seq)) = first else { return Ok(None) };
        let Some(found) = found.filter(|found| found.session_id == session_id) else {
            return Err(Refusal::conflict(format!("Request {request} was made in another session.")).into());
        };
        let entries = rows::entries_of_request(&self.connection, session_id, seq)?;
        let events: Vec<_> = entries.into_iter().map(|entry| entry.event).collect();
        let mut snapshot = found.snapshot.clone();
        for plan in events.iter().filter_map(Event::plan) {
            load(&self.connection, &mut snapshot, session_id, Some(plan), false)?;
        }
        let lease = leases::settle_again(&self.connection, session_id, submission)?;
        let last = seq.unsigned_abs() + events.len() as u64 - 1;
        Ok(Some(Committed { events, seq: last, snapshot, lease, plan_mode_before: None }))
    }

    /// Writes everything or fails; a failure undoes the whole transaction. It returns the number of the session's row and that of
    /// its last entry over all sessions.
    fn write(
        &self,
        session_id: Option<i64>,
        snapshot: &Snapshot,
        head: Head,
        applied: &AppliedCommand,
        submission: &Submission,
    ) -> Result<(i64, i64), TransactionError> {
        // Whatever can fail without SQL fails here, before the first row is touched.
        // The rows of the session and of its active plan together name the last entry, so that one that is cut off is
        // missed. A change to any other plan is therefore noted with the session.
        let active = snapshot.session.as_ref().and_then(|session| session.plan_mode.active_plan.as_ref());
        let elsewhere = applied.plans.keys().any(|plan| Some(plan) != active);
        // A signature that was used is noted with the session as well.
        let signed = submission.context.by.presence.as_ref().is_some_and(|presence| presence.signature().is_some());
        let changed = elsewhere || signed || applied.events.iter().any(Event::changes_session);
        let state = snapshot.session.as_deref().filter(|_| changed).map(SessionState::of).transpose()?;
        let plans = applied
            .plans
            .iter()
            .filter_map(|(id, rewrite)| Some(PlanRows::of(snapshot.plan(id)?, rewrite)))
            .collect::<LedgerResult<Vec<_>>>()?;
        let seq = head.seq as i64;
        let session_id = self.write_session(session_id, state.as_ref(), seq, &submission.session)?;
        let mut request = Some(submission.context.request.as_str());
        let entries =
            applied.entries.iter().zip(&applied.events).zip(&applied.versions).map(|((entry, event), version)| {
                EntryRow {
                    seq: entry.seq,
                    plan: event.plan().map(PlanId::as_str),
                    request: request.take(),
                    version: *version,
                    body: &entry.body,
                    hash: &entry.hash.0,
                }
            });
        self.write_entries(session_id, entries)?;
        let last = self.connection.last_insert_rowid();
        for rows in plans {
            if let Some(body) = &rows.body {
                let new = applied.made().any(|made| *made == rows.plan.id);
                self.write_plan(session_id, rows.plan, body, seq, new)?;
            }
            write_runs(&self.connection, &rows, seq)?;
        }
        for row in &applied.memories {
            memory::write(&self.connection, session_id, row)?;
        }
        if let Some(text) = &applied.search_text {
            rows::write_search_text(&self.connection, session_id, text)?;
        }
        waiting::write(&self.connection, applied.waiting.iter().map(|(plan, since)| (plan, *since)))?;
        if let Some(row) = applied.auto {
            auto::write(&self.connection, session_id, row)?;
        }
        Ok((session_id, last))
    }

    /// Has the row of a session name its last entry once it names one that is too far behind; a row that was made just now names
    /// none. It returns the one that the row names.
    pub(super) fn note_activity(&self, session_id: i64, named: Option<i64>, last: i64) -> rusqlite::Result<i64> {
        match named {
            Some(named) if last - named < ACTIVITY_LAG => Ok(named),
            Some(_) | None => {
                let sql = "UPDATE session SET activity = ?2 WHERE id = ?1";
                self.connection.prepare_cached(sql)?.execute([session_id, last])?;
                Ok(last)
            }
        }
    }

    pub(super) fn write_session(
        &self,
        id: Option<i64>,
        state: Option<&SessionState>,
        seq: i64,
        session: &SessionIdentity,
    ) -> Result<i64, TransactionError> {
        match (id, state) {
            (Some(id), None) => Ok(id),
            (Some(id), Some(state)) => {
                let SessionState { text, turn_open, planning, asks_person, has_agents } = state;
                let sql = "UPDATE session SET state = ?2, seq = ?3 WHERE id = ?1";
                self.connection.prepare_cached(sql)?.execute(params![id, text, seq])?;
                // They rarely change, and to set one again would write its index anew.
                let sql = "UPDATE session SET turn_open = ?2, planning = ?3, asks_person = ?4, has_agents = ?5
                           WHERE id = ?1 AND (turn_open, planning, asks_person, has_agents) <> (?2, ?3, ?4, ?5)";
                let values = params![id, turn_open, planning, asks_person, has_agents];
                self.connection.prepare_cached(sql)?.execute(values)?;
                Ok(id)
            }
            (None, None) => {
                Err(LedgerError::Internal(format!("session {session} cannot be written: it has no state")).into())
            }
            (None, Some(state)) => {
                // A number that rows of a lost session still carry is not given out again.
                let sql =
                    "INSERT INTO session (id, channel, conversation, state, turn_open, planning, seq, asks_person,
                               has_agents)
                               VALUES (1 + max(
                               coalesce((SELECT max(id) FROM session), 0),
                               coalesce((SELECT max(session_id) FROM journal), 0),
                               coalesce((SELECT max(session_id) FROM plan), 0),
                               coalesce((SELECT max(session_id) FROM lease), 0),
                               coalesce((SELECT max(session_id) FROM memory_scope), 0),
                               coalesce((SELECT max(session_id) FROM auto_session), 0),
                               coalesce((SELECT max(session_id) FROM pointer), 0)), ?1, ?2, ?3, ?4, ?5, ?6, ?7,
                               ?8)";
                let (channel, conversation) = (session.channel.as_str(), session.conversation.as_str());
                let SessionState { text, turn_open, planning, asks_person, has_agents } = state;
                let values = params![channel, conversation, text, turn_open, planning, seq, asks_person, has_agents];
                Ok(self.connection.prepare_cached(sql)?.insert(values)?)
            }
        }
    }

    pub(super) fn write_entries<'a>(
        &self,
        session_id: i64,
        entries: impl Iterator<Item = EntryRow<'a>>,
    ) -> rusqlite::Result<()> {
        let sql = "INSERT INTO journal (session_id, seq, plan_id, request, version, body, hash)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for EntryRow { seq, plan, request, version, body, hash } in entries {
            statement.execute(params![session_id, seq as i64, plan, request, version, body, hash])?;
        }
        Ok(())
    }

    pub(super) fn write_plan(
        &self,
        session_id: i64,
        plan: &Plan,
        body: &str,
        seq: i64,
        new: bool,
    ) -> rusqlite::Result<()> {
        let (id, status, title) = (plan.id.as_str(), plan.status.as_str(), plan.display_title());
        let at = plan.updated_at.as_microsecond();
        if new {
            let sql = "INSERT INTO plan (id, session_id, number, style, status, title, body, seq, updated_at)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            let values = params![id, session_id, plan.number, plan.style().as_str(), status, title, body, seq, at];
            self.connection.prepare_cached(sql)?.execute(values)?;
        } else {
            let sql = "UPDATE plan SET status = ?2, title = ?3, body = ?4, seq = ?5, updated_at = ?6 WHERE id = ?1";
            self.connection.prepare_cached(sql)?.execute(params![id, status, title, body, seq, at])?;
        }
        Ok(())
    }
}
