//! The accepted tools of all upstream servers, and a person's acceptance of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::gate::PlanTool;
use planwright_core::plan::Digest;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::upstream::{KnownServer, ServerCommand, ServerName, ToolDifference, command_digest, look_alikes};
use planwright_core::visible::quoted;
use planwright_engine::approvals::{Approvals, record_acceptance};
use planwright_engine::ledger::{ApprovalStore, LedgerResult};
use planwright_engine::upstream::{
    CallObserver, ConnectionState, ResourceUpdate, ToolOffer, UpstreamRequest, UpstreamServer, UpstreamServers,
};
use planwright_engine::upstream::{OfferedTools, PinnedServer};
use serde_json::Value;
use tokio::sync::broadcast;

use super::catalog::Catalog;
use super::server_tool::{ResourceTool, resource_tool_name};
use crate::tool_schema::Arguments;
use crate::toolbox::Tool;
use crate::toolbox::files::FileTools;

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub struct UpstreamTools {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) servers: Arc<dyn UpstreamServers>,
    pub(super) pins: Arc<dyn ApprovalStore>,
    /// Where large results are kept.
    pub(super) files: FileTools,
    /// The bytes of a result that the model reads.
    pub(super) output_bytes: usize,
    catalog: RwLock<Arc<Catalog>>,
    /// The servers whose offer is being read in the background.
    looked_at: Mutex<BTreeSet<ServerName>>,
    /// The servers whose first offer is accepted by a rule, with the policy that accepts it.
    accepted_by_rule: Mutex<BTreeMap<ServerName, Actor>>,
}

/// A server as people are shown it.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    pub server: UpstreamServer,
    pub connection: ConnectionState,
    pub state: AcceptanceState,
    /// How many of its tools the model is offered.
    pub advertised: usize,
    /// How many of its tools a person accepted.
    pub accepted: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AcceptanceState {
    /// Its tools are not known yet.
    NotSeen,
    /// No person has accepted its tools.
    NotAccepted {
        digest: Digest,
        offered: ToolDifference,
        since: Timestamp,
    },
    Accepted,
    /// It offers something else than a person accepted.
    Changed {
        digest: Digest,
        difference: ToolDifference,
        since: Timestamp,
    },
}

impl AcceptanceState {
    /// What waits for a person: the digest to accept and what is new.
    pub fn waiting(&self) -> Option<(Digest, &ToolDifference, Timestamp)> {
        match self {
            Self::NotSeen | Self::Accepted => None,
            Self::NotAccepted { digest, offered, since } => Some((*digest, offered, *since)),
            Self::Changed { digest, difference, since } => Some((*digest, difference, *since)),
        }
    }

    /// Tells a person about the server, before anything about its tools.
    fn introduce(&mut self, about: impl FnOnce() -> Vec<String>) {
        match self {
            Self::NotSeen | Self::Accepted => {}
            Self::NotAccepted { offered: difference, .. } | Self::Changed { difference, .. } => {
                difference.about = about()
            }
        }
    }

    fn of(pinned: Option<&PinnedServer>) -> Self {
        let Some(pinned) = pinned else { return Self::NotSeen };
        match (pinned.difference(), &pinned.offered, &pinned.accepted) {
            (Some(difference), Some(offered), Some(_)) => {
                Self::Changed { digest: offered.digest(), difference, since: offered.at }
            }
            (Some(difference), Some(offered), None) => {
                Self::NotAccepted { digest: offered.digest(), offered: difference, since: offered.at }
            }
            (_, _, Some(_)) => Self::Accepted,
            (_, _, None) => Self::NotSeen,
        }
    }
}

impl UpstreamTools {
    pub fn new(
        servers: Arc<dyn UpstreamServers>,
        pins: Arc<dyn ApprovalStore>,
        files: FileTools,
        output_bytes: usize,
    ) -> Self {
        let (catalog, looked_at, accepted_by_rule) = Default::default();
        let shared = Shared { servers, pins, files, output_bytes, catalog, looked_at, accepted_by_rule };
        Self { shared: Arc::new(shared) }
    }

    /// The configured servers, in the order of their names.
    pub fn servers(&self) -> &[UpstreamServer] {
        self.shared.servers.servers()
    }

