//! What a command works with: the engine on its store, the person who typed it, and the session.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use planwright_agent::plan_export::PlanExport;
use planwright_agent::toolbox::Toolbox;
use planwright_agent::toolbox::command::CommandTools;
use planwright_agent::toolbox::files::{FileLimits, FileSharing, FileTools};
use planwright_agent::upstream::UpstreamTools;
use planwright_agent::{Agent, AgentOptions};
use planwright_core::actor::Actor;
use planwright_core::approval::record::ApprovalState;
use planwright_core::choices::left_to_gateway_choices;
use planwright_core::gateway::{GatewayOptions, GatewayWrites};
use planwright_core::plan::{Digest, Plan, PlanStatus};
use planwright_core::policy::Policy;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use planwright_core::upstream::ServerName;
use planwright_engine::Engine;
use planwright_engine::approvals::OpenedFor;
use planwright_engine::history::VersionAuthor;
use planwright_engine::ledger::{ApprovalStore, Ledger, LedgerError, StoredSession};
use planwright_engine::model::{Model, ModelCatalog};
use planwright_engine::permission_rules::RuleSource;
use planwright_engine::server_beats::ServerBeats;
use planwright_engine::upstream::UpstreamServers as _;
use planwright_engine::workbook::WorkbookFolders;
use planwright_notify::NotifyOptions;
use planwright_sandbox::{Sandbox, SandboxLevel};
use planwright_store::Location;
use planwright_surfaces::mcp::PlanStart;
use planwright_surfaces::mcp::folder::{folder_session, named_session};
use planwright_telegram::TelegramOptions;
use planwright_upstream::UpstreamClient;
use serde_json::{Value, json};

use crate::asking_server::AskingServer;
use crate::cli::Global;
use crate::commands::project::{self, ChatSession};
use crate::config::{ChatAlert, ChatInterface, McpPlan, ModelSettings, SandboxSettings, ServerSettings, Settings};
use crate::failure::Failure;
use crate::file_sharing::{project_places, shared, sharing};
use crate::invocation::Invocation;
use crate::models::{ConfiguredModels, embeddings};
use crate::permissions::PermissionFile;
use crate::processes;
use crate::sandbox;
use crate::terminal::card::{self, SessionPlan, Source};
use crate::terminal::palette::BOLD;
use crate::terminal::screen::Screen;
use crate::terminal::sessions::{self, ListedSession};
use crate::terminal::text::paint;

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) engine: Engine,
    /// The store, with the operations of a server.
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) person: Actor,
    pub(crate) screen: Screen,
    pub(crate) invocation: Invocation,
    /// The data folder: for what is not in the store.
    pub(crate) data: PathBuf,
    pub(crate) model: ModelSettings,
    /// How the chat tells that the agent is done.
    pub(crate) chat_alert: ChatAlert,
    pub(crate) chat_interface: ChatInterface,
    /// For the agent's commands.
    sandbox: Sandbox,
    sandbox_settings: SandboxSettings,
    /// Upstream MCP servers. `None` if none is configured.
    upstream: Option<UpstreamClient>,
    /// The upstream servers whose settings ask for more to reach than a person has allowed.
    pub(crate) asking_servers: Vec<AskingServer>,
    /// The rules for calls of tools.
    pub(crate) permissions: Arc<PermissionFile>,
    /// Where servers share the files of sessions. `None` where each has its own.
    pub(crate) sharing: Option<Arc<FileSharing>>,
    /// The heartbeats of servers. `None` where all processes of the store are on one machine.
    beats: Option<Arc<dyn ServerBeats>>,
    /// When another process takes over the sessions of a process that died.
    pub(crate) lease: Duration,
    /// The address of the dashboard, without a slash at the end.
    pub(crate) dashboard: String,
    /// The settings of what stays running.
    pub(crate) served: Served,
    /// Only project folders below these are taken, or any for `None`.
    pub(crate) allowed_projects: Option<Vec<PathBuf>>,
}

/// The settings in force of a server and of `planwright mcp`.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) server: ServerSettings,
    pub(crate) telegram: Option<TelegramOptions>,
    pub(crate) notify: NotifyOptions,
    pub(crate) allowed_projects: Vec<PathBuf>,
    pub(crate) gateway_options: GatewayOptions,
    pub(crate) gateway_start: Duration,
    /// How plan work starts in a new session over MCP.
    pub(crate) plan_start: PlanStart,
    /// Where this process says something else than the store, in words.
    pub(crate) differences: Vec<String>,
}

