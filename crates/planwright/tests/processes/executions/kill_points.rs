//! Where each session of a process stands still until the process is killed. One kill meets all of them, each at a point
//! of its own.

use std::collections::BTreeMap;
use std::sync::Mutex;

use planwright_core::session::SessionIdentity;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Counted from 1 in each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum KillPoint {
    /// Right after this write is on disk.
    BehindWrite(u32),
    /// Right before this write: what it records has happened, and nothing says so.
    BeforeWrite(u32),
    /// In the middle of this call of a tool.
    InCall(u32),
    /// When this call of a tool has had its effect, and its outcome is not recorded yet.
    BehindCall(u32),
}

#[derive(Debug)]
pub(super) struct KillPoints {
    kill_points: BTreeMap<String, KillPoint>,
    attempts: Mutex<BTreeMap<String, u32>>,
    writes: Mutex<BTreeMap<String, u32>>,
    calls: Mutex<BTreeMap<String, u32>>,
    /// How many sessions stand still, or have come to their end.
    settled: watch::Sender<usize>,
}

impl KillPoints {
    pub(super) fn new(kill_points: BTreeMap<String, KillPoint>) -> Self {
        Self {
            kill_points,
            attempts: Mutex::default(),
            writes: Mutex::default(),
            calls: Mutex::default(),
            settled: watch::Sender::new(0),
        }
    }

    pub(super) async fn writes(&self, session: &SessionIdentity) {
        let number = next(&self.attempts, session);
        self.meets(session, KillPoint::BeforeWrite(number)).await;
    }

    pub(super) async fn wrote(&self, session: &SessionIdentity) {
        let number = next(&self.writes, session);
        self.meets(session, KillPoint::BehindWrite(number)).await;
    }

    /// The number of the call that begins now.
    pub(super) fn call(&self, session: &SessionIdentity) -> u32 {
        next(&self.calls, session)
    }

    /// Never comes back if this is where the session stands still.
    pub(super) async fn meets(&self, session: &SessionIdentity, kill_point: KillPoint) {
        if self.kill_points.get(&session.to_string()) == Some(&kill_point) {
            self.one_more();
            std::future::pending::<()>().await;
        }
    }

    /// One more session to which nothing will happen.
    pub(super) fn one_more(&self) {
        self.settled.send_modify(|settled| *settled += 1);
    }

    pub(super) async fn settled(&self, sessions: usize) {
        // The sender is borrowed for as long as this waits, so it cannot be gone.
        let _ = self.settled.subscribe().wait_for(|settled| *settled >= sessions).await;
    }
}

fn next(counts: &Mutex<BTreeMap<String, u32>>, session: &SessionIdentity) -> u32 {
    let mut counts = counts.lock().unwrap();
    let count = counts.entry(session.to_string()).or_default();
    *count += 1;
    *count
}
