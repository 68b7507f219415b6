//! The heartbeats of this server. Where others may count it as dead, its leases are valid only while it beats.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright_engine::ledger::LedgerResult;
use planwright_engine::server_beats::{FENCE_AFTER, ServerBeats};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Until when no other server continues the work of this one because it did not beat. `None` while none would.
#[derive(Debug)]
pub(crate) struct OwnBeats {
    store: Option<Arc<dyn ServerBeats>>,
    owner: String,
    /// Whether there are servers elsewhere.
    has_peers: AtomicBool,
    valid_until: watch::Sender<Option<Instant>>,
}

impl OwnBeats {
    pub(crate) fn new(store: Option<Arc<dyn ServerBeats>>, owner: &str) -> Self {
        let valid_until = watch::Sender::new(None);
        Self { store, owner: owner.to_owned(), has_peers: AtomicBool::new(false), valid_until }
    }

    pub(crate) fn store(&self) -> Option<&Arc<dyn ServerBeats>> {
        self.store.as_ref()
    }

    pub(crate) fn set_peers(&self, has_peers: bool) {
        self.has_peers.store(has_peers, Ordering::Relaxed);
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.valid_until().is_none_or(|until| Instant::now() < until)
    }

    pub(crate) fn valid_until(&self) -> Option<Instant> {
        *self.valid_until.borrow()
    }

    /// Resolves when the last beat was too long ago.
    pub(crate) async fn lapsed(&self) {
        let mut changes = self.valid_until.subscribe();
        loop {
            let until = *changes.borrow_and_update();
            let passing = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // The sender lives as long as this.
                _ = changes.changed() => {}
                () = passing => return,
            }
        }
    }

    /// Counts a beat. From the first one that tells others that this server stops without them, it does.
    pub(crate) async fn beat(&self) -> LedgerResult<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let (asked, fences) = (Instant::now(), self.has_peers.load(Ordering::Relaxed));
        if fences {
            // The others may see it although the answer is lost.
            self.valid_until.send_if_modified(|until| {
                let is_first = until.is_none();
                if is_first {
                    *until = Some(asked + FENCE_AFTER);
                }
                is_first
            });
        }
        store.beat(&self.owner, fences).await?;
        self.valid_until.send_replace(fences.then(|| asked + FENCE_AFTER));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use async_trait::async_trait;
    use planwright_engine::ledger::LedgerError;
    use planwright_engine::server_beats::ServerBeat;

    use super::*;

    /// Counts beats while the store can be reached.
    #[derive(Debug, Default)]
    struct Beats {
        beats: Mutex<Vec<bool>>,
        is_down: AtomicBool,
    }

    #[async_trait]
    impl ServerBeats for Beats {
        async fn beat(&self, _owner: &str, fences: bool) -> LedgerResult<()> {
            if self.is_down.load(Ordering::Relaxed) {
                return Err(LedgerError::Unavailable("the test says so".to_owned()));
            }
            self.beats.lock().unwrap().push(fences);
            Ok(())
        }

        async fn beats(&self) -> LedgerResult<Vec<ServerBeat>> {
            Ok(Vec::new())
        }

        async fn end_server(&self, _last: &ServerBeat) -> LedgerResult<bool> {
            Ok(false)
        }

        async fn forget_server(&self, _owner: &str) -> LedgerResult<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_cannot_beat_stops_by_its_own_clock_where_there_are_others() {
        let store = Arc::new(Beats::default());
        let own = OwnBeats::new(Some(store.clone()), "one");
        own.beat().await.unwrap();
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(own.is_valid(), "no other server counts heartbeats");

        own.set_peers(true);
        own.beat().await.unwrap();
        tokio::time::advance(FENCE_AFTER - Duration::from_millis(1)).await;
        assert!(own.is_valid());
        own.beat().await.unwrap();
        store.is_down.store(true, Ordering::Relaxed);
        own.beat().await.unwrap_err();
        let began = Instant::now();
        own.lapsed().await;
        assert!(began.elapsed() >= FENCE_AFTER && began.elapsed() < FENCE_AFTER * 2);
        assert!(!own.is_valid());

        store.is_down.store(false, Ordering::Relaxed);
        own.beat().await.unwrap();
        assert!(own.is_valid());
        assert_eq!(*store.beats.lock().unwrap(), [false, true, true, true]);
    }

    /// A beat whose answer is lost may have told the others that this server stops without beats.
    #[tokio::test(start_paused = true)]
    async fn a_server_stops_from_the_first_beat_on_that_may_have_told_others_so() {
        let store = Arc::new(Beats::default());
        let own = OwnBeats::new(Some(store.clone()), "one");
        own.set_peers(true);
        store.is_down.store(true, Ordering::Relaxed);
        own.beat().await.unwrap_err();
        tokio::time::advance(FENCE_AFTER).await;
        assert!(!own.is_valid());
        // It goes on when the store says that it need not stop.
        own.set_peers(false);
        own.beat().await.unwrap_err();
        assert!(!own.is_valid());
        store.is_down.store(false, Ordering::Relaxed);
        own.beat().await.unwrap();
        assert!(own.is_valid());
    }

    #[tokio::test]
    async fn without_heartbeats_nothing_lapses() {
        let own = OwnBeats::new(None, "one");
        own.set_peers(true);
        own.beat().await.unwrap();
        assert!(own.is_valid() && own.valid_until().is_none());
    }
}
