//! One command: decided, applied and written, all of it or nothing.

use std::sync::Arc;

use planwright_core::decide;
use planwright_core::event::Event;
use planwright_core::ids::RequestId;
use planwright_core::journal::{Entry, Head};
use planwright_core::plan::Plan;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, CommittedRequest, Leasing, LedgerError, LedgerResult, PlanModeBefore, Submission,
};

use super::{Kept, State};
use crate::sabotage::Sabotage;
use crate::world::{Occurrence, World};

impl State {
    pub(crate) fn submit(&mut self, world: &World, owner: &str, submission: &Submission) -> LedgerResult<Committed> {
        if let Some(committed) = self.already_done(world, submission)? {
            return Ok(committed);
        }
        if let Some(kept) = self.sessions.get(&submission.session) {
            kept.admit(world, submission)?;
        }
        let mut snapshot = self.snapshot(&submission.session, submission.command.subject());
        if let Some(memory) = submission.command.memory_subject(snapshot.session.as_deref()).cloned() {
            self.load_memory(&mut snapshot, &memory);
        }
        let open = snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        if submission.turn.as_ref().is_some_and(|turn| open.is_none_or(|open| open.id != *turn)) {
            return Err(Refusal::wrong_status("This turn has ended.").into());
        }
        let plan_mode_before = Some(PlanModeBefore::of(&snapshot));
        let events = decide(&snapshot, &submission.command, &submission.context, &submission.policy)?;
        let before = self.sessions.get(&submission.session).map_or(0, |kept| kept.head.seq);
        events.iter().zip(before + 1..).for_each(|(event, seq)| snapshot.apply(event, &submission.context, seq));
        let seq = self.write(world, owner, submission, &snapshot, &events)?;
        let kept = self.kept_mut(&submission.session)?;
        let lease = kept.settle(world, submission);
        Ok(Committed { events, seq, snapshot, lease, plan_mode_before })
    }

    /// The outcome of this very request, if it was carried out before.
    fn already_done(&mut self, world: &World, submission: &Submission) -> LedgerResult<Option<Committed>> {
        let (session, request) = (&submission.session, &submission.context.request);
        if world.sabotage == Some(Sabotage::RequestsAreForgotten) || !self.requests.contains_key(request) {
            return Ok(None);
        }
        let Some(CommittedRequest { events, seq }) = self.find_request(world, session, request) else {
            return Err(Refusal::conflict(format!("Request {request} was made in another session.")).into());
        };
        let snapshot =
            self.snapshot(session, events.iter().filter_map(Event::plan).chain(submission.command.subject()));
        let lease = self.kept_mut(session)?.settle_again(world, submission);
        Ok(Some(Committed { events, seq, snapshot, lease, plan_mode_before: None }))
    }

    /// What the request wrote in the session, if it was carried out there.
    pub(crate) fn find_request(
        &self,
        world: &World,
        session: &SessionIdentity,
        request: &RequestId,
    ) -> Option<CommittedRequest> {
        if world.sabotage == Some(Sabotage::RequestsAreForgotten) {
            return None;
        }
        let (_, first, count) = self.requests.get(request).filter(|(made_in, ..)| made_in == session)?;
        let seq = first + count - 1;
        let entries = &self.sessions.get(session)?.entries[*first as usize - 1..seq as usize];
        Some(CommittedRequest { events: entries.iter().map(|entry| entry.event.clone()).collect(), seq })
    }

    /// The journal's last number afterwards.
    fn write(
        &mut self,
        world: &World,
        owner: &str,
        submission: &Submission,
        snapshot: &Snapshot,
        events: &[Event],
    ) -> LedgerResult<u64> {
        let session = &submission.session;
        if events.is_empty() {
            return Ok(self.sessions.get(session).map_or(0, |kept| kept.head.seq));
        }
        let Some(state) = snapshot.session.as_deref().cloned() else {
            return Err(LedgerError::Internal(format!("session {session} was written to and is not there")));
        };
        self.written += 1;
        let kept = self.sessions.entry(session.clone()).or_insert_with(|| Kept {
            session: state.clone(),
            plans: Default::default(),
            head: Head::START,
            sealed: Vec::new(),
            entries: Vec::new(),
            holder: None,
            last_written: 0,
        });
        let first = kept.head.seq + 1;
        for event in events {
            let sealed = kept.head.seal(session, &submission.context, event).expect("every event can be written");
            let entry: Entry = serde_json::from_str(&sealed.body)
                .map_err(|error| LedgerError::Internal(format!("an entry cannot be read again: {error}")))?;
            kept.sealed.push(sealed);
            kept.entries.push(entry);
        }
        for id in events.iter().filter_map(Event::plan) {
            if let Some((id, plan)) = snapshot.plans.get_key_value(id) {
                kept.plans.insert(id.clone(), read_again(plan)?);
            }
        }
        kept.session = state;
        kept.last_written = self.written;
        let last = kept.head.seq;
        let request = submission.context.request.clone();
        self.requests.insert(request, (session.clone(), first, last + 1 - first));
        self.remember(session, events);
        let under = match &submission.leasing {
            Leasing::Held(lease) | Leasing::Release(lease) => Some(lease.fence),
            Leasing::None | Leasing::Take { .. } => None,
        };
        world.happened(Occurrence::Wrote { owner: owner.to_owned(), session: session.clone(), first, last, under });
        Ok(last)
    }

    /// Takes the last submission back, as if it had never been written.
    pub(crate) fn lose(&mut self, submission: &Submission, before: u64) {
        let Some(kept) = self.sessions.get_mut(&submission.session) else { return };
        kept.sealed.truncate(before as usize);
        kept.entries.truncate(before as usize);
        let mut snapshot = Snapshot::new(submission.session.clone());
        let mut head = Head::START;
        for (entry, sealed) in kept.entries.iter().zip(&kept.sealed) {
            snapshot.apply(&entry.event, &entry.context(), entry.seq);
            head = Head { seq: sealed.seq, hash: sealed.hash };
        }
        let replayed =
            Snapshot { memories: std::mem::take(&mut snapshot.memories), ..Snapshot::new(submission.session.clone()) };
        if let Some(session) = snapshot.session.as_deref() {
            (kept.session, kept.plans, kept.head) = (session.clone(), snapshot.plans, head);
        }
        self.forget_lost(&replayed);
    }
}

/// A plan as it comes back from where it was stored.
fn read_again(plan: &Arc<Plan>) -> LedgerResult<Arc<Plan>> {
    let trouble = |error: serde_json::Error| LedgerError::Internal(format!("plan {}: {error}", plan.id));
    let text = serde_json::to_string(plan.as_ref()).map_err(trouble)?;
    let mut read: Plan = serde_json::from_str(&text).map_err(trouble)?;
    // A store keeps this beside the rest.
    if let (Some(execution), Some(kept)) = (&mut read.execution, &plan.execution) {
        execution.pause = kept.pause;
    }
    Ok(Arc::new(read))
}
