//! Random commands. They name plans and steps by number, so that most of them hit something that exists.

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{
    AfterApproval, Command, Decision, DraftCommand, ExecutionCommand, ImportedPlan, MetadataChange, NewStep,
    StepChange, StuckChoice,
};
use planwright_core::ids::{ExecutionId, PlanId, StepId, TurnId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::content::{CallRunner, Collected, RecordedCall};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{LegacyOrigin, Plan, PlanContent, PlanStatus, PlanStyle};
use planwright_core::turn::{ShownPlan, ToolStatus, TurnEnd};
use proptest::prelude::*;
use serde_json::json;

use crate::random_conversation::*;
use crate::world::*;

#[derive(Debug, Clone)]
pub(crate) enum Act {
    Session(Command),
    Draft(DraftCommand),
    /// A decision on the plan with this number, by an actor.
    Decide(u8, Deciding, ActorKind),
    Run(u8, Running),
    Report(Option<usize>, StepStatus),
    Import(u8, PlanStatus),
    Turn(Talking),
}

#[derive(Debug, Clone)]
pub(crate) enum Deciding {
    Approve(Selection, bool),
    ApproveAnotherText,
    Reject,
    Revise,
    Cancel,
    Resume,
    Settle(u8, StuckChoice),
}

#[derive(Debug, Clone)]
pub(crate) enum Running {
    Start,
    Begin(u8),
    End(u8, StepStatus),
    Finish,
    FinishAnother,
    Pause,
}

/// About the turn that is under way, if there is one.
#[derive(Debug, Clone)]
pub(crate) enum Talking {
    Say(&'static str),
    Resume,
    /// A reply with this many calls.
    Reply(usize),
    /// The outcome of the call this far after the last one that has one.
    Outcome(u32, ToolStatus),
    End,
    AnotherEnds,
    Stop,
    Compact(u64, Option<u64>),
    Show(u8),
}

impl Act {
    pub(super) fn is_about_a_turn(&self) -> bool {
        matches!(self, Self::Turn(_))
    }

    pub(super) fn sets_content(&self) -> bool {
        matches!(self, Self::Draft(DraftCommand::SetContent { .. }))
    }

    pub(crate) fn on(&self, world: &World) -> (Actor, Command) {
        let agent = Actor::agent("coder", "mcp");
        match self {
            Self::Session(command) => (Actor::person("ada", "cli"), command.clone()),
            Self::Draft(command) => (agent, Command::Draft(command.clone())),
            Self::Decide(number, deciding, by) => {
                (Actor::new(*by, "someone", "cli"), Command::Decide(deciding.on(named(world, *number), world)))
            }
            Self::Run(number, running) => {
                (Actor::system("executor"), Command::Execution(running.on(named(world, *number))))
            }
            Self::Report(step, status) => (agent, report(*step, *status)),
            Self::Import(n, status) => (Actor::person("ada", "cli"), Command::Import(Box::new(imported(*n, *status)))),
            Self::Turn(talking) => (agent, talking.on(world)),
        }
    }
}

/// The plan with a number near this one, or the active one for 0.
fn named(world: &World, number: u8) -> Option<&Plan> {
    if number == 0 {
        return world.snapshot.active();
    }
    world.snapshot.plans.values().map(AsRef::as_ref).find(|plan| plan.number == u32::from(number))
}

fn id_of(plan: Option<&Plan>) -> PlanId {
    plan.map_or_else(|| PlanId::new("not-there").unwrap(), |plan| plan.id.clone())
}

fn nth(n: u8) -> StepId {
    step(&format!("s{n}"))
}

impl Deciding {
    fn on(&self, found: Option<&Plan>, world: &World) -> Decision {
        let plan = id_of(found);
        let digest = |other: bool| {
            let shown = found
                .map(|plan| Plan { title: plan.title.clone().or(other.then(|| "other".to_owned())), ..plan.clone() });
            let fallback = || {
                Plan::begun(
                    plan.clone(),
                    world.snapshot.identity.clone(),
                    1,
                    PlanStyle::Document,
                    jiff::Timestamp::UNIX_EPOCH,
                )
            };
            shown.unwrap_or_else(fallback).digest()
        };
        match self {
            Self::Approve(selection, step_by_step) => Decision::Approve {
                digest: digest(false),
                plan,
                selection: selection.clone(),
                note: None,
                step_by_step: *step_by_step,
                then: AfterApproval::Wait,
            },
            Self::ApproveAnotherText => Decision::Approve {
                digest: digest(true),
                plan,
                selection: Selection::All,
                note: None,
                step_by_step: false,
                then: AfterApproval::Wait,
            },
            Self::Reject => Decision::Reject { plan, reason: None },
            Self::Revise => Decision::Revise { plan, feedback: "shorter".to_owned() },
            Self::Cancel => Decision::Cancel { plan, reason: None },
            Self::Resume => Decision::Resume { plan, after_step: None },
            Self::Settle(n, choice) => Decision::Settle { plan, step: nth(*n), choice: *choice },
        }
    }
}

impl Running {
    fn on(&self, found: Option<&Plan>) -> ExecutionCommand {
        let plan = id_of(found);
        let another = ExecutionId::new("another").unwrap();
        let execution =
            found.and_then(|plan| plan.execution.as_ref()).map_or(another.clone(), |execution| execution.id.clone());
        match self {
            Self::Start => ExecutionCommand::Start { plan },
            Self::Begin(n) => begin_step(plan, execution, nth(*n).as_str()),
            Self::End(n, status) => end_step(plan, execution, nth(*n).as_str(), *status),
            Self::Finish => ExecutionCommand::Finish { plan, execution, ended: Vec::new() },
            Self::FinishAnother => ExecutionCommand::Finish { plan, execution: another, ended: Vec::new() },
            Self::Pause => ExecutionCommand::Pause { plan, execution },
        }
    }
}

impl Talking {
    fn on(&self, world: &World) -> Command {
        let open = world.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let another = TurnId::new("another").unwrap();
        let turn = open.map_or(another.clone(), |open| open.id.clone());
        match self {
            Self::Say(text) => say(text),
            Self::Resume => resume_turn(&turn),
            Self::Reply(0) => tell(&turn, &[answers("ok")]),
            Self::Reply(count) => tell(&turn, &[calls(&vec!["a"; *count])]),
            Self::Outcome(ahead, status) => {
                let last = open.map_or(0, |open| open.ended);
                tell(&turn, &[came_to(last + ahead, *status, "ok")])
            }
            Self::End => close(&turn, &[], TurnEnd::Answered),
            Self::AnotherEnds => close(&another, &[], TurnEnd::Answered),
            Self::Stop => stop(),
            Self::Compact(kept_from, pinned) => compact(compaction(*kept_from, *pinned)),
            Self::Show(number) => match named(world, *number) {
                Some(plan) => show(&ShownPlan { plan: plan.id.clone(), digest: plan.digest() }),
                None => stop(),
            },
        }
    }
}

fn talking() -> impl Strategy<Value = Talking> {
    prop_oneof![
        6 => prop::sample::select(vec!["hello", "go on", " "]).prop_map(Talking::Say),
        1 => Just(Talking::Resume),
        4 => (0..3_usize).prop_map(Talking::Reply),
        5 => (prop_oneof![6 => Just(1), 1 => 0..3_u32], any_status()).prop_map(|(ahead, status)| Talking::Outcome(ahead, status)),
        3 => Just(Talking::End),
        1 => Just(Talking::AnotherEnds),
        1 => Just(Talking::Stop),
        1 => (0..40_u64, prop::option::of(0..40_u64)).prop_map(|(kept_from, pinned)| Talking::Compact(kept_from, pinned)),
        1 => (0..3_u8).prop_map(Talking::Show),
    ]
}

fn imported(n: u8, status: PlanStatus) -> ImportedPlan {
    let call = RecordedCall {
        id: nth(n),
        tool: "send".to_owned(),
        arguments: json!({ "n": n }),
        description: None,
        runner: CallRunner::Planwright,
    };
    ImportedPlan {
        id: PlanId::new(format!("imported-{n}")).unwrap(),
        status,
        title: None,
        content: PlanContent::Collect(Collected { summary: None, steps: vec![call].into() }),
        execution: None,
        origin: LegacyOrigin::default(),
        created_at: jiff::Timestamp::UNIX_EPOCH,
        updated_at: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn style() -> impl Strategy<Value = PlanStyle> {
    prop::sample::select(PlanStyle::ALL.to_vec())
}

fn step_status() -> impl Strategy<Value = StepStatus> {
    prop_oneof![3 => Just(StepStatus::Completed), 2 => prop::sample::select(StepStatus::ALL.to_vec())]
}

fn draft() -> impl Strategy<Value = DraftCommand> {
    let text = prop::sample::select(vec!["1. a\n2. b", "# T\n- [ ] a\n- [x] b", "just do it", " "]);
    let title = prop::option::weighted(0.2, prop::sample::select(vec!["Move", "Stay", ""]));
    let owned = |text: &str| text.to_owned();
    let needs = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec((1..6_u8).prop_map(nth), 1..3)];
    let position = prop::option::weighted(0.3, 0..5_usize);
    let added =
        (position.clone(), needs.clone()).prop_map(|(position, needs)| NewStep { position, needs, ..new_step("do") });
    let changed = (position, prop::option::weighted(0.3, needs)).prop_map(|(position, needs)| StepChange {
        position,
        needs,
        description: Some("redo".to_owned()),
        ..StepChange::default()
    });
    prop_oneof![
        6 => (text, title).prop_map(move |(markdown, title)| DraftCommand::SetContent { markdown: owned(markdown), title: title.map(owned) }),
        4 => (0..3_i32).prop_map(|n| DraftCommand::RecordStep { tool: "send".to_owned(), arguments: json!({ "n": n }) }),
        2 => Just(DraftCommand::Finalize { summary: None }),
        1 => Just(DraftCommand::CreateDraft { goal: "g".to_owned(), title: None }),
        3 => Just(DraftCommand::SetMetadata(complete())),
        1 => Just(DraftCommand::SetMetadata(MetadataChange { risks: Some(Vec::new()), ..MetadataChange::default() })),
        6 => added.prop_map(DraftCommand::AddStep),
        3 => ((1..4_u8).prop_map(nth), changed).prop_map(|(step, change)| DraftCommand::UpdateStep { step, change }),
        2 => (1..4_u8).prop_map(nth).prop_map(|step| DraftCommand::RemoveStep { step }),
        3 => Just(DraftCommand::Submit { summary: None }),
    ]
}

fn deciding() -> impl Strategy<Value = Deciding> {
    let positions = prop::collection::btree_set(0..4_usize, 0..3);
    let choice = prop::sample::select(vec![StuckChoice::Retry, StuckChoice::Skip, StuckChoice::Stop]);
    prop_oneof![
        6 => Just(Deciding::Approve(Selection::All, false)),
        3 => Just(Deciding::Approve(Selection::All, true)),
        1 => positions.clone().prop_map(|positions| Deciding::Approve(Selection::Only(positions), false)),
        2 => positions.prop_map(|positions| Deciding::Approve(Selection::Skip(positions), true)),
        1 => Just(Deciding::ApproveAnotherText),
        1 => Just(Deciding::Reject),
        2 => Just(Deciding::Revise),
        1 => Just(Deciding::Cancel),
        4 => Just(Deciding::Resume),
        2 => ((1..4_u8), choice).prop_map(|(n, choice)| Deciding::Settle(n, choice)),
    ]
}

fn running() -> impl Strategy<Value = Running> {
    prop_oneof![
        4 => Just(Running::Start),
        4 => (1..4_u8).prop_map(Running::Begin),
        4 => ((1..4_u8), step_status()).prop_map(|(n, status)| Running::End(n, status)),
        2 => Just(Running::Finish),
        1 => Just(Running::FinishAnother),
        3 => Just(Running::Pause),
    ]
}

fn some_plan() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(0_u8), 1 => 1..6_u8]
}

/// What carries a plan out.
pub(crate) fn run_act() -> impl Strategy<Value = Act> {
    (some_plan(), running()).prop_map(|(plan, running)| Act::Run(plan, running))
}

pub(crate) fn act() -> impl Strategy<Value = Act> {
    let by = prop_oneof![8 => Just(ActorKind::Person), 1 => Just(ActorKind::Policy), 1 => Just(ActorKind::Agent)];
    let older = vec![PlanStatus::Collecting, PlanStatus::Ready, PlanStatus::Approved, PlanStatus::Completed];
    let session = prop_oneof![
        2 => Just(open()),
        5 => style().prop_map(on),
        1 => prop::option::of(style()).prop_map(ensure),
        1 => Just(off()),
        1 => Just(done()),
        1 => Just(reset()),
    ];
    prop_oneof![
        4 => session.prop_map(Act::Session),
        14 => draft().prop_map(Act::Draft),
        6 => (some_plan(), deciding(), by).prop_map(|(plan, deciding, by)| Act::Decide(plan, deciding, by)),
        6 => run_act(),
        3 => (prop::option::of(0..4_usize), step_status()).prop_map(|(step, status)| Act::Report(step, status)),
        1 => ((1..4_u8), prop::sample::select(older)).prop_map(|(n, status)| Act::Import(n, status)),
        8 => talking().prop_map(Act::Turn),
    ]
}
