//! Where time and ids come from. Tests put their own in.

use std::fmt;

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

fn request_id(uuid: Uuid) -> RequestId {
    // The text of a UUID is always a valid id.
    RequestId::new(uuid.to_string()).unwrap_or_else(|_| unreachable!("a UUID is an id"))
}
