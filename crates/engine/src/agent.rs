//! The agent in a conversation: messages and commands in, answers out, one after another in each session.
//!
//! - [`Agent`]: the handle that surfaces call
//! - `slots`: one queue per session in this process; the lease in the ledger makes it one over all processes
//! - `holding`: a lease that is kept alive while it is worked under
//! - `leaving`: a process that is to end leaves its work where somebody else can go on
//! - `recovering`: work that others left
//! - `recalling`, `memory`: the conversation, from the journal and from what is remembered of it
//! - `running`: a turn from its beginning to its end, carrying out what the state machine in `core` asks for
//! - `calling`: one tool call, through the gate
//! - `asking`: a question to a specialist, in a turn of its own
//! - `guarding`: what panics has failed, and nothing else has
//! - `noting`: what goes into the workbook around the calls
//! - `context`: what the model is sent, and compaction
//! - `executing`: an approved plan of recorded calls, carried out
//! - `outcome`: how a turn ended, with the plan it shows
//! - `commands`: what is typed with a slash

mod asking;
mod calling;
mod commands;
mod context;
mod executing;
mod guarding;
mod holding;
mod leaving;
mod memory;
mod noting;
mod outcome;
mod process;
mod progress;
mod recalling;
mod recovering;
mod running;
mod sessions;
mod slots;

use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::ids::RequestId;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{self, Input};
use planwright_core::turn::Purpose;

use crate::engine::Engine;
use crate::ledger::LedgerResult;
use crate::model::Model;
use crate::tokens::Tokens;
use crate::toolbox::Toolbox;
use crate::toolbox::files::FileTools;

pub use commands::{Answer, Approved, Approving, RevisionAsked, standing_now};
pub use outcome::{PlanCard, TurnOutcome};
pub(crate) use process::is_gone;
pub use progress::{Progress, Watcher};
pub use sessions::{Place, Seen};

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
    slots: slots::Slots,
    memory: memory::Memory,
    leaving: leaving::Leaving,
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
        let (tokens, slots, memory, leaving) = Default::default();
        let shared = Shared { model, toolbox, files, tokens, slots, memory, leaving, options };
        Self { engine, shared: Arc::new(shared) }
    }

    /// The same agent for one request that may come twice: the first thing that is written for it has this name, and sent
    /// again it comes to what it came to the first time.
    pub fn as_request(&self, request: RequestId) -> Self {
        Self { engine: self.engine.as_request(request), shared: Arc::clone(&self.shared) }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn model(&self) -> &dyn Model {
        self.shared.model.as_ref()
    }

    /// Whatever was typed: a message for the agent, or a command. It waits for its turn and answers when it is over.
    pub async fn hear(&self, place: &Place, by: &Actor, text: &str, watcher: &Watcher) -> LedgerResult<Answer> {
        match slash::parse(text) {
            Input::Message(text) => Ok(self.send(&place.session, by, text, watcher).await?.into()),
            Input::Command(command) => self.command(place, by, command, watcher).await,
            Input::Refused(mistake) => {
                Ok(Answer::refusal(&place.session, RefusalCode::InvalidArgument, mistake.to_string()))
            }
        }
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
