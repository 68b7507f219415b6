//! What every service of the agent works with.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use planwright_core::actor::Actor;
use planwright_core::agents::SpecialistOptions;
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::Purpose;
use planwright_engine::engine::Engine;
use planwright_engine::model::Model;

use super::AgentOptions;
use crate::own_beats::OwnBeats;
use crate::session::shutdown::Shutdown;
use crate::state::{
    AdvertisedToolsCache, CallRate, ConversationCache, EndedServers, HeartbeatMarks, LeaseClock, RunDrivers,
};
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
    pub(super) advertised_tools: AdvertisedToolsCache,
    pub(super) call_rate: CallRate,
    /// The sessions in which this process ran an unconfined command.
    pub(super) unconfined: Mutex<HashSet<SessionIdentity>>,
    pub(super) shutdown: Shutdown,
    pub(super) runs: RunDrivers,
    pub(super) heartbeat_marks: HeartbeatMarks,
    pub(super) lease_clock: LeaseClock,
    pub(super) beats: Arc<OwnBeats>,
    pub(super) ended_servers: EndedServers,
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
        let (tokens, conversations, advertised_tools, call_rate, unconfined, shutdown) = Default::default();
        let (runs, heartbeat_marks, lease_clock, ended_servers) = Default::default();
        let beats = Arc::new(OwnBeats::new(options.beats.clone(), &options.owner));
        Self {
            engine,
            model,
            toolbox,
            files,
            tokens,
            conversations,
            advertised_tools,
            call_rate,
            unconfined,
            shutdown,
            runs,
            heartbeat_marks,
            lease_clock,
            beats,
            ended_servers,
            options,
        }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether the process of an owner is known to have ended.
    pub(super) fn has_ended(&self, owner: &str) -> bool {
        (self.options.is_gone)(owner) || self.ended_servers.contains(owner)
    }

    /// The policy of the session, with what its project adds.
    pub(super) fn policy_of(&self, session: &SessionIdentity) -> Arc<Policy> {
        self.engine.submitter().policies().of(session)
    }

    pub(super) fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The model that answers in a turn with this purpose: that of the specialist, if it names one that can be reached.
    pub(super) fn model_for(&self, session: &SessionIdentity, purpose: &Purpose) -> Arc<dyn Model> {
        let named = self.specialist_options(session, purpose).and_then(|options| options.model);
        let Some((name, models)) = named.zip(self.options.models.as_ref()) else { return Arc::clone(&self.model) };
        match models.model(&name) {
            Ok(model) => model,
            Err(reason) => {
                tracing::warn!(
                    event = "specialist_model_missing",
                    model = name,
                    reason,
                    "the model of the configuration answers instead"
                );
                Arc::clone(&self.model)
            }
        }
    }

    /// What the specialist of a turn with this purpose may use.
    pub(super) fn specialist_options(&self, session: &SessionIdentity, purpose: &Purpose) -> Option<SpecialistOptions> {
        match purpose {
            Purpose::Answer | Purpose::Document { .. } | Purpose::Run(_) => None,
            Purpose::Step { agent, .. } | Purpose::Question { agent, .. } => {
                Some(self.policy_of(session).agents.get(agent)?.options.clone())
            }
        }
    }

    /// The tokens a request may have.
    pub(super) fn context_tokens(&self) -> u32 {
        self.context_tokens_of(self.model.as_ref())
    }

    /// The tokens a request to this model may have.
    pub(super) fn context_tokens_of(&self, model: &dyn Model) -> u32 {
        self.options.context_tokens.unwrap_or_else(|| model.context_tokens())
    }

    /// The actor of entries that the model causes.
    pub(super) fn actor_for(&self, session: &SessionIdentity, purpose: &Purpose) -> Actor {
        let name = match purpose {
            Purpose::Answer | Purpose::Document { .. } | Purpose::Run(_) => self.model.name().to_owned(),
            Purpose::Step { agent, .. } | Purpose::Question { agent, .. } => {
                format!("{agent}, {}", self.model_for(session, purpose).name())
            }
        };
        Actor::agent(name, session.channel.as_str())
    }
}
