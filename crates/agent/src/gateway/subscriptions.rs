//! Subscriptions to resources of upstream servers. Several clients share a server, which is told about the first and the last
//! of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::refusal::Refusal;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::upstream::{ResourceUpdate, UpstreamRequest};
use tokio::sync::broadcast;

use super::Gateway;

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

    /// Only addresses that the server lists are subscribed to: any other is free text that would reach the server unasked.
    pub async fn subscribe(&self, server: &ServerName, uri: &str) -> LedgerResult<()> {
        if !self.is_listed(server, uri).await {
            let message = format!("The MCP server {server} does not list a resource {}.", quoted(uri));
            return Err(Refusal::not_found(message).into());
        }
        self.request(server, UpstreamRequest::Subscribe { uri: uri.to_owned() }).await?;
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
