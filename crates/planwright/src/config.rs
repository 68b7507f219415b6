//! The settings: flags come before variables, variables before the configuration file, and the file before the defaults.
//!
//! - `agents`: the specialists that steps can be given to
//! - `approval`: how a person has to be recognised to approve
//! - `agent_files`: specialists as Markdown files
//! - `file`: `planwright.toml` as it is written
//! - `files`: where servers share the files of sessions
//! - `guarded`: the settings that live in the store
//! - `chat`: the chat in a terminal
//! - `hook`: the hooks of clients
//! - `mcp`, `mcp_file`: plan work over MCP, and upstream MCP servers, read, and added to the file
//! - `memory`: how memories are found
//! - `notify`: what people are told, where and when
//! - `planning_files`: the workbook
//! - `policy`: how plans and turns work
//! - `projects`: the project folders that a server works in
//! - `reply`: the size of a model's reply
//! - `reference`: the list of all settings, for `--help` and `docs/configuration.md`
//! - `sandbox`: what the agent's commands may do
//! - `server`: where the server listens, under which names, and its limits
//! - `setting`: how a setting is declared, and its types
//! - `telegram`: the bot, and who may use it
//! - `variables`: the environment, and the words of errors in it
//! - `auto`: `[auto]`: what runs of the agent by itself may spend, and when they pause; `[[prices]]`: what models cost
//! - `gateway`: the section `gateway`: calls of agents of other programs to upstream servers

mod agent_files;
mod agents;
mod approval;
mod auto;
mod chat;
mod file;
mod files;
mod gateway;
pub(crate) mod guarded;
mod hook;
mod mcp;
pub(crate) mod mcp_file;
mod memory;
mod notify;
mod planning_files;
mod policy;
mod projects;
mod reference;
mod reply;
mod sandbox;
mod server;
mod setting;
mod telegram;
mod variables;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright_core::approval::AgentSandbox;
use planwright_core::gateway::GatewayOptions;
use planwright_core::permission::{PermissionRule, PermissionRules};
use planwright_core::plan::export::ExportPath;
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_llm::{ModelChoice, ReplyLimits};
use planwright_notify::NotifyOptions;
use planwright_sandbox::SandboxLevel;
use planwright_store::Location;
use planwright_telegram::TelegramOptions;
use planwright_upstream::UpstreamServerOptions;

pub(crate) use self::chat::{ChatAlert, ChatInterface};
use self::file::File;
pub(crate) use self::files::FilePlace;
use self::guarded::{AcceptedServers, GuardedSettings};
pub(crate) use self::hook::HookAsk;
pub(crate) use self::mcp::McpPlan;
pub(crate) use self::reference::{all_settings, setting_default, settings_help};
pub(crate) use self::sandbox::SandboxSettings;
pub(crate) use self::server::{ServerSettings, host_name, listen_address};
use self::setting::{Positive, SettingValue as _};
use self::variables::{in_file, variable};
use crate::cli::Global;
use crate::failure::Failure;

