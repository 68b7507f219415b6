//! Take-over: work whose process ended in the middle of it continues here. A turn that ended is ended; what it left
//! open waits for a person and is not taken over.
//!
//! - [`beats`]: the heartbeats of the servers

mod beats;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{Ledger, LedgerResult, Unfinished};
use planwright_engine::model::REHEARSAL;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Agent;
use super::leases::end_dead_leases;
use crate::session::input::{ChatLocation, Input, Request};
use crate::session::outcome::Outcome;
use crate::state::EndedServers;

/// How often the ledger is asked for unfinished work.
const INTERVAL: Duration = Duration::from_secs(1);
/// How many sessions one query returns; all pages are read in every pass.
const PAGE: u32 = 256;
/// How many sessions are worked on at once. They mostly wait for a model.
const MAX_CONCURRENT: usize = 1024;
/// How long a session is left alone after its take-over failed: doubled with every failure in a row.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(300));
/// How often the log repeats that a damaged session cannot be taken over.
const DAMAGE_REPEATED: Duration = Duration::from_secs(3600);

/// What is known of an unfinished session from earlier passes.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// The journal's last number when it was seen.
    seq: u64,
    state: CandidateState,
}

#[derive(Debug, Clone, Copy)]
enum CandidateState {
    /// Seen once. Its owner may only be between two writes.
    SeenOnce,
    /// Taken over as far as this process can; nothing more happens until the journal grows.
    Done,
    /// The take-over failed so many times in a row, and is tried again at this moment.
    Failed { failures: u32, retry_at: Instant },
}

/// The sessions of earlier passes, and the damage that was logged.
#[derive(Debug, Default)]
struct Watchlist {
    candidates: HashMap<SessionIdentity, Candidate>,
    damage_logged: HashMap<String, Instant>,
}

pub(super) struct Takeover {
    agent: Agent,
}

impl Takeover {
    pub(super) fn new(agent: Agent) -> Self {
        Self { agent }
    }

    pub(super) async fn run(self, stop: CancellationToken) {
        let ledger = Arc::clone(self.agent.engine().ledger());
        let mut watchlist = Watchlist::default();
        let (tasks, room) = (TaskTracker::new(), Arc::new(Semaphore::new(MAX_CONCURRENT)));
        let (failed, mut failures) = mpsc::unbounded_channel();
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tasks.spawn(beats::run(Arc::clone(&self.agent.context), stop.clone()));
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = self.agent.context.ended_servers.found() => {}
                _ = ticks.tick() => {}
            }
            while let Ok(session) = failures.try_recv() {
                watchlist.note_failure(&session);
            }
            // A server that others may count as dead takes nothing over.
            if !self.agent.context.beats.is_valid() {
                continue;
            }
            if let Err(error) = end_dead_leases(&self.agent.context, None).await {
                tracing::warn!(event = "take_over_failed", %error);
            }
            let ours = match self.find(&mut watchlist, ledger.as_ref()).await {
                Ok(ours) => ours,
                Err(error) => {
                    tracing::warn!(event = "take_over_failed", %error);
                    continue;
                }
            };
            for left in watchlist.ready(ours, &self.agent.context.ended_servers) {
                let Ok(room) = Arc::clone(&room).try_acquire_owned() else {
                    // The next pass finds it again.
                    watchlist.candidates.remove(&left.session);
                    continue;
                };
                let (agent, failed) = (self.agent.clone(), failed.clone());
                tasks.spawn(async move {
                    if resume_session(&agent, &left).await.is_err() {
                        let _ = failed.send(left.session);
                    }
                    drop(room);
                });
            }
        }
        tasks.close();
        tasks.wait().await;
    }

    /// The unfinished sessions that this process may resume.
    async fn find(&self, watchlist: &mut Watchlist, ledger: &dyn Ledger) -> LedgerResult<Vec<Unfinished>> {
        let context = &self.agent.context;
        let mut found = watchlist.read_all(ledger).await?;
        let is_reliable = context.lease_clock.is_reliable(ledger, context.options.lease).await?;
        let is_free = |left: &Unfinished| left.left_by.as_ref().is_none_or(|lease| context.has_ended(&lease.owner));
        found.retain(|left| self.may_resume(&left.session) && (is_reliable || is_free(left)));
        Ok(found)
    }

    /// The rehearsal does not continue work that a real model began.
    fn may_resume(&self, session: &SessionIdentity) -> bool {
        let pretends = self.agent.model().name() == REHEARSAL && session.channel != Channel::Web;
        !pretends && !self.agent.is_active(session)
    }
}

