//! Every configured server.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::upstream::{ServerName, ServerReach};
use planwright_engine::upstream::Arguments;
use planwright_engine::upstream::{
    CallObserver, ConnectionState, ResourceUpdate, ToolOffer, UpstreamError, UpstreamRequest, UpstreamResult,
    UpstreamServer, UpstreamServers,
};
use planwright_sandbox::Sandbox;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::options::UpstreamServerOptions;
use crate::server::ServerHandle;

/// A cheap handle; clones share the connections.
#[derive(Debug, Clone)]
pub struct UpstreamClient {
    listed: Arc<[UpstreamServer]>,
    servers: Arc<BTreeMap<ServerName, ServerHandle>>,
    updates: broadcast::Sender<ResourceUpdate>,
}

/// Changes of resources that wait for a slow client. More are dropped.
const WAITING_UPDATES: usize = 256;

impl UpstreamClient {
    /// Nothing is started yet. Programs run in this sandbox.
    pub fn new(options: Vec<UpstreamServerOptions>, sandbox: &Sandbox) -> Self {
        let mut options = options;
        options.sort_by(|one, other| one.name.cmp(&other.name));
        let listed = options.iter().map(UpstreamServerOptions::server).collect();
        let updates = broadcast::Sender::new(WAITING_UPDATES);
        let servers = options
            .into_iter()
            .map(|options| (options.name.clone(), ServerHandle::new(options, sandbox.clone(), updates.clone())));
        Self { listed, servers: Arc::new(servers.collect()), updates }
    }

    fn get(&self, server: &ServerName) -> Result<&ServerHandle, UpstreamError> {
        self.servers.get(server).ok_or_else(|| UpstreamError::NotConfigured(server.clone()))
    }
}

#[async_trait]
impl UpstreamServers for UpstreamClient {
    fn servers(&self) -> &[UpstreamServer] {
        &self.listed
    }

    fn connection(&self, server: &ServerName) -> ConnectionState {
        self.get(server).map_or(ConnectionState::NotStarted, ServerHandle::state)
    }

    fn reach(&self, server: &ServerName) -> ServerReach {
        self.get(server).map_or_else(|_| ServerReach::default(), ServerHandle::reach)
    }

    fn has_news(&self, server: &ServerName) -> bool {
        self.get(server).is_ok_and(ServerHandle::has_news)
    }

    async fn offer(&self, server: &ServerName) -> Result<Arc<ToolOffer>, UpstreamError> {
        self.get(server)?.offer().await
    }

    async fn call(
        &self,
        server: &ServerName,
        tool: &str,
        arguments: Arguments,
        observer: &dyn CallObserver,
    ) -> Result<UpstreamResult, UpstreamError> {
        self.get(server)?.call(tool, arguments, observer).await
    }

    async fn read_resource(
        &self,
        server: &ServerName,
        uri: &str,
        observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        self.get(server)?.read_resource(uri, observer).await
    }

    async fn get_prompt(
        &self,
        server: &ServerName,
        name: &str,
        arguments: Option<Arguments>,
        observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        self.get(server)?.get_prompt(name, arguments, observer).await
    }

    async fn request(&self, server: &ServerName, request: UpstreamRequest) -> Result<Value, UpstreamError> {
        self.get(server)?.request(request).await
    }

    fn resource_updates(&self) -> Option<broadcast::Receiver<ResourceUpdate>> {
        Some(self.updates.subscribe())
    }

    async fn stop(&self) {
        let mut stops = tokio::task::JoinSet::new();
        for name in self.servers.keys() {
            let (client, name) = (self.clone(), name.clone());
            stops.spawn(async move {
                if let Ok(server) = client.get(&name) {
                    server.stop().await;
                }
            });
        }
        stops.join_all().await;
    }
}
