//! How many connections are open, and which of them gives way to a new one.
//!
//! A connection is unauthenticated until a request on it presents the token or its cookie. Unauthenticated connections
//! have a budget of their own, which is smaller than the whole; the rest is reserved for authenticated ones. A new
//! connection that does not fit closes the oldest unauthenticated one, so that clients without the token never keep the
//! owner out. An authenticated connection is never closed for another.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone, Copy)]
pub(super) struct SlotLimits {
    pub(super) total: usize,
    pub(super) unauthenticated: usize,
    /// Unauthenticated connections of one address; 0 is no limit. Loopback addresses are exempt.
    pub(super) unauthenticated_per_address: usize,
}

#[derive(Debug)]
pub(super) struct ConnectionSlots {
    limits: SlotLimits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    next_id: u64,
    /// By id, which grows: the first one is the oldest.
    unauthenticated: BTreeMap<u64, Unauthenticated>,
    by_address: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Unauthenticated {
    from: IpAddr,
    evicted: CancellationToken,
}

impl ConnectionSlots {
    pub(super) fn new(limits: SlotLimits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    /// A slot for a new connection; `None` if authenticated connections take up all of them.
    pub(super) fn take(self: &Arc<Self>, from: IpAddr) -> Option<Arc<ConnectionSlot>> {
        let from = from.to_canonical();
        let SlotLimits { total, unauthenticated, unauthenticated_per_address } = self.limits;
        let mut open = self.open();
        let per_address =
            (!from.is_loopback() && unauthenticated_per_address > 0).then_some(unauthenticated_per_address);
        if per_address.is_some_and(|most| open.by_address.get(&from).is_some_and(|own| *own >= most)) {
            open.evict_oldest(Some(from));
        } else if open.unauthenticated.len() >= unauthenticated.max(1) || open.total >= total {
            open.evict_oldest(None);
        }
        if open.total >= total {
            return None;
        }
        let (id, evicted) = (open.next_id, CancellationToken::new());
        open.next_id += 1;
        open.total += 1;
        *open.by_address.entry(from).or_default() += 1;
        open.unauthenticated.insert(id, Unauthenticated { from, evicted: evicted.clone() });
        Some(Arc::new(ConnectionSlot { slots: Arc::clone(self), id, evicted }))
    }

    /// Closes the oldest unauthenticated connection, for example because the system has no room for another one.
    pub(super) fn evict_oldest(&self) {
        self.open().evict_oldest(None);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// The connection is not counted from now on; it ends as soon as its task runs.
    fn evict_oldest(&mut self, from: Option<IpAddr>) {
        let of_address = |entry: &Unauthenticated| from.is_none_or(|from| entry.from == from);
        let oldest = self.unauthenticated.iter().find(|(_, entry)| of_address(entry)).map(|(id, _)| *id);
        if let Some(entry) = oldest.and_then(|id| self.forget_unauthenticated(id)) {
            self.total -= 1;
            entry.evicted.cancel();
        }
    }

    fn forget_unauthenticated(&mut self, id: u64) -> Option<Unauthenticated> {
        let entry = self.unauthenticated.remove(&id)?;
        if let Some(own) = self.by_address.get_mut(&entry.from) {
            *own -= 1;
            if *own == 0 {
                self.by_address.remove(&entry.from);
            }
        }
        Some(entry)
    }
}

/// Given back when the connection is really gone, also when it has become a WebSocket.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    id: u64,
    evicted: CancellationToken,
}

impl ConnectionSlot {
    /// A request on this connection was authenticated: from now on no other connection takes its slot.
    pub(crate) fn set_authenticated(&self) {
        self.slots.open().forget_unauthenticated(self.id);
    }

    /// Cancelled when the connection has to give way to another.
    pub(super) fn evicted(&self) -> &CancellationToken {
        &self.evicted
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.slots.open();
        open.forget_unauthenticated(self.id);
        // An evicted connection is not counted any more.
        if !self.evicted.is_cancelled() {
            open.total -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(total: usize, unauthenticated: usize, per_address: usize) -> Arc<ConnectionSlots> {
        ConnectionSlots::new(SlotLimits { total, unauthenticated, unauthenticated_per_address: per_address })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn is_evicted(slot: &ConnectionSlot) -> bool {
        slot.evicted().is_cancelled()
    }

    #[test]
    fn a_new_connection_closes_the_oldest_unauthenticated_one() {
        let slots = slots(4, 2, 0);
        let local = address("127.0.0.1");
        let (first, second) = (slots.take(local).unwrap(), slots.take(local).unwrap());
        let third = slots.take(local).unwrap();
        assert_eq!([is_evicted(&first), is_evicted(&second), is_evicted(&third)], [true, false, false]);
        drop(first);
        let fourth = slots.take(local).unwrap();
        assert_eq!([is_evicted(&second), is_evicted(&third), is_evicted(&fourth)], [true, false, false]);
    }

    #[test]
    fn an_authenticated_connection_is_never_closed_for_another() {
        let slots = slots(3, 1, 0);
        let local = address("::1");
        let owner = slots.take(local).unwrap();
        owner.set_authenticated();
        for _ in 0..100 {
            slots.take(local).unwrap();
        }
        assert!(!is_evicted(&owner));
        let others: Vec<_> =
            (0..2).map(|_| slots.take(local).unwrap()).inspect(|slot| slot.set_authenticated()).collect();
        assert!(slots.take(local).is_none(), "authenticated connections take up all slots");
        drop((owner, others));
        assert!(slots.take(local).is_some());
    }

    #[test]
    fn an_unauthenticated_connection_gives_way_when_all_slots_are_taken() {
        let slots = slots(2, 2, 0);
        let local = address("127.0.0.1");
        let (owner, stranger) = (slots.take(local).unwrap(), slots.take(local).unwrap());
        owner.set_authenticated();
        let _next = slots.take(local).unwrap();
        assert!(is_evicted(&stranger) && !is_evicted(&owner));
    }

    #[test]
    fn one_address_takes_slots_from_itself_first() {
        let slots = slots(8, 8, 2);
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let others = slots.take(other).unwrap();
        let own: Vec<_> = (0..2).map(|_| slots.take(one).unwrap()).collect();
        let _third = slots.take(address("::ffff:192.0.2.1")).unwrap();
        assert!(is_evicted(&own[0]) && !is_evicted(&own[1]), "it is the same address");
        assert!(!is_evicted(&others));
    }

    #[test]
    fn every_slot_is_given_back_once() {
        let slots = slots(4, 2, 1);
        for from in ["127.0.0.1", "192.0.2.1"].map(address) {
            let kept: Vec<_> = (0..10).map(|_| slots.take(from).unwrap()).collect();
            kept[9].set_authenticated();
            kept[9].set_authenticated();
        }
        let open = slots.open();
        assert_eq!((open.total, open.unauthenticated.len(), open.by_address.len()), (0, 0, 0));
    }
}
