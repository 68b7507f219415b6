//! The policy of each session: that of the configuration, with what the session's project adds to it.

use std::sync::Arc;

use planwright_core::agents::{AgentRegistry, Specialist, SpecialistFile};
use planwright_core::plan::template::PlanTemplate;
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_sandbox::SandboxLevel;
use quick_cache::sync::Cache;

use crate::toolbox::files::{FileTools, ProjectFiles};

/// Sessions in projects with specialists or a template of their own, in this process. A session that is dropped from
/// here is read again with its next input.
const SESSIONS: usize = 1_024;

/// Clones share what was read.
#[derive(Debug, Clone)]
pub(crate) struct SessionPolicies {
    configured: Arc<Policy>,
    of_projects: Arc<Cache<SessionIdentity, Arc<Policy>>>,
    /// `None` where no project can be opened.
    files: Option<FileTools>,
}

impl SessionPolicies {
    pub(crate) fn new(configured: Policy) -> Self {
        Self { configured: Arc::new(configured), of_projects: Arc::new(Cache::new(SESSIONS)), files: None }
    }

    pub(crate) fn with_files(self, files: FileTools) -> Self {
        Self { files: Some(files), ..self }
    }

    pub(crate) fn configured(&self) -> &Arc<Policy> {
        &self.configured
    }

    /// The policy as the session's project was when it was read last.
    pub(crate) fn of(&self, session: &SessionIdentity) -> Arc<Policy> {
        self.of_projects.get(session).unwrap_or_else(|| Arc::clone(&self.configured))
    }

    /// Reads the session's project. It is done before an input is handled and before a client's tool call.
    pub(crate) async fn read_project(&self, snapshot: &Snapshot) -> Arc<Policy> {
        let (Some(files), Some(session)) = (&self.files, &snapshot.session) else { return self.of(&snapshot.identity) };
        if session.workspace.is_own() {
            self.of_projects.remove(&snapshot.identity);
            return Arc::clone(&self.configured);
        }
        let found = files.project_files(&session.workspace).await;
        let (agents, plan_template) = self.with_project(found);
        let before = self.of(&snapshot.identity);
        if before.agents == agents && before.plan_template == plan_template {
            return before;
        }
        let policy = Arc::new(Policy { agents, plan_template, ..(*self.configured).clone() });
        self.of_projects.insert(snapshot.identity.clone(), Arc::clone(&policy));
        policy
    }

    fn with_project(&self, found: ProjectFiles) -> (AgentRegistry, Option<PlanTemplate>) {
        let specialists = found.agents.into_iter().filter_map(|(name, text)| project_specialist(&name, &text));
        let agents = self.configured.agents.with_project(specialists);
        let template = found.template.and_then(|text| PlanTemplate::new(&text).ok());
        (agents, template.or_else(|| self.configured.plan_template.clone()))
    }
}

/// `None` for a Markdown file that describes no specialist, such as a page about agents. A project narrows what its
/// specialists may do and never widens it.
fn project_specialist(name: &str, text: &str) -> Option<Specialist> {
    let mut file = SpecialistFile::parse(name, text).ok()?;
    file.about.as_ref()?;
    let read_only = |level: &String| matches!(level.parse(), Ok(SandboxLevel::ReadOnly));
    file.options.sandbox = file.options.sandbox.filter(read_only);
    file.specialist(name).ok()
}
