//! One session with its journal, a clock that ticks and request ids that count: all a rule needs to be tried.

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{
    AfterApproval, Command, Decision, DraftCommand, EndedStep, ExecutionCommand, MetadataChange, NewStep,
    ProgressReport, SessionCommand, StepOutcome,
};
use planwright_core::decide;
use planwright_core::event::Event;
use planwright_core::ids::{ExecutionId, PlanId, RequestId, StepId};
use planwright_core::journal::{Head, SealedEntry};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::{PermissionCounts, StepStatus};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::policy::{Policy, StandingApproval};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::snapshot::{CommandContext, Snapshot};
use planwright_core::workspace::CallChanges;
use serde_json::{Value, json};

pub(crate) const SESSION: &str = "cli:k3yk3y8x";
pub(crate) const TWO_STEPS: &str = "# Move house\n\n1. Pack\n2. Drive\n";

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    pub(crate) policy: Policy,
    pub(crate) journal: Vec<SealedEntry>,
    pub(crate) head: Head,
    requests: u32,
}

pub(crate) type Decided = Result<Vec<Event>, Refusal>;

impl World {
    /// A session that was just opened.
    pub(crate) fn new() -> Self {
        let mut world = Self::unopened(SESSION);
        world.person(open()).unwrap();
        world
    }

    pub(crate) fn unopened(session: &str) -> Self {
        Self {
            snapshot: Snapshot::new(session.parse().unwrap()),
            policy: Policy { standing_approval: StandingApproval::ReadOnly, ..Policy::default() },
            journal: Vec::new(),
            head: Head::START,
            requests: 0,
        }
    }

    /// A session with a plan of this style just begun.
    pub(crate) fn planning(style: PlanStyle) -> Self {
        let mut world = Self::new();
        world.person(on(style)).unwrap();
        world
    }

    /// A document that waits for a decision.
    pub(crate) fn ready_document(markdown: &str) -> Self {
        let mut world = Self::planning(PlanStyle::Document);
        world.agent(set(markdown)).unwrap();
        world
    }

    /// A complete draft with one step after the other; each needs the one before it.
    pub(crate) fn draft(steps: &[&str]) -> Self {
        let mut world = Self::planning(PlanStyle::Build);
        world.agent(metadata(complete())).unwrap();
        for (n, description) in steps.iter().enumerate() {
            let needs = if n == 0 { vec![] } else { vec![format!("s{n}")] };
            world
                .agent(add(NewStep { needs: needs.iter().map(|id| step(id)).collect(), ..new_step(description) }))
                .unwrap();
        }
        world
    }

    pub(crate) fn person(&mut self, command: Command) -> Decided {
        self.send(Actor::person("ada", "cli"), command)
    }

    pub(crate) fn agent(&mut self, command: Command) -> Decided {
        self.send(Actor::agent("coder", "mcp"), command)
    }

    pub(crate) fn send(&mut self, by: Actor, command: Command) -> Decided {
        self.requests += 1;
        let stamp = self.stamp(by);
        let decided = decide(&self.snapshot, &command, &stamp, &self.policy);
        for event in decided.iter().flatten() {
            self.journal.push(self.head.seal(&self.snapshot.identity, &stamp, event).unwrap());
            self.snapshot.apply(event, &stamp, self.head.seq);
        }
        decided
    }

    pub(crate) fn stamp(&self, by: Actor) -> CommandContext {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::from(self.requests));
        CommandContext { at, by, request: RequestId::new(format!("request-{:04}", self.requests)).unwrap() }
    }

    pub(crate) fn active(&self) -> &Plan {
        self.snapshot.active().expect("no plan is active")
    }

    pub(crate) fn plan(&self, id: &PlanId) -> &Plan {
        self.snapshot.plan(id).expect("no such plan")
    }

    pub(crate) fn only_plan(&self) -> &Plan {
        assert_eq!(self.snapshot.plans.len(), 1);
        self.snapshot.plans.values().next().unwrap()
    }

    pub(crate) fn enabled(&self) -> bool {
        self.snapshot.session.as_ref().unwrap().plan_mode.enabled
    }

    pub(crate) fn execution(&self) -> ExecutionId {
        self.active().execution.as_ref().expect("nothing is executed").id.clone()
    }

    /// Approves the active plan as it is now.
    pub(crate) fn approve(&mut self, selection: Selection) -> Decided {
        let plan = self.active();
        let command = approve(plan, selection);
        self.person(command)
    }

    pub(crate) fn start(&mut self) -> Decided {
        let plan = self.active().id.clone();
        self.send(Actor::system("executor"), Command::Execution(ExecutionCommand::Start { plan }))
    }

    pub(crate) fn begin(&mut self, id: &str) -> Decided {
        let (plan, execution) = (self.active().id.clone(), self.execution());
        self.send(Actor::system("executor"), Command::Execution(begin_step(plan, execution, id)))
    }

    pub(crate) fn end(&mut self, id: &str, status: StepStatus) -> Decided {
        let (plan, execution) = (self.active().id.clone(), self.execution());
        let command = end_step(plan, execution, id, status);
        self.send(Actor::system("executor"), Command::Execution(command))
    }

    pub(crate) fn finish(&mut self) -> Decided {
        let (plan, execution) = (self.active().id.clone(), self.execution());
        self.send(
            Actor::system("executor"),
            Command::Execution(ExecutionCommand::Finish { plan, execution, ended: Vec::new() }),
        )
    }

    pub(crate) fn run_step(&mut self, id: &str) {
        self.begin(id).unwrap();
        self.end(id, StepStatus::Completed).unwrap();
    }

    pub(crate) fn statuses(&self) -> Vec<PlanStatus> {
        let mut plans: Vec<_> = self.snapshot.plans.values().collect();
        plans.sort_by_key(|plan| plan.number);
        plans.iter().map(|plan| plan.status).collect()
    }
}

