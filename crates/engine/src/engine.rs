//! The use cases: everything a surface may ask for, the same for all of them.

mod activity;
mod audit_log;
mod following;
mod history;
mod importing;
mod inbox;
mod messages;
mod observing;
mod queries;
mod verify;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::command::{
    AfterApproval, Command, Decision, RunCommand, SessionCommand, StuckChoice, TurnCommand,
};
use planwright_core::gate::PlanTool;
use planwright_core::ids::{PlanId, RequestId, StepId, TurnId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Digest, Plan, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::snapshot::CommandContext;

use crate::clock::{Clock, Ids, NamedFirst, SystemClock, TimeOrderedIds};
use crate::ledger::{Committed, Leasing, Ledger, LedgerError, LedgerResult, Submission};
use crate::tools::ToolDefinition;
use crate::workbook::Copies;

pub use activity::Activity;
pub use following::{ExecutionSum, Following, Happened, Happening, StepAt, execution_sum};
pub use history::{
    DecisionMade, ExecutionEnd, History, HistoryItem, PlanDecision, PlanExecution, PlanVersion, VersionAuthor,
};
pub use importing::{ImportReport, ImportedItem, SkippedItem};
pub use inbox::{Waiting, WaitingFor};
pub use messages::{Message, MessageCall, MessageRole};
pub use observing::Observer;
pub use verify::{ChainReport, VerifyReport};

/// A cheap handle on the plan engine; clones share everything.
#[derive(Debug, Clone)]
pub struct Engine {
    ledger: Arc<dyn Ledger>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    policy: Arc<Policy>,
    pub(crate) definitions: Arc<OnceLock<Definitions>>,
    observers: observing::Observers,
    pub(crate) workbook_copies: Copies,
}

/// Who asks for something, where, and under which name it is known to the store.
#[derive(Debug, Clone)]
pub(crate) struct Asking<'a> {
    pub(crate) session: &'a SessionIdentity,
    pub(crate) by: &'a Actor,
    pub(crate) request: RequestId,
    pub(crate) leasing: Leasing,
    pub(crate) turn: Option<TurnId>,
}

/// The plan tools as they are advertised in each style.
pub(crate) type Definitions = HashMap<(PlanTool, PlanStyle), ToolDefinition>;

