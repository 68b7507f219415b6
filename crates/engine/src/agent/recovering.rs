//! What processes that ended left undone is taken up: open turns, and plans that are being carried out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::progress::Watcher;
use super::sessions::Place;
use super::{Agent, Answer};
use crate::ledger::LedgerResult;
use crate::model::REHEARSAL;
use crate::server_ledger::{ServerLedger, Unfinished};

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);
/// How many sessions are looked at a time.
const PAGE: u32 = 256;
/// How many are worked on at once.
const AT_ONCE: usize = 16;

/// What was seen of a session that nobody works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Once: whoever began may only be between two writes.
    Once { seq: u64 },
    /// It was taken up as far as that can be done here; nothing more happens until somebody writes.
    Done { seq: u64 },
}

impl Agent {
    /// Takes up whatever nobody works on any more, until it is told to stop. `watcher` says who is told about it.
    pub async fn take_over(
        &self,
        ledger: Arc<dyn ServerLedger>,
        stop: CancellationToken,
        watcher: impl Fn(&SessionIdentity) -> Watcher,
    ) {
        let mut seen = HashMap::new();
        let (tasks, room) = (TaskTracker::new(), Arc::new(Semaphore::new(AT_ONCE)));
        let (failed, mut again) = mpsc::unbounded_channel();
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            let unfinished = match ledger.unfinished(PAGE).await {
                Ok(unfinished) => unfinished,
                Err(error) => {
                    tracing::warn!(event = "take_over_failed", %error);
                    continue;
                }
            };
            // A store that was away for a moment must not leave them lying.
            while let Ok(session) = again.try_recv() {
                seen.remove(&session);
            }
            for left in self.to_take_up(&unfinished, &mut seen) {
                let Ok(room) = Arc::clone(&room).acquire_owned().await else { break };
                let (agent, watcher) = (self.clone(), watcher(&left.session));
                let (left, failed) = (left.clone(), failed.clone());
                tasks.spawn(async move {
                    if agent.take_up(&left, &watcher).await.is_err() {
                        let _ = failed.send(left.session);
                    }
                    drop(room);
                });
            }
        }
        tasks.close();
        tasks.wait().await;
    }

    /// Those that were seen like this before, and that nobody in this process is at.
    fn to_take_up<'a>(
        &self,
        unfinished: &'a [Unfinished],
        seen: &mut HashMap<SessionIdentity, Seen>,
    ) -> Vec<&'a Unfinished> {
        let before = std::mem::take(seen);
        let mut found = Vec::new();
        for left in unfinished.iter().filter(|left| self.may_take_up(&left.session)) {
            let seq = left.seq;
            let now = match before.get(&left.session) {
                Some(known @ Seen::Done { seq: then }) if *then == seq => *known,
                Some(Seen::Once { seq: then }) if *then == seq => {
                    found.push(left);
                    Seen::Done { seq }
                }
                Some(_) | None => Seen::Once { seq },
            };
            seen.insert(left.session.clone(), now);
        }
        found
    }

    /// A rehearsal must not pretend to do what a real model was asked to do elsewhere.
    fn may_take_up(&self, session: &SessionIdentity) -> bool {
        let pretends = self.model().name() == REHEARSAL && session.channel != Channel::Web;
        !pretends && self.shared.slots.running(session).is_none()
    }

    async fn take_up(&self, left: &Unfinished, watcher: &Watcher) -> LedgerResult<()> {
        let session = &left.session;
        let owner = left.left_by.as_ref().map(|lease| lease.owner.as_str());
        let outcome = self.go_on_with(session, watcher).await;
        match &outcome {
            Ok(true) => tracing::info!(session_identity = %session, event = "taken_over", owner, seq = left.seq),
            Ok(false) => {}
            Err(error) => tracing::warn!(session_identity = %session, event = "take_over_failed", %error),
        }
        outcome.map(drop)
    }

    /// Says whether there was something to go on with.
    async fn go_on_with(&self, session: &SessionIdentity, watcher: &Watcher) -> LedgerResult<bool> {
        let turn = self.resume(session, watcher).await?;
        let by = Actor::system(session.channel.as_str());
        let place = Place::new(TransportChat(format!("server:{session}")), session.clone());
        let execution: Option<Answer> = self.resume_execution(&place, &by, watcher).await?;
        Ok(turn.is_some() || execution.is_some())
    }
}