/// Whether a command may make a missing store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    MayBeMade,
    /// The command only reads. A missing store is most often a wrong path.
    MustExist,
}

/// Whether a command may make a missing session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionUse {
    /// The command begins something, so a missing session is made.
    Begin,
    /// The command adds something to a session. One is made if there is none at all.
    Add,
    Use,
}

impl SessionUse {
    pub(crate) fn store(self) -> Store {
        match self {
            Self::Begin | Self::Add => Store::MayBeMade,
            Self::Use => Store::MustExist,
        }
    }
}

/// What the first command after an upgrade says where an approver is enrolled.
const VERIFIED_BY_DEFAULT: &str = "this version asks for a passphrase or a passkey (`verified`) in sessions of `mcp` and `acp`, because an \
                                   approver is enrolled. `planwright approver policy --channel mcp --require separate` goes back";

/// Sessions per page.
pub(crate) const PAGE: u32 = 64;

/// A new session is named by this many characters at least.
const MIN_NAME: usize = 3;

const fn plan_start(plan: McpPlan) -> PlanStart {
    match plan {
        McpPlan::On => PlanStart::Ensure(None),
        McpPlan::Off => PlanStart::Off,
    }
}

impl Context {
    pub(crate) async fn open(global: &Global, store: Store) -> Result<Self, Failure> {
        let settings = Settings::read(global)?;
        let invocation = Invocation::new(global);
        match (&settings.location, store) {
            (Location::Sqlite(path), Store::MustExist) => must_exist(path, &invocation)?,
            (Location::Postgres(_), Store::MustExist) => {}
            (_, Store::MayBeMade) => settings.own_folder.as_deref().map_or(Ok(()), make_folder)?,
        }
        Self::with(global, settings).await
    }

    /// `None` if there is no store yet.
    pub(crate) async fn open_existing(global: &Global) -> Result<Option<Self>, Failure> {
        let settings = Settings::read(global)?;
        if let Location::Sqlite(path) = &settings.location
            && matches!(path.try_exists(), Ok(false))
        {
            return Ok(None);
        }
        Self::open(global, Store::MustExist).await.map(Some)
    }

    /// On the store that the settings name, which is made if it does not exist.
    pub(crate) async fn with(global: &Global, settings: Settings) -> Result<Self, Failure> {
        Self::opened_for(OpenedFor::Command, global, settings).await
    }

