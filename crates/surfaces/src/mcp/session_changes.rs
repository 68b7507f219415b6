//! Notices what happens in a session: after a call of this client, and after whatever another process did, such as an
//! approval on the command line.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::copy_on_write::CopyOnWrite;
use planwright_core::session::{Session, SessionIdentity};
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::MissedTickBehavior;

use super::Never;

const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub(super) struct SessionChanges {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    engine: Engine,
    session: SessionIdentity,
    /// The number of the journal's last entry.
    seq: watch::Sender<u64>,
    /// How often the offered tools have changed.
    tools: watch::Sender<u64>,
    look_now: Notify,
    /// The names of the offered tools. Locked from before the session is read, so that what is read is never older than
    /// what is known.
    names: Mutex<Option<Vec<&'static str>>>,
}

impl SessionChanges {
    pub(super) fn new(engine: Engine, session: SessionIdentity) -> Self {
        let (seq, tools) = (watch::channel(0).0, watch::channel(0).0);
        Self {
            shared: Arc::new(Shared { engine, session, seq, tools, look_now: Notify::new(), names: Mutex::default() }),
        }
    }

    /// Becomes ready with every entry of the journal from now on.
    pub(super) fn entries(&self) -> watch::Receiver<u64> {
        self.shared.seq.subscribe()
    }

    /// Becomes ready with every change of the offered tools from now on.
    pub(super) fn tools(&self) -> watch::Receiver<u64> {
        self.shared.tools.subscribe()
    }

    /// A commit of this client led to this session, which need not be read again.
    pub(super) fn see(&self, session: CopyOnWrite<Session>, seq: u64) {
        match self.shared.names.try_lock() {
            Ok(mut names) if names.is_some() && seq > *self.shared.seq.borrow() => {
                self.update(&mut names, Some(session), seq);
            }
            Ok(_) | Err(_) => self.look_now(),
        }
    }

    /// Something was done that may have changed the session.
    pub(super) fn look_now(&self) {
        self.shared.look_now.notify_one();
    }

    /// The tools of an upstream server changed.
    pub(super) fn tools_changed(&self) {
        self.shared.tools.send_modify(|changes| *changes += 1);
    }

    /// Looks again and again, as long as it is polled.
    pub(super) async fn watch(&self) -> Never {
        let mut ticks = tokio::time::interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            match self.look().await {
                Ok(()) => {}
                // The calls say so themselves; here it is enough to look again.
                Err(error) => tracing::debug!(%error, "the session could not be looked at"),
            }
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.shared.look_now.notified() => {}
            }
        }
    }

    async fn look(&self) -> LedgerResult<()> {
        let mut names = self.shared.names.lock().await;
        let stored = self.shared.engine.ledger().session(&self.shared.session).await?;
        let seq = stored.as_ref().map_or(0, |stored| stored.head.seq);
        if names.is_none() || seq != *self.shared.seq.borrow() {
            self.update(&mut names, stored.map(|stored| stored.session.into()), seq);
        }
        Ok(())
    }

    /// The list of tools depends on the style of plan work and on the planning files.
    fn update(&self, names: &mut Option<Vec<&'static str>>, session: Option<CopyOnWrite<Session>>, seq: u64) {
        let now = self.shared.engine.external_tools().advertised_names(&self.shared.session, session);
        if names.as_ref().is_some_and(|before| *before != now) {
            self.tools_changed();
        }
        *names = Some(now);
        self.shared.seq.send_replace(seq);
    }
}
