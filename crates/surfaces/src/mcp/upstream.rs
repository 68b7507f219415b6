//! Resources and prompts of upstream servers, under names of their own: the prompt `review` of the server `git` is `git__review`,
//! and its resource `file:///a` is `planwright://upstream/git/file:///a`. Texts are passed on as data.

use std::collections::BTreeMap;
use std::time::Duration;

use planwright_agent::Gateway;
use planwright_agent::upstream::PassthroughResult;
use planwright_core::actor::Actor;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::upstream::{CompletedName, CompletionRequest, ResourceUpdate, UpstreamRequest};
use rmcp::model::{
    CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock, GetPromptResult, Prompt, ReadResourceResult,
    Reference, Resource, ResourceTemplate,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio::time::timeout;

const BASE: &str = "planwright://upstream/";
/// A server that lists nothing within this time is left out of the list.
const LIST_TIME: Duration = Duration::from_secs(5);
/// The characters of a description that are passed on.
const MAX_DESCRIPTION: usize = 1_000;
/// The largest resource or prompt, as JSON.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

pub(super) async fn resources(gateway: &Gateway) -> Vec<Resource> {
    let found = lists(gateway, UpstreamRequest::ListResources, "resources").await;
    named(found, |server, mut resource: Resource| {
        resource.uri = uri_of(server, &resource.uri);
        resource.name = format!("{} ({server})", visible(&resource.name));
        resource.title = resource.title.map(|title| format!("{} ({server})", visible(&title)));
        resource.description = resource.description.as_deref().map(shortened);
        resource
    })
}

pub(super) async fn templates(gateway: &Gateway) -> Vec<ResourceTemplate> {
    let found = lists(gateway, UpstreamRequest::ListResourceTemplates, "resourceTemplates").await;
    named(found, |server, mut template: ResourceTemplate| {
        template.uri_template = uri_of(server, &template.uri_template);
        template.name = format!("{} ({server})", visible(&template.name));
        template.title = template.title.map(|title| format!("{} ({server})", visible(&title)));
        template.description = template.description.as_deref().map(shortened);
        template
    })
}

pub(super) async fn prompts(gateway: &Gateway) -> Vec<Prompt> {
    let found = lists(gateway, UpstreamRequest::ListPrompts, "prompts").await;
    named(found, |server, mut prompt: Prompt| {
        prompt.name = format!("{server}__{}", prompt.name);
        prompt.title = prompt.title.map(|title| format!("{} ({server})", visible(&title)));
        prompt.description = prompt.description.as_deref().map(shortened);
        prompt
    })
}

/// What was read. Its resources have the addresses that the client can read.
pub(super) fn contents(server: &ServerName, mut answer: Value) -> Result<ReadResourceResult, Refusal> {
    for part in answer.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(found) = part.get("uri").and_then(Value::as_str) {
            part["uri"] = Value::String(uri_of(server, found));
        }
    }
    checked(server, answer)
}

/// The server and its own name of a prompt. `None` if the prompt is none of an upstream server.
pub(super) async fn prompt_of(gateway: &Gateway, name: &str) -> LedgerResult<Option<(ServerName, String)>> {
    let Some((server, own)) = name.split_once("__") else { return Ok(None) };
    Ok(known(gateway, server).await?.map(|server| (server, own.to_owned())))
}

/// A prompt. The resources in it have the addresses that the client can read.
pub(super) fn prompt(server: &ServerName, mut answer: Value) -> Result<GetPromptResult, Refusal> {
    for message in answer.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(content) = message.get_mut("content") {
            name_resource(server, content);
        }
    }
    checked(server, answer)
}

