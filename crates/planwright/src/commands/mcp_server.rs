//! `planwright mcp-server`: upstream MCP servers, added, looked at, accepted and removed.

use planwright_agent::upstream::{AcceptanceState, ServerStatus, UpstreamTools};
use planwright_core::plan::Digest;
use planwright_core::upstream::{AnnotationTrust, ServerName, ToolDifference};
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::ConnectionState;
use serde_json::{Value, json};

use super::config;
use crate::cli::{AddServerArgs, Global, McpServerArgs, McpServerCommand};
use crate::config::Settings;
use crate::config::mcp_file::{self, NewServer};
use crate::context::{Context, make_folder};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{BOLD, DIM};
use crate::terminal::text::{paint, shown_line};

/// The characters that are shown at once before a person accepts: a terminal forgets what is too far above.
const PAGE_CHARACTERS: usize = 12_000;

pub(crate) async fn run(global: &Global, arguments: McpServerArgs) -> ExitResult {
    match arguments.command {
        McpServerCommand::Add(arguments) => add(global, arguments).await,
        McpServerCommand::Remove { name } => remove(global, &name).await,
        McpServerCommand::List => list(global).await,
        McpServerCommand::Show { name } => UpstreamContext::new(global).await?.show(&name).await,
        McpServerCommand::Accept { name, digest, trust_annotations, allow_access, approver } => {
            let (word, approver) =
                (if allow_access { PersonsWord::Given } else { PersonsWord::NotGiven }, approver.as_deref());
            let opened = UpstreamContext::new(global).await?.with_access(global, &name, word, approver).await?;
            opened.accept(&name, digest, trust_annotations, approver).await
        }
    }
}

async fn list(global: &Global) -> ExitResult {
    match UpstreamContext::configured(global).await? {
        Ok(servers) => servers.list().await,
        Err(context) => {
            let add = context.invocation.command(["mcp-server", "add", "NAME", "--", "COMMAND"]);
            let text = || format!("No MCP server is configured. `{add}` adds one.\n");
            context.screen.answer(|| json!({ "servers": [] }), text)
        }
    }
}

async fn add(global: &Global, arguments: AddServerArgs) -> ExitResult {
    let settings = Settings::read(global)?;
    make_folder(&settings.data)?;
    let AddServerArgs { name, url, headers, environment, sandbox, network, trust_annotations, tools, .. } = arguments;
    let AddServerArgs { cwd, read, write, command, approver, .. } = arguments;
    let all = |paths: Vec<std::path::PathBuf>| paths.iter().map(|path| absolute(path)).collect::<Result<Vec<_>, _>>();
    let (read, write) = (all(read)?, all(write)?);
    let cwd = cwd.map(|folder| absolute(&folder)).transpose()?;
    let command = found(command)?;
    let server =
        NewServer { command, url, environment, headers, cwd, sandbox, network, read, write, trust_annotations, tools };
    let before = std::fs::read(&settings.file).ok();
    if mcp_file::add(&settings.file, &name, &server)? {
        let message = format!("an MCP server {name} is configured already in {}", settings.file.display());
        let again = crate::invocation::Invocation::new(global).command(["mcp-server", "remove", name.as_str()]);
        return Err(Failure::usage(message).hint(format!("`{again}` removes it")));
    }
    // A file that makes no sense with the new server is put back as it was.
    if let Err(failure) = Settings::read(global) {
        let restored = match before {
            Some(text) => std::fs::write(&settings.file, text),
            None => std::fs::remove_file(&settings.file),
        };
        restored?;
        return Err(failure);
    }
    let opened = UpstreamContext::new(global).await?;
    if !opened.context.screen.json {
        opened.context.screen.print(&format!("{name} is written to {}.\n", settings.file.display()))?;
    }
    // What a person types here about the reach of the server is their word.
    let opened = opened.with_access(global, &name, PersonsWord::Given, approver.as_deref()).await?;
    opened.accept(&name, None, trust_annotations, approver.as_deref()).await
}

async fn remove(global: &Global, name: &ServerName) -> ExitResult {
    let settings = Settings::read(global)?;
    let file = settings.file.clone();
    if !mcp_file::remove(&file, name)? {
        return Err(Failure::not_found(format!("No MCP server {name} is configured in {}.", file.display())));
    }
    // What was accepted is kept: a server that is added again under this name is compared with it.
    if let Some(context) = Context::open_existing(global).await? {
        let text = format!("{name} is removed.\n");
        context.screen.answer(|| json!({ "removed": name.as_str() }), || text)?;
    }
    Ok(Exit::Done)
}

fn absolute(folder: &std::path::Path) -> Result<String, Failure> {
    let path = folder
        .canonicalize()
        .map_err(|error| Failure::usage(format!("the folder {} cannot be used: {error}", folder.display())))?;
    path.into_os_string().into_string().map_err(|_| Failure::usage("the path of the folder is not UTF-8"))
}

