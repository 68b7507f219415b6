//! Many callers' commands in one transaction: everything they need is read at once, decided in memory, and written at
//! once. A refused command has written nothing, so it does not fail the others.

mod load;
mod restore;
mod session;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use futures::{join, poll};
use planwright_core::command::Command;
use planwright_core::event::Event;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Committed, DamagedRow, LedgerError, LedgerResult, PlanModeBefore, Submission};

use super::changes::Changes;
use super::errors::DatabaseError;
use super::writer_connection::WriterConnection;
use crate::apply_command::{apply_command, needs_active_plan};
pub(super) use restore::restore;
use session::BatchSession;
use write::RowWriter;

pub(super) struct Outcomes {
    /// The outcome of each submission. `None` if another transaction holds its session, so that nothing was done.
    pub(super) of_each: Vec<Option<LedgerResult<Committed>>>,
    /// How large the plans were that it had to read.
    pub(super) loaded: usize,
    /// Whether anything was committed.
    pub(super) wrote: bool,
}

/// Carries all of them out in one transaction. The outcomes may be told once this has returned; a failure means that
/// nothing is stored, or, if the connection broke, that it is not known.
pub(super) async fn commit(
    connection: &WriterConnection,
    changes: &Changes,
    submissions: &[&Submission],
) -> Result<Outcomes, DatabaseError> {
    let mut batch = load::load(connection, submissions).await?;
    // A command that panics leaves the batch half done, so all of it is given up; one at a time, it fails alone.
    let of_each =
        catch_unwind(AssertUnwindSafe(|| submissions.iter().map(|submission| batch.submit(submission)).collect()))
            .map_err(|_| {
                LedgerError::Internal("a command could not be carried out; nothing of it was stored".to_owned())
            })?;
    let wrote = !batch.changes_nothing();
    if !wrote {
        connection.client.batch_execute("ROLLBACK").await?;
    } else {
        let sessions = batch.written();
        if batch.has_memories() {
            RowWriter::new(connection).write(&batch).await?;
            changes.commit_for_others(&connection.client, &sessions).await?;
        } else {
            commit_behind(connection, changes, &batch, &sessions).await?;
        }
        changes.notify_here(sessions);
    }
    Ok(Outcomes { of_each, loaded: batch.loaded, wrote })
}

/// Writes the rows and sends the commit behind them, without waiting for their answers: a row that cannot be written fails the
/// transaction, and a failed transaction is rolled back by its commit.
async fn commit_behind(
    connection: &WriterConnection,
    changes: &Changes,
    batch: &Batch<'_>,
    sessions: &[SessionIdentity],
) -> Result<(), DatabaseError> {
    let rows = RowWriter::new(connection);
    let mut writing = pin!(rows.write(batch));
    let sent = poll!(writing.as_mut());
    match sent {
        Poll::Ready(written) => written?,
        // A statement that cannot be sent is known at once. The server knows nothing of it, and would commit the others.
        Poll::Pending if rows.has_failed() => writing.await?,
        Poll::Pending => {
            let (written, committed) = join!(writing, changes.commit_for_others(&connection.client, sessions));
            written?;
            return committed;
        }
    }
    changes.commit_for_others(&connection.client, sessions).await
}

/// Everything that the commands need, and their results.
struct Batch<'a> {
    sessions: BTreeMap<&'a SessionIdentity, BatchSession>,
    /// Requests that were carried out before, in this batch or long ago.
    done: HashMap<&'a RequestId, Done>,
    /// The row ids of the sessions in which plans were found.
    homes: HashMap<PlanId, i64>,
    /// How large the plans are that were found.
    loaded: usize,
    entries: Vec<NewEntry<'a>>,
}

struct Done {
    session_id: i64,
    /// The number of the last entry it led to.
    last: u64,
    events: Result<Vec<Event>, DamagedRow>,
}

struct NewEntry<'a> {
    session_id: i64,
    seq: u64,
    plan: Option<PlanId>,
    request: Option<&'a RequestId>,
    /// The version of its plan that the entry made, if it made one.
    version: Option<u32>,
    body: String,
    hash: [u8; 32],
}

impl<'a> Batch<'a> {
    fn changes_nothing(&self) -> bool {
        self.entries.is_empty() && self.sessions.values().all(|session| session.lease_runs.is_none())
    }

    /// Whether memories are written, each of which depends on the answer to the one before it.
    fn has_memories(&self) -> bool {
        self.sessions.values().any(|session| !session.memories.is_empty())
    }

    /// The sessions whose journals grow.
    fn written(&self) -> Vec<SessionIdentity> {
        let written = self.sessions.iter().filter(|(_, session)| session.last_active.is_some());
        written.map(|(session, _)| (*session).clone()).collect()
    }

    fn submit(&mut self, submission: &'a Submission) -> Option<LedgerResult<Committed>> {
        let busy = self.sessions.get(&submission.session).is_some_and(|session| session.busy);
        (!busy).then(|| self.carry_out(submission))
    }

    fn carry_out(&mut self, submission: &'a Submission) -> LedgerResult<Committed> {
        let session = self
            .sessions
            .get_mut(&submission.session)
            .ok_or_else(|| LedgerError::Internal(format!("session {} was not loaded", submission.session)))?;
        session.check_readable()?;
        let request = &submission.context.request;
        if let Some(done) = self.done.get(request) {
            return done.answer(session, submission);
        }
        session.admit(submission)?;
        if needs_active_plan(&submission.command) {
            session.check_active()?;
        }
        if let Some(subject) = submission.command.subject() {
            session.check_plan(subject)?;
            if matches!(submission.command, Command::Import(_)) {
                self.homes.get(subject).map_or(Ok(()), |home| session.check_home(subject, *home))?;
            }
        }
        let plan_mode_before = PlanModeBefore::of(&session.snapshot);
        let applied = apply_command(&mut session.snapshot, &mut session.head, submission)?;
        let snapshot = session.snapshot_after(submission, &applied.events, plan_mode_before.active_plan.as_ref());
        let plan_mode_before = Some(plan_mode_before);
        let seq = session.head.seq;
        if applied.events.is_empty() {
            let lease = session.settle(submission);
            return Ok(Committed { events: applied.events, seq, snapshot, lease, plan_mode_before });
        }
        let session_id = session.note(&applied, submission)?;
        let lease = session.settle(submission);
        let mut first = Some(request);
        for ((entry, event), version) in applied.entries.into_iter().zip(&applied.events).zip(applied.versions) {
            let (plan, request) = (event.plan().cloned(), first.take());
            let (seq, body, hash) = (entry.seq, entry.body, entry.hash.0);
            self.entries.push(NewEntry { session_id, seq, plan, request, version, body, hash });
        }
        self.done.insert(request, Done { session_id, last: seq, events: Ok(applied.events.clone()) });
        Ok(Committed { events: applied.events, seq, snapshot, lease, plan_mode_before })
    }
}

impl Done {
    /// The outcome of the first time.
    fn answer(&self, session: &mut BatchSession, submission: &Submission) -> LedgerResult<Committed> {
        if session.id != Some(self.session_id) {
            let request = &submission.context.request;
            return Err(Refusal::conflict(format!("Request {request} was made in another session.")).into());
        }
        match &self.events {
            Ok(events) => Ok(Committed {
                events: events.clone(),
                seq: self.last,
                snapshot: session.snapshot_after(submission, events, None),
                lease: session.settle_again(submission),
                plan_mode_before: None,
            }),
            Err(damaged) => Err(LedgerError::damaged(damaged.what.clone(), &damaged.reason)),
        }
    }
}