/// The result of a call. The resources in it have the addresses that the client can read.
pub(super) fn call_result(server: &ServerName, result: PassthroughResult) -> CallToolResult {
    let PassthroughResult { content, structured } = result;
    let block = |mut block: Value| {
        name_resource(server, &mut block);
        let shown = block.to_string();
        // A kind of content that this version does not know is shown as it is.
        serde_json::from_value(block).unwrap_or_else(|_| ContentBlock::text(shown))
    };
    let mut result = CallToolResult::success(content.into_iter().map(block).collect());
    result.structured_content = structured;
    result
}

/// Gives the resource of a content block, embedded or linked, its address here.
fn name_resource(server: &ServerName, block: &mut Value) {
    let named = match block.get("type").and_then(Value::as_str) {
        Some("resource") => block.get_mut("resource"),
        Some("resource_link") => Some(block),
        Some(_) | None => None,
    };
    if let Some(uri) = named.and_then(|named| named.get_mut("uri"))
        && let Some(own) = uri.as_str()
    {
        *uri = Value::String(uri_of(server, own));
    }
}

/// The server and its own address of a resource.
pub(super) async fn resource_of(gateway: &Gateway, uri: &str) -> LedgerResult<Option<(ServerName, String)>> {
    let Some((server, own)) = uri.strip_prefix(BASE).and_then(|rest| rest.split_once('/')) else { return Ok(None) };
    Ok(known(gateway, server).await?.map(|server| (server, own.to_owned())))
}

/// Whether the address has the form of one of an upstream server.
pub(super) fn is_upstream(uri: &str) -> bool {
    uri.starts_with(BASE)
}

/// Takes subscriptions back. A server that fails has forgotten them.
pub(super) async fn unsubscribe(gateway: &Gateway, of: impl IntoIterator<Item = (ServerName, String)>) {
    for (server, uri) in of {
        if let Err(error) = gateway.unsubscribe(&server, &uri).await {
            tracing::debug!(%server, %error, "a subscription could not be taken back");
        }
    }
}

/// The changes of resources of upstream servers, for one stream of a client. Its subscriptions end with it.
pub(super) struct UpstreamUpdates {
    gateway: Option<Gateway>,
    updates: Option<broadcast::Receiver<ResourceUpdate>>,
    subscribed: BTreeMap<String, (ServerName, String)>,
}

impl UpstreamUpdates {
    /// Resources that no server has, or whose server does not tell about changes, are left out.
    pub(super) async fn begin(
        gateway: Option<&Gateway>,
        session: &SessionIdentity,
        by: &Actor,
        uris: &[String],
    ) -> Self {
        let mut begun = Self { gateway: gateway.cloned(), updates: None, subscribed: BTreeMap::new() };
        let Some(gateway) = gateway.filter(|_| !uris.is_empty()) else { return begun };
        begun.updates = gateway.resource_updates();
        for uri in uris {
            let subscribed = async {
                let Some(of) = resource_of(gateway, uri).await? else { return Ok(None) };
                gateway.subscribe(session, by, &of.0, &of.1).await?;
                LedgerResult::Ok(Some(of))
            };
            match subscribed.await {
                Ok(Some(of)) => drop(begun.subscribed.insert(uri.clone(), of)),
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a resource of an upstream server cannot be subscribed to"),
            }
        }
        begun
    }

    /// The address of the next resource that changed.
    pub(super) async fn next(&mut self) -> String {
        loop {
            let uri = next_update(self.updates.as_mut()).await;
            if self.subscribed.contains_key(&uri) {
                return uri;
            }
        }
    }
}

