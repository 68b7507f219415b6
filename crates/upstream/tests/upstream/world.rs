//! An agent with upstream servers, a scripted model and a real store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use planwright_agent::Agent;
use planwright_agent::session::input::ChatLocation;
use planwright_agent::session::outcome::Answer;
use planwright_agent::session::progress::Progress;
use planwright_agent::toolbox::Toolbox;
use planwright_agent::upstream::UpstreamTools;
use planwright_core::actor::Actor;
use planwright_core::permission::{Permission, PermissionRule, PermissionRules};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use planwright_core::upstream::{AnnotationTrust, ServerName};
use planwright_engine::ledger::ApprovalStore;
use planwright_engine::permission_rules::FixedRules;
use planwright_engine::upstream::{ToolSelection, UpstreamServers as _};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_sandbox::{Sandbox, SandboxLevel, SandboxOptions};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::talk::{Talk as _, Watcher};
use planwright_upstream::{AskedAccess, PassedRequests, Reach, UpstreamClient, UpstreamServerOptions};
use tempfile::TempDir;

pub(crate) const SERVER: &str = "test";

pub(crate) struct World {
    /// Kept until the last process on it is gone.
    pub(crate) folder: Arc<TempDir>,
    pub(crate) setup: AgentSetup,
    pub(crate) model: ScriptedModel,
    pub(crate) agent: Agent,
    pub(crate) session: SessionIdentity,
    pub(crate) client: UpstreamClient,
    pub(crate) servers: Vec<UpstreamServerOptions>,
}

/// What a test changes before the agent is made.
pub(crate) struct Setup {
    pub(crate) servers: Vec<UpstreamServerOptions>,
    pub(crate) rules: Vec<PermissionRule>,
}

pub(crate) fn person() -> Actor {
    Actor::person("tester", "cli")
}

pub(crate) fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(SandboxOptions { home: std::env::home_dir(), ..SandboxOptions::default() })
}

fn python() -> &'static str {
    if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" }
}

/// The hostile server in this mode, which keeps its notes in `folder/NAME`.
pub(crate) fn hostile(server: &str, mode: &str, folder: &Path) -> UpstreamServerOptions {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hostile.py");
    let own = folder.join(server);
    std::fs::create_dir_all(&own).unwrap();
    let arguments = [script.to_str().unwrap(), mode, own.to_str().unwrap()].map(str::to_owned);
    program(server, python(), arguments.to_vec(), own)
}

pub(crate) fn program(server: &str, command: &str, arguments: Vec<String>, folder: PathBuf) -> UpstreamServerOptions {
    let mut options = UpstreamServerOptions {
        passed_requests: PassedRequests::default(),
        name: name(server),
        reach: Reach::Program {
            command: command.to_owned(),
            arguments,
            program: None,
            environment: vec![("GIVEN_API_KEY".to_owned(), "given".to_owned())],
            home: folder.clone(),
            folder,
            access: open(),
        },
        trust: AnnotationTrust::Ignored,
        selection: ToolSelection::new(&[], 128).unwrap(),
        start_time: Duration::from_secs(30),
        call_time: Duration::from_secs(60),
    };
    options.locate();
    options
}

/// Without the sandbox, as a person allowed: the servers of most tests are killed by their process ids.
pub(crate) fn open() -> AskedAccess {
    AskedAccess { level: SandboxLevel::Open, is_allowed: true, ..AskedAccess::default() }
}

pub(crate) fn allow(tool: &str) -> PermissionRule {
    let (target, server, effect) = (None, None, None);
    PermissionRule { tool: tool.to_owned(), target, server, effect, exact: false, decide: Permission::Allow }
}

impl World {
    /// One server whose tools are accepted and permitted.
    pub(crate) async fn accepted(replies: impl IntoIterator<Item = Reply>) -> Self {
        let world = Self::new(replies).await;
        world.accept(SERVER).await;
        world
    }

