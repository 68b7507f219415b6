//! `planwright mcp`
//!
//! - `heartbeat`: signs of life of the agent's program

mod heartbeat;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::presence::AgentClient;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::upstream::ServerName;
use planwright_core::workspace::Workspace;
use planwright_engine::Engine;
use planwright_engine::feed::Feed;
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult};
use planwright_llm::rehearsal::RehearsalModel;
use planwright_surfaces::mcp::folder::named_session;
use planwright_surfaces::mcp::gateway::{Gateway, NamedServers};
use planwright_surfaces::mcp::{
    McpError, McpOptions, PersonCommands, PlanStart, SessionChoice, SessionSetup, serve_failure, serve_stdio,
};
use tokio::sync::OnceCell;

use super::project;
use crate::cli::{Global, McpArgs, PlanWork};
use crate::config::Settings;
use crate::context::{Context, make_folder};
use crate::failure::{Exit, ExitResult, Failure};
use crate::processes;
use crate::server_probe;
use crate::signals::Signals;

pub(crate) async fn run(global: &Global, arguments: &McpArgs) -> ExitResult {
    let (options, gateway) = match prepare(global, arguments).await {
        Ok(prepared) => prepared,
        // A person who typed the command reads it here.
        Err(failure) if std::io::stdin().is_terminal() => return Err(failure),
        Err(failure) => {
            let answered = serve_failure(sentence(failure.message()), stop_signal()).await;
            if let Err(error) = answered {
                tracing::warn!(%error, "the client could not be told what is wrong");
            }
            return Err(failure);
        }
    };
    let served = serve_stdio(options, stop_signal()).await;
    if let Some(gateway) = gateway {
        gateway.stop().await;
    }
    match served {
        Ok(()) => Ok(Exit::Done),
        Err(error @ McpError::Broken(_)) => Err(Failure::unexpected(error.to_string())),
    }
}

async fn prepare(global: &Global, arguments: &McpArgs) -> Result<(McpOptions, Option<Gateway>), Failure> {
    let mut settings = Settings::read(global)?;
    for upstream in &arguments.upstream {
        settings.add_upstream(upstream)?;
    }
    if let Some(folder) = settings.own_folder.as_deref() {
        make_folder(folder)?;
    }
    let context = Context::with(global, settings).await?;
    let (gateway_options, upstream_wait) = (context.served.gateway_options, context.served.gateway_start);
    for difference in &context.served.differences {
        tracing::warn!(event = "guarded_setting_differs", "{difference}");
    }
    let public_url = context.served.server.public_url.clone();
    let listen = context.served.server.listen;
    let session = match arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => SessionChoice::Fixed(continued(&**context.engine.ledger(), name).await?),
        None => SessionChoice::Folder(std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))),
    };
    let workspace = match &arguments.project {
        Some(folder) => Some(project::workspace(&context, folder)?),
        None => None,
    };
    let start = match arguments.plan {
        None => context.served.plan_start,
        Some(PlanWork::On(style)) => PlanStart::Ensure(Some(style)),
        Some(PlanWork::Off) => PlanStart::Off,
    };
    let gateway = context.has_upstream().then(|| {
        let agent = context.agent(Arc::new(RehearsalModel::default()), None);
        agent.gateway(gateway_options)
    });
    if let Some(gateway) = &gateway {
        gateway.start(named_servers(arguments), upstream_wait);
    }
    // The address is told only where a server answers at it.
    let dashboard = match public_url {
        Some(address) => Some(address.trim_end_matches('/').to_owned()),
        None => server_probe::answers(listen).await.then(|| context.dashboard.clone()),
    };
    let setup = ClientSetup {
        engine: context.engine.clone(),
        person: context.person.clone(),
        client: AgentClient { beats: true, ..processes::client() },
        is_alive: OnceCell::new(),
        workspace,
        servers: context.upstream_commands(),
    };
    let options = McpOptions {
        engine: context.engine.clone(),
        feed: Feed::start(Arc::clone(&context.ledger)),
        session,
        start,
        commands: PersonCommands { store_options: context.invocation.store_options(), dashboard },
        setup: Some(Arc::new(setup)),
        gateway: gateway.clone(),
    };
    Ok((options, gateway))
}

