//! The one way a command reaches the ledger: with the time, the actor and the name of its request.

mod audit_log;
mod observers;
mod policy_in_force;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::approval::AgentSandbox;
use planwright_core::command::{Command, DraftCommand, ExecutionCommand, ExternalCommand, SessionCommand};
use planwright_core::door::Guard;
use planwright_core::ids::{RequestId, TurnId};
use planwright_core::policy::Policy;
use planwright_core::presence::Presence;
use planwright_core::session::{Channel, Session, SessionIdentity};
use planwright_core::snapshot::{CommandContext, Snapshot};

use crate::clock::{Clock, Ids, NamedFirst, SystemClock, TimeOrderedIds};
use crate::ledger::{Committed, Leasing, Ledger, LedgerError, LedgerResult, Submission};
use crate::lookup::{agents_of_sessions, silent_agents};
use crate::session_files::{PlanFileEdit, PlanFiles, SessionFiles};
use crate::session_policies::SessionPolicies;
use crate::{act_signing, approval_records};

use observers::CommitObservers;
use policy_in_force::PolicyInForce;

pub use observers::{MemoryRead, Observer};

/// The surface of an edit on disk.
const DISK: &str = "disk";

/// Submits commands to the ledger. Clones are cheap and share everything.
#[derive(Debug, Clone)]
pub struct Submitter {
    ledger: Arc<dyn Ledger>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    policies: SessionPolicies,
    in_force: PolicyInForce,
    plan_files: Option<Arc<dyn PlanFiles>>,
    observers: CommitObservers,
}

/// Where a command comes from, and under which conditions the ledger takes it.
#[derive(Debug, Clone)]
pub struct SubmitRequest<'a> {
    pub session: &'a SessionIdentity,
    pub by: &'a Actor,
    /// The name of the request in the store.
    pub id: RequestId,
    pub leasing: Leasing,
    /// Refused unless this turn is open.
    pub turn: Option<TurnId>,
}

