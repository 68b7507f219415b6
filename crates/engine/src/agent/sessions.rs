//! Where a conversation takes place: which session a transport is in, and sessions that come and go.

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};

use super::Agent;
use super::progress::Watcher;
use crate::ledger::LedgerResult;

/// A transport, and the session it is in now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub transport: TransportChat,
    pub session: SessionIdentity,
}

impl Agent {
    /// The session a transport is in: the one that was chosen last and is still there, else a new one.
    pub async fn arrive(&self, transport: &TransportChat, channel: Channel, by: &Actor) -> LedgerResult<Place> {
        match self.engine().ledger().pointed(transport).await? {
            Some(session) => Ok(Place { transport: transport.clone(), session }),
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
        Ok(Place { transport: transport.clone(), session: session.clone() })
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
        self.let_go(held).await;
        deleted
    }
}
