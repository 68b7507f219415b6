//! Lists and completions of a server. Planwright passes them on and does not use them itself.

#![allow(deprecated, reason = "servers of the older life cycle have subscriptions of their own")]

use planwright_engine::upstream::{CompletedName, CompletionRequest, QuestionKinds, UpstreamRequest};
use rmcp::ErrorData;
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext, InputRequest,
    InputRequiredResult, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    PaginatedRequestParams, Reference, ServerResult, SetLevelRequest, SetLevelRequestParams, SubscribeRequest,
    SubscribeRequestMethod, SubscribeRequestParams, UnsubscribeRequest, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Value, json};

/// Of more entries than this the rest is left out.
const MAX_ENTRIES: usize = 1_000;
const MAX_PAGES: usize = 20;

pub(crate) async fn ask(peer: &Peer<RoleClient>, request: UpstreamRequest) -> Result<Value, ServiceError> {
    match request {
        UpstreamRequest::ListResources => list(peer, ListKind::Resources).await,
        UpstreamRequest::ListResourceTemplates => list(peer, ListKind::Templates).await,
        UpstreamRequest::ListPrompts => list(peer, ListKind::Prompts).await,
        UpstreamRequest::Subscribe { uri } if has_subscriptions(peer) => {
            let params = SubscribeRequestParams::new(uri);
            one(peer, ClientRequest::SubscribeRequest(SubscribeRequest::new(params))).await
        }
        UpstreamRequest::Subscribe { .. } => {
            let message = "it does not tell about changes of its resources";
            let code = ErrorData::method_not_found::<SubscribeRequestMethod>().code;
            Err(ServiceError::McpError(ErrorData::new(code, message, None)))
        }
        UpstreamRequest::Unsubscribe { uri } => {
            let params = UnsubscribeRequestParams::new(uri);
            one(peer, ClientRequest::UnsubscribeRequest(UnsubscribeRequest::new(params))).await
        }
        UpstreamRequest::Complete(request) => complete(peer, request).await,
        UpstreamRequest::SetLogLevel { level } if has_log(peer) => {
            let level = serde_json::from_value(json!(level)).map_err(|_| ServiceError::UnexpectedResponse)?;
            let params = SetLevelRequestParams::new(level);
            one(peer, ClientRequest::SetLevelRequest(SetLevelRequest::new(params))).await
        }
        UpstreamRequest::SetLogLevel { .. } => Ok(json!({})),
    }
}

/// Whether the result asks for nothing else.
pub(crate) fn asks_only(asked: &InputRequiredResult, kinds: QuestionKinds) -> bool {
    asked.input_requests.iter().flatten().all(|(_, request)| match request {
        InputRequest::CreateMessage(_) => kinds.sampling,
        InputRequest::Elicitation(_) => kinds.elicitation,
        InputRequest::ListRoots(_) => kinds.roots,
        // The enum may grow.
        _ => false,
    })
}

/// A server without a log is not asked.
fn has_log(peer: &Peer<RoleClient>) -> bool {
    peer.peer_info().is_some_and(|info| info.capabilities.logging.is_some())
}

fn has_subscriptions(peer: &Peer<RoleClient>) -> bool {
    let info = peer.peer_info();
    info.is_none_or(|info| info.capabilities.resources.as_ref().is_some_and(|has| has.subscribe == Some(true)))
}

/// A server that does not say that it completes is not asked, and completes nothing.
async fn complete(peer: &Peer<RoleClient>, request: CompletionRequest) -> Result<Value, ServiceError> {
    if peer.peer_info().is_some_and(|info| info.capabilities.completions.is_none()) {
        return Ok(json!({ "completion": { "values": [] } }));
    }
    let CompletionRequest { of, argument, value, known } = request;
    let reference = match of {
        CompletedName::Prompt(name) => Reference::for_prompt(name),
        CompletedName::Template(uri) => Reference::for_resource(uri),
    };
    let mut params = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, value));
    if !known.is_empty() {
        params = params.with_context(CompletionContext::with_arguments(known.into_iter().collect()));
    }
    one(peer, ClientRequest::CompleteRequest(CompleteRequest::new(params))).await
}

#[derive(Debug, Clone, Copy)]
enum ListKind {
    Resources,
    Templates,
    Prompts,
}

impl ListKind {
    const fn key(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    fn request(self, cursor: Option<String>) -> ClientRequest {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        match self {
            Self::Resources => ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params)),
            Self::Templates => {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(params))
            }
            Self::Prompts => ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params)),
        }
    }

    /// A server that does not say that it has them is not asked.
    fn is_offered(self, peer: &Peer<RoleClient>) -> bool {
        peer.peer_info().is_none_or(|info| match self {
            Self::Resources | Self::Templates => info.capabilities.resources.is_some(),
            Self::Prompts => info.capabilities.prompts.is_some(),
        })
    }
}

async fn list(peer: &Peer<RoleClient>, kind: ListKind) -> Result<Value, ServiceError> {
    let mut entries = Vec::new();
    let mut cursor = None;
    if kind.is_offered(peer) {
        for _ in 0..MAX_PAGES {
            let mut page = one(peer, kind.request(cursor.take())).await?;
            if let Some(Value::Array(found)) = page.get_mut(kind.key()).map(Value::take) {
                entries.extend(found);
            }
            cursor = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()).map(str::to_owned);
            if cursor.is_none() || entries.len() >= MAX_ENTRIES {
                break;
            }
        }
    }
    entries.truncate(MAX_ENTRIES);
    Ok(json!({ kind.key(): entries }))
}

async fn one(peer: &Peer<RoleClient>, request: ClientRequest) -> Result<Value, ServiceError> {
    read(peer.send_request(request).await?)
}

pub(crate) fn read(answer: ServerResult) -> Result<Value, ServiceError> {
    match answer {
        // A server that wants a person's input or a model during the answer gets neither.
        ServerResult::InputRequiredResult(_) | ServerResult::CreateTaskResult(_) => {
            Err(ServiceError::UnexpectedResponse)
        }
        answer => serde_json::to_value(answer).map_err(|_| ServiceError::UnexpectedResponse),
    }
}