/// A refusal with this code, whose message has these words in it.
#[track_caller]
pub(crate) fn refused(decided: Decided, code: RefusalCode, expected: &str) -> Refusal {
    let refusal = decided.expect_err("it was not refused");
    assert_eq!(refusal.code, code, "{refusal:?}");
    assert!(refusal.message.contains(expected), "{expected:?} is not in {:?}", refusal.message);
    refusal
}

pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

pub(crate) fn policy_actor() -> Actor {
    Actor::new(ActorKind::Policy, "nightly", "scheduler")
}

pub(crate) fn open() -> Command {
    Command::Session(SessionCommand::Open)
}

pub(crate) fn on(style: PlanStyle) -> Command {
    Command::Session(SessionCommand::EnablePlanMode { style, parked: None })
}

pub(crate) fn ensure(style: Option<PlanStyle>) -> Command {
    Command::Session(SessionCommand::EnsurePlanMode { style, parked: None })
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

pub(crate) fn record(tool: &str, arguments: Value) -> Command {
    Command::Draft(DraftCommand::RecordStep { tool: tool.to_owned(), arguments })
}

pub(crate) fn record_one() -> Command {
    record("write_file", json!({ "path": "a.txt" }))
}

pub(crate) fn finalize() -> Command {
    Command::Draft(DraftCommand::Finalize { summary: None })
}

pub(crate) fn submit() -> Command {
    Command::Draft(DraftCommand::Submit { summary: None })
}

pub(crate) fn create_draft(goal: &str) -> Command {
    Command::Draft(DraftCommand::CreateDraft { goal: goal.to_owned(), title: None })
}

pub(crate) fn metadata(change: MetadataChange) -> Command {
    Command::Draft(DraftCommand::SetMetadata(change))
}

/// Everything a proposal needs besides steps.
pub(crate) fn complete() -> MetadataChange {
    let list = |text: &str| Some(vec![text.to_owned()]);
    MetadataChange {
        goal: Some("live elsewhere".to_owned()),
        title: None,
        assumptions: list("a van is there"),
        risks: list("it rains"),
        verification: list("the key fits"),
        files: list("boxes.txt"),
    }
}

pub(crate) fn add(step: NewStep) -> Command {
    Command::Draft(DraftCommand::AddStep(step))
}

pub(crate) fn new_step(description: &str) -> NewStep {
    NewStep {
        description: description.to_owned(),
        agent: "coder".to_owned(),
        position: None,
        needs: Vec::new(),
        verification: None,
        commands: Vec::new(),
    }
}

pub(crate) fn step(id: &str) -> StepId {
    StepId::new(id).unwrap()
}

pub(crate) fn approve(plan: &Plan, selection: Selection) -> Command {
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

pub(crate) fn revise(plan: &PlanId, feedback: &str) -> Command {
    Command::Decide(Decision::Revise { plan: plan.clone(), feedback: feedback.to_owned() })
}

pub(crate) fn cancel(plan: &PlanId) -> Command {
    Command::Decide(Decision::Cancel { plan: plan.clone(), reason: None })
}

pub(crate) fn resume(plan: &PlanId) -> Command {
    Command::Decide(Decision::Resume { plan: plan.clone(), after_step: None })
}

pub(crate) fn outcome(status: StepStatus) -> StepOutcome {
    StepOutcome { status, note: None, evidence: None }
}

pub(crate) fn report(step: Option<usize>, status: StepStatus) -> Command {
    Command::Execution(ExecutionCommand::Report(ProgressReport { step, outcome: outcome(status) }))
}

pub(crate) fn begin_step(plan: PlanId, execution: ExecutionId, id: &str) -> ExecutionCommand {
    ExecutionCommand::Advance { plan, execution, ended: Vec::new(), begun: vec![step(id)] }
}

pub(crate) fn end_step(plan: PlanId, execution: ExecutionId, id: &str, status: StepStatus) -> ExecutionCommand {
    let ended = EndedStep {
        step: step(id),
        outcome: outcome(status),
        changes: CallChanges::default(),
        permissions: PermissionCounts::default(),
    };
    ExecutionCommand::Advance { plan, execution, ended: vec![ended], begun: Vec::new() }
}

pub(crate) fn report_with_note(step: usize, status: StepStatus, note: &str) -> Command {
    let outcome = StepOutcome { note: Some(note.to_owned()), ..outcome(status) };
    Command::Execution(ExecutionCommand::Report(ProgressReport { step: Some(step), outcome }))
}
