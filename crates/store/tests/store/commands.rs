//! Short ways to say what is submitted, and to expect what comes of it.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::command::{
    AfterApproval, Command, Decision, DraftCommand, ExecutionCommand, ImportedPlan, MetadataChange, NewStep,
    ProgressReport, SessionCommand, StepOutcome,
};
use planwright_core::event::Event;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::content::{Document, PlanContent};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{LegacyOrigin, Plan, PlanStatus, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::CommandContext;
use planwright_engine::Engine;
use planwright_engine::ledger::{Committed, Lease, Leasing, LedgerError, LedgerResult, Submission};
use serde_json::json;

pub(crate) fn session(name: &str) -> SessionIdentity {
    name.parse().unwrap()
}

/// The n-th of many sessions.
pub(crate) fn nth_session(n: usize) -> SessionIdentity {
    session(&format!("web:session-{n:05}"))
}

pub(crate) fn person() -> Actor {
    Actor::person("ada", "cli")
}

pub(crate) fn agent() -> Actor {
    Actor::agent("coder", "mcp")
}

/// A submission with a request id and a time of one's own choice.
pub(crate) fn submission(session: &SessionIdentity, request: &str, command: Command) -> Submission {
    let by = match command {
        Command::Draft(_) | Command::Execution(_) | Command::External(_) => agent(),
        Command::Session(_)
        | Command::Decide(_)
        | Command::Answer(_)
        | Command::Turn(_)
        | Command::Workbook(_)
        | Command::Memory(_)
        | Command::Auto(_)
        | Command::Import(_) => person(),
    };
    let context = CommandContext { at: at(1), by, request: RequestId::new(request).unwrap() };
    let (session, policy) = (session.clone(), Arc::new(Policy::default()));
    Submission { session, command, context, policy, leasing: Leasing::None, turn: None }
}

/// The submission also takes the lease.
pub(crate) fn taking(owner: &str, ttl: Duration, submission: Submission) -> Submission {
    Submission { leasing: Leasing::Take { owner: owner.to_owned(), ttl }, ..submission }
}

/// The submission is made under a lease.
pub(crate) fn holding(lease: &Lease, submission: Submission) -> Submission {
    Submission { leasing: Leasing::Held(lease.clone()), ..submission }
}

/// The submission releases the lease.
pub(crate) fn letting_go(lease: &Lease, submission: Submission) -> Submission {
    Submission { leasing: Leasing::Release(lease.clone()), ..submission }
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_800_000_000 + second)
}

/// A session with a plan of this style just begun.
pub(crate) async fn planning(engine: &Engine, session: &SessionIdentity, style: PlanStyle) -> Arc<Plan> {
    engine.sessions().open(session, &person()).await.unwrap();
    let committed = engine.sessions().enable_plan_mode(session, &person(), style).await.unwrap();
    active(&committed)
}

/// A session with a document that waits for a decision.
pub(crate) async fn ready(engine: &Engine, session: &SessionIdentity, markdown: &str) -> Arc<Plan> {
    planning(engine, session, PlanStyle::Document).await;
    active(&draft(engine, session, set(markdown)).await)
}

pub(crate) async fn draft(engine: &Engine, session: &SessionIdentity, command: Command) -> Committed {
    engine.submit(session, &agent(), command).await.unwrap()
}

pub(crate) fn active(committed: &Committed) -> Arc<Plan> {
    Arc::new(committed.snapshot.active().expect("no plan is active").clone())
}

pub(crate) fn open() -> Command {
    Command::Session(SessionCommand::Open)
}

pub(crate) fn on(style: PlanStyle) -> Command {
    Command::Session(SessionCommand::EnablePlanMode { style, parked: None })
}

pub(crate) fn off() -> Command {
    Command::Session(SessionCommand::DisablePlanMode)
}

pub(crate) fn done() -> Command {
    Command::Session(SessionCommand::FinishPlanWork)
}

pub(crate) fn reset() -> Command {
    Command::Session(SessionCommand::Reset { history_from: 0 })
}

pub(crate) fn set(markdown: &str) -> Command {
    Command::Draft(DraftCommand::SetContent { markdown: markdown.to_owned(), title: None })
}

pub(crate) fn record(n: usize) -> Command {
    Command::Draft(DraftCommand::RecordStep { tool: "write_file".to_owned(), arguments: json!({ "n": n }) })
}

