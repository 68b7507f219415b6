//! Subscriptions to resources of upstream servers. Several clients share a server, which is told about the first and the last
//! of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::actor::Actor;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::upstream::{CallEventSender, ClientKey, ResourceUpdate, UpstreamRequest};
use tokio::sync::broadcast;

use super::listed_request::{ListedRequestTool, subscription_arguments};
use super::prompts::not_configured;
use super::{Gateway, Permitted};

/// How many clients subscribed to each address of each server.
#[derive(Debug, Default)]
pub(super) struct SubscriptionCounts(Mutex<BTreeMap<(ServerName, String), u32>>);

impl SubscriptionCounts {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(ServerName, String), u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was the last one.
    fn remove(&self, of: &(ServerName, String)) -> bool {
        let mut counts = self.lock();
        match counts.get_mut(of) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            Some(_) => counts.remove(of).is_some(),
            None => false,
        }
    }
}

impl Gateway {
    /// The changes of resources that clients subscribed to, from now on.
    pub fn resource_updates(&self) -> Option<broadcast::Receiver<ResourceUpdate>> {
        self.agent.upstream()?.resource_updates()
    }

    /// Only addresses that the server lists are subscribed to: any other is free text that would reach the server unasked. It is
    /// written down like a call that reads.
    pub async fn subscribe(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        server: &ServerName,
        uri: &str,
    ) -> Result<(), Refusal> {
        let tool = self.agent.upstream().and_then(|upstream| ListedRequestTool::subscription(upstream, server));
        let tool = tool.ok_or_else(|| not_configured(server))?;
        let arguments = subscription_arguments(uri);
        let checked = async {
            self.check_unasked(session, &tool, &arguments).await?;
            match self.is_listed(server, uri).await {
                true => Ok(()),
                false => {
                    let message = format!("The MCP server {server} does not list a resource {}.", quoted(uri));
                    Err(Refusal::not_found(message))
                }
            }
        };
        self.recording_refusal(session, by, &tool, &arguments, checked).await?;
        let (events, _) = CallEventSender::new(ClientKey(0));
        self.run_listed(session, by, &tool, arguments, Permitted::NotAsked, &events).await?;
        *self.subscriptions.lock().entry((server.clone(), uri.to_owned())).or_default() += 1;
        Ok(())
    }

    pub async fn unsubscribe(&self, server: &ServerName, uri: &str) -> LedgerResult<()> {
        if self.subscriptions.remove(&(server.clone(), uri.to_owned())) {
            self.request(server, UpstreamRequest::Unsubscribe { uri: uri.to_owned() }).await?;
        }
        Ok(())
    }
}
