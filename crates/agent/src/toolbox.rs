//! The tools that are not about plans: the trait, and the set of them.

pub mod command;
pub mod files;
mod own_tools;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::permission::{CallTarget, DeniedPaths};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::{FileChange, Workspace};
use planwright_engine::ledger::{Ledger, LedgerResult};
use planwright_engine::upstream::CallEventSender;
use serde_json::{Value, json};

use crate::session::lease::{LeaseEnd, LeaseGuard};
use crate::session::progress::{Progress, ProgressSender};
use crate::tool_schema::Arguments;
use crate::upstream::{PassthroughResult, UpstreamTools};

#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug + 'static {
    fn spec(&self) -> &ToolSpec;

    fn effect(&self) -> ToolEffect;

    /// Checks the arguments, without any effect.
    fn check(&self, arguments: &Arguments) -> Result<(), Refusal>;

    /// How long a call may take. `default` is the limit for tools without one of their own.
    fn time_limit(&self, arguments: &Arguments, default: Duration) -> Duration {
        let _ = arguments;
        default
    }

    /// What a call acts on, for the permission rules. Nothing is changed.
    async fn target(&self, _context: ToolContext<'_>, _arguments: &Arguments) -> Result<ToolTarget, Refusal> {
        Ok(ToolTarget::None)
    }

    /// Does it, in the session that asks and in no other. Dropping the future ends it, as far as it can be ended.
    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal>;

    /// The answer of a call of this name whose answer was lost, if the call was carried out.
    async fn done_before(&self, context: ToolContext<'_>) -> Result<Option<ToolAnswer>, Refusal> {
        let _ = context;
        Ok(None)
    }

    /// Whether a call may change files that its answer does not name. Then the workspace before and after it is compared.
    fn changes_untracked(&self) -> bool {
        false
    }

    /// Whether commands of the session run in the background, which the tool started, reads or ends.
    fn has_background(&self, session: &SessionIdentity) -> bool {
        let _ = session;
        false
    }
}

/// What a call acts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolTarget {
    /// A shell line.
    Command(String),
    /// Paths below the workspace, as they are written and after links were resolved.
    Paths(Vec<String>),
    /// Something that rules do not name further.
    None,
}

impl ToolTarget {
    pub(crate) fn as_call_target(&self) -> CallTarget<'_> {
        match self {
            Self::Command(line) => CallTarget::Command(line),
            Self::Paths(paths) => CallTarget::Paths(paths),
            Self::None => CallTarget::None,
        }
    }
}

/// The result of a call: what the model reads, and the files that the call changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    pub value: Value,
    pub changes: Vec<FileChange>,
    /// The call was carried out, and what it did failed: a command that ended with an error. The value says more.
    pub failure: Option<String>,
    /// It is not known whether the call was carried out.
    pub is_uncertain: bool,
    /// The result of an upstream server for a client of the gateway.
    pub passthrough: Option<PassthroughResult>,
}

impl ToolAnswer {
    pub fn changed(value: Value, changes: Vec<FileChange>) -> Self {
        Self { value, changes, failure: None, is_uncertain: false, passthrough: None }
    }

    /// For a call whose result was lost. The words say what is known.
    pub fn uncertain(message: String) -> Self {
        Self { is_uncertain: true, ..Self::from(json!({ "message": message })) }
    }
}

impl From<Value> for ToolAnswer {
    fn from(value: Value) -> Self {
        Self::changed(value, Vec::new())
    }
}

/// The session that calls a tool, and the lease that it works under.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'a> {
    pub session: &'a SessionIdentity,
    /// The folder that file tools work in.
    pub workspace: &'a Workspace,
    /// The name of the call. A call that is made again under its name after a crash is not done twice.
    pub call: Option<&'a str>,
    lease: Option<(&'a LeaseGuard, &'a dyn Ledger)>,
    progress: Option<&'a ProgressSender>,
    call_events: Option<&'a CallEventSender>,
    /// The bytes of text that a client of the gateway gets at once.
    result_bytes: Option<usize>,
    /// The name of the sandbox level, if the caller has one of its own.
    sandbox: Option<&'a str>,
    denied: Option<&'a DeniedPaths>,
}

impl<'a> ToolContext<'a> {
    /// For calls that no lease protects: those of a program that has the session for itself.
    pub fn without_lease(session: &'a SessionIdentity) -> Self {
        Self {
            session,
            workspace: &Workspace::Own,
            call: None,
            lease: None,
            progress: None,
            call_events: None,
            result_bytes: None,
            sandbox: None,
            denied: None,
        }
    }