impl Engine {
    pub fn new(ledger: Arc<dyn Ledger>, policy: Policy) -> Self {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(TimeOrderedIds));
        let (definitions, observers, workbook_copies) = Default::default();
        Self { ledger, clock, ids, policy: Arc::new(policy), definitions, observers, workbook_copies }
    }

    /// The same engine with another source of time and ids.
    pub fn with_clock(mut self, clock: impl Clock, ids: impl Ids) -> Self {
        self.clock = Arc::new(clock);
        self.ids = Arc::new(ids);
        self
    }

    /// The same engine for one request that may come twice: its first command has this name, and sent again it gets the
    /// outcome of the first time.
    pub fn as_request(&self, request: RequestId) -> Self {
        Self { ids: Arc::new(NamedFirst::new(request, Arc::clone(&self.ids))), ..self.clone() }
    }

    pub fn ledger(&self) -> &Arc<dyn Ledger> {
        &self.ledger
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Carries a command out in a session. When it answers, the outcome is on disk.
    pub async fn submit(&self, session: &SessionIdentity, by: &Actor, command: Command) -> LedgerResult<Committed> {
        let asking = Asking { session, by, request: self.ids.next(), leasing: Leasing::None, turn: None };
        self.submit_as(asking, command).await
    }

    /// The same for a request that has a name of its own, and for whoever holds the session.
    pub(crate) async fn submit_as(&self, asking: Asking<'_>, command: Command) -> LedgerResult<Committed> {
        let Asking { session, by, request, leasing, turn } = asking;
        let stamp = CommandContext { at: self.clock.now(), by: by.clone(), request };
        let name = command_name(&command);
        let (session, policy) = (session.clone(), Arc::clone(&self.policy));
        let submission = Submission { session: session.clone(), command, stamp, policy, leasing, turn };
        let outcome = self.ledger.submit(submission).await;
        match &outcome {
            Ok(committed) => {
                tracing::debug!(session_identity = %session, event = name, seq = committed.seq, "committed");
                self.observers.tell(&session, committed);
                audit_log::log_committed(&session, committed);
            }
            Err(error) => tracing::debug!(session_identity = %session, event = name, %error, "not committed"),
        }
        outcome
    }

    /// What a request wrote in the session, if it was carried out before.
    pub(crate) async fn find_request(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        request: &RequestId,
    ) -> LedgerResult<Option<Committed>> {
        // The store answers a request that it knows with its first outcome. A request that it does not know asks for
        // a turn that does not exist, which is refused and changes nothing.
        let unknown = TurnId::new("unknown").unwrap_or_else(|_| unreachable!("seven letters are an id"));
        let resume = Command::Turn(TurnCommand::Resume { turn: unknown });
        let asking = Asking { session, by, request: request.clone(), leasing: Leasing::None, turn: None };
        match self.submit_as(asking, resume).await {
            Ok(committed) => Ok(Some(committed)),
            Err(LedgerError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn next_request(&self) -> RequestId {
        self.ids.next()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A key for a conversation that nobody has yet.
    pub fn new_session(&self, channel: Channel) -> SessionIdentity {
        let id = self.ids.next();
        // Time-ordered ids differ at their end; twelve hexadecimal digits are easy to type and hard to guess twice.
        let tail: String = id.as_str().chars().rev().filter(char::is_ascii_alphanumeric).take(12).collect();
        let key = ConversationKey::new(tail).unwrap_or_else(|_| unreachable!("twelve letters and digits are a key"));
        SessionIdentity::new(channel, key)
    }

    /// Opens the session if it is not there yet.
    pub async fn open(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        self.submit(session, by, Command::Session(SessionCommand::Open)).await
    }

    pub async fn enable_plan_mode(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        style: PlanStyle,
    ) -> LedgerResult<Committed> {
        self.submit(session, by, Command::Session(SessionCommand::EnablePlanMode { style })).await
    }

    pub async fn ensure_plan_mode(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        style: Option<PlanStyle>,
    ) -> LedgerResult<Committed> {
        self.submit(session, by, Command::Session(SessionCommand::EnsurePlanMode { style })).await
    }

    pub async fn disable_plan_mode(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        self.submit(session, by, Command::Session(SessionCommand::DisablePlanMode)).await
    }

    pub async fn finish_plan_work(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        self.submit(session, by, Command::Session(SessionCommand::FinishPlanWork)).await
    }

    pub async fn reset(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        // Whatever is written between this look and the reset is before the reset as well.
        let head = self.ledger.session(session).await?.map_or(0, |stored| stored.head.seq);
        self.submit(session, by, Command::Session(SessionCommand::Reset { history_from: head + 1 })).await
    }

    /// Approves exactly the text with this digest, all of its steps or some. The work is begun by somebody later.
    pub async fn approve(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        selection: Selection,
        note: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        let then = AfterApproval::Wait;
        self.decide(session, by, Decision::Approve { plan: plan.clone(), digest, selection, note, then }).await
    }

    /// The same, and the plan is being carried out from then on: whoever calls this does it, or another process does
    /// after a crash.
    pub(crate) async fn approve_and_begin(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        selection: Selection,
        note: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        let then = AfterApproval::CarryOut;
        self.decide(session, by, Decision::Approve { plan: plan.clone(), digest, selection, note, then }).await
    }

    /// Says what becomes of a step that nobody knows the end of, or that failed.
    pub async fn settle(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        step: &StepId,
        choice: StuckChoice,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Settle { plan: plan.clone(), step: step.clone(), choice }).await
    }

    pub async fn reject(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        reason: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Reject { plan: plan.clone(), reason }).await
    }

    /// Asks for changes. The answer is the plan that the agent now works on: the same one, or the one that took its place.
    pub async fn revise(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        feedback: String,
    ) -> LedgerResult<Arc<Plan>> {
        let plan = self.decide(session, by, Decision::Revise { plan: plan.clone(), feedback }).await?;
        match &plan.superseded_by {
            Some(successor) => self.plan(session, successor).await,
            None => Ok(plan),
        }
    }

    pub async fn cancel(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        reason: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Cancel { plan: plan.clone(), reason }).await
    }

    /// Ends an execution by what was done so far.
    pub async fn finish_execution(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &Plan,
    ) -> LedgerResult<Arc<Plan>> {
        let Some(execution) = &plan.execution else { return Err(no_plan(session, &plan.id).into()) };
        let finish = RunCommand::Finish { plan: plan.id.clone(), execution: execution.id.clone() };
        let committed = self.submit(session, by, Command::Run(finish)).await?;
        committed.snapshot.plans.get(&plan.id).cloned().ok_or_else(|| no_plan(session, &plan.id).into())
    }

    pub async fn resume(&self, session: &SessionIdentity, by: &Actor, plan: &PlanId) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Resume { plan: plan.clone() }).await
    }

    async fn decide(&self, session: &SessionIdentity, by: &Actor, decision: Decision) -> LedgerResult<Arc<Plan>> {
        let id = decision.plan().clone();
        let committed = self.submit(session, by, Command::Decide(decision)).await?;
        committed.snapshot.plans.get(&id).cloned().ok_or_else(|| no_plan(session, &id).into())
    }
}

fn no_plan(session: &SessionIdentity, id: &PlanId) -> Refusal {
    Refusal::not_found(format!("There is no plan {id} in session {session}."))
}

fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Session(_) => "session_command",
        Command::Draft(_) => "draft_command",
        Command::Decide(_) => "decision",
        Command::Run(_) => "run_command",
        Command::Turn(_) => "turn_command",
        Command::Workbook(_) => "workbook_command",
        Command::Import(_) => "import",
    }
}
