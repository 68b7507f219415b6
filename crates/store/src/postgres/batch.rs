//! Many callers' commands in one transaction: everything they need is read at once, decided in memory, and written at
//! once. A refused command has written nothing, so it fails nobody else.

mod loading;
mod place;
mod restoring;
mod writing;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use planwright_core::command::Command;
use planwright_core::event::Event;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Committed, DamagedRow, LedgerError, LedgerResult, Submission, is_plan_mode_on};

use super::changes::Changes;
use super::connection::Connection;
use super::errors::Failure;
use crate::carry_out::{carry_out, needs_active_plan};
use place::Place;
pub(super) use restoring::restore;

/// What a batch came to.
pub(super) struct Outcomes {
    pub(super) told: Vec<LedgerResult<Committed>>,
    /// How large the plans were that it had to read.
    pub(super) loaded: usize,
}

/// Carries all of them out in one transaction. The outcomes may be told once this has returned; a failure means that
/// nothing is stored, or, if the connection broke, that it is not known.
pub(super) async fn commit(
    connection: &Connection,
    changes: &Changes,
    submissions: &[&Submission],
) -> Result<Outcomes, Failure> {
    let mut batch = loading::load(connection, submissions).await?;
    // A command that panics leaves the batch half done, so all of it is given up; one at a time, it fails alone.
    let told =
        catch_unwind(AssertUnwindSafe(|| submissions.iter().map(|submission| batch.carry_out(submission)).collect()))
            .map_err(|_| {
            LedgerError::Internal("a command could not be carried out; nothing of it was stored".to_owned())
        })?;
    if batch.changes_nothing() {
        connection.client.batch_execute("ROLLBACK").await?;
    } else {
        writing::write(connection, &batch).await?;
        changes.commit(&connection.client, batch.written()).await?;
    }
    Ok(Outcomes { told, loaded: batch.loaded })
}

/// Everything the commands need, and what they come to.
struct Batch<'a> {
    places: BTreeMap<&'a SessionIdentity, Place>,
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
    body: String,
    hash: [u8; 32],
}

impl<'a> Batch<'a> {
    fn changes_nothing(&self) -> bool {
        self.entries.is_empty() && self.places.values().all(|place| place.lease_runs.is_none())
    }

    /// The sessions whose journals grow.
    fn written(&self) -> Vec<SessionIdentity> {
        let written = self.places.iter().filter(|(_, place)| place.last_active.is_some());
        written.map(|(session, _)| (*session).clone()).collect()
    }

    fn carry_out(&mut self, submission: &'a Submission) -> LedgerResult<Committed> {
        let place = self
            .places
            .get_mut(&submission.session)
            .ok_or_else(|| LedgerError::Internal(format!("session {} was not laid out", submission.session)))?;
        place.check_readable()?;
        let request = &submission.stamp.request;
        if let Some(done) = self.done.get(request) {
            return done.answer(place, submission);
        }
        place.admit(submission)?;
        if needs_active_plan(&submission.command) {
            place.check_active()?;
        }
        if let Some(subject) = submission.command.subject() {
            place.check_plan(subject)?;
            if matches!(submission.command, Command::Import(_)) {
                self.homes.get(subject).map_or(Ok(()), |home| place.check_home(subject, *home))?;
            }
        }
        let plan_mode_was_on = Some(is_plan_mode_on(&place.snapshot));
        let prepared = carry_out(&mut place.snapshot, &mut place.head, submission)?;
        let snapshot = place.desk_after(submission, &prepared.events);
        let seq = place.head.seq;
        if prepared.events.is_empty() {
            let lease = place.settle(submission);
            return Ok(Committed { events: prepared.events, seq, snapshot, lease, plan_mode_was_on });
        }
        let session_id = place.note(&prepared, submission)?;
        let lease = place.settle(submission);
        let mut first = Some(request);
        for (entry, event) in prepared.entries.into_iter().zip(&prepared.events) {
            let (plan, request) = (event.plan().cloned(), first.take());
            let (seq, body, hash) = (entry.seq, entry.body, entry.hash.0);
            self.entries.push(NewEntry { session_id, seq, plan, request, body, hash });
        }
        self.done.insert(request, Done { session_id, last: seq, events: Ok(prepared.events.clone()) });
        Ok(Committed { events: prepared.events, seq, snapshot, lease, plan_mode_was_on })
    }
}

impl Done {
    /// The outcome of the first time.
    fn answer(&self, place: &mut Place, submission: &Submission) -> LedgerResult<Committed> {
        if place.id != Some(self.session_id) {
            let request = &submission.stamp.request;
            return Err(Refusal::conflict(format!("Request {request} was made in another session.")).into());
        }
        match &self.events {
            Ok(events) => Ok(Committed {
                events: events.clone(),
                seq: self.last,
                snapshot: place.desk_after(submission, events),
                lease: place.settle_again(submission),
                plan_mode_was_on: None,
            }),
            Err(damaged) => Err(LedgerError::damaged(damaged.what.clone(), &damaged.reason)),
        }
    }
}
