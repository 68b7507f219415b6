//! The agent in a conversation: inputs in, progress and one outcome out.
//!
//! - [`Agent::submit`]: the one way in, for every surface
//! - `inputs`: what each input does, called by the session's task in the order of arrival
//! - `commands`: slash commands, and decisions about plans
//! - `turn`: a turn from its beginning to its end, carrying out what the state machine in `core` asks for
//! - `tool_call`, `ask_agent`: one call of the model, through the gate; a question to a specialist
//! - `context`: what the model is sent, and compaction
//! - `executing`: an approved plan, carried out
//! - `lease`: taking the lease of a session
//! - `history`, `conversation_cache`: the conversation, from the journal and from what was read lately
//! - `recovering`: work that other processes left
//! - `sessions`: sessions that come and go
//! - `workbook_hooks`: what goes into the workbook around the calls

mod ask_agent;
mod commands;
mod context;
mod conversation_cache;
mod executing;
mod history;
mod inputs;
mod lease;

mod recovering;
mod sessions;
mod tool_call;
mod turn;
mod workbook_hooks;

use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::Purpose;
use tokio::sync::broadcast;
use tokio::time::timeout;

use crate::engine::Engine;
use crate::model::Model;
use crate::process;
use crate::session::input::{Input, Request};
use crate::session::progress::{Progress, ProgressStream};
use crate::session::registry::SessionRegistry;
use crate::session::shutdown::Shutdown;
use crate::session::task::{InputHandler, TaskOptions};
use crate::tokens::Tokens;
use crate::toolbox::Toolbox;
use crate::toolbox::files::FileTools;

pub use commands::standing_now;

/// How long abandoned work may take to release its session when the process shuts down.
const LAST_WRITES: Duration = Duration::from_secs(5);

/// A cheap handle on the agent; clones share everything.
#[derive(Debug, Clone)]
pub struct Agent {
    engine: Engine,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    model: Arc<dyn Model>,
    toolbox: Toolbox,
    files: FileTools,
    tokens: Tokens,
    sessions: SessionRegistry,
    conversations: conversation_cache::ConversationCache,
    shutdown: Shutdown,
    options: AgentOptions,
}

#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// How many tokens a request may have, question and answer together; what the model says if absent.
    pub context_tokens: Option<u32>,
    /// Who holds the sessions this process works on; another name in every process.
    pub owner: String,
    /// How long a session stays held when its holder is gone.
    pub lease: Duration,
    /// Whether an owner has surely ended, so that nobody needs to wait until its leases run out.
    pub is_gone: fn(&str) -> bool,
}

impl AgentOptions {
    pub fn new(owner: impl Into<String>) -> Self {
        Self { context_tokens: None, owner: owner.into(), lease: Duration::from_secs(15), is_gone: |_| false }
    }

    /// Under a name that tells others on this machine whether the process is still there.
    pub fn of_this_process() -> Self {
        Self { is_gone: process::is_gone, ..Self::new(process::own_name()) }
    }
}

impl Agent {
    /// An agent with the file tools and whatever else is in the box.
    pub fn new(
        engine: Engine,
        model: Arc<dyn Model>,
        files: FileTools,
        others: Toolbox,
        options: AgentOptions,
    ) -> Self {
        let toolbox = Toolbox::new(files.tools().into_iter().chain(others.iter().cloned()));
        // What lies beside the files is reached the same way.
        let engine = engine.with_workbook_beside(&files);
        let (tokens, sessions, conversations, shutdown) = Default::default();
        let shared = Shared { model, toolbox, files, tokens, sessions, conversations, shutdown, options };
        Self { engine, shared: Arc::new(shared) }
    }

    /// Puts an input into the queue of its session. It takes effect after every input that arrived before it, except
    /// that inputs which only read or which stop what runs do not wait. Dropping the stream does not cancel it.
    pub fn submit(&self, input: Input, request: Request) -> ProgressStream {
        let handler: Arc<dyn InputHandler> = Arc::new(self.clone());
        let options = TaskOptions { ledger: Arc::clone(self.engine().ledger()) };
        self.shared.sessions.submit(input, request, &handler, &options)
    }

    /// The progress of everything that happens in the session in this process from now on.
    pub fn observe(&self, session: &SessionIdentity) -> broadcast::Receiver<Progress> {
        self.shared.sessions.observe(session)
    }

    /// Leaves all work where another process can resume it: at once where no call is being waited for, else when the
    /// model or the tool has answered, but after `patience` at the latest. From here on nothing is begun in this process.
    pub async fn drain(&self, patience: Duration) {
        let Shared { shutdown, sessions, .. } = self.shared.as_ref();
        shutdown.request();
        if timeout(patience, sessions.all_idle()).await.is_ok() {
            return;
        }
        shutdown.abandon_calls();
        if timeout(LAST_WRITES, sessions.all_idle()).await.is_err() {
            tracing::warn!(
                event = "work_not_left",
                "some work did not end in time and is resumed when its lease runs out"
            );
        }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn model(&self) -> &dyn Model {
        self.shared.model.as_ref()
    }

    /// The tokens a request may have.
    fn context_tokens(&self) -> u32 {
        self.shared.options.context_tokens.unwrap_or_else(|| self.model().context_tokens())
    }

    /// The one that acts when the model does.
    fn actor_for(&self, session: &SessionIdentity, purpose: &Purpose) -> Actor {
        let name = match purpose {
            Purpose::Answer | Purpose::Document { .. } => self.model().name().to_owned(),
            Purpose::Step { agent, .. } | Purpose::Question { agent, .. } => {
                format!("{agent}, {}", self.model().name())
            }
        };
        Actor::agent(name, session.channel.as_str())
    }
}
