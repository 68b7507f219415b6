//! The heartbeats of the servers: this one counts its own, and ends the leases of those whose count stays the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use planwright_engine::ledger::LedgerResult;
use planwright_engine::server_beats::{BEAT_INTERVAL, DEAD_AFTER, ServerBeat, ServerBeats};
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tokio_util::sync::CancellationToken;

use crate::agent_context::AgentContext;

/// A look that comes later than this after the one before says nothing about the time between them.
const MAX_GAP: Duration = Duration::from_millis(1_200);
/// A server that never said that it stops without beats is forgotten when its count is this old.
const FORGET_AFTER: Duration = Duration::from_secs(60);
/// How long a server that stops waits to say so.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// What this server saw of the others, by its own clock.
#[derive(Debug, Default)]
struct BeatWatch {
    seen: HashMap<String, (u64, Instant)>,
    last_look: Option<Instant>,
}

impl BeatWatch {
    /// The servers whose count stayed the same for at least so long. `asked` is when the store was asked for the counts, `answered`
    /// when they arrived.
    fn unchanged(&mut self, found: &[ServerBeat], asked: Instant, answered: Instant) -> Vec<(ServerBeat, Duration)> {
        // While the store could not be asked, the others could not beat either.
        let has_gap = self.last_look.is_none_or(|last| answered.duration_since(last) > MAX_GAP);
        self.last_look = Some(answered);
        let before = std::mem::take(&mut self.seen);
        let mut unchanged = Vec::new();
        for server in found {
            let first = before.get(&server.owner).filter(|(beat, _)| *beat == server.beat && !has_gap);
            let first = first.map_or(answered, |(_, first)| *first);
            self.seen.insert(server.owner.clone(), (server.beat, first));
            unchanged.push((server.clone(), asked.saturating_duration_since(first)));
        }
        unchanged
    }
}

/// Runs until `stop` is cancelled, and then says that this server is gone.
pub(super) async fn run(agent: Arc<AgentContext>, stop: CancellationToken) {
    let Some(store) = agent.beats.store().cloned() else { return };
    let (mut watch, mut is_failing) = (BeatWatch::default(), false);
    let mut ticks = tokio::time::interval(BEAT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            _ = ticks.tick() => {}
        }
        let passed = pass(&agent, store.as_ref(), &mut watch).await;
        // The log says when it begins to fail and when that is over, and not two times a second.
        match &passed {
            Err(error) if !is_failing => tracing::warn!(event = "heartbeat_failed", %error),
            Ok(()) if is_failing => tracing::info!(event = "heartbeat_resumed"),
            Ok(()) | Err(_) => {}
        }
        is_failing = passed.is_err();
    }
    // What is still being worked on here rests on its leases from now on.
    agent.beats.set_peers(false);
    let leaving = async {
        agent.beats.beat().await?;
        store.forget_server(&agent.options.owner).await
    };
    if !matches!(timeout(LEAVE_TIMEOUT, leaving).await, Ok(Ok(()))) {
        tracing::warn!(event = "heartbeat_failed", "the other servers were not told that this one stops");
    }
}

async fn pass(agent: &AgentContext, store: &dyn ServerBeats, watch: &mut BeatWatch) -> LedgerResult<()> {
    agent.beats.beat().await?;
    let asked = Instant::now();
    let found = store.beats().await?;
    let options = &agent.options;
    // Whether a process of this machine has ended is seen here, without heartbeats.
    let elsewhere = |server: &ServerBeat| server.owner != options.owner && !(options.is_here)(&server.owner);
    agent.beats.set_peers(found.iter().any(elsewhere));
    for (server, unchanged) in watch.unchanged(&found, asked, Instant::now()) {
        if server.owner == options.owner {
            continue;
        }
        if unchanged.is_zero() {
            agent.ended_servers.forget(&server.owner);
        }
        let is_dead =
            (options.is_gone)(&server.owner) || (elsewhere(&server) && server.fences && unchanged >= DEAD_AFTER);
        if is_dead {
            if store.end_server(&server).await? {
                tracing::info!(event = "server_ended", server = server.owner, "its work continues here or elsewhere");
                agent.ended_servers.note(server.owner);
            }
        } else if unchanged >= FORGET_AFTER {
            store.forget_server(&server.owner).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at one server at these times, in milliseconds, and finds these counts. For how long was it the same?
    fn looks(looks: &[(u64, u64)]) -> Vec<u64> {
        let (start, mut watch) = (Instant::now(), BeatWatch::default());
        let mut look = |(at, beat): &(u64, u64)| {
            let at = start + Duration::from_millis(*at);
            let found = [ServerBeat { owner: "other".to_owned(), beat: *beat, fences: true }];
            let unchanged = watch.unchanged(&found, at, at);
            u64::try_from(unchanged[0].1.as_millis()).unwrap()
        };
        looks.iter().map(&mut look).collect()
    }

    #[test]
    fn a_count_that_stays_the_same_grows_old() {
        assert_eq!(looks(&[(0, 1), (400, 2), (800, 2), (1_200, 2), (1_600, 3)]), [0, 0, 400, 800, 0]);
    }

    /// The store was away, or this server slept.
    #[test]
    fn time_without_a_look_does_not_count() {
        assert_eq!(looks(&[(0, 1), (400, 1), (30_000, 1), (30_400, 1)]), [0, 400, 0, 400]);
    }

    /// An answer that takes long counts from its end at first and to its beginning at last.
    #[test]
    fn the_time_of_an_answer_counts_against_the_one_who_looks() {
        let (start, mut watch) = (Instant::now(), BeatWatch::default());
        let at = |millis| start + Duration::from_millis(millis);
        let found = [ServerBeat { owner: "other".to_owned(), beat: 1, fences: true }];
        assert_eq!(watch.unchanged(&found, at(0), at(900))[0].1, Duration::ZERO);
        assert_eq!(watch.unchanged(&found, at(1_000), at(1_800))[0].1, Duration::from_millis(100));
    }
}
