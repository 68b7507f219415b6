//! Which session a transport chat is in.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, SessionIdentity, TransportChat};
use planwright_engine::ledger::LedgerResult;

use super::agent_context::AgentContext;
use crate::session::input::ChatLocation;

#[derive(Debug, Clone)]
pub struct Chats {
    agent: Arc<AgentContext>,
}

impl Chats {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// The session a transport is in: the one it entered last if that exists, else a new one.
    pub async fn arrive(&self, transport: &TransportChat, channel: Channel, by: &Actor) -> LedgerResult<ChatLocation> {
        match self.agent.engine().ledger().active_session(transport).await? {
            Some(session) => Ok(ChatLocation::new(transport.clone(), session)),
            None => self.new_session(transport, channel, by).await,
        }
    }

    /// Opens a session and moves the transport into it.
    pub async fn new_session(
        &self,
        transport: &TransportChat,
        channel: Channel,
        by: &Actor,
    ) -> LedgerResult<ChatLocation> {
        let session = self.agent.engine().sessions().new_identity(channel);
        self.enter(transport, &session, by).await
    }

    /// Moves the transport into a session, which is opened if it does not exist.
    pub async fn enter(
        &self,
        transport: &TransportChat,
        session: &SessionIdentity,
        by: &Actor,
    ) -> LedgerResult<ChatLocation> {
        self.agent.engine().sessions().open(session, by).await?;
        if !transport.names_its_session() {
            self.agent.engine().ledger().point(transport, session).await?;
        }
        tracing::info!(
            session_identity = %session,
            transport_chat_hash = transport.short_hash(),
            event = "session_entered",
            "a transport is in a session now",
        );
        Ok(ChatLocation::new(transport.clone(), session.clone()))
    }
}