    pub(crate) fn leased(session: &'a SessionIdentity, lease: &'a LeaseGuard, ledger: &'a dyn Ledger) -> Self {
        Self {
            session,
            workspace: &Workspace::Own,
            call: None,
            lease: Some((lease, ledger)),
            progress: None,
            call_events: None,
            result_bytes: None,
            sandbox: None,
            denied: None,
        }
    }

    #[must_use]
    pub fn in_workspace(self, workspace: &'a Workspace) -> Self {
        Self { workspace, ..self }
    }

    #[must_use]
    pub fn named(self, call: &'a str) -> Self {
        Self { call: Some(call), ..self }
    }

    #[must_use]
    pub(crate) fn watched_by(self, progress: &'a ProgressSender) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// For a call of a client of the gateway, which is told what the server says and gets its result as it is.
    #[must_use]
    pub(crate) fn observed_by(self, call_events: &'a CallEventSender, result_bytes: usize) -> Self {
        Self { call_events: Some(call_events), result_bytes: Some(result_bytes), ..self }
    }

    pub(crate) fn result_bytes(&self) -> Option<usize> {
        self.result_bytes
    }

    pub(crate) fn call_events(&self) -> Option<&'a CallEventSender> {
        self.call_events
    }

    /// The level of commands, for a caller with one of its own.
    #[must_use]
    pub fn at_sandbox_level(self, sandbox: Option<&'a str>) -> Self {
        Self { sandbox, ..self }
    }

    /// The paths that a search passes by, because rules deny them.
    #[must_use]
    pub fn without_paths(self, denied: &'a DeniedPaths) -> Self {
        Self { denied: Some(denied), ..self }
    }

    pub(crate) fn denied_paths(&self) -> DeniedPaths {
        self.denied.cloned().unwrap_or_default()
    }

    /// The name of that level.
    pub(crate) fn sandbox_level(&self) -> Option<&'a str> {
        self.sandbox
    }

    /// Shows the person what a command writes.
    pub(crate) fn send_output(&self, tool: &str, text: String) {
        if let Some(progress) = self.progress {
            progress.send(Progress::ToolOutput { name: tool.to_owned(), text });
        }
    }

    /// When the turn or the execution that makes the call is over. `None` without a lease.
    pub(crate) fn lease_end(&self) -> Option<LeaseEnd> {
        self.lease.map(|(lease, _)| lease.end())
    }

    /// A name for the lease that no other lease has.
    pub(crate) fn lease_name(&self) -> Option<String> {
        self.lease.map(|(lease, _)| lease.name())
    }

    /// Whether the store says that the lease still holds.
    pub(crate) async fn confirm_lease(&self) -> LedgerResult<bool> {
        match self.lease {
            Some((lease, ledger)) => lease.confirm_now(ledger).await,
            None => Ok(true),
        }
    }
}

pub(crate) use own_tools::{own_tools, recorded_arguments};

/// A set of tools; clones share them. Those of upstream servers may change while the process runs.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    /// Tools that only a plan calls here. They are not offered.
    recorded: Vec<Arc<dyn Tool>>,
    upstream: Option<UpstreamTools>,
}

impl Toolbox {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().collect(), ..Self::default() }
    }

    /// Adds the tools of upstream servers.
    #[must_use]
    pub fn with_upstream(self, upstream: UpstreamTools) -> Self {
        Self { upstream: Some(upstream), ..self }
    }

    /// Puts these tools before its own.
    #[must_use]
    pub fn with_first(self, first: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools: first.into_iter().chain(self.tools).collect(), ..self }
    }

    /// Adds tools that are found and not offered.
    #[must_use]
    pub(crate) fn with_recorded(self, recorded: Vec<Arc<dyn Tool>>) -> Self {
        Self { recorded, ..self }
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let own = self.tools.iter().chain(&self.recorded).find(|tool| tool.spec().name == name).cloned();
        own.or_else(|| self.upstream.as_ref()?.get(name))
    }

    /// Every tool that is offered to the model.
    pub fn iter(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        let upstream = self.upstream.as_ref().map(UpstreamTools::tools).unwrap_or_default();
        self.tools.iter().cloned().chain(upstream)
    }

    pub fn upstream(&self) -> Option<&UpstreamTools> {
        self.upstream.as_ref()
    }

    /// Takes in what people accepted of upstream servers since. What cannot be read stays as it was.
    pub(crate) async fn refresh(&self) {
        if let Some(upstream) = &self.upstream
            && let Err(error) = upstream.refresh().await
        {
            tracing::warn!(event = "upstream_tools_not_read", %error);
        }
    }
}
