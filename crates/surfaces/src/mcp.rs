//! The plan tools of one session as an MCP server, for an agent that already exists.
//!
//! - [`serve_stdio`], [`serve`]: run the server until the client leaves or a shutdown is asked for
//! - `line`, `message`, `transport`: the wire, one JSON-RPC message per line, with an answer to whatever is wrong with it
//! - `recover_id`: finds out which request a line that cannot be read was
//! - `request_order`: requests are carried out in the order in which they came
//! - `server`, `answer`, `instructions`: what the client is told
//! - `tool_changes`: notices when other tools are on offer, whatever caused it
//!
//! Approval is not a tool and there is no way to it from here: only a person approves, on a surface made for people.

mod answer;
#[cfg(test)]
mod fuzz;
mod instructions;
mod line;
mod message;
mod recover_id;
mod request_order;
mod server;
mod tool_changes;
mod transport;

use std::convert::Infallible;
use std::pin::pin;

use planwright_core::actor::Actor;
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use rmcp::service::{QuitReason, serve_directly_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use self::request_order::OrderedService;
use self::server::PlanServer;
use self::tool_changes::ToolChanges;
use self::transport::LineTransport;

/// The name of this surface in the journal.
pub(crate) const THROUGH: &str = "mcp";

#[derive(Debug, Clone)]
pub struct McpOptions {
    pub engine: Engine,
    /// Opened if it is not there yet.
    pub session: SessionIdentity,
    pub start: PlanStart,
}

/// What becomes of the session's plan work when the server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStart {
    /// On, in this style or in the one it was last in. An existing plan stays as it is.
    Ensure(Option<PlanStyle>),
    /// Off: no plan tool is offered until a person turns plan work on.
    Off,
}

#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("the session {session} could not be opened for MCP: {error}")]
    Start { session: SessionIdentity, error: LedgerError },
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
    let McpOptions { engine, session, start } = options;
    let not_started = |error| McpError::Start { session: session.clone(), error };
    begin(&engine, &session, start).await.map_err(not_started)?;
    let changes = ToolChanges::new(engine.clone(), session.clone());
    let offer = changes.offer().await.map_err(not_started)?;
    tracing::info!(session_identity = %session, "serving MCP");

    let stop = CancellationToken::new();
    let closing = stop.child_token();
    let server = PlanServer::new(engine, session, changes.clone(), closing.clone());
    let transport = LineTransport::new(input, output, closing);
    // Not rmcp's own handshake, which ends the connection when a client begins with anything else.
    let running = serve_directly_with_ct(OrderedService::new(server), transport, None, stop.clone());
    let peer = running.peer().clone();

    let mut serving = pin!(running.waiting());
    let quit = tokio::select! {
        quit = &mut serving => quit,
        never = changes.watch(offer) => match never {},
        never = tool_changes::announce(&changes, &peer) => match never {},
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

/// Starting this server is what a person configured, so it may turn plan work on by itself.
async fn begin(engine: &Engine, session: &SessionIdentity, start: PlanStart) -> LedgerResult<()> {
    let by = Actor::system(THROUGH);
    engine.sessions().open(session, &by).await?;
    match start {
        PlanStart::Ensure(style) => engine.sessions().ensure_plan_mode(session, &by, style).await?,
        PlanStart::Off => engine.sessions().disable_plan_mode(session, &by).await?,
    };
    Ok(())
}

/// The end of something that runs until it is dropped.
type Never = Infallible;