    /// One server whose tools are permitted and not yet accepted.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with("plain", replies, |_| {}).await
    }

    pub(crate) async fn with(
        mode: &str,
        replies: impl IntoIterator<Item = Reply>,
        change: impl FnOnce(&mut Setup),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Setup { servers: vec![hostile(SERVER, mode, folder.path())], rules: vec![allow("*")] };
        change(&mut world);
        let Setup { servers, rules } = world;
        let mut setup = AgentSetup::new(folder.path());
        let rules = PermissionRules::new(rules).unwrap();
        setup.options.permissions = Arc::new(FixedRules::new(rules));
        let model = ScriptedModel::new(replies);
        let (agent, client) = agent(&mut setup, &servers, &model).await;
        let session = SessionIdentity::new(Channel::Cli, ConversationKey::new("session-one").unwrap());
        agent.engine().sessions().open(&session, &person()).await.unwrap();
        Self { folder: Arc::new(folder), setup, model, agent, session, client, servers }
    }

    /// Another process on the same store, with servers of its own. The first one's leases count as left behind.
    pub(crate) async fn another(&self, replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut setup = self.setup.clone().owned_by("another");
        setup.options.is_gone = |_| true;
        let model = ScriptedModel::new(replies);
        let (agent, client) = agent(&mut setup, &self.servers, &model).await;
        let folder = Arc::clone(&self.folder);
        Self { folder, setup, model, agent, session: self.session.clone(), client, servers: self.servers.clone() }
    }

    pub(crate) fn upstream(&self) -> &UpstreamTools {
        self.agent.upstream().unwrap()
    }

    /// A person accepts what the server offers.
    pub(crate) async fn accept(&self, server: &str) {
        let status = self.upstream().look(&name(server)).await.unwrap();
        let (digest, ..) = status.state.waiting().expect("something to accept");
        let approvals = self.agent.engine().approvals();
        self.upstream().accept(&name(server), digest, &person(), &approvals).await.unwrap();
    }

    pub(crate) fn place(&self) -> ChatLocation {
        ChatLocation::new(TransportChat("cli:tester".to_owned()), self.session.clone())
    }

    pub(crate) async fn send(&self, text: &str) -> Answer {
        self.agent.type_text(&self.place(), &person(), text, &Watcher::none()).await.unwrap()
    }

    /// Sends a message and returns its answer with what was shown on the way.
    pub(crate) async fn watch(&self, text: &str) -> (Answer, Vec<Progress>) {
        let (watcher, mut shown) = Watcher::new();
        let answer = self.agent.type_text(&self.place(), &person(), text, &watcher).await.unwrap();
        drop(watcher);
        let mut progress = Vec::new();
        while let Ok(one) = shown.try_recv() {
            progress.push(one);
        }
        (answer, progress)
    }

    /// Types it, and acts as soon as a tool's output with these words is shown.
    pub(crate) async fn when_shown<T>(&self, text: &str, expected: &str, act: impl AsyncFnOnce() -> T) -> (Answer, T) {
        let (watcher, mut shown) = Watcher::new();
        let (place, by) = (self.place(), person());
        let answer = self.agent.type_text(&place, &by, text, &watcher);
        let acting = async {
            loop {
                match shown.recv().await.expect("more to be shown") {
                    Progress::ToolOutput { text, .. } if text.contains(expected) => return act().await,
                    _ => {}
                }
            }
        };
        let (answer, acted) = tokio::join!(answer, acting);
        (answer.unwrap(), acted)
    }

    /// The results of tools in the last request to the model.
    pub(crate) fn results(&self) -> String {
        format!("{:?}", self.model.last_request().messages)
    }

    /// The names of the tools in the last request to the model.
    pub(crate) fn advertised(&self) -> Vec<String> {
        self.model.last_request().tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// What a server wrote down about itself.
    pub(crate) fn log(&self, server: &str, file: &str) -> Vec<String> {
        read_log(&self.server_folder(server).join(file))
    }

    pub(crate) fn server_folder(&self, server: &str) -> PathBuf {
        match &self.servers.iter().find(|options| options.name == name(server)).unwrap().reach {
            Reach::Program { folder, .. } => folder.clone(),
            Reach::Http { .. } => panic!("{server} is no program"),
        }
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.log(SERVER, "calls.log")
    }

    pub(crate) fn write(&self, server: &str, file: &str, text: &str) {
        std::fs::write(self.server_folder(server).join(file), text).unwrap();
    }

    /// Everything that happened in the session, as the journal has it.
    pub(crate) async fn journal(&self) -> String {
        let entries = self.setup.ledger().await.journal(&self.session, 0, 10_000).await.unwrap();
        format!("{entries:?}")
    }

    /// Ends the servers, as a process does that ends.
    pub(crate) async fn stop_servers(&self) {
        self.client.stop().await;
    }
}

pub(crate) fn read_log(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until something is so, which does not take long.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen");
}

async fn agent(
    setup: &mut AgentSetup,
    servers: &[UpstreamServerOptions],
    model: &ScriptedModel,
) -> (Agent, UpstreamClient) {
    let client = UpstreamClient::new(servers.to_vec(), &sandbox());
    let ledger = setup.ledger().await;
    let pins: Arc<dyn ApprovalStore> = ledger.clone();
    let upstream = UpstreamTools::new(Arc::new(client.clone()), pins, setup.files(), 16 * 1024);
    setup.tools = Toolbox::default().with_upstream(upstream);
    (setup.agent(ledger, model.clone()), client)
}