impl Submitter {
    pub fn new(ledger: Arc<dyn Ledger>, policy: Policy) -> Self {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(TimeOrderedIds));
        Self {
            ledger,
            clock,
            ids,
            policies: SessionPolicies::new(policy),
            in_force: PolicyInForce::default(),
            plan_files: None,
            observers: CommitObservers::default(),
        }
    }

    pub fn with_clock(self, clock: impl Clock, ids: impl Ids) -> Self {
        Self { clock: Arc::new(clock), ids: Arc::new(ids), ..self }
    }

    /// Returns a submitter for a request that may arrive twice: the first command gets this id.
    pub fn as_request(&self, request: RequestId) -> Self {
        Self { ids: Arc::new(NamedFirst::new(request, Arc::clone(&self.ids))), ..self.clone() }
    }

    pub fn ledger(&self) -> &Arc<dyn Ledger> {
        &self.ledger
    }

    /// Adds the specialists and templates of projects.
    pub fn with_project_files(self, files: Arc<dyn SessionFiles>) -> Self {
        Self { policies: self.policies.with_files(files), ..self }
    }

    /// Writes plans as files of the project.
    pub fn with_plan_files(self, files: Arc<dyn PlanFiles>) -> Self {
        Self { plan_files: Some(files), ..self }
    }

    /// Reads what a person changed in the session's project: its specialists, its template, and the file of the active plan.
    /// Returns the session as it is then.
    pub async fn read_project(&self, session: &SessionIdentity) -> LedgerResult<Snapshot> {
        let snapshot = self.ledger.snapshot(session, None).await?;
        self.policies.read_project(&snapshot).await;
        if self.submit_edit(&snapshot).await? { self.ledger.snapshot(session, None).await } else { Ok(snapshot) }
    }

    /// Reads what a person changed in the file of the active plan, which may not be the active one after the next command.
    pub async fn read_plan_file(&self, session: &SessionIdentity) -> LedgerResult<()> {
        if self.plan_files.is_some() {
            self.submit_edit(&self.ledger.snapshot(session, None).await?).await?;
        }
        Ok(())
    }

    /// Proposes an edit of the active plan's file as a version. Returns whether there was one.
    async fn submit_edit(&self, snapshot: &Snapshot) -> LedgerResult<bool> {
        let Some(files) = &self.plan_files else { return Ok(false) };
        let Some(PlanFileEdit { file, markdown }) = files.find_edit(snapshot).await else { return Ok(false) };
        // Who wrote into the file is not known: an agent with a shell can do it, too.
        let by = Actor::new(ActorKind::System, "an edit of the plan's file", DISK);
        let command = Command::Draft(DraftCommand::SetContent { markdown, title: None });
        match Box::pin(self.submit(&snapshot.identity, &by, command)).await {
            Ok(committed) => Ok(!committed.events.is_empty()),
            // Such as a text that is too long. The file stays as the person left it.
            Err(LedgerError::Refused(refusal)) => {
                tracing::warn!(
                    event = "plan_file_edit_refused",
                    file,
                    error = refusal.message,
                    "the edit of the plan's file cannot become a version"
                );
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The policy of the configuration.
    pub fn policy(&self) -> &Policy {
        self.policies.configured()
    }

    /// The policy of each session.
    pub fn policies(&self) -> &SessionPolicies {
        &self.policies
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The time that passed since some moment of this process, whatever happens to the time of day.
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    pub fn next_request(&self) -> RequestId {
        self.ids.next()
    }

    /// Calls the observer after every commit of this submitter and its clones.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.observers.add(observer);
    }

    /// Tells the observers that memories were read.
    pub fn notify_memory_read(&self, session: &SessionIdentity, read: &MemoryRead) {
        self.observers.notify_memory_read(session, read);
    }

    /// A request with a new name, outside of any lease and turn.
    pub fn request<'a>(&self, session: &'a SessionIdentity, by: &'a Actor) -> SubmitRequest<'a> {
        SubmitRequest { session, by, id: self.next_request(), leasing: Leasing::None, turn: None }
    }

    /// Carries out a command in a session. It returns after the outcome is on disk.
    pub async fn submit(&self, session: &SessionIdentity, by: &Actor, command: Command) -> LedgerResult<Committed> {
        self.submit_as(self.request(session, by), command).await
    }

    /// Submits a command whose request has an id already, or that holds the lease of the session.
    pub async fn submit_as(&self, request: SubmitRequest<'_>, command: Command) -> LedgerResult<Committed> {
        let SubmitRequest { session, by, id, leasing, turn } = request;
        let by = &act_signing::signed(self.ledger.as_ref(), session, by, &command, self.clock.now()).await?;
        let name = command_name(&command);
        let (ledger, configured) = (self.ledger.as_ref(), self.policies.of(session));
        let mut policy = match policy_use(&command, by) {
            PolicyUse::Configured => configured,
            PolicyUse::Recent => self.in_force.recent(ledger, &configured).await?,
            PolicyUse::InForce => self.in_force.get(ledger, &configured).await?,
        };
        if compares_processes(&command, by) {
            policy = self.with_agents(policy, session, by).await?;
        }
        let by = &by.clone().with_binding(&policy.bound_users);
        let context = CommandContext { at: self.clock.now(), by: by.clone(), request: id };
        let session = session.clone();
        let submission = Submission { session: session.clone(), command, context, policy, leasing, turn };
        let outcome = self.ledger.submit(submission).await;
        match &outcome {
            Ok(committed) => {
                tracing::debug!(session_identity = %session, event = name, seq = committed.seq, "committed");
                self.observers.notify(&session, committed);
                audit_log::log_committed(&session, committed);
                if !committed.events.is_empty() {
                    approval_records::record_act_passkey(self.ledger.as_ref(), by, || self.clock.now()).await;
                }
                if let Some(files) = &self.plan_files {
                    files.write_changed(committed).await;
                }
            }
            Err(error) => tracing::debug!(session_identity = %session, event = name, %error, "not committed"),
        }
        outcome
    }

    /// The policy with the programs of the agents of all sessions, where the session's agent is not in the sandbox.
    async fn with_agents(
        &self,
        policy: Arc<Policy>,
        session: &SessionIdentity,
        by: &Actor,
    ) -> LedgerResult<Arc<Policy>> {
        let ledger = self.ledger.as_ref();
        let stored = ledger.session(session).await?.map(|stored| stored.session);
        let is_joined = stored.as_ref().is_some_and(Session::is_joined_by_program);
        let is_outside = matches!(session.channel, Channel::Mcp | Channel::Acp) || is_joined;
        if !is_outside && policy.agent_sandbox != AgentSandbox::Open {
            return Ok(policy);
        }
        let clients = stored.map(|stored| stored.clients).unwrap_or_default();
        let other_agents = agents_of_sessions(ledger).await?.into();
        let silent = silent_agents(ledger, &clients, by.presence.as_ref()).await?;
        Ok(Arc::new(Policy { other_agents, silent_agents: Arc::new(silent), ..(*policy).clone() }))
    }

    /// The configured policy and what the store adds to it: the policy in force there, and the approvers.
    pub async fn policy_in_force(&self) -> LedgerResult<Arc<Policy>> {
        self.in_force.get(self.ledger.as_ref(), self.policies.configured()).await
    }
}

/// Which policy a command is checked with.
enum PolicyUse {
    /// The configured one: the command asks nothing of a person.
    Configured,
    /// The one in force, as of a moment ago: the command is no approval.
    Recent,
    /// The one in force now.
    InForce,
}

fn policy_use(command: &Command, by: &Actor) -> PolicyUse {
    let begins = matches!(
        command,
        Command::Execution(ExecutionCommand::Start { .. } | ExecutionCommand::Report(_))
            | Command::External(ExternalCommand::Report(_))
    );
    let opens = matches!(command, Command::Session(SessionCommand::Open));
    match command.guard() {
        Guard::Approval => PolicyUse::InForce,
        Guard::Free | Guard::Stop | Guard::Person if begins => PolicyUse::InForce,
        Guard::Stop | Guard::Person if by.kind == ActorKind::Person => PolicyUse::Recent,
        Guard::Free if opens => PolicyUse::Recent,
        Guard::Free | Guard::Stop | Guard::Person => PolicyUse::Configured,
    }
}

/// Whether the process of a person may be compared with the agents of all sessions.
fn compares_processes(command: &Command, by: &Actor) -> bool {
    let is_process = matches!(by.presence, Some(Presence::Terminal { .. } | Presence::NoTerminal { .. }));
    command.guard() >= Guard::Person && is_process
}

fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Session(_) => "session_command",
        Command::Draft(_) => "draft_command",
        Command::Decide(_) => "decision",
        Command::Answer(_) => "answer",
        Command::Execution(_) => "execution_command",
        Command::Turn(_) => "turn_command",
        Command::Workbook(_) => "workbook_command",
        Command::Memory(_) => "memory_command",
        Command::Auto(_) => "auto_command",
        Command::Import(_) => "import",
        Command::External(_) => "external_command",
    }
}