    /// With the guarded settings that the store has. A new store takes those of this process.
    pub(crate) async fn opened_for(purpose: OpenedFor, global: &Global, settings: Settings) -> Result<Self, Failure> {
        let store = planwright_store::open_store(&settings.location).await?;
        let ledger = store.ledger.clone();
        let approvals = Engine::new(ledger.clone(), settings.policy.clone()).approvals();
        let rules = PermissionFile::new(settings.permissions.clone(), &settings.data).guarding(&settings.guarded_files);
        let by = Actor::system("cli");
        let recorded = async {
            // A file that cannot be read is told when a call is to be permitted.
            approvals.import_permissions(&by, &rules.allowing().unwrap_or_default(), purpose).await?;
            approvals.record_configured(&by, &settings.guarded, purpose).await
        };
        let recorded = recorded.await;
        if recorded.as_ref().is_ok_and(|recorded| recorded.is_raised) {
            writeln!(anstream::stderr(), "planwright: {VERIFIED_BY_DEFAULT}.")?;
        }
        let (settings, rules) = match recorded.map(|recorded| recorded.state) {
            Ok(ApprovalState { settings: Some(stored), accepted_tools, .. }) => {
                (settings.under(global, &stored, &accepted_tools)?, rules.without_allowing())
            }
            // A store of an earlier version that no server has opened yet.
            Ok(ApprovalState { settings: None, .. }) => (settings, rules),
            // No decision counts while the records of the store cannot be read.
            Err(error) => {
                tracing::warn!(event = "guarded_settings_not_read", %error);
                (settings, rules.without_allowing())
            }
        };
        let sandbox = sandbox::of(&settings);
        let asking_servers = settings.mcp_servers.iter().filter_map(AskingServer::of).collect();
        let upstream =
            (!settings.mcp_servers.is_empty()).then(|| UpstreamClient::new(settings.mcp_servers.clone(), &sandbox));
        let project_places = project_places(&settings, &store);
        let beats = matches!(settings.location, Location::Postgres(_)).then(|| store.beats.clone());
        let sharing = sharing(&settings.file_place, store)?;
        let files = shared(FileTools::new(settings.data.join("users"), FileLimits::default()), sharing.as_ref());
        let folders =
            WorkbookFolders { files: Arc::new(files.clone()), templates: Some(settings.data.join("templates")) };
        let records = settings.gateway_options.writes == GatewayWrites::Recorded;
        let policy = Policy { has_rounds: upstream.is_some() && records, ..settings.policy };
        let mut engine = Engine::new(ledger.clone(), policy)
            .with_workbook_folders(folders)
            .with_project_files(Arc::new(files.clone()));
        if let Some(places) = project_places {
            // Only a database that others reach is replicated.
            engine = engine.with_project_places(places).with_journal_witness();
        }
        if let Some(path) = settings.plan_export {
            engine = engine.with_plan_files(Arc::new(PlanExport::new(path, files)));
        }
        if let Some(choice) = &settings.embeddings {
            engine = engine.with_embeddings(embeddings(choice));
        }
        Ok(Self {
            engine,
            ledger,
            person: person(),
            served: Served {
                server: settings.server.clone(),
                telegram: settings.telegram,
                notify: settings.notify,
                allowed_projects: settings.allowed_projects,
                gateway_options: settings.gateway_options,
                gateway_start: settings.gateway_start,
                plan_start: plan_start(settings.mcp_plan),
                differences: settings.differences,
            },
            screen: Screen::new(global.json),
            invocation: Invocation::new(global),
            permissions: Arc::new(rules),
            sharing,
            beats,
            data: settings.data,
            model: settings.model,
            chat_alert: settings.chat_alert,
            chat_interface: settings.chat_interface,
            sandbox,
            upstream,
            asking_servers,
            sandbox_settings: settings.sandbox,
            lease: settings.server.lease,
            dashboard: dashboard(&settings.server),
            allowed_projects: None,
        })
    }

    /// What a person should know before the agent runs commands.
    pub(crate) fn sandbox_warning(&self) -> Option<String> {
        sandbox::warning(&self.sandbox, self.sandbox_settings.level)
    }

    /// An agent on this store with the files in the data folder. Without `models`, `model` answers for every specialist.
    pub(crate) fn agent(&self, model: Arc<dyn Model>, models: Option<ConfiguredModels>) -> Agent {
        // A page that does not fit the model's context would be cut, and the next page would begin too late.
        let page = (model.context_tokens() as usize / 4).clamp(1_024, 32 * 1_024);
        let limits = FileLimits { answer_bytes: page, ..FileLimits::default() };
        let files = self.files_with(limits);
        let mut options = AgentOptions::of_this_process();
        options.lease = self.lease;
        options.beats = self.beats.clone();
        options.models = models.map(|models| Arc::new(models) as Arc<dyn ModelCatalog>);
        options.own_program = processes::own_program;
        options.commands_are_unconfined = self.sandbox_settings.level == SandboxLevel::Open;
        options.permissions = Arc::clone(&self.permissions) as Arc<dyn RuleSource>;
        let removed = self.sandbox.remove_leftovers();
        if removed > 0 {
            tracing::debug!(event = "sandbox_leftovers_removed", removed);
        }
        let command_options = sandbox::command_options(&self.sandbox_settings, page);
        let commands = CommandTools::new(self.sandbox.clone(), files.clone(), command_options);
        let mut toolbox = Toolbox::new(commands.tools());
        if let Some(upstream) = self.upstream(files.clone(), self.sandbox_settings.output_bytes.min(page)) {
            toolbox = toolbox.with_upstream(upstream);
        }
        Agent::new(self.engine.clone(), model, files, toolbox, options)
    }

