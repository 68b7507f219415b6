//! The server of several that takes the writes. When connections find another one there, those to the one before are of no use: a machine
//! that froze or was cut off keeps them open and answers nothing, or what was true before.

use std::time::Instant;

use tokio::sync::watch;

#[derive(Debug, Clone, Copy, Default)]
struct Found {
    server: Option<usize>,
    /// When it was found, if another one was known before.
    moved_at: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct CurrentServer(watch::Sender<Found>);

impl CurrentServer {
    /// A connection was made to this server, and it takes writes.
    pub(super) fn note(&self, server: usize) {
        self.0.send_if_modified(|found| {
            let before = found.server.replace(server);
            let has_moved = before.is_some_and(|before| before != server);
            if has_moved {
                found.moved_at = Some(Instant::now());
            }
            has_moved
        });
    }

    pub(super) fn has_moved_since(&self, opened: Instant) -> bool {
        self.0.borrow().moved_at.is_some_and(|at| at > opened)
    }

    /// Resolves once another server was found than there was at `opened`.
    pub(super) async fn moved_since(&self, opened: Instant) {
        let mut found = self.0.subscribe();
        while found.borrow_and_update().moved_at.is_none_or(|at| at <= opened) {
            // The sender lives as long as this.
            let _ = found.changed().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn connections_end_when_another_server_is_found() {
        let current = CurrentServer::default();
        current.note(0);
        let opened = Instant::now();
        current.note(0);
        assert!(!current.has_moved_since(opened));
        assert!(current.moved_since(opened).now_or_never().is_none());
        while Instant::now() == opened {}
        current.note(1);
        assert!(current.has_moved_since(opened));
        assert!(current.moved_since(opened).now_or_never().is_some());
        let opened = Instant::now();
        assert!(!current.has_moved_since(opened), "it leads to the new one");
    }
}
