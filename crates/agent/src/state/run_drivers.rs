//! The drivers of runs in this process, and their way into the queues of sessions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use futures::FutureExt;
use planwright_core::ids::RunId;
use planwright_core::session::SessionIdentity;
use tokio::sync::{Notify, RwLock, Semaphore};
use tokio_util::task::TaskTracker;

use crate::session::input::{Input, Request};
use crate::session::progress::ProgressStream;
use crate::session::queue::SessionQueues;

/// How many ticks are made at once in this process. Those that wait are served in the order they came.
const TICKS_AT_ONCE: usize = 256;

/// The drivers of this process, by the id of their run.
#[derive(Debug)]
pub(crate) struct RunDrivers {
    /// The way into the queues of sessions. It does not keep the agent alive.
    queues: OnceLock<Weak<SessionQueues>>,
    drivers: Mutex<HashMap<RunId, RunDriver>>,
    /// Whether this process sends heartbeats. Changed only while `drivers` is locked.
    is_beating: AtomicBool,
    /// Notified when no driver is left.
    pub(crate) all_left: Arc<Notify>,
    pub(crate) tasks: TaskTracker,
    pub(crate) ticks: Arc<Semaphore>,
    /// Held for reading from before a run is stored until its driver is known here, so that a run without a driver was not
    /// just started.
    pub(crate) starting: RwLock<()>,
}

/// A driver as others see it.
#[derive(Debug)]
pub(crate) struct RunDriver {
    pub(crate) session: SessionIdentity,
    pub(crate) woken: Arc<Notify>,
}

/// What became of a driver that was to be added.
pub(crate) enum Added {
    /// The process sends no heartbeats yet.
    First,
    Another,
    /// The run is driven already.
    Known,
}

impl Default for RunDrivers {
    fn default() -> Self {
        let (queues, drivers, is_beating, all_left, tasks, starting) = Default::default();
        let ticks = Arc::new(Semaphore::new(TICKS_AT_ONCE));
        Self { queues, drivers, is_beating, all_left, tasks, ticks, starting }
    }
}

impl RunDrivers {
    pub(crate) fn connect(&self, queues: &Arc<SessionQueues>) {
        let _ = self.queues.set(Arc::downgrade(queues));
    }

    /// Whether this process makes the ticks of the run.
    pub(crate) fn drives(&self, run: &RunId) -> bool {
        self.drivers().contains_key(run)
    }

    pub(crate) fn drives_any(&self, session: &SessionIdentity) -> bool {
        self.drivers().values().any(|driver| driver.session == *session)
    }

    /// Wakes the drivers of a session, which look whether they can continue.
    pub(crate) fn wake(&self, session: &SessionIdentity) {
        self.drivers()
            .values()
            .filter(|driver| driver.session == *session)
            .for_each(|driver| driver.woken.notify_one());
    }

    /// Forgets that the driver was woken before its tick began: the tick sees what happened until then.
    pub(crate) fn forget_wake(&self, run: &RunId) {
        if let Some(driver) = self.drivers().get(run) {
            let _ = driver.woken.notified().now_or_never();
        }
    }

    pub(crate) fn wake_all(&self) {
        self.drivers().values().for_each(|driver| driver.woken.notify_one());
    }

    pub(crate) fn submit(&self, input: Input, request: Request) -> Option<ProgressStream> {
        Some(self.queues.get()?.upgrade()?.submit(input, request))
    }

    /// Ends with the drivers.
    pub(crate) async fn all_ended(&self) {
        self.tasks.close();
        self.wake_all();
        self.tasks.wait().await;
    }

    /// Adds the driver of a run, unless it has one.
    pub(crate) fn add(&self, run: RunId, driver: RunDriver) -> Added {
        match self.drivers().entry(run) {
            Entry::Occupied(_) => Added::Known,
            Entry::Vacant(place) => {
                place.insert(driver);
                if self.is_beating.swap(true, Ordering::Relaxed) { Added::Another } else { Added::First }
            }
        }
    }

    pub(crate) fn remove(&self, run: &RunId) {
        let mut drivers = self.drivers();
        drivers.remove(run);
        if drivers.is_empty() {
            self.all_left.notify_one();
        }
    }

    /// Returns whether the heartbeats end here, because this process drives no run.
    pub(crate) fn stop_beating(&self) -> bool {
        let drivers = self.drivers();
        if drivers.is_empty() {
            self.is_beating.store(false, Ordering::Relaxed);
        }
        drivers.is_empty()
    }

    fn drivers(&self) -> MutexGuard<'_, HashMap<RunId, RunDriver>> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
