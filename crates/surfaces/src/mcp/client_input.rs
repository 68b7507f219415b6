//! The client of a request: who its agent is, and what it can be asked.

#![allow(deprecated, reason = "servers ask for a model and for folders by requests of the older life cycle, too")]

use planwright_core::actor::Actor;
use planwright_engine::upstream::QuestionKinds;
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

use super::THROUGH;

/// How many characters of a client's name go into the journal.
const MAX_NAME: usize = 128;

/// Whether the request is one of the protocol without `initialize`.
pub(super) fn is_newest(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// What a client says that it can be asked.
pub(super) fn kinds_of(capabilities: Option<&ClientCapabilities>) -> QuestionKinds {
    QuestionKinds {
        sampling: capabilities.is_some_and(|can| can.sampling.is_some()),
        elicitation: capabilities.is_some_and(|can| can.elicitation.is_some()),
        roots: capabilities.is_some_and(|can| can.roots.is_some()),
    }
}

/// The agent, by the name its client gives itself. It is stored unchanged; every surface makes it visible before it shows it.
pub(super) fn caller(context: &RequestContext<RoleServer>) -> Actor {
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    let name: String = name.trim().chars().take(MAX_NAME).collect();
    Actor::agent(if name.is_empty() { "agent" } else { &name }, THROUGH)
}