impl Drop for UpstreamUpdates {
    fn drop(&mut self) {
        let (subscribed, gateway) = (std::mem::take(&mut self.subscribed), self.gateway.take());
        if let (Some(gateway), false, Ok(runtime)) =
            (gateway, subscribed.is_empty(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(async move { unsubscribe(&gateway, subscribed.into_values()).await });
        }
    }
}

/// The address of the next resource that changed, as clients know it. Never ready if no server tells any.
pub(super) async fn next_update(updates: Option<&mut broadcast::Receiver<ResourceUpdate>>) -> String {
    let Some(updates) = updates else { return std::future::pending().await };
    loop {
        match updates.recv().await {
            Ok(update) => return uri_of(&update.server, &update.uri),
            // The client reads the resource when it is told about the next change.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// `None` if neither the prompt nor the template is one of an upstream server.
pub(super) async fn complete(
    gateway: &Gateway,
    session: &SessionIdentity,
    by: &Actor,
    request: &CompleteRequestParams,
) -> LedgerResult<Option<CompleteResult>> {
    let found = match &request.r#ref {
        Reference::Prompt(prompt) => {
            prompt_of(gateway, &prompt.name).await?.map(|(server, own)| (server, CompletedName::Prompt(own)))
        }
        Reference::Resource(template) => {
            resource_of(gateway, &template.uri).await?.map(|(server, own)| (server, CompletedName::Template(own)))
        }
        // The enum may grow.
        _ => None,
    };
    let Some((server, of)) = found else { return Ok(None) };
    let known = request.context.as_ref().and_then(|context| context.arguments.clone()).unwrap_or_default();
    let asked = CompletionRequest {
        of,
        argument: request.argument.name.clone(),
        value: request.argument.value.clone(),
        known: known.into_iter().collect(),
    };
    let answer = gateway.complete(session, by, &server, &asked).await?;
    Ok(Some(checked(&server, answer)?))
}

async fn known(gateway: &Gateway, name: &str) -> LedgerResult<Option<ServerName>> {
    Ok(gateway.servers().await?.into_iter().find(|server| server.as_str() == name))
}

fn checked<T: DeserializeOwned>(server: &ServerName, answer: Value) -> Result<T, Refusal> {
    let bytes = answer.to_string().len();
    if bytes > MAX_ANSWER {
        let message =
            format!("The MCP server {server} answered with {bytes} bytes; {MAX_ANSWER} are passed on at most.");
        return Err(Refusal::new(RefusalCode::LimitExceeded, message));
    }
    serde_json::from_value(answer).map_err(|error| {
        let message = format!("The MCP server {server} sent an answer that cannot be read: {error}.");
        Refusal::new(RefusalCode::Unavailable, message)
    })
}

/// The lists of all servers, in the order of their names. A server that fails is left out; its tools say why.
async fn lists(gateway: &Gateway, request: UpstreamRequest, key: &'static str) -> Vec<(ServerName, Vec<Value>)> {
    let servers = match gateway.servers().await {
        Ok(servers) => servers,
        Err(error) => {
            tracing::warn!(%error, "the upstream servers could not be read");
            return Vec::new();
        }
    };
    let mut asked = JoinSet::new();
    for server in servers {
        let (gateway, request) = (gateway.clone(), request.clone());
        asked.spawn(async move {
            let answer = timeout(LIST_TIME, gateway.request(&server, request)).await;
            (server, answer)
        });
    }
    let mut found = Vec::new();
    for (server, answer) in asked.join_all().await {
        match answer {
            Ok(Ok(mut answer)) => {
                if let Some(Value::Array(entries)) = answer.get_mut(key).map(Value::take) {
                    found.push((server, entries));
                }
            }
            Ok(Err(error)) => tracing::warn!(event = "upstream_not_listed", %server, key, %error),
            Err(_) => tracing::warn!(event = "upstream_not_listed", %server, key, "it took too long"),
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Entries that cannot be read are left out.
fn named<T: DeserializeOwned>(found: Vec<(ServerName, Vec<Value>)>, name: impl Fn(&ServerName, T) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for (server, entries) in found {
        let read = entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok());
        all.extend(read.map(|entry| name(&server, entry)));
    }
    all
}

fn uri_of(server: &ServerName, own: &str) -> String {
    format!("{BASE}{server}/{own}")
}

fn shortened(text: &str) -> String {
    visible(text).chars().take(MAX_DESCRIPTION).collect()
}
