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

use crate::ledger::{LedgerResult, SessionStore};

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

    /// Called before the workspace is chosen here. If the process dies before [`Self::record`], a first choice is known.
    pub(crate) async fn record_first(&self, session: &SessionIdentity, workspace: &Workspace) -> LedgerResult<()> {
        match self.store.project_place(session).await? {
            Some(_) => Ok(()),
            None => self.record(session, workspace).await,
        }
    }

    /// Records that the session's workspace was chosen here.
    pub(crate) async fn record(&self, session: &SessionIdentity, workspace: &Workspace) -> LedgerResult<()> {
        let place = workspace
            .project()
            .map(|path| ProjectPlace { path: path.to_owned(), place: self.here.as_ref().to_owned() });
        self.store.set_project_place(session, place.as_ref()).await
    }

    /// Fails if the session's project folder is on other machines.
    pub(crate) async fn check<T: SessionStore + ?Sized>(
        &self,
        store: &T,
        session: &SessionIdentity,
    ) -> LedgerResult<()> {
        let Some(found) = self.store.project_place(session).await? else { return Ok(()) };
        let stored = store.session(session).await?;
        match stored.as_ref().and_then(|stored| stored.session.workspace.project()) {
            None => Ok(()),
            Some(path) if path != found.path => Err(unknown_place(session, path).into()),
            Some(_) if found.place == *self.here => Ok(()),
            Some(_) => Err(self.elsewhere(session, &found).into()),
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

/// A process died after the folder was chosen, and before it was recorded where.
fn unknown_place(session: &SessionIdentity, path: &str) -> Refusal {
    Refusal::conflict(format!(
        "It is not recorded which server has the project folder {} of session {session}. Choose it again with `/project` on one \
         that has it.",
        quoted(path)
    ))
}
