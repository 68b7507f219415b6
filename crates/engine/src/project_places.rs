//! Which machine has the project folder of a session, where several servers share a store.
//!
//! The same path may be another folder on another machine. A session that works in a project folder is continued only by a
//! server that has the folders of the server where it was chosen.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_core::workspace::Workspace;

use crate::ledger::LedgerResult;

/// A project folder, and the name of the machines that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlace {
    pub path: String,
    pub place: String,
}

/// Where the project folders of sessions are.
#[async_trait]
pub trait ProjectPlaceStore: fmt::Debug + Send + Sync + 'static {
    /// `None` for a session that works in its own folder, and for one of before places were kept.
    async fn project_place(&self, session: &SessionIdentity) -> LedgerResult<Option<ProjectPlace>>;

    async fn set_project_place(&self, session: &SessionIdentity, place: Option<&ProjectPlace>) -> LedgerResult<()>;
}

/// The place of this process, compared with those of sessions.
#[derive(Debug, Clone)]
pub struct ProjectPlaces {
    store: Arc<dyn ProjectPlaceStore>,
    here: Arc<str>,
}

impl ProjectPlaces {
    pub fn new(store: Arc<dyn ProjectPlaceStore>, here: &str) -> Self {
        Self { store, here: here.into() }
    }

    /// Records that the session's workspace was chosen here.
    pub(crate) async fn record(&self, session: &SessionIdentity, workspace: &Workspace) -> LedgerResult<()> {
        let place = workspace
            .project()
            .map(|path| ProjectPlace { path: path.to_owned(), place: self.here.as_ref().to_owned() });
        self.store.set_project_place(session, place.as_ref()).await
    }

    /// Fails if the session's project folder is on other machines.
    pub(crate) async fn check(&self, session: &SessionIdentity) -> LedgerResult<()> {
        match self.store.project_place(session).await? {
            Some(found) if found.place != *self.here => Err(self.elsewhere(session, &found).into()),
            Some(_) | None => Ok(()),
        }
    }

    fn elsewhere(&self, session: &SessionIdentity, found: &ProjectPlace) -> Refusal {
        Refusal::conflict(format!(
            "Session {session} works in the project folder {} of {}, and this server has the folders of {}. Its work waits for \
             a server that has them (`projects.id`). Use that one, or choose another folder here with `/project`.",
            quoted(&found.path),
            quoted(&found.place),
            quoted(&self.here)
        ))
    }
}
