//! A server for a program that could not start: it answers `initialize` and says in its instructions and in every result
//! what is wrong. A client that finds no server at all tells its person nothing.

use planwright_agent::tools::tools_of_style;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::{Refusal, RefusalCode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, DiscoverResult, InitializeRequestParams, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::request_order::OrderedService;
use super::server::implementation;
use super::{McpError, answer, instructions, run};

#[derive(Debug, Clone)]
struct FailedServer {
    message: String,
}

/// Serves one client on standard input and output until it closes its side or `shutdown` is ready.
pub async fn serve_failure(message: String, shutdown: impl Future<Output = ()>) -> Result<(), McpError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let stop = CancellationToken::new();
    let closing = stop.child_token();
    run(OrderedService::new(FailedServer { message }), input, output, stop, closing, shutdown).await
}

impl ServerHandler for FailedServer {
    fn get_info(&self) -> ServerConfig {
        let mut config =
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(implementation());
        config.instructions = Some(instructions::failed(&self.message));
        config
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let negotiated = self.negotiate_initialize(&request)?;
        request.protocol_version = negotiated.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(negotiated)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), self.get_info()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = tools_of_style(PlanStyle::Document).into_iter();
        Ok(ListToolsResult::with_all_items(tools.map(|tool| answer::tool(tool, &context)).collect()))
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let message = format!("Planwright cannot work at the moment: {}", self.message);
        Ok(answer::outcome(Err(Refusal::new(RefusalCode::Unavailable, message)), &[]).into())
    }
}
