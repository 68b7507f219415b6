//! Where time and ids come from. Tests put their own in.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use planwright_core::ids::RequestId;
use uuid::Uuid;

pub trait Clock: Send + Sync + fmt::Debug + 'static {
    fn now(&self) -> Timestamp;
}

pub trait Ids: Send + Sync + fmt::Debug + 'static {
    fn next(&self) -> RequestId;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Time-ordered ids, so that what belongs together lies together in the store.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeOrderedIds;

impl Ids for TimeOrderedIds {
    fn next(&self) -> RequestId {
        request_id(Uuid::now_v7())
    }
}

/// The same ids in the same order, for tests and the tour.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn next(&self) -> RequestId {
        request_id(Uuid::from_u64_pair(0, self.0.fetch_add(1, Ordering::Relaxed) + 1))
    }
}

fn request_id(uuid: Uuid) -> RequestId {
    // The text of a UUID is always a valid id.
    RequestId::new(uuid.to_string()).unwrap_or_else(|_| unreachable!("a UUID is an id"))
}