    /// The tools that the model is offered.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.shared.catalog().advertised().to_vec()
    }

    /// An accepted tool, also one that changed since and refuses its calls, or the tool that reads resources of a server.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let accepted = self.shared.catalog().get(name);
        accepted.or_else(|| Some(Arc::new(ResourceTool::named(self, name)?)))
    }

    /// The tool that reads resources of a server. No tool of the server has its name.
    pub(crate) fn resource_tool(&self, server: &ServerName) -> Option<Arc<dyn Tool>> {
        Some(Arc::new(ResourceTool::named(self, &resource_tool_name(server))?))
    }

    /// Reads from the ledger what people accepted since, in this process or another. Servers that the ledger does not
    /// know, or that say that their tools changed, are looked at in the background.
    pub async fn refresh(&self) -> LedgerResult<()> {
        let servers = self.shared.servers.servers();
        if servers.is_empty() {
            return Ok(());
        }
        let known = self.shared.reload().await?;
        for server in servers {
            let is_new = known.pinned.get(&server.name).is_none_or(|pinned| pinned.offered.is_none());
            if is_new || self.shared.servers.has_news(&server.name) {
                self.look_in_background(&server.name);
            }
        }
        Ok(())
    }

    /// A server that does not answer must not hold up a turn.
    fn look_in_background(&self, server: &ServerName) {
        let shared = Arc::clone(&self.shared);
        if !shared.looked_at().insert(server.clone()) {
            return;
        }
        let server = server.clone();
        tokio::spawn(async move {
            match shared.servers.offer(&server).await {
                Ok(offer) => shared.record_or_warn(&server, &offer).await,
                Err(error) => tracing::warn!(event = "upstream_not_reached", %server, %error),
            }
            shared.looked_at().remove(&server);
        });
    }

    /// Asks the server what it offers, and keeps it for a person to look at.
    pub async fn look(&self, server: &ServerName) -> LedgerResult<ServerStatus> {
        let offer = self.shared.servers.offer(server).await;
        let offer = offer.map_err(|error| Refusal::new(RefusalCode::Unavailable, format!("{error}.")))?;
        self.shared.record(server, &offer).await?;
        self.status_of(server).await
    }

    /// What the server offers that cannot be used, as far as it is connected.
    pub async fn problems(&self, server: &ServerName) -> Vec<String> {
        match self.shared.servers.connection(server) {
            ConnectionState::Connected => {
                let offer = self.shared.servers.offer(server).await;
                offer.map(|offer| offer.problems().to_vec()).unwrap_or_default()
            }
            ConnectionState::NotStarted | ConnectionState::Failed { .. } => Vec::new(),
        }
    }

    /// Every configured server, from what the ledger knows. No server is started.
    pub async fn statuses(&self) -> LedgerResult<Vec<ServerStatus>> {
        let servers = self.shared.servers.servers();
        if servers.is_empty() {
            return Ok(Vec::new());
        }
        let catalog = self.shared.reload().await?;
        Ok(servers.iter().map(|server| self.status(server, &catalog)).collect())
    }

    pub async fn status_of(&self, name: &ServerName) -> LedgerResult<ServerStatus> {
        let catalog = self.shared.reload().await?;
        Ok(self.status(self.configured(name)?, &catalog))
    }

    fn configured(&self, name: &ServerName) -> Result<&UpstreamServer, Refusal> {
        let servers = self.shared.servers.servers();
        servers.iter().find(|server| server.name == *name).ok_or_else(|| {
            let names: Vec<_> = servers.iter().map(|server| format!("`{}`", server.name)).collect();
            let known = if names.is_empty() { "none is".to_owned() } else { format!("there are {}", names.join(", ")) };
            Refusal::not_found(format!("No MCP server {} is configured; {known}.", quoted(name.as_str())))
        })
    }

    fn status(&self, server: &UpstreamServer, catalog: &Catalog) -> ServerStatus {
        let pinned = catalog.pinned.get(&server.name);
        let accepted = pinned.and_then(|pinned| pinned.accepted.as_ref()).map_or(0, |accepted| accepted.tools.len());
        let mut state = AcceptanceState::of(pinned.map(Arc::as_ref));
        state.introduce(|| self.about(server, catalog));
        ServerStatus {
            server: server.clone(),
            connection: self.shared.servers.connection(&server.name),
            state,
            advertised: catalog.advertised_of(&server.name),
            accepted,
        }
    }

    /// What a person reads first: what the server may reach, and names of it that look like others.
    fn about(&self, server: &UpstreamServer, catalog: &Catalog) -> Vec<String> {
        let known = |name: &ServerName| {
            let pinned = catalog.pinned.get(name);
            let accepted = pinned.and_then(|pinned| Some(pinned.accepted.as_ref()?.tools.as_slice()));
            accepted.or_else(|| pinned.and_then(|pinned| Some(pinned.offered.as_ref()?.tools.as_slice())))
        };
        let offered = catalog.pinned.get(&server.name).and_then(|pinned| pinned.offered.as_ref());
        let this = KnownServer {
            name: &server.name,
            tools: offered.map(|offered| offered.tools.as_slice()).unwrap_or_default(),
        };
        let names: BTreeSet<_> =
            catalog.pinned.keys().chain(self.shared.servers.servers().iter().map(|server| &server.name)).collect();
        let others: Vec<_> = names
            .into_iter()
            .filter(|name| **name != server.name)
            .map(|name| KnownServer { name, tools: known(name).unwrap_or_default() })
            .collect();
        let own: Vec<_> = PlanTool::all().map(PlanTool::name).collect();
        let mut about = self.reach(&server.name);
        about.extend(look_alikes(this, &others, &own));
        about
    }

    /// What a server may reach, for people.
    pub fn reach(&self, server: &ServerName) -> Vec<String> {
        self.shared.servers.reach(server).describe(server)
    }

    /// A person accepts the offer with this digest. The policy about approvals says how they have to be recognised.
    pub async fn accept(
        &self,
        name: &ServerName,
        digest: Digest,
        by: &Actor,
        approvals: &Approvals,
    ) -> LedgerResult<ServerStatus> {
        let command = self.configured(name)?.command.clone();
        let by = approvals.check_acceptance(by, name, digest).await?;
        let changed = || {
            Refusal::stale(format!(
                "The MCP server {name} offers something else than what was shown. Look at it again."
            ))
        };
        let offered = self.shared.pins.pinned_server(name).await?.and_then(|pinned| pinned.offered);
        if offered.is_none_or(|offered| offered.digest() != digest) {
            return Err(changed().into());
        }
        let at = approvals.record_acceptance(&by, name, digest, command.clone()).await?;
        if !self.shared.pins.accept_offer(name, command.digest, digest, &by, at).await? {
            return Err(changed().into());
        }
        tracing::info!(event = "upstream_accepted", server = %name, %digest, by = %by.name);
        self.status_of(name).await
    }

    /// Asks a server what it offers, and accepts it if the store has never seen the name nor the command of the server. The
    /// offer of any other server waits for a person. In this process that stays so until the server has answered.
    pub async fn accept_first_offer(&self, name: &ServerName, by: &Actor) -> LedgerResult<()> {
        // An accepted server is started by the first call.
        if self.status_of(name).await?.accepted > 0 {
            return Ok(());
        }
        self.shared.accepted_by_rule().insert(name.clone(), by.clone());
        self.look(name).await?;
        Ok(())
    }

    /// The servers that offer exactly what a person accepted.
    pub async fn accepted_servers(&self) -> LedgerResult<Vec<ServerName>> {
        let statuses = self.statuses().await?.into_iter();
        let accepted = statuses.filter(|status| status.state == AcceptanceState::Accepted);
        Ok(accepted.map(|status| status.server.name).collect())
    }

    /// Asks an accepted server for lists or completions.
    pub async fn request(&self, name: &ServerName, request: UpstreamRequest) -> LedgerResult<Value> {
        self.check_accepted(name).await?;
        let answer = self.shared.servers.request(name, request).await;
        Ok(answer.map_err(|error| Refusal::new(RefusalCode::Unavailable, format!("{error}.")))?)
    }

    /// Reads a resource of an accepted server.
    pub(super) async fn read_resource(
        &self,
        name: &ServerName,
        uri: &str,
        observer: &dyn CallObserver,
    ) -> LedgerResult<Value> {
        self.check_accepted(name).await?;
        let answer = self.shared.servers.read_resource(name, uri, observer).await;
        Ok(answer.map_err(|error| Refusal::new(RefusalCode::Unavailable, format!("{error}.")))?)
    }

    /// Gets a prompt of an accepted server.
    pub(crate) async fn get_prompt(
        &self,
        name: &ServerName,
        prompt: &str,
        arguments: Option<Arguments>,
        observer: &dyn CallObserver,
    ) -> LedgerResult<Value> {
        self.check_accepted(name).await?;
        let answer = self.shared.servers.get_prompt(name, prompt, arguments, observer).await;
        Ok(answer.map_err(|error| Refusal::new(RefusalCode::Unavailable, format!("{error}.")))?)
    }

    async fn check_accepted(&self, name: &ServerName) -> LedgerResult<()> {
        if self.status_of(name).await?.state == AcceptanceState::Accepted {
            return Ok(());
        }
        let message = format!("The MCP server {name} is asked only once a person accepted what it offers.");
        Err(Refusal::policy_denied(message).into())
    }

    /// The changes of resources that were subscribed to, from now on.
    pub fn resource_updates(&self) -> Option<broadcast::Receiver<ResourceUpdate>> {
        self.shared.servers.resource_updates()
    }

    /// Ends every server that was started.
    pub async fn stop(&self) {
        self.shared.servers.stop().await;
    }
}