/// A program that is named by a relative path is found from every folder.
fn found(mut command: Vec<String>) -> Result<Vec<String>, Failure> {
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = absolute(std::path::Path::new(program))?;
    }
    Ok(command)
}

/// Whether the command line itself says that a server may reach what its settings ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PersonsWord {
    Given,
    /// A person is asked, where there is a terminal.
    NotGiven,
}

/// The settings' servers with the store.
struct UpstreamContext {
    context: Context,
    upstream: UpstreamTools,
}

impl UpstreamContext {
    async fn new(global: &Global) -> Result<Self, Failure> {
        Self::configured(global).await?.map_err(|context| {
            let add = context.invocation.command(["mcp-server", "add", "NAME", "--", "COMMAND"]);
            Failure::not_found("No MCP server is configured.").hint(format!("`{add}` adds one"))
        })
    }

    /// The context alone if no server is configured.
    async fn configured(global: &Global) -> Result<Result<Self, Box<Context>>, Failure> {
        let settings = Settings::read(global)?;
        if let Some(folder) = &settings.own_folder {
            make_folder(folder)?;
        }
        let context = Context::with(global, settings).await?;
        Ok(match context.upstream(context.files(), usize::MAX) {
            Some(upstream) => Ok(Self { context, upstream }),
            None => Err(Box::new(context)),
        })
    }

    /// Has the store let the server reach what its settings ask for, if a person says so. It may need that to start.
    async fn with_access(
        self,
        global: &Global,
        name: &ServerName,
        word: PersonsWord,
        approver: Option<&str>,
    ) -> Result<Self, Failure> {
        let Some(asking) = self.context.asking_servers.iter().find(|asking| asking.name == *name) else {
            return Ok(self);
        };
        let screen = &self.context.screen;
        let question = format!("The settings of {name} ask {}. Allow it?", shown_line(&asking.asks));
        let is_allowed = match word {
            PersonsWord::Given => true,
            PersonsWord::NotGiven => screen.interactive && !screen.json && screen.confirm(&question)?,
        };
        if !is_allowed {
            return Ok(self);
        }
        config::allow_access(&self.context, &asking.entry, approver).await.map_err(|failure| {
            let again = self.context.invocation.command(["mcp-server", "accept", name.as_str(), "--allow-access"]);
            failure.hint(format!("until a person allows it with `{again}`, {name} runs in the sandbox without that"))
        })?;
        if !screen.json {
            screen.print(&format!("{name} is allowed {}.\n", shown_line(&asking.asks)))?;
        }
        Self::new(global).await
    }

    async fn list(&self) -> ExitResult {
        let statuses = self.upstream.statuses().await?;
        let describe = || statuses.iter().map(|status| self.line(status)).collect();
        self.context.screen.answer(|| json!({ "servers": statuses.iter().map(view).collect::<Vec<_>>() }), describe)
    }

    async fn show(&self, name: &ServerName) -> ExitResult {
        let looked = self.upstream.look(name).await;
        let problems = self.upstream.problems(name).await;
        self.upstream.stop().await;
        let (status, unreachable) = match looked {
            Ok(status) => (status, None),
            Err(LedgerError::Refused(refusal)) => (self.upstream.status_of(name).await?, Some(refusal.message)),
            Err(error) => return Err(error.into()),
        };
        let describe = || {
            let mut text = self.line(&status);
            text.extend(unreachable.iter().map(|message| format!("  {}\n", shown_line(message))));
            text.extend(problems.iter().map(|problem| format!("  {}\n", shown_line(problem))));
            match status.state.waiting() {
                Some((_, difference, _)) => {
                    text.push_str(&format!("\n{}\n{}", difference.describe(), self.next(name)));
                }
                None => text.extend(self.upstream.reach(name).iter().map(|line| format!("  {}\n", shown_line(line)))),
            }
            text
        };
        let value = || {
            let mut value = view(&status);
            value["reach"] = json!(self.upstream.reach(name));
            value["problems"] = json!(problems);
            value["unreachable"] = json!(unreachable);
            value
        };
        self.context.screen.answer(value, describe)
    }

