//! The server: bound to an address, run until it is told to stop.
//!
//! - `limits`: how much the server accepts from its clients
//! - `acceptor`: accepts connections; `connection`: serves one
//! - `connection_slots`: how many connections are open, and which gives way; `file_limit`: how many fit
//! - `timeout_stream`: a connection whose client stops reading fails

mod acceptor;
pub(super) mod connection;
mod connection_slots;
mod file_limit;
mod limits;
mod timeout_stream;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use planwright_agent::Agent;
use planwright_core::gateway::GatewayOptions;
use planwright_engine::ledger::Ledger;
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::access::Access;
use super::access::allowed_hosts::{AllowedHosts, HostError};
use super::access::credentials::Credentials;
use super::app::App;
use super::health::HealthSource;
use super::mcp::default_session;
use super::router::router;
use super::token::{Token, TokenError};
use super::webhook::UpdateReceiver;
use crate::mcp::{McpOptions, PersonCommands, PlanStart, SessionChoice, SessionSetup};
use acceptor::Acceptor;

pub use limits::ServerLimits;

/// On an address that other machines reach, a shorter token could be guessed.
const MIN_FOR_OTHERS: usize = 16;

/// How long finished answers may take to reach their clients after the grace period.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct ServerOptions {
    pub agent: Agent,
    pub ledger: Arc<dyn Ledger>,
    pub listen: SocketAddr,
    pub token: Token,
    /// The file that keeps the cookies of browsers that signed out. Servers that share it refuse them together; without it
    /// each server refuses them until it ends.
    pub revoked_cookies: Option<PathBuf>,
    /// Names under which the server is reached besides `localhost` and its own address: `plans.example.org` under any
    /// port, `plans.example.org:8443` under this one.
    pub hosts: Vec<String>,
    /// Origins of other web pages that may send requests, such as `https://dash.example.org`.
    pub origins: Vec<String>,
    /// The address that links to this server begin with.
    pub public_url: Option<String>,
    pub limits: ServerLimits,
    /// What else `/readyz` reports on, besides the store.
    pub health: Vec<Arc<dyn HealthSource>>,
    /// How long requests may take to finish once the server is told to stop.
    pub grace: Duration,
    /// What is done before an agent that comes over MCP works in a session.
    pub agents: Option<Arc<dyn SessionSetup>>,
    /// What becomes of calls that agents over MCP make to upstream servers.
    pub gateway_options: GatewayOptions,
    /// How plan work starts in a new session of an agent that comes over MCP.
    pub plan_start: PlanStart,
    /// How agents that come over MCP tell a person to decide.
    pub commands: PersonCommands,
    /// Takes the updates that Telegram sends to the server.
    pub updates: Option<Arc<dyn UpdateReceiver>>,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "other machines can reach {0}, and there is no token: make one with `planwright token`, or set \
         PLANWRIGHT_TOKEN"
    )]
    NoToken(SocketAddr),
    #[error(
        "other machines can reach {0}, and the token has fewer than {MIN_FOR_OTHERS} characters: \
         `planwright token rotate` makes a longer one"
    )]
    ShortToken(SocketAddr),
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
}

/// It listens, and answers once it runs.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    access: Arc<Access>,
    limits: ServerLimits,
    health: Vec<Arc<dyn HealthSource>>,
    grace: Duration,
    mcp: McpOptions,
}

impl Server {
    pub async fn bind(options: ServerOptions) -> Result<Self, ServerError> {
        let ServerOptions {
            agent,
            ledger,
            listen,
            token,
            revoked_cookies,
            hosts,
            origins,
            public_url,
            limits,
            health,
            grace,
            agents,
            gateway_options,
            plan_start,
            commands,
            updates,
        } = options;
        let is_loopback = listen.ip().to_canonical().is_loopback();
        if !is_loopback {
            check_token(&token, listen)?;
        }
        let mut hosts = AllowedHosts::new(&hosts, &origins)?;
        let failed = |source| ServerError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        // A start that fails because the port is taken leaves no token behind.
        if is_loopback {
            token.make_if_missing()?;
        }
        hosts.listen_on(address);
        let gateway = agent.upstream().is_some().then(|| agent.gateway(gateway_options));
        let app = App::new(agent, ledger, CancellationToken::new(), public_url);
        let mcp = McpOptions {
            engine: app.engine().clone(),
            feed: app.feed().clone(),
            session: SessionChoice::Request(default_session()),
            start: plan_start,
            commands,
            setup: agents,
            gateway,
        };
        app.engine().observe(Arc::new(app.metrics().clone()));
        let access = Access::new(Credentials::new(token, revoked_cookies), hosts, &limits).with_updates(updates);
        let access = Arc::new(access);
        Ok(Self { listener, address, app, access, limits, health, grace, mcp })
    }

    /// The listening address, also when the options named port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The secret of a link that signs one browser in, once, as the token does: `/#link=SECRET`. A new one ends the one before.
    pub fn start_link(&self) -> Option<String> {
        self.access.make_start_link()
    }

    /// Answers until `shutdown` is cancelled. Then it accepts no new connection, finishes the requests it has, and after the
    /// grace period cuts the rest.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), ServerError> {
        let Self { listener, address, app, access, limits, health, grace, mcp } = self;
        tracing::info!(event = "server_started", %address);
        let upkeep = tokio::spawn(access.clone().watch()).abort_handle();
        let measuring = tokio::spawn(app.metrics().clone().run_upkeep()).abort_handle();
        let recovering = tokio::spawn(take_over(app.clone()));
        let scheduling = tokio::spawn(run_schedules(app.clone()));
        let service = router(app.clone(), access, health, limits.websocket.clone(), mcp);
        let acceptor = Acceptor::new(service, limits);
        acceptor.run(listener, &shutdown).await;

        tracing::info!(event = "server_stopping", %address);
        app.stopping().cancel();
        app.tasks().close();
        let begun = Instant::now();
        // Clients whose answer the next process gives are told so, also when that takes the whole grace period.
        app.agent().drain(grace).await;
        let everything = async {
            acceptor.finished().await;
            app.tasks().wait().await;
            let _ = recovering.await;
            let _ = scheduling.await;
        };
        let rest = grace.saturating_sub(begun.elapsed()).max(SHUTDOWN_TIMEOUT.min(grace));
        let left = tokio::time::timeout(rest, everything).await.is_err();
        if left {
            tracing::warn!(event = "server_cut", connections = acceptor.open(), "the grace period is over");
            acceptor.cut();
        }
        upkeep.abort();
        measuring.abort();
        tracing::info!(event = "server_stopped", %address);
        Ok(())
    }
}

/// Continues the work of processes that died. Clients that follow the session see its progress.
async fn take_over(app: App) {
    app.agent().take_over(app.stopping().clone()).await;
}

/// Starts the runs of schedules that are due.
async fn run_schedules(app: App) {
    app.agent().run_schedules(app.stopping().clone()).await;
}

/// On an address that other machines reach, the token has to exist before the start.
fn check_token(token: &Token, listen: SocketAddr) -> Result<(), ServerError> {
    match token.read()? {
        None => Err(ServerError::NoToken(listen)),
        Some(token) if token.expose_secret().len() < MIN_FOR_OTHERS => Err(ServerError::ShortToken(listen)),
        Some(_) => Ok(()),
    }
}
