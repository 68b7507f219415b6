//! The plan tools of one session as an MCP server, for an agent that already exists.
//!
//! - [`serve_stdio`], [`serve`]: run the server until the client leaves or a shutdown is asked for
//! - [`serve_failure`]: answers a client when the program could not start
//! - [`folder`]: the session of a project folder
//! - [`gateway`], `upstream`: the tools of upstream servers behind the gate, and their resources and prompts
//! - `server_questions`, `pending_calls`, `shown_questions`: what an upstream server asks the client, by requests and by results, and
//!   its words without characters that hide text
//! - `client_input`: what the client of a request can be asked
//! - `session`, `session_changes`: the session of a connection, and what happens in it
//! - `line`, `message`, `transport`: the wire, one JSON-RPC message per line, with an answer to whatever is wrong with it
//! - `recover_id`: finds out which request a line that cannot be read was
//! - `request_order`: requests are carried out in the order in which they came
//! - `server`, `answer`, `instructions`, `titles`: what the client is told
//! - `prompts`, `resources`, `completion`: what people and clients see besides the tools
//! - `unread_requests`: requests that rmcp could not read
//! - `decision`: waiting for a person's decision, and asking for it in the client
//! - `permission`: asking the person in the client whether a call of an upstream tool is made
//! - `notifications`, `progress`: what the client is told without asking
//! - `failure`: a server for a program that could not start: it answers `initialize` and says in its instructions and
//!   in every result what is wrong
//! - `fuzz`: a fuzz target for the bytes a client sends: they are read as lines and messages, and nothing may panic
//! - `tool_call`: a call of a tool: of a plan tool, or of an upstream tool through the gateway, and reading an upstream resource
//!
//! Approval is not a tool and there is no way to it from here: only a person approves, on a surface made for people. Whether
//! an answer in the client counts as one is the approval policy's to say.

mod answer;
mod client_input;
mod completion;
mod decision;
mod failure;
pub mod folder;
#[cfg(test)]
mod fuzz;
pub mod gateway;
mod instructions;
mod line;
mod message;
mod notifications;
mod pending_calls;
mod permission;
mod progress;
mod prompts;
mod recover_id;
mod request_order;
mod resources;
mod server;
mod server_questions;
mod session;
mod session_changes;
mod shown_questions;
mod titles;
mod tool_call;
mod transport;
mod unread_requests;
mod upstream;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::feed::Feed;
use rmcp::service::{QuitReason, RoleServer, Service, serve_directly_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use self::gateway::Gateway;
use self::request_order::OrderedService;
use self::transport::ClientTransport;

pub use failure::serve_failure;
pub(crate) use pending_calls::PendingCalls;
pub(crate) use server::PlanServer;
pub(crate) use session::SessionTarget;
pub use session::{SessionChoice, SessionSetup};

/// The name of this surface in the journal.
pub(crate) const THROUGH: &str = "mcp";

#[derive(Debug, Clone)]
pub struct McpOptions {
    pub engine: Engine,
    /// Tells what any process writes.
    pub feed: Feed,
    /// Opened if it does not exist yet.
    pub session: SessionChoice,
    pub start: PlanStart,
    pub commands: PersonCommands,
    /// What else is done before the agent works in a session.
    pub setup: Option<Arc<dyn SessionSetup>>,
    /// Upstream servers for the agent.
    pub gateway: Option<Gateway>,
}

/// What becomes of the session's plan work when the server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStart {
    /// On, in this style or in the one it was last in. An existing plan stays as it is.
    Ensure(Option<PlanStyle>),
    /// Off: no plan tool is offered until a person turns plan work on.
    Off,
}

/// How a person decides, as the agent tells them.
#[derive(Debug, Clone, Default)]
pub struct PersonCommands {
    /// The options that name the store, quoted for the shell; empty if none has to be typed.
    pub store_options: String,
    /// The address of the dashboard, without a slash at the end.
    pub dashboard: Option<String>,
}

impl PersonCommands {
    /// `planwright plan WORD` for a session.
    pub(crate) fn plan(&self, word: &str, session: &SessionIdentity) -> String {
        let options = self.store_options.trim();
        let space = if options.is_empty() { "" } else { " " };
        format!("planwright plan {word} --session {session}{space}{options}")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("the MCP connection ended by a fault of this program: {0}")]
    Broken(#[from] JoinError),
}

/// Serves one client on standard input and output, which carry nothing but the protocol.
///
/// Where standard input is not a pipe, a read from it may still be under way on a thread of the runtime when this
/// returns; the caller ends the runtime without waiting for it.
pub async fn serve_stdio(options: McpOptions, shutdown: impl Future<Output = ()>) -> Result<(), McpError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(options, input, output, shutdown).await
}

/// Serves one client until it closes its side or `shutdown` is ready. Calls that are being carried out then are
/// answered first.
pub async fn serve<R, W>(
    options: McpOptions,
    input: R,
    output: W,
    shutdown: impl Future<Output = ()>,
) -> Result<(), McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stop = CancellationToken::new();
    let closing = stop.child_token();
    let is_fixed = matches!(options.session, SessionChoice::Fixed(_));
    let server = PlanServer::new(options, closing.clone(), PendingCalls::default());
    if is_fixed {
        server.open_early().await;
    }
    run(OrderedService::new(server), input, output, stop, closing, shutdown).await
}

async fn run<S, R, W>(
    service: S,
    input: R,
    output: W,
    stop: CancellationToken,
    closing: CancellationToken,
    shutdown: impl Future<Output = ()>,
) -> Result<(), McpError>
where
    S: Service<RoleServer>,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = ClientTransport::new(input, output, closing);
    // Not rmcp's own handshake, which ends the connection when a client begins with anything else.
    let running = serve_directly_with_ct(service, transport, None, stop.clone());
    let mut serving = pin!(running.waiting());
    let quit = tokio::select! {
        quit = &mut serving => quit,
        () = shutdown => {
            stop.cancel();
            serving.await
        }
    };
    match quit? {
        QuitReason::JoinError(error) => Err(error.into()),
        // The enum may grow; every other reason it has is an ordinary end.
        reason => {
            tracing::info!(?reason, "MCP connection ended");
            Ok(())
        }
    }
}

/// The end of something that runs until it is dropped.
type Never = Infallible;
