//! The handle of the agent: inputs in, progress and one outcome out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planwright_core::gateway::GatewayOptions;
use planwright_core::presence::AgentClient;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Workspace;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::model::{Model, ModelCatalog};
use planwright_engine::permission_rules::{FixedRules, RuleSource};
use planwright_engine::process;
use planwright_engine::server_beats::ServerBeats;
use tokio::sync::broadcast;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::agent_context::AgentContext;
use crate::chat_changes::ChatChangesReader;
use crate::chats::Chats;
use crate::execution;
use crate::gateway::Gateway;
use crate::inputs::InputDispatcher;
use crate::leases;
use crate::person_command::{self, CommandReport};
use crate::plan_changes::PlanChangesReader;
use crate::runs::{self, ScheduleLoop};
use crate::session::input::{Input, Request};
use crate::session::progress::{Progress, ProgressStream};
use crate::session::queue::SessionQueues;
use crate::takeover::Takeover;
use crate::toolbox::files::FileTools;
use crate::toolbox::{Toolbox, own_tools};
use crate::upstream::UpstreamTools;
use crate::workspace_files::WorkspaceFiles;

/// How long abandoned work may take to release its session when the process shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// A cheap handle on the agent; clones share everything.
#[derive(Debug, Clone)]
pub struct Agent {
    pub(crate) context: Arc<AgentContext>,
    sessions: Arc<SessionQueues>,
}

#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// The tokens a request may have, prompt and answer together; the model's own limit if absent.
    pub context_tokens: Option<u32>,
    /// The owner of the leases of this process; unique to the process.
    pub owner: String,
    /// The time after which a lease that is not renewed runs out.
    pub lease: Duration,
    /// Whether the process of an owner is known to have ended, so that its leases can be taken at once.
    pub is_gone: fn(&str) -> bool,
    /// Whether the process of an owner is on this machine, so that its end is seen without heartbeats.
    pub is_here: fn(&str) -> bool,
    /// The heartbeats of servers; `None` where all processes of the store are on one machine.
    pub beats: Option<Arc<dyn ServerBeats>>,
    pub permissions: Arc<dyn RuleSource>,
    /// The models that specialists name; the one model of the agent answers for all of them if absent.
    pub models: Option<Arc<dyn ModelCatalog>>,
    /// Whether shell commands run without a sandbox.
    pub commands_are_unconfined: bool,
    /// This process as the program that unconfined commands run in; `None` where the system does not tell.
    pub own_program: fn() -> Option<AgentClient>,
}

impl AgentOptions {
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            context_tokens: None,
            owner: owner.into(),
            lease: Duration::from_secs(15),
            is_gone: |_| false,
            is_here: |_| false,
            beats: None,
            permissions: Arc::new(FixedRules::default()),
            models: None,
            commands_are_unconfined: false,
            own_program: || None,
        }
    }

    /// With an owner name from which other processes on this machine can tell whether this one still runs.
    pub fn of_this_process() -> Self {
        Self { is_gone: process::is_gone, is_here: process::is_here, ..Self::new(process::own_name()) }
    }
}

impl Agent {
    /// An agent with the file tools and the other tools in the box.
    pub fn new(
        engine: Engine,
        model: Arc<dyn Model>,
        files: FileTools,
        others: Toolbox,
        options: AgentOptions,
    ) -> Self {
        let engine = engine.with_workbook_beside(Arc::new(files.clone())).with_project_files(Arc::new(files.clone()));
        let toolbox = others.with_first(files.tools()).with_recorded(own_tools(&engine));
        let context = Arc::new(AgentContext::new(engine, model, toolbox, files, options));
        let sessions = SessionQueues::new(context.engine(), Arc::new(InputDispatcher::new(&context)));
        context.runs.connect(&sessions);
        Self { context, sessions }
    }

    /// Puts an input into the queue of its session. It takes effect after every input that arrived before it, except
    /// that inputs which only read, which stop what runs or which need no turn do not wait. Dropping the stream does not cancel it.
    pub fn submit(&self, input: Input, request: Request) -> ProgressStream {
        self.sessions.submit(input, request)
    }

    /// The progress of everything that happens in the session in this process from now on.
    pub fn observe(&self, session: &SessionIdentity) -> broadcast::Receiver<Progress> {
        self.sessions.observe(session)
    }

    /// Takes over unfinished work of other processes until `stop` is cancelled.
    pub async fn take_over(&self, stop: CancellationToken) {
        Takeover::new(self.clone()).run(stop).await;
    }

    /// Starts the runs of due schedules, and lists runs as interrupted whose process ended, until `stop` is cancelled.
    pub async fn run_schedules(&self, stop: CancellationToken) {
        ScheduleLoop::new(self.clone()).run(stop).await;
    }

