//! Where a conversation takes place: which session a transport is in, and sessions that come and go.

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};

use super::Agent;
use crate::ledger::LedgerResult;
use crate::session::input::Place;
use crate::session::outcome::Answer;
use crate::session::task::{InputContext, Running};

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
        let session = self.engine().sessions().new_identity(channel);
        self.enter(transport, &session, by).await
    }

    /// Moves the transport into a session, which begins if it is not there yet.
    pub async fn enter(&self, transport: &TransportChat, session: &SessionIdentity, by: &Actor) -> LedgerResult<Place> {
        self.engine().sessions().open(session, by).await?;
        self.engine().ledger().point(transport, session).await?;
        tracing::info!(
            session_identity = %session,
            transport_chat_hash = transport.short_hash(),
            event = "session_entered",
            "a transport is in a session now",
        );
        Ok(Place::new(transport.clone(), session.clone()))
    }

    /// Deletes the session with everything of it. Transports that were in it are in the one before.
    pub(super) async fn delete_session(&self, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        // It is known to exist before anything is removed.
        self.engine().sessions().get(session).await?;
        self.stop_session(session, context.by(), &Running::NOTHING).await?;
        let lease = self.hold(context).await?;
        // The files go first: if the rest fails, the session is still there and can be deleted again.
        let deleted = match self.shared.files.remove_all(session).await {
            Ok(()) => self.engine().ledger().delete_session(lease.lease()).await,
            Err(refusal) => Err(refusal.into()),
        };
        self.shared.conversations.forget(session);
        self.release(&lease).await;
        deleted.map(|()| Answer::words(session, format!("Session {session} is deleted.")))
    }
}
