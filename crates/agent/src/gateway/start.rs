//! The first look at the upstream servers of a gateway. It runs in the background: a server that starts slowly holds up only
//! the requests that need it, and those for a bounded time.

use std::sync::OnceLock;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::upstream::ServerName;
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::ConnectionState;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Gateway;
use crate::upstream::{AcceptanceState, UpstreamTools};

/// The shortest time between two looks at a server that failed.
const MIN_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct GatewayStart {
    /// When requests stop waiting. Not set if nothing was started.
    deadline: OnceLock<Instant>,
    /// Whether every server was looked at once.
    is_over: watch::Sender<bool>,
    stop: CancellationToken,
}

impl Default for GatewayStart {
    fn default() -> Self {
        Self { deadline: OnceLock::new(), is_over: watch::channel(false).0, stop: CancellationToken::new() }
    }
}

impl GatewayStart {
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }
}

/// The servers that a person named where the program was started. The first offer of one is accepted if the store has never
/// seen its name nor its command.
#[derive(Debug, Clone)]
pub struct NamedServers {
    pub names: Vec<ServerName>,
    /// The policy that accepts.
    pub by: Actor,
}

impl Gateway {
    /// Begins to look at the servers. Requests that need them wait for `wait` from now on at most.
    pub fn start(&self, named: NamedServers, wait: Duration) {
        let Some(upstream) = self.agent.upstream().cloned() else { return };
        if self.start.deadline.set(Instant::now() + wait).is_err() {
            return;
        }
        let gateway = self.clone();
        tokio::spawn(async move {
            let mut failed = Vec::new();
            let mut looks = JoinSet::new();
            for name in named.names {
                let (gateway, upstream, by) = (gateway.clone(), upstream.clone(), named.by.clone());
                looks.spawn(async move {
                    let accepted = gateway.accept(&upstream, &name, &by).await;
                    (name, accepted)
                });
            }
            let stop = gateway.start.stop.clone();
            while let Some(looked) =
                tokio::select! { looked = looks.join_next() => looked, () = stop.cancelled() => None }
            {
                if let Ok((name, Accepted::NotReached)) = looked {
                    failed.push(name);
                }
            }
            gateway.refresh().await;
            gateway.start.is_over.send_replace(true);
            for name in failed {
                let (gateway, upstream, by) = (gateway.clone(), upstream.clone(), named.by.clone());
                tokio::spawn(async move { gateway.accept_later(&upstream, &name, &by).await });
            }
        });
    }

    /// Waits until the servers were looked at, or until the time for it is over.
    pub async fn started(&self) {
        let Some(deadline) = self.start.deadline.get() else { return };
        let mut is_over = self.start.is_over.subscribe();
        // A server that takes longer is listed when it answers.
        let _ = timeout_at(*deadline, is_over.wait_for(|over| *over)).await;
    }

    /// The configured server whose tool has this name, whether it is reached or not.
    pub fn server_of(&self, tool: &str) -> Option<ServerName> {
        let (name, _) = tool.split_once("__")?;
        let servers = self.agent.upstream()?.servers();
        servers.iter().map(|server| &server.name).find(|server| server.as_str() == name).cloned()
    }

    /// Why the tools of a server are not offered; `None` if they are.
    pub async fn not_offered(&self, server: &ServerName) -> Option<Refusal> {
        let status = self.agent.upstream()?.status_of(server).await.ok()?;
        let accept = format!(
            "A person accepts them with `planwright mcp-server accept {server}`, or with `planwright mcp-server add {server} -- \
             COMMAND` if only `--upstream` names the server."
        );
        match (status.connection, status.state) {
            (ConnectionState::Failed { reason, .. }, _) => Some(Refusal::new(
                RefusalCode::Unavailable,
                format!(
                    "The MCP server {server} cannot be reached: {}. The plan tools work without it.",
                    reason.trim_end_matches('.')
                ),
            )),
            (_, AcceptanceState::NotAccepted { .. }) => Some(Refusal::policy_denied(format!(
                "No person has accepted the tools of the MCP server {server}. {accept}"
            ))),
            (_, AcceptanceState::NotSeen) => Some(Refusal::new(
                RefusalCode::Unavailable,
                format!(
                    "The MCP server {server} has not listed its tools yet. Make the call again later; the plan tools work without it."
                ),
            )),
            (_, AcceptanceState::Accepted | AcceptanceState::Changed { .. }) => None,
        }
    }

    async fn accept(&self, upstream: &UpstreamTools, name: &ServerName, by: &Actor) -> Accepted {
        match upstream.accept_first_offer(name, by).await {
            Ok(()) => Accepted::Settled,
            Err(error) => {
                tracing::warn!(event = "upstream_not_accepted", server = %name, %error);
                let is_unreached =
                    matches!(&error, LedgerError::Refused(refusal) if refusal.code == RefusalCode::Unavailable);
                if is_unreached { Accepted::NotReached } else { Accepted::Settled }
            }
        }
    }

    /// Tries a server that could not be reached again, as often as its pauses allow.
    async fn accept_later(&self, upstream: &UpstreamTools, name: &ServerName, by: &Actor) {
        loop {
            let pause = match upstream.status_of(name).await.map(|status| status.connection) {
                Ok(ConnectionState::Failed { retry_in, .. }) => retry_in.max(MIN_PAUSE),
                Ok(ConnectionState::NotStarted | ConnectionState::Connected) | Err(_) => MIN_PAUSE,
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = self.start.stop.cancelled() => return,
            }
            match self.accept(upstream, name, by).await {
                Accepted::Settled => return self.refresh().await,
                Accepted::NotReached => {}
            }
        }
    }
}

/// What became of the acceptance of a server's first offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accepted {
    /// It was accepted, or it waits for a person.
    Settled,
    NotReached,
}
