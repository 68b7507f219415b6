//! What a client may ask, and what it is told.

use planwright_core::actor::Actor;
use planwright_core::gate::PlanTool;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_engine::Engine;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::tool_changes::ToolChanges;
use super::{THROUGH, answer, instructions};

/// How many characters of a client's name go into the journal.
const LONGEST_NAME: usize = 128;

#[derive(Debug)]
pub(super) struct PlanServer {
    engine: Engine,
    session: SessionIdentity,
    changes: ToolChanges,
    /// Cancelled when the client has left or is to be left.
    closing: CancellationToken,
}

impl PlanServer {
    pub(super) fn new(
        engine: Engine,
        session: SessionIdentity,
        changes: ToolChanges,
        closing: CancellationToken,
    ) -> Self {
        Self { engine, session, changes, closing }
    }

    /// The server's description with instructions for the style that plan work is in now.
    async fn described(&self, mut config: ServerConfig) -> ServerConfig {
        let mode = match self.engine.sessions().get(&self.session).await {
            Ok(session) => Some(session.plan_mode),
            Err(error) => {
                // The client still gets to know the server; its calls will be told what is wrong.
                tracing::warn!(%error, "the session could not be read for the instructions");
                None
            }
        };
        config.instructions = Some(instructions::text(&self.session, mode.as_ref()));
        config
    }

    async fn call(&self, name: &str, arguments: Value, context: &RequestContext<RoleServer>) -> Result<Value, Refusal> {
        let Value::Object(arguments) = arguments else {
            return Err(Refusal::invalid(format!("The arguments of {} are not a JSON object.", quoted(name))));
        };
        let outcome = self.engine.tools().call(&self.session, &caller(context), name, arguments).await;
        let only_looked = matches!(PlanTool::named(name), Some(PlanTool::Get | PlanTool::List));
        match &outcome {
            Ok(_) if !only_looked => self.changes.look_now(),
            Ok(_) | Err(_) => {}
        }
        if let Err(refusal) = &outcome {
            tracing::debug!(session_identity = %self.session, tool = name, code = %refusal.code, "call refused");
        }
        outcome
    }
}

/// The agent, by the name its client gives itself. It is stored unchanged; every surface makes it visible before it shows it.
fn caller(context: &RequestContext<RoleServer>) -> Actor {
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    let name: String = name.trim().chars().take(LONGEST_NAME).collect();
    Actor::agent(if name.is_empty() { "agent" } else { &name }, THROUGH)
}

impl ServerHandler for PlanServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("planwright", version).with_title("Planwright"))
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let negotiated = self.negotiate_initialize(&request)?;
        request.protocol_version = negotiated.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(self.described(negotiated).await)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let described = self.described(self.get_info()).await;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), described))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("The list of tools has one page; there is no such cursor.", None));
        }
        let tools = self.engine.tools().advertised(&self.session).await.map_err(answer::unanswered)?;
        Ok(ListToolsResult::with_all_items(tools.into_iter().map(answer::tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(answer::outcome(self.call(&request.name, arguments, &context).await).into())
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changed = self.changes.subscribe();
        let wanted = context.accepted().tools_list_changed == Some(true);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.closing.cancelled() => return Ok(()),
                change = changed.changed(), if wanted => {
                    if change.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Everything rmcp could not read as a request it knows: other methods, and known ones whose parameters do not fit.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let part = |name: &str| params.as_ref().and_then(|params| params.get(name));
        match method.as_str() {
            "tools/call" => match (part("name").and_then(Value::as_str), part("arguments")) {
                (Some(name), Some(arguments)) if !arguments.is_object() => {
                    let outcome = self.call(name, arguments.clone(), &context).await;
                    Ok(CustomResult::new(answer::plain_outcome(outcome)))
                }
                _ => Err(invalid_params("tools/call takes `name`, a string, and `arguments`, an object.")),
            },
            "initialize" => Err(invalid_params(
                "initialize takes `protocolVersion`, `capabilities` and `clientInfo` with `name` and `version`.",
            )),
            "subscriptions/listen" => Err(invalid_params("subscriptions/listen takes `notifications`, an object.")),
            other => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, other.to_owned(), None)),
        }
    }

    // What is not offered is not there, rather than there and empty.

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }
}

fn invalid_params(message: &'static str) -> ErrorData {
    ErrorData::invalid_params(message, None)
}
