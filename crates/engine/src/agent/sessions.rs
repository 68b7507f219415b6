//! Where a conversation takes place: which session a transport is in, and sessions that come and go.

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};
use planwright_core::turn::ShownPlan;

use super::Agent;
use super::progress::Watcher;
use crate::ledger::LedgerResult;

/// A transport, and the session it is in now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub transport: TransportChat,
    pub session: SessionIdentity,
    pub seen: Seen,
}

/// Who knows which version of a plan the person saw last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Seen {
    /// The session, for whatever shows answers to one person in one place.
    #[default]
    KnownToSession,
    /// The surface: several of them may be in the session, and what one shows is not seen at the others.
    KnownHere(Option<ShownPlan>),
}

impl Place {
    pub fn new(transport: TransportChat, session: SessionIdentity) -> Self {
        Self { transport, session, seen: Seen::default() }
    }
}

impl Agent {
    /// The session a transport is in: the one that was chosen last and is still there, else a new one.
    pub async fn arrive(&self, transport: &TransportChat, channel: Channel, by: &Actor) -> LedgerResult<Place> {
        match self.engine().ledger().active_session(transport).await? {
            Some(session) => Ok(Place::new(transport.clone(), session)),
            None => self.new_place(transport, channel, by).await,
        }
    }

    /// Begins a session and moves the transport into it.
    pub async fn new_place(&self, transport: &TransportChat, channel: Channel, by: &Actor) -> LedgerResult<Place> {
        let session = self.engine().new_session(channel);
        self.enter(transport, &session, by).await
    }

    /// Moves the transport into a session, which begins if it is not there yet.
    pub async fn enter(&self, transport: &TransportChat, session: &SessionIdentity, by: &Actor) -> LedgerResult<Place> {
        self.engine().open(session, by).await?;
        self.engine().ledger().point(transport, session).await?;
        tracing::info!(
            session_identity = %session,
            transport_chat_hash = transport.short_hash(),
            event = "session_entered",
            "a transport is in a session now",
        );
        Ok(Place::new(transport.clone(), session.clone()))
    }

    /// Removes a session with everything that belongs to it. Transports that were in it are in the one before.
    pub async fn delete(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<()> {
        // It is known to be there before anything is removed.
        self.engine().session(session).await?;
        self.stop(session, by).await?;
        let served = self.shared.slots.wait_for(session).await;
        let held = self.hold(session, &served.running.stop, &Watcher::nobody()).await?;
        // The files go first: if the rest fails, the session is still there and can be deleted again.
        let deleted = match self.shared.files.remove_all(session).await {
            Ok(()) => self.engine().ledger().delete_session(&held.lease).await,
            Err(refusal) => Err(refusal.into()),
        };
        self.shared.memory.forget(session);
        self.let_go(&held).await;
        deleted
    }
}
