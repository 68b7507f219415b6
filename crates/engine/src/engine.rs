//! The handle that every surface uses: it gives access to the services and submits commands.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::ids::RequestId;
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;

use crate::approvals::Approvals;
use crate::auto::AutoRuns;
use crate::clock::{Clock, Ids};
use crate::history::History;
use crate::importer::Importer;
use crate::inbox::Inbox;
use crate::journal_witness::JournalWitness;
use crate::ledger::{Committed, Ledger, LedgerResult};
use crate::memories::{Embeddings, Memories};
use crate::model::EmbeddingModel;
use crate::plans::Plans;
use crate::project_places::ProjectPlaces;
use crate::push::PushSubscriptions;
use crate::reviews::Reviews;
use crate::session_files::{PlanFiles, SessionFiles};
use crate::sessions::Sessions;
use crate::submitter::{Observer, Submitter};
use crate::verifier::Verifier;
use crate::workbook::{WorkbookFolders, WorkbookMiddleware, Workbooks};
use crate::workbook_dir::WorkbookLocation;

/// A cheap handle; clones share everything. Services are made on demand, which costs a few reference counts.
#[derive(Debug, Clone)]
pub struct Engine {
    submitter: Submitter,
    workbook_location: WorkbookLocation,
    embeddings: Option<Arc<Embeddings>>,
    project_places: Option<ProjectPlaces>,
    witness: Option<Arc<JournalWitness>>,
}

impl Engine {
    pub fn new(ledger: Arc<dyn Ledger>, policy: Policy) -> Self {
        let (workbook_location, embeddings, project_places, witness) = Default::default();
        Self { submitter: Submitter::new(ledger, policy), workbook_location, embeddings, project_places, witness }
    }

    /// Sets another source of time and ids.
    pub fn with_clock(self, clock: impl Clock, ids: impl Ids) -> Self {
        Self { submitter: self.submitter.with_clock(clock, ids), ..self }
    }

    /// Keeps copies of workbooks on disk.
    pub fn with_workbook_folders(self, folders: WorkbookFolders) -> Self {
        Self { workbook_location: WorkbookLocation::In(folders), ..self }
    }

    /// Adds the specialists and templates of the projects that sessions work in.
    pub fn with_project_files(self, files: Arc<dyn SessionFiles>) -> Self {
        Self { submitter: self.submitter.with_project_files(files), ..self }
    }

    /// Writes plans as files of the project they are made in.
    pub fn with_plan_files(self, files: Arc<dyn PlanFiles>) -> Self {
        Self { submitter: self.submitter.with_plan_files(files), ..self }
    }

    /// Compares where the project folders of sessions are with where this process is.
    pub fn with_project_places(self, places: ProjectPlaces) -> Self {
        Self { project_places: Some(places), ..self }
    }

    /// Fails if the session works in a project folder that is on other machines.
    pub async fn check_project_is_here(&self, session: &SessionIdentity) -> LedgerResult<()> {
        match &self.project_places {
            Some(places) => places.check(self.ledger().as_ref(), session).await,
            None => Ok(()),
        }
    }

    /// Notices journals that are shorter than what this process wrote, as a failover may leave them.
    pub fn with_journal_witness(self) -> Self {
        let witness = Arc::<JournalWitness>::default();
        self.submitter.observe(witness.clone());
        Self { witness: Some(witness), ..self }
    }

    /// Forgets how far the journal of a session went that was deleted.
    pub fn forget_journal(&self, session: &SessionIdentity) {
        if let Some(witness) = &self.witness {
            witness.forget(session);
        }
    }

    /// Fails if no work may begin in the session here: its project folder is elsewhere, or its journal lost entries.
    pub async fn check_before_work(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<()> {
        self.check_project_is_here(session).await?;
        match &self.witness {
            Some(witness) => witness.check(self.ledger().as_ref(), session, by).await,
            None => Ok(()),
        }
    }

    /// Finds memories by their meaning as well.
    pub fn with_embeddings(self, model: Arc<dyn EmbeddingModel>) -> Self {
        Self { embeddings: Some(Arc::new(Embeddings::new(model))), ..self }
    }

    /// Keeps workbooks in the ledger only.
    pub fn without_workbook_folders(self) -> Self {
        Self { workbook_location: WorkbookLocation::Nowhere, ..self }
    }

    /// Keeps copies of workbooks beside these files, unless their place is set already.
    pub fn with_workbook_beside(self, files: Arc<dyn SessionFiles>) -> Self {
        match self.workbook_location {
            WorkbookLocation::BesideFiles => self.with_workbook_folders(WorkbookFolders { files, templates: None }),
            WorkbookLocation::Nowhere | WorkbookLocation::In(_) => self,
        }
    }

    /// Returns an engine for one request that may arrive twice: its first command has this id, and when it is sent again
    /// it returns the outcome of the first time.
    pub fn as_request(&self, request: RequestId) -> Self {
        Self { submitter: self.submitter.as_request(request), ..self.clone() }
    }

    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.submitter.clone(), self.project_places.clone())
    }

    pub fn plans(&self) -> Plans {
        Plans::new(self.submitter.clone(), self.history())
    }

    pub fn history(&self) -> History {
        History::new(self.submitter.clone())
    }

    pub fn reviews(&self) -> Reviews {
        Reviews::new(self.submitter.clone(), self.history())
    }

    pub fn workbooks(&self) -> Workbooks {
        Workbooks::new(self.submitter.clone(), &self.workbook_location)
    }

    pub fn workbook_middleware(&self) -> WorkbookMiddleware {
        WorkbookMiddleware::new(self.submitter.clone(), self.workbooks())
    }

    pub fn memories(&self) -> Memories {
        Memories::new(self.submitter.clone(), self.embeddings.clone())
    }

    /// Goals, tasks, the diary, schedules and runs.
    pub fn auto(&self) -> AutoRuns {
        AutoRuns::new(self.submitter.clone())
    }

    pub fn approvals(&self) -> Approvals {
        Approvals::new(self.submitter.clone())
    }

    pub fn inbox(&self) -> Inbox {
        Inbox::new(Arc::clone(self.ledger()))
    }

    /// The browsers that get pushes.
    pub fn push(&self) -> PushSubscriptions {
        PushSubscriptions::new(Arc::clone(self.ledger()))
    }

    pub fn verifier(&self) -> Verifier {
        Verifier::new(Arc::clone(self.ledger()))
    }

    pub fn importer(&self) -> Importer {
        Importer::new(self.submitter.clone())
    }

    pub fn submitter(&self) -> &Submitter {
        &self.submitter
    }

    pub fn ledger(&self) -> &Arc<dyn Ledger> {
        self.submitter.ledger()
    }

    pub fn policy(&self) -> &Policy {
        self.submitter.policy()
    }

    pub fn now(&self) -> Timestamp {
        self.submitter.now()
    }

    /// Carries out any command in a session. It returns after the outcome is on disk.
    pub async fn submit(&self, session: &SessionIdentity, by: &Actor, command: Command) -> LedgerResult<Committed> {
        self.submitter.submit(session, by, command).await
    }

    /// Calls the observer after every commit of this engine and its clones.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.submitter.observe(observer);
    }
}
