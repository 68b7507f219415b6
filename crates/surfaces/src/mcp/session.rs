//! The session that a connection works in. It is opened when it is first needed: a client may have to be asked for its
//! folder first.

#![allow(deprecated, reason = "clients of the older life cycle have logging, roots and subscriptions of their own")]

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::http::request::Parts;
use planwright_core::actor::Actor;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use rmcp::service::{RequestContext, RoleServer};

use super::folder::{folder_of_uri, folder_session};
use super::{PlanStart, THROUGH};
use crate::http::access::Peer;

/// How long a client may take to name its folders.
const ROOTS_TIME: Duration = Duration::from_secs(3);

/// How the session of a connection is found.
#[derive(Debug, Clone)]
pub enum SessionChoice {
    Fixed(SessionIdentity),
    /// The session of the project: the client's first root, else this folder.
    Folder(PathBuf),
    /// Each HTTP request names it, see [`SessionTarget`]. Requests that name none use the client's first root, else this
    /// session.
    Request(SessionIdentity),
}

impl SessionChoice {
    /// Whether the session is known without the client's folders.
    pub(super) fn is_named(&self, context: &RequestContext<RoleServer>) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Folder(_) => false,
            Self::Request(_) => target_of(context).is_some_and(|target| target.session.is_some()),
        }
    }
}

/// The session that an HTTP request names.
#[derive(Debug, Clone)]
pub(crate) struct SessionTarget {
    pub(crate) session: Option<SessionIdentity>,
    /// `None` leaves it to the server.
    pub(crate) start: Option<PlanStart>,
}

/// What else is done before the agent works in a session.
#[async_trait]
pub trait SessionSetup: fmt::Debug + Send + Sync + 'static {
    /// `peer` is the address that the agent's program is connected from, if it came over HTTP.
    async fn prepare(&self, session: &SessionIdentity, peer: Option<SocketAddr>) -> LedgerResult<()>;
}

/// Finds the session of a connection and how plan work starts in it.
pub(super) async fn choose(
    choice: &SessionChoice,
    start: PlanStart,
    context: Option<&RequestContext<RoleServer>>,
) -> (SessionIdentity, PlanStart) {
    match choice {
        SessionChoice::Fixed(session) => (session.clone(), start),
        SessionChoice::Folder(folder) => {
            let root = root_of(context).await;
            (folder_session(root.as_deref().unwrap_or(folder)), start)
        }
        SessionChoice::Request(default) => {
            let target = context.and_then(target_of);
            let start = target.as_ref().and_then(|target| target.start).unwrap_or(start);
            match target.and_then(|target| target.session) {
                Some(session) => (session, start),
                None => {
                    let root = root_of(context).await;
                    (root.map_or_else(|| default.clone(), |root| folder_session(&root)), start)
                }
            }
        }
    }
}

/// Refuses a request for another session than the one that its connection works in.
pub(super) fn check_target(session: &SessionIdentity, context: &RequestContext<RoleServer>) -> Result<(), Refusal> {
    match target_of(context).and_then(|target| target.session) {
        Some(named) if named != *session => Err(Refusal::new(
            RefusalCode::Conflict,
            format!("This connection works in session {session}; connect again for session {named}."),
        )),
        Some(_) | None => Ok(()),
    }
}

/// The address that a request over HTTP came from.
pub(super) fn peer_of(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    Some(context.extensions.get::<Parts>()?.extensions.get::<Peer>()?.0)
}

fn target_of(context: &RequestContext<RoleServer>) -> Option<SessionTarget> {
    context.extensions.get::<Parts>()?.extensions.get::<SessionTarget>().cloned()
}

/// The folder that the client works in, if it tells.
async fn root_of(context: Option<&RequestContext<RoleServer>>) -> Option<PathBuf> {
    let context = context?;
    // Newer clients take no requests; they start the server in their folder.
    context.peer.peer_info()?.capabilities.roots.as_ref()?;
    let roots = tokio::time::timeout(ROOTS_TIME, context.peer.list_roots()).await;
    match roots {
        Ok(Ok(listed)) => listed.roots.iter().find_map(|root| folder_of_uri(&root.uri)),
        Ok(Err(error)) => {
            tracing::debug!(%error, "the client did not name its folders");
            None
        }
        Err(_) => None,
    }
}

/// Opens the session. Starting this server is what a person configured, so it may turn plan work on by itself. A plan that
/// is over stays the active one until something new is written.
pub(super) async fn begin(
    engine: &Engine,
    session: &SessionIdentity,
    start: PlanStart,
    setup: Option<&Arc<dyn SessionSetup>>,
    peer: Option<SocketAddr>,
) -> LedgerResult<()> {
    let by = Actor::system(THROUGH);
    let stored = engine.ledger().session(session).await?;
    if stored.is_none() {
        engine.sessions().open(session, &by).await?;
    }
    if let Some(setup) = setup {
        setup.prepare(session, peer).await?;
    }
    // The agent's program starts this, as often as it likes. Where plan work was ever switched, it is as a person left it.
    let is_new = stored.is_none_or(|stored| !stored.session.was_plan_work_switched());
    match start {
        PlanStart::Ensure(style) if is_new => drop(engine.sessions().ensure_plan_mode(session, &by, style).await?),
        PlanStart::Ensure(_) | PlanStart::Off => {}
    }
    Ok(())
}
