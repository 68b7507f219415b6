//! What every service of the agent works with.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::Purpose;

use super::AgentOptions;
use super::turn::ConversationCache;
use crate::engine::Engine;
use crate::model::Model;
use crate::session::shutdown::Shutdown;
use crate::tokens::Tokens;
use crate::toolbox::Toolbox;
use crate::toolbox::files::FileTools;

#[derive(Debug)]
pub(super) struct AgentContext {
    engine: Engine,
    model: Arc<dyn Model>,
    pub(super) toolbox: Toolbox,
    pub(super) files: FileTools,
    pub(super) tokens: Tokens,
    pub(super) conversations: ConversationCache,
    pub(super) shutdown: Shutdown,
    pub(super) options: AgentOptions,
}

impl AgentContext {
    pub(super) fn new(
        engine: Engine,
        model: Arc<dyn Model>,
        toolbox: Toolbox,
        files: FileTools,
        options: AgentOptions,
    ) -> Self {
        let (tokens, conversations, shutdown) = Default::default();
        Self { engine, model, toolbox, files, tokens, conversations, shutdown, options }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The tokens a request may have.
    pub(super) fn context_tokens(&self) -> u32 {
        self.options.context_tokens.unwrap_or_else(|| self.model.context_tokens())
    }

    /// The actor of entries that the model causes.
    pub(super) fn actor_for(&self, session: &SessionIdentity, purpose: &Purpose) -> Actor {
        let name = match purpose {
            Purpose::Answer | Purpose::Document { .. } => self.model.name().to_owned(),
            Purpose::Step { agent, .. } | Purpose::Question { agent, .. } => {
                format!("{agent}, {}", self.model.name())
            }
        };
        Actor::agent(name, session.channel.as_str())
    }
}
