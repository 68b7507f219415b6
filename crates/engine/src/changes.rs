//! Which sessions were written to, by this process or another one. Everything that watches sessions follows them here.

use std::collections::BTreeSet;
use std::time::Duration;

use planwright_core::session::SessionIdentity;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use tokio::time::{Instant, timeout_at};

use crate::ledger::{Ledger, StoreChange};

/// One reader of the store's changes. Changes that come within the debounce time are returned together.
#[derive(Debug)]
pub struct ChangeFollower {
    announced: broadcast::Receiver<StoreChange>,
    debounce: Duration,
    pending: Changed,
    /// When the pending changes are returned. Set by the first of them.
    due: Option<Instant>,
}

/// What was written since the last look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Sessions that were written to; some may be gone.
    pub sessions: BTreeSet<SessionIdentity>,
    /// Any session may have been written to: the store cannot tell which, or this reader was too slow.
    pub resync: bool,
}

impl Changed {
    /// A change of which it is not known where it was.
    pub fn anywhere() -> Self {
        Self { sessions: BTreeSet::new(), resync: true }
    }

    /// Whether this session may have been written to.
    pub fn concerns(&self, session: &SessionIdentity) -> bool {
        self.resync || self.sessions.contains(session)
    }

    fn add(&mut self, change: StoreChange) {
        match change {
            StoreChange::Session(session) => drop(self.sessions.insert(session)),
            StoreChange::Anywhere => self.resync = true,
        }
    }
}

impl ChangeFollower {
    /// Follows every write from now on.
    pub fn follow(ledger: &dyn Ledger, debounce: Duration) -> Self {
        Self { announced: ledger.changes(), debounce, pending: Changed::default(), due: None }
    }

    /// Waits for the next changes; `None` once the store is closed. Dropping the future loses no change.
    pub async fn next(&mut self) -> Option<Changed> {
        loop {
            let announced = match self.due {
                None => self.announced.recv().await,
                Some(due) if due <= Instant::now() => return Some(self.take()),
                Some(due) => match timeout_at(due, self.announced.recv()).await {
                    Ok(announced) => announced,
                    Err(_) => return Some(self.take()),
                },
            };
            match announced {
                Ok(change) => self.pending.add(change),
                Err(RecvError::Lagged(_)) => self.pending.resync = true,
                Err(RecvError::Closed) => return self.due.is_some().then(|| self.take()),
            }
            self.due.get_or_insert_with(|| Instant::now() + self.debounce);
        }
    }

    fn take(&mut self) -> Changed {
        loop {
            match self.announced.try_recv() {
                Ok(change) => self.pending.add(change),
                Err(TryRecvError::Lagged(_)) => self.pending.resync = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.due = None;
        std::mem::take(&mut self.pending)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    fn session(number: usize) -> SessionIdentity {
        format!("cli:session-{number:04}").parse().unwrap()
    }

    fn follower(announced: broadcast::Receiver<StoreChange>, debounce: Duration) -> ChangeFollower {
        ChangeFollower { announced, debounce, pending: Changed::default(), due: None }
    }

    #[tokio::test]
    async fn changes_of_one_moment_are_returned_together() {
        let (announce, announced) = broadcast::channel(16);
        let mut follower = follower(announced, Duration::from_millis(1));
        for number in [1, 2, 1] {
            announce.send(StoreChange::Session(session(number))).unwrap();
        }
        let changed = follower.next().await.unwrap();
        assert_eq!(changed, Changed { sessions: [session(1), session(2)].into(), resync: false });
        announce.send(StoreChange::Anywhere).unwrap();
        assert_eq!(follower.next().await, Some(Changed::anywhere()));
        drop(announce);
        assert_eq!(follower.next().await, None);
    }

    /// What it missed may have been the word that any session was written to.
    #[tokio::test]
    async fn a_reader_that_was_too_slow_looks_at_everything_again() {
        for debounce in [Duration::ZERO, Duration::from_millis(1)] {
            let (announce, announced) = broadcast::channel(2);
            let mut follower = follower(announced, debounce);
            announce.send(StoreChange::Anywhere).unwrap();
            for number in 0..8 {
                announce.send(StoreChange::Session(session(number))).unwrap();
            }
            let changed = follower.next().await.unwrap();
            assert!(changed.resync && changed.concerns(&session(1)), "{changed:?}");
        }
    }

    /// While it waits for what comes in the same moment.
    #[tokio::test]
    async fn a_reader_that_falls_behind_while_it_waits_looks_at_everything_again() {
        let (announce, announced) = broadcast::channel(2);
        let mut follower = follower(announced, Duration::from_millis(50));
        announce.send(StoreChange::Session(session(0))).unwrap();
        let mut waiting = std::pin::pin!(follower.next());
        assert!(timeout(Duration::ZERO, waiting.as_mut()).await.is_err(), "it waits for more");
        for number in 0..8 {
            announce.send(StoreChange::Session(session(number))).unwrap();
        }
        assert!(waiting.await.unwrap().resync);
    }
}
