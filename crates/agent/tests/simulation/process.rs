//! A process that works on the store: it may fall asleep, and it may die at any moment.
//!
//! Nothing leaves a process but through its store, its model and its tools. All of them stop for ever when it is dead, so
//! whatever its tasks still hold in memory is as good as gone; the tasks themselves are dropped with the run.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::random::Random;
use crate::world::{Occurrence, World};

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) owner: String,
    pub(crate) world: Arc<World>,
    dead: AtomicBool,
    asleep_until: Mutex<Instant>,
    /// The tasks that wait for its answers.
    waiting: Mutex<Vec<AbortHandle>>,
}

thread_local! {
    /// The processes of this run that are dead.
    static DEAD: RefCell<BTreeSet<String>> = RefCell::default();
}

/// Whether every process can see that a process is dead.
pub(crate) fn is_gone(owner: &str) -> bool {
    DEAD.with_borrow(|dead| dead.contains(owner))
}

pub(crate) fn clear_dead_processes() {
    DEAD.with_borrow_mut(BTreeSet::clear);
}

impl Process {
    pub(crate) fn start(owner: String, world: &Arc<World>) -> Arc<Self> {
        world.happened(Occurrence::Started { owner: owner.clone() });
        Arc::new(Self {
            owner,
            world: Arc::clone(world),
            dead: AtomicBool::new(false),
            asleep_until: Mutex::new(Instant::now()),
            waiting: Mutex::default(),
        })
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Relaxed)
    }

    pub(crate) fn kill(&self) {
        if self.dead.swap(true, Relaxed) {
            return;
        }
        self.world.happened(Occurrence::Died { owner: self.owner.clone() });
        DEAD.with_borrow_mut(|dead| dead.insert(self.owner.clone()));
        self.waiting.lock().unwrap().drain(..).for_each(|task| task.abort());
    }

    /// What waits for an answer of this process does not get one once it is dead.
    pub(crate) fn is_waited_for(&self, task: AbortHandle) {
        self.waiting.lock().unwrap().push(task);
    }

    pub(crate) fn fall_asleep(&self, time: Duration) {
        *self.asleep_until.lock().unwrap() = Instant::now() + time;
    }

    /// Goes on when the process is awake, and never if it is dead.
    pub(crate) async fn breathe(&self) {
        loop {
            if self.is_dead() {
                pending::<()>().await;
            }
            let until = *self.asleep_until.lock().unwrap();
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    /// Lets time pass.
    pub(crate) async fn spend(&self, time: Duration) {
        sleep(time).await;
        self.breathe().await;
    }

    pub(crate) async fn die(&self) -> Infallible {
        self.kill();
        pending().await
    }

    /// Whether this is the moment it dies.
    pub(crate) fn is_to_die(&self, random: &mut Random) -> bool {
        self.world.strikes(random, self.world.conditions.deaths)
    }
}