    /// The tools of upstream MCP servers. `None` if no server is configured.
    pub(crate) fn upstream(&self, files: FileTools, output_bytes: usize) -> Option<UpstreamTools> {
        let servers = Arc::new(self.upstream.clone()?);
        let pins: Arc<dyn ApprovalStore> = self.ledger.clone();
        Some(UpstreamTools::new(servers, pins, files, output_bytes))
    }

    /// Whether an upstream MCP server is configured.
    pub(crate) fn has_upstream(&self) -> bool {
        self.upstream.is_some()
    }

    /// The configured upstream MCP servers, with their commands.
    pub(crate) fn upstream_commands(&self) -> BTreeMap<ServerName, Digest> {
        let servers = self.upstream.as_ref().map(UpstreamClient::servers).unwrap_or_default();
        servers.iter().map(|server| (server.name.clone(), server.command.digest)).collect()
    }

    /// The file tools, for what is not done through an agent.
    pub(crate) fn files(&self) -> FileTools {
        self.files_with(FileLimits::default())
    }

    fn files_with(&self, limits: FileLimits) -> FileTools {
        let files = match &self.allowed_projects {
            Some(allow) => FileTools::with_allowed_projects(self.users(), limits, allow.clone()),
            None => FileTools::new(self.users(), limits),
        };
        shared(files, self.sharing.as_ref())
    }

    /// The folder with the files of all sessions.
    pub(crate) fn users(&self) -> PathBuf {
        self.data.join("users")
    }

    /// Finds the session. Commands in hints name it where that is needed.
    pub(crate) async fn enter(&mut self, named: Option<&str>, purpose: SessionUse) -> Result<SessionIdentity, Failure> {
        let session = self.session(named, purpose).await?;
        let first = self.engine.sessions().list(None, 2).await?;
        let others = first.items.iter().any(|stored| stored.session.identity != session) || !first.damaged.is_empty();
        if named.is_some() || others {
            self.invocation.name_session(&session);
        }
        Ok(session)
    }

    /// The named session, that of the folder, the one to begin something in, or the only one. Between several the person is
    /// asked.
    async fn session(&self, named: Option<&str>, purpose: SessionUse) -> Result<SessionIdentity, Failure> {
        match named {
            Some(name) if name.contains(':') => self.existing(name.parse()?, purpose).await,
            Some(key) => self.with_key(ConversationKey::existing(key)?, purpose).await,
            None => match self.folder_session().await? {
                Some(session) => Ok(session),
                None => match self.last_session(purpose).await? {
                    Some(session) => Ok(session),
                    None => self.only_session(purpose).await,
                },
            },
        }
    }

    /// The chat of the person in a terminal.
    pub(crate) fn terminal_chat(&self) -> TransportChat {
        TransportChat(format!("cli:{}", self.person.name))
    }

    /// The session that `planwright chat` returns to in this folder. A command that begins something begins it there.
    async fn last_session(&self, purpose: SessionUse) -> Result<Option<SessionIdentity>, Failure> {
        match purpose {
            SessionUse::Begin => Ok(match project::chat_session(self, project::here(self)).await? {
                ChatSession::Known(session) => Some(session),
                ChatSession::NewBeside { .. } => Some(self.engine.sessions().new_identity(Channel::Cli)),
                ChatSession::First => None,
            }),
            SessionUse::Add | SessionUse::Use => Ok(None),
        }
    }

    /// Opens the session that [`SessionUse::Add`] found if it is new, and says so.
    pub(crate) async fn open_first(&self, session: &SessionIdentity) -> Result<(), Failure> {
        let opened = self.engine.sessions().open(session, &self.person).await?;
        if opened.events.is_empty() {
            return Ok(());
        }
        self.remember_session(session).await?;
        if !self.screen.json {
            self.screen.print(&format!("New session {}\n", paint(&session.to_string(), BOLD)))?;
        }
        Ok(())
    }

    /// From now on `planwright chat` returns to this session.
    pub(crate) async fn remember_session(&self, session: &SessionIdentity) -> Result<(), Failure> {
        Ok(self.engine.ledger().point(&self.terminal_chat(), session).await?)
    }

    /// The session of the current folder's project, if an agent works there over MCP.
    pub(crate) async fn folder_session(&self) -> Result<Option<SessionIdentity>, Failure> {
        let Ok(folder) = std::env::current_dir() else { return Ok(None) };
        let session = folder_session(&folder);
        let known = self.engine.ledger().session(&session).await?.is_some();
        Ok(known.then_some(session))
    }