/// The person who wrote `--upstream` into the client's configuration chose the server, so the first offer of a server that the
/// store has never seen is accepted. Everything else waits for a person, as for every server.
fn named_servers(arguments: &McpArgs) -> NamedServers {
    let named = |text: &String| text.split_once('=')?.0.split(':').next()?.trim().parse().ok();
    let names = arguments.upstream.iter().filter_map(named).collect();
    NamedServers { names, by: Actor::policy("--upstream", Channel::Mcp.as_str()) }
}

/// The session knows from its beginning on which program its agent runs in: that program cannot approve.
#[derive(Debug)]
struct ClientSetup {
    engine: Engine,
    person: Actor,
    client: AgentClient,
    /// Set once the signs of life have begun.
    is_alive: OnceCell<()>,
    workspace: Option<Workspace>,
    /// The upstream servers whose calls this program makes.
    servers: BTreeMap<ServerName, Digest>,
}

#[async_trait]
impl SessionSetup for ClientSetup {
    async fn prepare(&self, session: &SessionIdentity, _: Option<SocketAddr>) -> LedgerResult<()> {
        let system = Actor::system(Channel::Mcp.as_str());
        if let Some(workspace) = &self.workspace {
            let stored = self.engine.sessions().get(session).await?;
            // In a session that is in use, only a person changes the folder, and this may be the agent's process.
            let by = if stored.plans_made == 0 && stored.workspace.is_own() { &system } else { &self.person };
            if stored.workspace != *workspace {
                self.engine.sessions().choose_workspace(session, by, workspace.clone()).await?;
            }
        }
        // The first sign comes before the record, which without one would be that of an ended program.
        self.is_alive.get_or_try_init(|| heartbeat::start(&self.engine, &self.client)).await?;
        self.engine.sessions().see_client(session, &system, self.client.clone()).await?;
        self.engine.inbox().record_servers(session, &self.servers).await
    }
}

/// The session of an agent that comes over HTTP knows which program is at the other end of the connection.
#[derive(Debug)]
pub(super) struct HttpAgents {
    pub(super) engine: Engine,
    /// The upstream servers whose calls this program makes.
    pub(super) servers: BTreeMap<ServerName, Digest>,
}

#[async_trait]
impl SessionSetup for HttpAgents {
    async fn prepare(&self, session: &SessionIdentity, peer: Option<SocketAddr>) -> LedgerResult<()> {
        self.engine.inbox().record_servers(session, &self.servers).await?;
        let Some(peer) = peer else { return Ok(()) };
        let found = tokio::task::spawn_blocking(move || processes::client_at(peer)).await;
        let Ok(Ok(client)) = found else {
            return Err(LedgerError::Refused(Refusal::policy_denied(
                "The program at the other end of this connection does not let its processes be seen, so its commands could not be \
                 told from a person's. Let it start `planwright mcp` instead.",
            )));
        };
        self.engine.sessions().see_client(session, &Actor::system(Channel::Mcp.as_str()), client).await?;
        Ok(())
    }
}

/// A session that exists under this key, else a new one of the channel `mcp`.
pub(super) async fn named_by_person(ledger: &dyn Ledger, name: &str) -> Result<SessionIdentity, Failure> {
    if name.contains(':') {
        return Ok(name.parse()?);
    }
    let key = ConversationKey::existing(name)?;
    let session = SessionIdentity::new(Channel::Mcp, key);
    if ledger.session(&session).await?.is_some() {
        return Ok(session);
    }
    Ok(named_session(name))
}

/// The session to serve. An agent of another program does not choose the channel of a new one: what an approval takes depends on it.
async fn continued(ledger: &dyn Ledger, name: &str) -> Result<SessionIdentity, Failure> {
    let session = named_by_person(ledger, name).await?;
    if session.channel == Channel::Mcp || ledger.session(&session).await?.is_some() {
        return Ok(session);
    }
    Err(Failure::not_found(format!("There is no session {session}, and an agent begins sessions of channel mcp only.")))
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Completes when a signal asks the program to end.
async fn stop_signal() {
    match Signals::new() {
        Ok(mut signals) => drop(signals.next().await),
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}
