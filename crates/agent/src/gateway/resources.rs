//! Resources and prompts of upstream servers pass the same gate as their tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::GatewayReason;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::upstream::{CallEventSender, UpstreamRequest};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::record::MadeCall;
use super::{Gateway, GatewayOutcome, Permitted};
use crate::tool_schema::Arguments;
use crate::toolbox::ToolAnswer;
use crate::upstream::resource_tool_name;

/// How long a server may take to list its resources before an address counts as one that it does not list.
const LIST_TIME: Duration = Duration::from_secs(5);

impl Gateway {
    /// The servers whose resources and prompts are passed on: those that offer what a person accepted, and that no rule denies.
    pub async fn servers(&self) -> LedgerResult<Vec<ServerName>> {
        let Some(upstream) = self.agent.upstream() else { return Ok(Vec::new()) };
        let mut servers = upstream.accepted_servers().await?;
        servers.retain(|server| {
            let name = resource_tool_name(server);
            let effect = upstream.resource_tool(server).map_or(ToolEffect::Changes, |tool| tool.effect());
            !self.agent.context.denies(&name, effect)
        });
        Ok(servers)
    }

    /// Asks a server for lists, prompts, completions and subscriptions.
    pub async fn request(&self, server: &ServerName, request: UpstreamRequest) -> LedgerResult<Value> {
        match self.agent.upstream() {
            Some(upstream) => upstream.request(server, request).await,
            None => Err(Refusal::not_found(format!("No MCP server {server} is configured.")).into()),
        }
    }

    /// Reads a resource. One that its server lists is read at once; any other address is free text, and reading it is a call
    /// like any other. `events` gets what the server says and asks meanwhile.
    pub async fn read_resource(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        server: &ServerName,
        uri: &str,
        events: &CallEventSender,
    ) -> Result<Value, Refusal> {
        let name = resource_tool_name(server);
        let mut arguments = Arguments::new();
        arguments.insert("uri".to_owned(), json!(uri));
        if self.is_listed(server, uri).await {
            return self.read_listed(session, by, server, arguments, events).await;
        }
        match self.call(session, by, &name, arguments.clone(), Permitted::NotAsked, events).await? {
            GatewayOutcome::Answered(ToolAnswer { failure: Some(failure), .. }) => {
                Err(Refusal::new(RefusalCode::Unavailable, failure))
            }
            GatewayOutcome::Answered(answer) => Ok(answer.value),
            GatewayOutcome::Planned(planned) => Ok(as_text(uri, planned["message"].as_str().unwrap_or_default())),
            GatewayOutcome::Recorded(recorded) => match &recorded["result"] {
                contents @ Value::Object(_) => Ok(contents.clone()),
                result => Ok(as_text(uri, result.as_str().unwrap_or_default())),
            },
            GatewayOutcome::Ask => {
                let refusal = Refusal::policy_denied(format!(
                    "The address {} is not one that the server lists, and reading it takes a person's permission. Call {} to \
                     have them asked.",
                    quoted(uri),
                    quoted(&name)
                ));
                self.record_refused(session, by, &name, &arguments, &refusal).await;
                Err(refusal)
            }
        }
    }

    async fn read_listed(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        server: &ServerName,
        arguments: Arguments,
        events: &CallEventSender,
    ) -> Result<Value, Refusal> {
        let Some(tool) = self.agent.upstream().and_then(|upstream| upstream.resource_tool(server)) else {
            return Err(Refusal::not_found(format!("No MCP server {server} is configured.")));
        };
        let call = self.agent.engine().submitter().next_request();
        let why = GatewayReason::Reads;
        let made = MadeCall { session, by, tool: tool.as_ref(), arguments: &arguments, why, call };
        let snapshot = self.agent.engine().sessions().snapshot(session).await.map_err(LedgerError::into_refusal)?;
        let answer = self.run(&snapshot, &made, events).await;
        self.record_read(&made, &answer).await?;
        answer.map(|answer| answer.value)
    }

    /// An address that the server listed before is its own word and no free text, so the server is asked for its list only about
    /// others.
    pub(super) async fn is_listed(&self, server: &ServerName, uri: &str) -> bool {
        if self.listed.has(server, uri) {
            return true;
        }
        let listed = timeout(LIST_TIME, self.request(server, UpstreamRequest::ListResources)).await;
        let Ok(Ok(listed)) = listed else { return false };
        let all = listed["resources"].as_array().into_iter().flatten();
        self.listed.replace(server, all.filter_map(|one| one["uri"].as_str().map(str::to_owned)).collect());
        self.listed.has(server, uri)
    }
}

/// The addresses that each server listed last.
#[derive(Debug, Default)]
pub(super) struct ListedResources(Mutex<BTreeMap<ServerName, BTreeSet<String>>>);

impl ListedResources {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ServerName, BTreeSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, server: &ServerName, uri: &str) -> bool {
        self.lock().get(server).is_some_and(|listed| listed.contains(uri))
    }

    fn replace(&self, server: &ServerName, listed: BTreeSet<String>) {
        self.lock().insert(server.clone(), listed);
    }
}

/// What the agent reads in the place of a resource that is not read now.
fn as_text(uri: &str, text: &str) -> Value {
    json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] })
}