    async fn accept(
        &self,
        name: &ServerName,
        digest: Option<Digest>,
        trust: bool,
        approver: Option<&str>,
    ) -> ExitResult {
        let screen = &self.context.screen;
        let looked = self.upstream.look(name).await;
        let problems = self.upstream.problems(name).await;
        self.upstream.stop().await;
        let status = looked.map_err(|error| self.not_reached(name, error))?;
        let Some((offered, difference, _)) = status.state.waiting() else {
            if trust {
                config::trust_annotations(&self.context, name, approver).await?;
            }
            screen.answer(|| view(&status), || format!("{name} offers what was accepted.\n{}", self.line(&status)))?;
            return Ok(Exit::Done);
        };
        let mut trust = trust;
        let digest = match digest {
            Some(digest) => digest,
            None => {
                if screen.json || !screen.interactive {
                    let hint = format!("to accept exactly this: {}", self.accepting(name, offered));
                    let failure = Failure::usage(format!("there is no terminal to ask on, so {name} is not accepted"));
                    let shown = difference.describe();
                    return Err(failure.hint(hint).with("digest", offered.to_string()).with("difference", shown));
                }
                if !self.confirm(name, difference, &problems)? {
                    let message = format!("The tools of {name} are not accepted; the agent does not get them.");
                    return Err(Failure::declined(message).hint(self.next(name)));
                }
                trust = trust || self.confirm_trust(&status, difference)?;
                offered
            }
        };
        let (engine, approvals) = (&self.context.engine, self.context.engine.approvals());
        let require = approvals.acceptance_requirement().await?;
        let person = crate::approver::verified_for(engine, &self.context.person, require, approver).await?;
        let status = self.upstream.accept(name, digest, &person, &approvals).await?;
        if trust {
            config::trust_annotations(&self.context, name, approver).await?;
        }
        screen.answer(|| view(&status), || format!("Accepted.\n{}", self.line(&status)))
    }

    /// Shows everything that is accepted, page by page, and asks.
    fn confirm(&self, name: &ServerName, difference: &ToolDifference, problems: &[String]) -> Result<bool, Failure> {
        let screen = &self.context.screen;
        screen.print(&format!("{name} offers {}:\n\n", difference.counts()))?;
        let pages = difference.pages(PAGE_CHARACTERS);
        for (number, page) in (1..).zip(&pages) {
            screen.print(page)?;
            let question = format!("Part {number} of {}. Show the next one?", pages.len());
            if number < pages.len() && !screen.confirm(&question)? {
                return Ok(false);
            }
        }
        let problems = problems.iter().map(|problem| format!("not usable: {}\n", shown_line(problem)));
        screen.print(&problems.collect::<String>())?;
        screen.confirm(&format!("Accept the tools of {name} as shown?"))
    }

    /// Whether the tools that say of themselves that they only read are believed. What only reads runs without an approval.
    fn confirm_trust(&self, status: &ServerStatus, difference: &ToolDifference) -> Result<bool, Failure> {
        let claims = difference.claims_to_read();
        if claims.is_empty() || status.server.trust == AnnotationTrust::Trusted {
            return Ok(false);
        }
        let names: Vec<_> = claims.into_iter().map(shown_line).collect();
        let question = format!(
            "{} say of themselves that they only read. Believe it, so that their calls run without an approval?",
            names.join(", ")
        );
        self.context.screen.confirm(&question)
    }

    fn not_reached(&self, name: &ServerName, error: LedgerError) -> Failure {
        let again = self.context.invocation.command(["mcp-server", "accept", name.as_str()]);
        Failure::from(error).hint(format!("`{again}` tries again"))
    }

    fn accepting(&self, name: &ServerName, digest: Digest) -> String {
        self.context.invocation.command(["mcp-server", "accept", name.as_str(), "--digest", &digest.to_string()])
    }

    fn next(&self, name: &ServerName) -> String {
        let accept = self.context.invocation.command(["mcp-server", "accept", name.as_str()]);
        format!("`{accept}` accepts them\n")
    }

    fn line(&self, status: &ServerStatus) -> String {
        let (name, reached) = (status.server.name.as_str(), shown_line(&status.server.reached_by));
        let failed = match &status.connection {
            ConnectionState::Failed { reason, .. } => format!("; failed: {}", shown_line(reason)),
            ConnectionState::NotStarted | ConnectionState::Connected => String::new(),
        };
        format!("{}  {}{failed}  {}\n", paint(name, BOLD), state_text(&status.state, status), paint(&reached, DIM))
    }
}

fn state_text(state: &AcceptanceState, status: &ServerStatus) -> String {
    match state {
        AcceptanceState::NotSeen => "not yet accepted".to_owned(),
        AcceptanceState::NotAccepted { offered, .. } => format!("not yet accepted ({})", offered.counts()),
        AcceptanceState::Accepted => format!("{} of {} accepted tools", status.advertised, status.accepted),
        AcceptanceState::Changed { difference, .. } => {
            format!(
                "{} of {} accepted tools, changed since: {}",
                status.advertised,
                status.accepted,
                difference.counts()
            )
        }
    }
}

fn view(status: &ServerStatus) -> Value {
    let state = match &status.state {
        AcceptanceState::NotSeen | AcceptanceState::NotAccepted { .. } => "not_accepted",
        AcceptanceState::Accepted => "accepted",
        AcceptanceState::Changed { .. } => "changed",
    };
    let mut value = json!({
        "name": status.server.name.as_str(),
        "reachedBy": status.server.reached_by,
        "state": state,
        "tools": status.advertised,
        "accepted": status.accepted,
    });
    if let Some((digest, difference, _)) = status.state.waiting() {
        value["digest"] = digest.to_string().into();
        value["difference"] = difference.describe().into();
    }
    value
}