/// The settings in effect.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) location: Location,
    /// The data folder, if the store is in it: it may be made if it is missing. The folder of a store that was named may not.
    pub(crate) own_folder: Option<PathBuf>,
    /// The data folder: for everything that is not in the store.
    pub(crate) data: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) model: ModelSettings,
    pub(crate) server: ServerSettings,
    pub(crate) sandbox: SandboxSettings,
    /// The folders below which a server takes project folders.
    pub(crate) allowed_projects: Vec<PathBuf>,
    /// Which project folders this machine has.
    pub(crate) projects_id: Option<String>,
    /// Where servers share the files of sessions.
    pub(crate) file_place: FilePlace,
    /// Files that later run or instruct, beside the usual ones.
    pub(crate) guarded_files: Vec<String>,
    /// Where plans are written in a project.
    pub(crate) plan_export: Option<ExportPath>,
    /// The rules of the configuration file, which make sense.
    pub(crate) permissions: Vec<PermissionRule>,
    /// The upstream MCP servers.
    pub(crate) mcp_servers: Vec<UpstreamServerOptions>,
    /// Whether agents that come over MCP begin with plan work.
    pub(crate) mcp_plan: McpPlan,
    /// Where people are asked about a call that a hook may not let pass by itself.
    pub(crate) hook_ask: HookAsk,
    /// How the chat tells that the agent is done.
    pub(crate) chat_alert: ChatAlert,
    /// How a person types in the chat.
    pub(crate) chat_interface: ChatInterface,
    /// What becomes of calls of agents of other programs to upstream servers.
    pub(crate) gateway_options: GatewayOptions,
    /// How long lists wait for the servers of `--upstream`.
    pub(crate) gateway_start: Duration,
    /// The Telegram bot, if there is one.
    pub(crate) telegram: Option<TelegramOptions>,
    pub(crate) notify: NotifyOptions,
    /// The embedding model by which memories are also found.
    pub(crate) embeddings: Option<ModelChoice>,
    /// The path of the configuration file, which may not exist.
    pub(crate) file: PathBuf,
    /// What this process itself says about the guarded settings. A new store takes them over.
    pub(crate) guarded: GuardedSettings,
    /// Where this process says something else than the store, in words.
    pub(crate) differences: Vec<String>,
}

/// The model that answers, unless `--model` names another.
#[derive(Debug, Clone)]
pub(crate) struct ModelSettings {
    pub(crate) choice: ModelChoice,
    /// Whether a variable or the file names it.
    pub(crate) is_chosen: bool,
    /// Overrides what is known about the model.
    pub(crate) context_tokens: Option<u32>,
    pub(crate) limits: ReplyLimits,
}

impl Settings {
    /// What the file and the variables of this process say.
    pub(crate) fn read(global: &Global) -> Result<Self, Failure> {
        Self::read_with(global, None)
    }

    /// Replaces the guarded settings by those of the store. Servers that were added by a flag stay.
    /// `accepted` is what people accepted of each server.
    pub(crate) fn under(
        self,
        global: &Global,
        stored: &GuardedSettings,
        accepted: &AcceptedServers,
    ) -> Result<Self, Failure> {
        let settings = Self::read_with(global, Some(stored)).map_err(|failure| {
            let differences = guarded::differences(stored, &self.guarded);
            if differences.is_empty() { failure } else { failure.hint(differences.join(" ")) }
        })?;
        let mut mcp_servers = self.mcp_servers;
        guarded::use_accepted(&mut mcp_servers, accepted);
        let own: GuardedSettings =
            guarded::trusted(&mcp_servers).into_iter().chain(guarded::asked_access(&mcp_servers)).collect();
        guarded::keep_trust(&mut mcp_servers, stored);
        guarded::keep_access(&mut mcp_servers, stored);
        let mut differences = settings.differences;
        differences.extend(guarded::differences(stored, &own));
        Ok(Self { mcp_servers, differences, ..settings })
    }