impl Shared {
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn looked_at(&self) -> std::sync::MutexGuard<'_, BTreeSet<ServerName>> {
        self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalog as the ledger is now.
    async fn reload(self: &Arc<Self>) -> LedgerResult<Arc<Catalog>> {
        let before = self.catalog();
        let revisions: BTreeMap<_, _> = self.pins.pin_revisions().await?.into_iter().collect();
        let is_current = before.pinned.len() == revisions.len()
            && before.pinned.iter().all(|(name, pinned)| revisions.get(name) == Some(&pinned.revision));
        if is_current {
            return Ok(before);
        }
        let mut pinned = BTreeMap::new();
        for (name, revision) in revisions {
            let known = before.pinned.get(&name).filter(|known| known.revision == revision).cloned();
            let current = match known {
                Some(known) => Some(known),
                None => self.pins.pinned_server(&name).await?.map(|pinned| Arc::new(self.as_commanded(pinned))),
            };
            pinned.extend(current.map(|current| (name, current)));
        }
        let catalog = Arc::new(Catalog::new(self, pinned));
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&catalog);
        Ok(catalog)
    }

    /// What was accepted of another command or address is not accepted of this one.
    fn as_commanded(&self, pinned: PinnedServer) -> PinnedServer {
        let configured = self.servers.servers().iter().find(|configured| configured.name == pinned.server);
        match configured.map(|configured| configured.command.digest) {
            Some(command) => pinned.reached_by(command),
            None => pinned,
        }
    }

    fn command_of(&self, server: &ServerName) -> ServerCommand {
        let configured = self.servers.servers().iter().find(|configured| configured.name == *server);
        configured.map_or_else(|| command_digest("").into(), |configured| configured.command.clone())
    }

    fn accepted_by_rule(&self) -> std::sync::MutexGuard<'_, BTreeMap<ServerName, Actor>> {
        self.accepted_by_rule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an offer that differs from the accepted one, for a person to look at.
    async fn record(&self, server: &ServerName, offer: &ToolOffer) -> LedgerResult<()> {
        let command = self.command_of(server);
        let offered = OfferedTools { tools: offer.tools().to_vec(), at: Timestamp::now() };
        let rule = self.accepted_by_rule().get(server).cloned();
        if let Some(by) = rule {
            let accepted = self.pins.accept_first_offer(server, command.digest, &offered, &by).await?;
            self.accepted_by_rule().remove(server);
            if accepted {
                record_acceptance(self.pins.as_ref(), &by, server, offered.digest(), &command, offered.at).await?;
                tracing::info!(event = "upstream_accepted", %server, digest = %offered.digest(), by = %by.name);
                return Ok(());
            }
        }
        self.pins.record_offer(server, command.digest, &offered).await
    }

    pub(super) async fn record_or_warn(&self, server: &ServerName, offer: &ToolOffer) {
        if let Err(error) = self.record(server, offer).await {
            tracing::warn!(event = "upstream_offer_not_kept", %server, %error);
        }
    }
}
