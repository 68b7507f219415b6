//! The policy of each session: that of the configuration, with what the session's project adds to it.

use std::sync::Arc;

use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use quick_cache::sync::Cache;

use crate::session_files::SessionFiles;

/// Sessions in projects with specialists or a template of their own, in this process. A session that is dropped from
/// here is read again with its next input.
const SESSIONS: usize = 1_024;

/// Clones share what was read.
#[derive(Debug, Clone)]
pub struct SessionPolicies {
    configured: Arc<Policy>,
    of_projects: Arc<Cache<SessionIdentity, Arc<Policy>>>,
    /// `None` where no project can be opened.
    files: Option<Arc<dyn SessionFiles>>,
}

impl SessionPolicies {
    pub fn new(configured: Policy) -> Self {
        Self { configured: Arc::new(configured), of_projects: Arc::new(Cache::new(SESSIONS)), files: None }
    }

    pub fn with_files(self, files: Arc<dyn SessionFiles>) -> Self {
        Self { files: Some(files), ..self }
    }

    pub fn configured(&self) -> &Arc<Policy> {
        &self.configured
    }

    /// The policy as the session's project was when it was read last.
    pub fn of(&self, session: &SessionIdentity) -> Arc<Policy> {
        self.of_projects.get(session).unwrap_or_else(|| Arc::clone(&self.configured))
    }

    /// Reads the session's project. It is done before an input is handled and before a client's tool call.
    pub async fn read_project(&self, snapshot: &Snapshot) -> Arc<Policy> {
        let (Some(files), Some(session)) = (&self.files, &snapshot.session) else { return self.of(&snapshot.identity) };
        if session.workspace.is_own() {
            self.of_projects.remove(&snapshot.identity);
            return Arc::clone(&self.configured);
        }
        let additions = files.read_project(&session.workspace).await;
        let agents = self.configured.agents.with_project(additions.specialists);
        let plan_template = additions.template.or_else(|| self.configured.plan_template.clone());
        let before = self.of(&snapshot.identity);
        if before.agents == agents && before.plan_template == plan_template {
            return before;
        }
        let policy = Arc::new(Policy { agents, plan_template, ..(*self.configured).clone() });
        self.of_projects.insert(snapshot.identity.clone(), Arc::clone(&policy));
        policy
    }
}