    fn read_with(global: &Global, stored: Option<&GuardedSettings>) -> Result<Self, Failure> {
        let data = data_folder(global)?;
        let path = configuration_path(global)?;
        let (mut file, table) = read_file(&path, named_configuration(global).is_some())?;
        let (location, own_folder) = location(global, &file, &path, &data)?;
        let model = model(&mut file, &path)?;
        file.read_variables()?;
        let mut guarded = guarded::own(&table);
        guarded.extend(guarded::bot(&file.telegram));
        let mcp_servers = mcp::servers(&mut file.mcp, &path, &data)?;
        let without_servers = guarded.clone();
        guarded.extend(guarded::trusted(&mcp_servers));
        guarded.extend(guarded::asked_access(&mcp_servers));
        let differences = match stored {
            // What the servers ask is compared once their programs are known.
            Some(stored) => file.keep_guarded(stored, &without_servers)?,
            None => Vec::new(),
        };
        let mut differences: Vec<_> =
            guarded::earlier_values(stored, &guarded).into_iter().chain(differences).collect();
        let server = std::mem::take(&mut file.server).settings_of_server()?;
        let sandbox = std::mem::take(&mut file.sandbox).sandbox();
        let permissions = permissions(&mut file, &path)?;
        let (allowed_projects, guarded_files) = (file.projects.allow(), file.projects.guard());
        let (projects_id, file_place) = (file.projects.id(), file.files.store());
        let plan_export = file.plan.export();
        let mcp_plan = file.mcp.plan();
        let (hook_ask, chat_alert, chat_interface) = (file.hook.ask(), file.chat.alert(), file.chat.interface());
        let (gateway_options, gateway_start) = (file.gateway.options(), file.gateway.start_seconds());
        let telegram = std::mem::take(&mut file.telegram).options()?;
        let notify = std::mem::take(&mut file.notify).options(telegram.is_some())?;
        let embeddings = file.memory.embeddings();
        let mut policy = policy::policy(file, &path, &data)?;
        if let Some(stored) = stored {
            differences.extend(guarded::narrowed_specialists(&policy.agents, stored));
            policy.agents = guarded::narrow_specialists(policy.agents, stored);
        }
        policy.agent_sandbox = match sandbox.level {
            SandboxLevel::Open => AgentSandbox::Open,
            // Agents that other processes run have the stored level.
            SandboxLevel::ReadOnly | SandboxLevel::Workspace if guarded::is_open(stored) => AgentSandbox::Open,
            SandboxLevel::ReadOnly | SandboxLevel::Workspace => AgentSandbox::Restricted,
        };
        Ok(Self {
            location,
            own_folder,
            data,
            model,
            server,
            sandbox,
            allowed_projects,
            projects_id,
            file_place,
            guarded_files,
            plan_export,
            permissions,
            mcp_servers,
            mcp_plan,
            hook_ask,
            chat_alert,
            chat_interface,
            gateway_options,
            gateway_start,
            telegram,
            notify,
            embeddings,
            policy,
            file: path,
            guarded,
            differences,
        })
    }
}

impl Settings {
    /// Adds the server of `--upstream NAME=COMMAND`, in the place of a configured one of this name.
    pub(crate) fn add_upstream(&mut self, text: &str) -> Result<(), Failure> {
        let server = mcp::server_of_flag(text, &self.data).map_err(Failure::usage)?;
        self.mcp_servers.retain(|known| known.name != server.name);
        self.mcp_servers.push(server);
        self.guarded.remove(guarded::ACCESS);
        self.guarded.extend(guarded::asked_access(&self.mcp_servers));
        Ok(())
    }
}

/// Fails if a guarded setting has a value that makes no sense.
pub(crate) fn check_guarded(settings: &GuardedSettings) -> Result<(), Failure> {
    for entry in settings.get(guarded::TRUST).into_iter().flat_map(|entries| entries.split(',')) {
        let name = entry.trim().split('@').next().unwrap_or_default();
        let _: ServerName = name.parse().map_err(|refusal: Refusal| Failure::usage(refusal.message))?;
    }
    if let Some(value) = settings.get(guarded::ACCESS) {
        guarded::check_access(value).map_err(Failure::usage)?;
    }
    File::default().keep_guarded(settings, &GuardedSettings::new()).map(drop)
}

/// The variable has them as a TOML array: `[{ tool = "delete_file", decide = "ask" }]`.
fn permissions(file: &mut File, path: &Path) -> Result<Vec<PermissionRule>, Failure> {
    const VARIABLE: &str = "PLANWRIGHT_PERMISSIONS";
    let parse = |text: &str| {
        let named: File =
            toml::from_str(&format!("permissions = {text}")).map_err(|error| error.message().to_owned())?;
        PermissionRules::new(named.permissions.clone()).map_err(|refusal| refusal.message)?;
        Ok(named.permissions)
    };
    if let Some(rules) = variable(VARIABLE, parse)? {
        return Ok(rules);
    }
    let rules = std::mem::take(&mut file.permissions);
    PermissionRules::new(rules.clone()).map_err(|refusal| in_file(path, "permissions", refusal))?;
    Ok(rules)
}

