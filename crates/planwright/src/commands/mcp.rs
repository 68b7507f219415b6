//! `planwright mcp`

use std::io::Write as _;

use planwright_core::actor::Actor;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_surfaces::mcp::{McpError, McpOptions, PlanStart, serve_stdio};

use super::project;
use crate::cli::{McpArgs, PlanWork};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::processes;

pub(crate) async fn run(context: &Context, arguments: &McpArgs) -> Outcome {
    let session = match arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => named(name)?,
        None => {
            let session = context.engine.sessions().new_identity(Channel::Mcp);
            // stdout belongs to the protocol. A client may have closed stderr, which is no reason to end.
            let _ = writeln!(
                std::io::stderr(),
                "planwright: new session {session}; `--session {session}` comes back to it"
            );
            session
        }
    };
    if let Some(folder) = &arguments.project {
        context.engine.sessions().open(&session, &context.person).await?;
        project::choose(context, &session, folder).await?;
    }
    // The session knows from now on which program its agent runs in: that program cannot approve.
    let system = Actor::system(Channel::Mcp.as_str());
    context.engine.sessions().open(&session, &system).await?;
    if let Some(client) = processes::client() {
        context.engine.sessions().see_client(&session, &system, client).await?;
    }
    let start = match arguments.plan {
        None => PlanStart::Ensure(None),
        Some(PlanWork::On(style)) => PlanStart::Ensure(Some(style)),
        Some(PlanWork::Off) => PlanStart::Off,
    };
    let options = McpOptions { engine: context.engine.clone(), session, start };
    match serve_stdio(options, stop_signal()).await {
        Ok(()) => Ok(Exit::Done),
        Err(McpError::Start { error, .. }) => Err(error.into()),
        Err(error @ McpError::Broken(_)) => Err(Failure::unexpected(error.to_string())),
    }
}

fn named(name: &str) -> Result<SessionIdentity, Failure> {
    if name.contains(':') {
        return Ok(name.parse()?);
    }
    Ok(SessionIdentity::new(Channel::Mcp, ConversationKey::existing(name)?))
}

/// Completes on SIGINT or SIGTERM.
async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
