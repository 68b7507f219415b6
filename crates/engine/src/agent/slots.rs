//! One queue per session, in this process. Whoever comes first is served first.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;

use planwright_core::ids::PlanId;
use planwright_core::session::SessionIdentity;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Mutex<HashMap<SessionIdentity, Weak<Slot>>>,
}

/// A session that is worked on, or waited for, in this process. It is gone when nobody does any more.
#[derive(Debug, Default)]
pub(super) struct Slot {
    queue: Arc<tokio::sync::Mutex<()>>,
    running: Mutex<Option<Running>>,
}

/// What is under way in a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Running {
    /// Set by whoever wants it to stop.
    pub(super) stop: CancellationToken,
    /// Set when it is over.
    pub(super) over: CancellationToken,
    /// Set when it holds the session, over all processes, and is not only waiting for it.
    pub(super) held: CancellationToken,
    /// The plan that is carried out.
    plan: Arc<Mutex<Option<PlanId>>>,
}

impl Running {
    pub(super) fn works_on(&self, plan: Option<&PlanId>) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan.cloned();
    }

    fn is_about(&self, plan: &PlanId) -> bool {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(plan)
    }
}

/// The right to work on a session in this process; it passes to the next in the queue when it is dropped.
#[derive(Debug)]
pub(super) struct Served {
    slot: Arc<Slot>,
    pub(super) running: Running,
    _place: OwnedMutexGuard<()>,
}

/// A place in the queue of a session.
pub(super) struct Queued {
    slot: Arc<Slot>,
    turn: Pin<Box<dyn Future<Output = OwnedMutexGuard<()>> + Send>>,
    first: Poll<OwnedMutexGuard<()>>,
}

impl Queued {
    /// Waits until everybody before has been served.
    pub(super) async fn served(self) -> Served {
        let place = match self.first {
            Poll::Ready(place) => place,
            Poll::Pending => self.turn.await,
        };
        let running = Running::default();
        *self.slot.running() = Some(running.clone());
        Served { slot: self.slot, running, _place: place }
    }
}

impl Slots {
    /// Takes the last place in the queue, without waiting.
    pub(super) async fn queue_up(&self, session: &SessionIdentity) -> Queued {
        let slot = self.slot(session);
        let mut turn: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(Arc::clone(&slot.queue).lock_owned());
        // Whoever asks first is first, and asking is the first poll.
        let first = poll_fn(|context| Poll::Ready(turn.as_mut().poll(context))).await;
        Queued { slot, turn, first }
    }

    pub(super) async fn wait_for(&self, session: &SessionIdentity) -> Served {
        self.queue_up(session).await.served().await
    }

    /// What is under way in a session now, in this process.
    pub(super) fn running(&self, session: &SessionIdentity) -> Option<Running> {
        let slot = self.lock().get(session)?.upgrade()?;
        slot.running().clone()
    }

    /// Stops what carries out this plan in this process, and waits until it has.
    pub(super) async fn stop_work_on(&self, session: &SessionIdentity, plan: &PlanId) {
        if let Some(running) = self.running(session).filter(|running| running.is_about(plan)) {
            running.stop.cancel();
            running.over.cancelled().await;
        }
    }

    /// Waits until nothing is under way or waited for in any session.
    pub(super) async fn all_over(&self) {
        loop {
            let slots: Vec<_> = self.lock().values().filter_map(Weak::upgrade).collect();
            if slots.is_empty() {
                return;
            }
            for slot in slots {
                // Whoever has its place ends before this one gets it.
                drop(slot.queue.lock().await);
            }
            tokio::task::yield_now().await;
        }
    }

    fn slot(&self, session: &SessionIdentity) -> Arc<Slot> {
        let mut slots = self.lock();
        if let Some(slot) = slots.get(session).and_then(Weak::upgrade) {
            return slot;
        }
        // Slots that nobody uses any more are cleared away now and then.
        if slots.len() >= 64 && slots.len().is_power_of_two() {
            slots.retain(|_, slot| slot.strong_count() > 0);
        }
        let slot = Arc::new(Slot::default());
        slots.insert(session.clone(), Arc::downgrade(&slot));
        slot
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionIdentity, Weak<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.running.over.cancel();
        *self.slot.running() = None;
    }
}