fn data_folder(global: &Global) -> Result<PathBuf, Failure> {
    if let Some(data) = global.data.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        return Ok(data.clone());
    }
    dirs::data_dir().map(|folder| folder.join("planwright")).ok_or_else(|| {
        Failure::usage("this system has no folder for the data of programs")
            .hint("give a folder with `--data DIR` or PLANWRIGHT_DATA")
    })
}

/// The path of the configuration, which may not exist.
pub(crate) fn configuration_path(global: &Global) -> Result<PathBuf, Failure> {
    match named_configuration(global) {
        Some(path) => Ok(path.to_owned()),
        None => Ok(data_folder(global)?.join("planwright.toml")),
    }
}

fn named_configuration(global: &Global) -> Option<&Path> {
    global.config.as_deref().filter(|path| !path.as_os_str().is_empty())
}

/// The file as it is written, and as a table.
fn read_file(path: &Path, must_exist: bool) -> Result<(File, toml::Table), Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if !must_exist && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok((File::default(), toml::Table::new()));
        }
        Err(error) => {
            return Err(Failure::usage(format!("the configuration {} cannot be read: {error}", path.display())));
        }
    };
    let failure = |error: &toml::de::Error| Failure::usage(describe(path, &text, error));
    let file = toml::from_str(&text).map_err(|error| failure(&error))?;
    Ok((file, toml::from_str(&text).map_err(|error| failure(&error))?))
}

/// Names the file, the line and the key. The line itself is not shown: it may have a secret in it.
fn describe(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let key = line.split('=').next().unwrap_or_default().trim();
    let first = error.message().lines().next().unwrap_or_default();
    if key.is_empty() {
        return format!("{}, line {number}: {first}", path.display());
    }
    format!("{}, line {number}, at {}: {first}", path.display(), quoted(key))
}

fn location(global: &Global, file: &File, path: &Path, data: &Path) -> Result<(Location, Option<PathBuf>), Failure> {
    let command = variable("PLANWRIGHT_DATABASE_PASSWORD_COMMAND", |text| Ok(text.to_owned()))?;
    if let Some(url) = global.database.as_deref().filter(|url| !url.is_empty()) {
        // The command of the file is for the database of the file: its password is not given to any other server.
        return Ok((url.parse::<Location>()?.with_password_command(command.as_deref()), None));
    }
    let Some(url) = &file.database else {
        return Ok((Location::Sqlite(data.join("planwright.db")), Some(data.to_owned())));
    };
    let location = url.parse().map_err(|refusal: Refusal| in_file(path, "database", refusal))?;
    // A path in the file does not depend on where the program is started.
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(match location {
        Location::Sqlite(store) => (Location::Sqlite(folder.join(store)), None),
        postgres @ Location::Postgres(_) => {
            let command = command.as_deref().or(file.database_password_command.as_deref());
            (postgres.with_password_command(command), None)
        }
    })
}

fn model(file: &mut File, path: &Path) -> Result<ModelSettings, Failure> {
    let choose = |text: &str| text.parse::<ModelChoice>();
    let named = variable("PLANWRIGHT_MODEL", |text| choose(text).map_err(|error| error.to_string()))?;
    let is_chosen = named.is_some() || file.model.is_some();
    let choice = match (named, &file.model) {
        (Some(choice), _) => choice,
        (None, Some(text)) => {
            choose(text).map_err(|error| in_file(path, "model", Refusal::invalid(error.to_string())))?
        }
        (None, None) => ModelChoice::default(),
    };
    let tokens = variable("PLANWRIGHT_CONTEXT_TOKENS", Positive::parse)?.or(file.context_tokens);
    let limits = std::mem::take(&mut file.reply).reply_limits();
    Ok(ModelSettings { choice, is_chosen, context_tokens: tokens.map(Positive::get), limits })
}