pub(crate) fn finalize() -> Command {
    Command::Draft(DraftCommand::Finalize { summary: None })
}

pub(crate) fn goal(goal: &str) -> Command {
    let list = || Some(vec!["something".to_owned()]);
    Command::Draft(DraftCommand::SetMetadata(MetadataChange {
        goal: Some(goal.to_owned()),
        title: None,
        assumptions: list(),
        risks: list(),
        verification: list(),
        files: list(),
    }))
}

pub(crate) fn add(description: &str) -> Command {
    Command::Draft(DraftCommand::AddStep(NewStep {
        description: description.to_owned(),
        agent: "coder".to_owned(),
        position: None,
        needs: Vec::new(),
        verification: None,
        commands: Vec::new(),
    }))
}

pub(crate) fn submit() -> Command {
    Command::Draft(DraftCommand::Submit { summary: None })
}

pub(crate) fn report(status: StepStatus) -> Command {
    let outcome = StepOutcome { status, note: None, evidence: None };
    Command::Execution(ExecutionCommand::Report(ProgressReport { step: None, outcome }))
}

pub(crate) fn approve(plan: &Plan) -> Command {
    let selection = Selection::All;
    Command::Decide(Decision::Approve {
        plan: plan.id.clone(),
        digest: plan.digest(),
        selection,
        note: None,
        step_by_step: false,
        then: AfterApproval::Wait,
    })
}

pub(crate) fn reject(plan: &PlanId) -> Command {
    Command::Decide(Decision::Reject { plan: plan.clone(), reason: None })
}

pub(crate) fn revise(plan: &PlanId) -> Command {
    Command::Decide(Decision::Revise { plan: plan.clone(), feedback: "once more".to_owned() })
}

pub(crate) fn cancel(plan: &PlanId) -> Command {
    Command::Decide(Decision::Cancel { plan: plan.clone(), reason: None })
}

pub(crate) fn resume(plan: &PlanId) -> Command {
    Command::Decide(Decision::Resume { plan: plan.clone(), after_step: None })
}

pub(crate) fn import(id: &str) -> Command {
    Command::Import(Box::new(ImportedPlan {
        id: PlanId::new(id).unwrap(),
        status: PlanStatus::Ready,
        title: Some("from before".to_owned()),
        content: PlanContent::Document(Document { markdown: "1. Old".to_owned() }),
        execution: None,
        origin: LegacyOrigin::default(),
        created_at: at(0),
        updated_at: at(0),
    }))
}

pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

/// A refusal with this code.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(outcome: LedgerResult<T>, code: RefusalCode) -> String {
    match outcome.expect_err("it was not refused") {
        LedgerError::Refused(refusal) if refusal.code == code => refusal.message,
        other => panic!("{other:?} is not the refusal {code}"),
    }
}

/// The lease of the submission is lost.
#[track_caller]
pub(crate) fn fenced<T: std::fmt::Debug>(outcome: LedgerResult<T>) {
    match outcome.expect_err("the lease still counted") {
        LedgerError::Fenced(_) => {}
        other => panic!("{other:?} is not a lost lease"),
    }
}

/// Damage of something whose name has these words in it.
#[track_caller]
pub(crate) fn damaged<T: std::fmt::Debug>(outcome: LedgerResult<T>, text: &str) {
    match outcome.expect_err("it was not found damaged") {
        LedgerError::Damaged { what, .. } if what.contains(text) => {}
        other => panic!("{other:?} is not damage of {text}"),
    }
}

/// Another owner has the lease of this session.
#[track_caller]
pub(crate) fn leased<T: std::fmt::Debug>(outcome: LedgerResult<T>, session: &SessionIdentity) {
    match outcome.expect_err("no other owner had it") {
        LedgerError::Leased(named) if named.session == *session => {}
        other => panic!("{other:?} does not say that {session} is leased"),
    }
}

#[track_caller]
pub(crate) fn unavailable<T: std::fmt::Debug>(outcome: LedgerResult<T>, text: &str) -> String {
    match outcome.expect_err("it was available") {
        LedgerError::Unavailable(reply) if reply.contains(text) => reply,
        other => panic!("{other:?} does not say that the store is unavailable because of {text:?}"),
    }
}
