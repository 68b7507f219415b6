//! Connections, from the first to the last. There are never more than the limits say: one too many is told so and closed.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ServerLimits;
use super::connection::Connections;

/// When the system has no room for another connection it is asked again after this time.
const BREATH: Duration = Duration::from_millis(50);

/// Whoever is one too many.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

#[derive(Debug)]
pub(super) struct Accepting {
    connections: Connections,
    places: Arc<Places>,
    tracker: TaskTracker,
}

impl Accepting {
    pub(super) fn new(service: Router, limits: ServerLimits) -> Self {
        let places =
            Places { most: limits.connections, most_from_one: limits.connections_per_address, taken: Mutex::default() };
        Self { connections: Connections::new(service, limits), places: Arc::new(places), tracker: TaskTracker::new() }
    }

    /// Lets people in until it is told to stop; the door is closed when this returns.
    pub(super) async fn run(&self, listener: TcpListener, shutdown: &CancellationToken) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => self.let_in(stream, from),
                Err(error) => {
                    tracing::warn!(event = "accept_failed", %error);
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
        self.connections.finish();
        self.tracker.close();
    }

    fn let_in(&self, stream: TcpStream, from: SocketAddr) {
        let Some(place) = self.places.take(from.ip()) else {
            tracing::debug!(event = "connection_refused", "there are too many");
            let _ = stream.try_write(FULL);
            return;
        };
        let connection = self.connections.serve(stream, from, place);
        self.tracker.spawn(connection);
    }

    /// When the last connection has ended.
    pub(super) async fn finished(&self) {
        self.tracker.wait().await;
    }

    pub(super) fn open(&self) -> usize {
        self.tracker.len()
    }

    /// Ends whatever is still there.
    pub(super) fn cut(&self) {
        self.connections.cut();
    }
}

/// The places that connections take, and who has them.
#[derive(Debug)]
struct Places {
    most: usize,
    most_from_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by: HashMap<IpAddr, usize>,
}

impl Places {
    fn take(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let from = from.to_canonical();
        let is_limited = self.most_from_one > 0 && !from.is_loopback();
        let mut taken = self.taken();
        let own = taken.by.get(&from).copied().unwrap_or(0);
        if taken.all >= self.most || (is_limited && own >= self.most_from_one) {
            return None;
        }
        taken.all += 1;
        taken.by.insert(from, own + 1);
        Some(Place { of: Arc::clone(self), from })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Given back when the connection is really gone, also when it has become a WebSocket.
#[derive(Debug)]
pub(super) struct Place {
    of: Arc<Places>,
    from: IpAddr,
}

#[cfg(test)]
impl Place {
    /// The only one there is.
    pub(super) fn for_tests() -> Self {
        let places = Arc::new(Places { most: 1, most_from_one: 0, taken: Mutex::default() });
        let Some(place) = places.take(std::net::Ipv4Addr::LOCALHOST.into()) else { unreachable!("it is free") };
        place
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        taken.all -= 1;
        if let Some(own) = taken.by.get_mut(&self.from) {
            *own -= 1;
            if *own == 0 {
                taken.by.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(most: usize, most_from_one: usize) -> Arc<Places> {
        Arc::new(Places { most, most_from_one, taken: Mutex::default() })
    }

    #[test]
    fn one_address_does_not_take_every_place() {
        let places = places(4, 2);
        let (one, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let first = places.take(one).unwrap();
        let _second = places.take(one).unwrap();
        assert!(places.take(one).is_none());
        assert!(places.take("::ffff:192.0.2.1".parse().unwrap()).is_none(), "it is the same address");
        let _third = places.take(other).unwrap();
        drop(first);
        assert!(places.take(one).is_some());
    }

    #[test]
    fn programs_of_this_machine_are_limited_together_only() {
        let places = places(3, 1);
        let own: Vec<_> = (0..3).map(|_| places.take("127.0.0.1".parse().unwrap()).unwrap()).collect();
        assert!(places.take("::1".parse().unwrap()).is_none());
        drop(own);
        assert_eq!(places.taken().all, 0);
        assert!(places.taken().by.is_empty());
    }
}