async fn resume_session(agent: &Agent, left: &Unfinished) -> LedgerResult<()> {
    let session = &left.session;
    if let Err(error) = agent.engine().check_project_is_here(session).await {
        // A server that has the folder takes it up at once; this one looks again in a while.
        tracing::info!(session_identity = %session, event = "waits_for_project", %error);
        return Err(error);
    }
    let owner = left.left_by.as_ref().map(|lease| lease.owner.as_str());
    let outcome = resume_work(agent, session).await;
    match &outcome {
        Ok(true) => tracing::info!(session_identity = %session, event = "taken_over", owner, seq = left.seq),
        Ok(false) => {}
        Err(error) => tracing::warn!(session_identity = %session, event = "take_over_failed", %error),
    }
    outcome.map(drop)
}

/// Returns whether there was something to resume.
async fn resume_work(agent: &Agent, session: &SessionIdentity) -> LedgerResult<bool> {
    let by = Actor::system(session.channel.as_str());
    let place = ChatLocation::new(TransportChat(format!("server:{session}")), session.clone());
    let request = Request::new(place, by);
    let turn = agent.submit(Input::ResumeTurn, request.clone()).outcome().await?;
    let execution = agent.submit(Input::ResumeExecution, request).outcome().await?;
    Ok(turn != Outcome::NothingToDo || execution != Outcome::NothingToDo)
}

impl Watchlist {
    /// All unfinished sessions. Each damaged one is logged once, then rarely.
    async fn read_all(&mut self, ledger: &dyn Ledger) -> LedgerResult<Vec<Unfinished>> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = ledger.unfinished(after, PAGE).await?;
            found.extend(page.items);
            for damaged in page.damaged {
                let now = Instant::now();
                let logged = self.damage_logged.get(&damaged.what);
                if logged.is_none_or(|at| now.duration_since(*at) >= DAMAGE_REPEATED) {
                    tracing::warn!(event = "take_over_damaged", what = damaged.what, reason = damaged.reason);
                    self.damage_logged.insert(damaged.what, now);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Those to take over now. Sessions that are not unfinished any more are forgotten.
    fn ready(&mut self, unfinished: Vec<Unfinished>, ended: &EndedServers) -> Vec<Unfinished> {
        let before = std::mem::take(&mut self.candidates);
        let now = Instant::now();
        let mut ready = Vec::new();
        for left in unfinished {
            let seq = left.seq;
            let state = match before.get(&left.session) {
                Some(Candidate { seq: then, state }) if *then == seq => match state {
                    CandidateState::Done => CandidateState::Done,
                    CandidateState::Failed { retry_at, .. } if *retry_at > now => *state,
                    CandidateState::SeenOnce => {
                        ready.push(left.clone());
                        CandidateState::Done
                    }
                    // The count of failures is kept until a take-over succeeds.
                    CandidateState::Failed { failures, .. } => {
                        ready.push(left.clone());
                        CandidateState::Failed { failures: *failures, retry_at: now + BACKOFF.after(*failures) }
                    }
                },
                // Its server writes nothing any more.
                Some(_) | None if left.left_by.as_ref().is_some_and(|lease| ended.contains(&lease.owner)) => {
                    ready.push(left.clone());
                    CandidateState::Done
                }
                Some(_) | None => CandidateState::SeenOnce,
            };
            self.candidates.insert(left.session.clone(), Candidate { seq, state });
        }
        ready
    }

    fn note_failure(&mut self, session: &SessionIdentity) {
        let Some(candidate) = self.candidates.get_mut(session) else { return };
        let failures = match candidate.state {
            CandidateState::Failed { failures, .. } => failures.saturating_add(1),
            CandidateState::SeenOnce | CandidateState::Done => 1,
        };
        candidate.state = CandidateState::Failed { failures, retry_at: Instant::now() + BACKOFF.after(failures) };
    }
}
