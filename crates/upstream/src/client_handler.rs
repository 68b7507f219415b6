//! Planwright as servers see it. Itself it offers them neither a model nor a person nor files; what they ask passes to the client
//! of the gateway that made the call, as far as the settings of the server say so.

#![allow(deprecated, reason = "servers of the older life cycle ask for a model by a request of their own")]

use std::sync::Arc;

use planwright_engine::upstream::{QuestionError, QuestionKind, QuestionKinds};
use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, Implementation,
    ListRootsResult, RequestId, RootsCapabilities, SamplingCapability,
};
use rmcp::service::{InboundStreamOrigin, RequestContext, RoleClient};
use serde_json::{Value, json};

use crate::call_router::CallRouter;

#[derive(Debug)]
pub(crate) struct UpstreamHandler {
    router: Arc<CallRouter>,
    passed: QuestionKinds,
}

impl UpstreamHandler {
    pub(crate) fn new(router: Arc<CallRouter>, passed: QuestionKinds) -> Self {
        Self { router, passed }
    }

    async fn ask(
        &self,
        kind: QuestionKind,
        params: Value,
        context: &RequestContext<RoleClient>,
    ) -> Result<Value, ErrorData> {
        let answer = self.router.ask(kind, params, call_of(context)).await;
        answer.map_err(|QuestionError { code, message }| ErrorData::new(ErrorCode(code), message, None))
    }
}

impl ClientHandler for UpstreamHandler {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(capabilities(self.passed), Implementation::new("planwright", env!("CARGO_PKG_VERSION")))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if !self.passed.sampling {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        }
        let answer = self.ask(QuestionKind::Sampling, json!(params), &context).await?;
        serde_json::from_value(answer).map_err(|error| unreadable(&error))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if !self.passed.elicitation {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        }
        let answer = self.ask(QuestionKind::Elicitation, json!(params), &context).await?;
        serde_json::from_value(answer).map_err(|error| unreadable(&error))
    }

    async fn list_roots(&self, context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        if !self.passed.roots {
            return Ok(ListRootsResult::default());
        }
        let answer = self.ask(QuestionKind::Roots, json!({}), &context).await?;
        serde_json::from_value(answer).map_err(|error| unreadable(&error))
    }
}

/// What a server is told that it may ask.
pub(crate) fn capabilities(kinds: QuestionKinds) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    capabilities.sampling = kinds.sampling.then(SamplingCapability::default);
    capabilities.elicitation = kinds.elicitation.then(ElicitationCapability::default);
    capabilities.roots = kinds.roots.then(RootsCapabilities::default);
    capabilities
}

/// The call that a request belongs to. Over HTTP the stream says it; the pipes of a program do not.
fn call_of(context: &RequestContext<RoleClient>) -> Option<&RequestId> {
    match context.extensions.get::<InboundStreamOrigin>() {
        Some(InboundStreamOrigin::OutboundRequest(request)) => Some(request),
        Some(InboundStreamOrigin::Unassociated) | None => None,
    }
}

fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("The client's answer cannot be read: {error}."), None)
}
