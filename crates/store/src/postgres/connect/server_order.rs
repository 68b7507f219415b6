//! Which of several servers is tried first.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// How long a server that did not answer is tried after the others. A connection to a machine that is gone takes as long as
/// `connect_timeout`, and not every connection should.
const AVOIDED: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct ServerOrder {
    failed: Mutex<Vec<Option<Instant>>>,
    is_balanced: bool,
}

impl ServerOrder {
    pub(super) fn new(servers: usize, is_balanced: bool) -> Self {
        Self { failed: Mutex::new(vec![None; servers]), is_balanced }
    }

    /// As the address names them, or in a random order; those that failed lately come last.
    pub(super) fn indices(&self) -> Vec<usize> {
        let failed = self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let mut indices: Vec<_> = (0..failed.len()).collect();
        if self.is_balanced {
            shuffle(&mut indices);
        }
        indices.sort_by_key(|index| failed[*index].is_some_and(|at| at.elapsed() < AVOIDED));
        indices
    }

    pub(super) fn note_failure(&self, index: usize) {
        self.set(index, Some(Instant::now()));
    }

    pub(super) fn note_success(&self, index: usize) {
        self.set(index, None);
    }

    fn set(&self, index: usize, failed: Option<Instant>) {
        self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[index] = failed;
    }
}

pub(super) fn shuffle<T>(items: &mut [T]) {
    for last in (1..items.len()).rev() {
        // Without random numbers the order stays as it is.
        let random = getrandom::u64().unwrap_or_default();
        let other = usize::try_from(random % (last as u64 + 1)).unwrap_or_default();
        items.swap(last, if random == 0 { last } else { other });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_failed_comes_last_for_a_while() {
        let order = ServerOrder::new(3, false);
        assert_eq!(order.indices(), [0, 1, 2]);
        order.note_failure(0);
        assert_eq!(order.indices(), [1, 2, 0]);
        tokio::time::advance(AVOIDED).await;
        assert_eq!(order.indices(), [0, 1, 2]);
        order.note_failure(1);
        order.note_success(1);
        assert_eq!(order.indices(), [0, 1, 2]);
    }

    #[test]
    fn a_random_order_has_every_server_first_at_times() {
        let order = ServerOrder::new(3, true);
        let firsts: std::collections::BTreeSet<_> = (0..200).map(|_| order.indices()[0]).collect();
        assert_eq!(firsts.len(), 3);
    }
}