    async fn existing(&self, session: SessionIdentity, purpose: SessionUse) -> Result<SessionIdentity, Failure> {
        if purpose != SessionUse::Begin && self.engine.ledger().session(&session).await?.is_none() {
            return Err(Failure::not_found(format!("There is no session {session}."))
                .hint(self.invocation.command(["sessions"])));
        }
        Ok(session)
    }

    async fn with_key(&self, key: ConversationKey, purpose: SessionUse) -> Result<SessionIdentity, Failure> {
        let mut found = self.engine.sessions().with_key(&key).await?;
        if found.is_empty() && !key.may_be_new() {
            // `planwright mcp` gives a short name a beginning.
            found = self.engine.sessions().with_key(&named_session(key.as_str()).conversation).await?;
        }
        match (found.as_slice(), purpose) {
            ([session], _) => Ok(session.clone()),
            ([], SessionUse::Begin) if key.as_str().len() >= MIN_NAME => {
                Ok(SessionIdentity::new(Channel::Cli, named_session(key.as_str()).conversation))
            }
            ([], SessionUse::Begin) => Ok(SessionIdentity::new(Channel::Cli, ConversationKey::new(key.as_str())?)),
            ([], SessionUse::Add | SessionUse::Use) => {
                Err(Failure::not_found(format!("There is no session with the key {key}."))
                    .hint(self.invocation.command(["sessions"])))
            }
            (several, _) => {
                let names: Vec<_> = several.iter().map(ToString::to_string).collect();
                let message = format!("the key {key} is used on several channels: {}", names.join(", "));
                let hint = format!("say which: `--session {}`", names[0]);
                Err(Failure::usage(message).hint(hint).with("sessions", json!(names)))
            }
        }
    }

    async fn only_session(&self, purpose: SessionUse) -> Result<SessionIdentity, Failure> {
        let page = self.engine.sessions().list(None, PAGE).await?;
        match (page.items.as_slice(), page.damaged.as_slice(), purpose) {
            ([only], [], _) => Ok(only.session.identity.clone()),
            ([], [], SessionUse::Begin | SessionUse::Add) => Ok(self.engine.sessions().new_identity(Channel::Cli)),
            ([], [], SessionUse::Use) => {
                let begin = self.invocation.plan(["on"]);
                Err(Failure::not_found("There are no sessions yet.").hint(format!("`{begin}` begins one")))
            }
            ([], [first, ..], SessionUse::Use) => {
                Err(Failure::damaged(format!("No session can be read; {}: {}", first.what, first.reason)))
            }
            (items, damaged, _) => {
                let mut listed = Vec::with_capacity(items.len());
                for stored in items {
                    listed.push(self.listed(stored).await?);
                }
                self.ask_which(&listed, damaged.len(), page.next.is_some(), purpose)
            }
        }
    }

    fn ask_which(
        &self,
        listed: &[ListedSession],
        damaged: usize,
        more: bool,
        purpose: SessionUse,
    ) -> Result<SessionIdentity, Failure> {
        let mut text = sessions::numbered(listed, &self.screen);
        if damaged > 0 {
            let verify = self.invocation.command(["verify"]);
            text.push_str(&format!("and {damaged} that cannot be read; `{verify}` names the damage\n"));
        }
        if more {
            let all = self.invocation.command(["sessions"]);
            text.push_str(&format!("and older ones; `{all}` lists them all\n"));
        }
        if !self.screen.interactive {
            if !self.screen.json {
                write!(anstream::stderr(), "{text}")?;
            }
            let names: Vec<Value> = listed.iter().map(ListedSession::view).collect();
            let example = listed.first().map_or_else(|| "KEY".to_owned(), |first| first.identity().to_string());
            return Err(Failure::usage("there are several sessions, and it is not clear which one is meant")
                .hint(format!("say which: `--session {example}`, or set PLANWRIGHT_SESSION"))
                .with("sessions", Value::from(names)));
        }
        self.screen.print(&text)?;
        let new = if purpose == SessionUse::Begin { ", n for a new one" } else { "" };
        let question = format!("Which session? [1-{}{new}] ", listed.len());
        let answer = self.screen.ask(&question)?.unwrap_or_default();
        let chosen = answer.parse::<usize>().ok().and_then(|number| listed.get(number.checked_sub(1)?));
        match chosen {
            Some(session) => Ok(session.identity().clone()),
            None if purpose == SessionUse::Begin && answer.eq_ignore_ascii_case("n") => {
                Ok(self.engine.sessions().new_identity(Channel::Cli))
            }
            None => Err(Failure::declined("No session was chosen; nothing was done.")),
        }
    }