    /// Lets the runs of the session look again that wait for a person, after something that a person did besides an input.
    pub fn wake_runs(&self, session: &SessionIdentity) {
        self.context.runs.wake(session);
    }

    /// Whether this process makes the ticks of a run of the session.
    pub fn drives(&self, session: &SessionIdentity) -> bool {
        self.context.runs.drives_any(session)
    }

    /// Lists runs of the session as interrupted whose process ended.
    pub async fn note_interrupted_runs(&self, session: &SessionIdentity) -> LedgerResult<()> {
        runs::interrupt_dead(&self.context, session).await
    }

    /// Leaves all work where another process can resume it: at once where no call is being waited for, else when the
    /// model or the tool has answered, but after `grace` at the latest. From here on nothing is begun in this process.
    pub async fn drain(&self, grace: Duration) {
        self.context.shutdown.request();
        self.context.runs.wake_all();
        let all_left = async {
            self.sessions.all_idle().await;
            self.context.runs.all_ended().await;
        };
        if timeout(grace, all_left).await.is_ok() {
            return;
        }
        self.context.shutdown.abandon_calls();
        let all_left = async {
            self.sessions.all_idle().await;
            self.context.runs.all_ended().await;
        };
        if timeout(SHUTDOWN_TIMEOUT, all_left).await.is_err() {
            tracing::warn!(
                event = "work_not_left",
                "some work did not end in time and is resumed when its lease runs out"
            );
        }
    }

    pub fn engine(&self) -> &Engine {
        self.context.engine()
    }

    pub fn model(&self) -> &dyn Model {
        self.context.model()
    }

    /// Checks a folder that a person names as a project, and gives it as it is recorded: absolute, without links.
    pub fn project(&self, path: &Path) -> Result<Workspace, Refusal> {
        self.context.files.project(path)
    }

    /// Keeps a file that a person sent to the session, and gives the path that the agent reads it by. Refused in a session
    /// that works in a project folder, where nothing is added without permission.
    pub async fn receive_file(&self, session: &SessionIdentity, name: &str, content: Vec<u8>) -> LedgerResult<String> {
        if !self.engine().sessions().get(session).await?.workspace.is_own() {
            let message = "Files are taken in sessions with a folder of their own; this one works in a project folder.";
            return Err(Refusal::policy_denied(message).into());
        }
        Ok(self.context.files.receive(session, name, content).await?)
    }

    /// Whether the model of this process may continue a turn of the session. The built-in rehearsal does not continue the
    /// work of another model.
    pub async fn may_continue(&self, session: &SessionIdentity) -> LedgerResult<bool> {
        execution::may_continue(&self.context, session).await
    }

    /// Whether another process works on the session now.
    pub async fn is_worked_on_elsewhere(&self, session: &SessionIdentity) -> LedgerResult<bool> {
        leases::is_held_elsewhere(&self.context, session).await
    }

    /// The part of the model's context that the conversation of a session takes, in percent. `None` if this process has not worked in
    /// the session.
    pub fn context_percent(&self, session: &SessionIdentity) -> Option<u64> {
        let tokens = self.context.conversations.tokens(session)?;
        let limit = u64::from(self.context.context_tokens()).max(1);
        Some(u64::from(tokens) * 100 / limit)
    }

    /// Runs a shell command of a person in the workspace of their session and in the sandbox. Dropping the future ends the command.
    pub async fn run_command(&self, session: &SessionIdentity, line: &str) -> LedgerResult<CommandReport> {
        person_command::run(&self.context, session, line).await
    }

    /// What conversations changed in files outside of any plan.
    pub fn chat_changes(&self) -> ChatChangesReader {
        ChatChangesReader::new(&self.context)
    }

    /// The files of workspaces as a person sees them.
    pub fn workspace_files(&self) -> WorkspaceFiles {
        WorkspaceFiles::new(&self.context)
    }

    /// What plans changed in files.
    pub fn plan_changes(&self) -> PlanChangesReader {
        PlanChangesReader::new(&self.context)
    }

    /// The tools of upstream MCP servers. `None` without such servers.
    pub fn upstream(&self) -> Option<&UpstreamTools> {
        self.context.toolbox.upstream()
    }

    /// The way of agents of other programs to upstream tools.
    pub fn gateway(&self, options: GatewayOptions) -> Gateway {
        Gateway::new(self, options)
    }

    pub fn chats(&self) -> Chats {
        Chats::new(&self.context)
    }

    /// Whether this process works in the session now.
    pub(crate) fn is_active(&self, session: &SessionIdentity) -> bool {
        self.sessions.is_active(session)
    }
}