    /// A session with its active plan.
    pub(crate) async fn listed(&self, stored: &StoredSession) -> Result<ListedSession, Failure> {
        let identity = &stored.session.identity;
        let active = match &stored.session.plan_mode.active_plan {
            None => None,
            // A damaged plan must not hide its session; `plan show` reports the damage.
            Some(id) => self.engine.plans().get(identity, id).await.ok(),
        };
        Ok(ListedSession::new(stored, active.as_deref()))
    }

    /// The next step for the person, in words.
    pub(crate) async fn next(&self, plan: &Plan) -> Result<String, Failure> {
        let mode = self.engine.sessions().get(&plan.session).await?.plan_mode;
        let standing =
            if mode.active_plan.as_ref() == Some(&plan.id) { SessionPlan::Active } else { SessionPlan::Parked };
        // A round is carried out beside the active plan.
        if (standing == SessionPlan::Active || plan.round.is_some())
            && plan.status == PlanStatus::Approved
            && plan.content.is_made_by_planwright()
            && let Some(agent) = self.engine.history().external_author(plan).await?
        {
            let choices = left_to_gateway_choices(plan, &agent);
            return Ok(card::next_of(choices, plan, SessionPlan::Active, None, &self.invocation));
        }
        let activity = self.engine.plans().activity(&plan.session, plan).await?;
        Ok(card::next(plan, standing, activity.as_ref(), &self.invocation))
    }

    /// Who wrote the present text, and when. `None` if the journal is damaged.
    pub(crate) async fn source_of(&self, plan: &Plan) -> Result<Option<Source>, Failure> {
        let imported = plan.origin.is_some() && plan.version <= 1;
        let author = match self.engine.history().version_author(plan).await {
            Err(LedgerError::Damaged { .. }) => return Ok(None),
            read => read?,
        };
        if let Some(VersionAuthor { by, at }) = author {
            return Ok(Some(Source { by, at, imported }));
        }
        // A draft without a version was written by the one who began it.
        let history = self.engine.history().of_plan(&plan.session, &plan.id).await?;
        Ok(history.items.into_iter().next().map(|item| Source { by: item.by, at: item.at, imported }))
    }
}

/// The address that links to the server begin with.
fn dashboard(server: &ServerSettings) -> String {
    let address = server.public_url.clone().unwrap_or_else(|| format!("http://{}", server.listen));
    address.trim_end_matches('/').to_owned()
}

/// Refuses a missing or empty file: SQLite takes an empty file for a new database.
fn must_exist(path: &Path, invocation: &Invocation) -> Result<(), Failure> {
    let begin = invocation.plan(["on"]);
    match std::fs::metadata(path) {
        Ok(file) if file.is_file() && file.len() == 0 => {
            Err(Failure::damaged(format!("{} is empty: it was cut off, or never written.", path.display()))
                .hint(format!("nothing was changed; `{begin}` makes a new store of it")))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Failure::not_found(format!("There is no store at {} yet.", path.display()))
                .hint(format!("`{begin}` begins one; `--data` and `--database` name another")))
        }
        Err(error) => Err(Failure::unavailable(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Makes a folder that only its owner can read.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(|error| Failure::unavailable(format!("the folder {} cannot be created: {error}", folder.display())))
}

fn person() -> Actor {
    let name = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    Actor::person(name.unwrap_or_else(|| "person".to_owned()), "cli").recognised(processes::presence())
}

/// For the argument `-`.
pub(crate) fn read_stdin() -> Result<String, Failure> {
    std::io::read_to_string(std::io::stdin()).map_err(|error| Failure::usage(format!("stdin cannot be read: {error}")))
}

pub(crate) fn read_file(path: &PathBuf) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
}
