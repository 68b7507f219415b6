//! Whatever an agent's processes do, in whatever order: they decide nothing, switch nothing, say nothing as the person, and change
//! nothing about who may decide.

mod store;

use planwright_core::actor::Actor;
use planwright_core::approval::{AgentsSeen, ApprovalPolicy, Require};
use planwright_core::ask::{Ask, AskAnswer, AskSubject, CallToPermit, Grant};
use planwright_core::auto::{AutoCommand, GoalStatus, NewSchedule, ScheduleChange, StartTarget};
use planwright_core::command::{AfterApproval, AnswerCommand, Command, Decision, SessionCommand, TurnCommand};
use planwright_core::door::Guard;
use planwright_core::event::Event;
use planwright_core::ids::{CommentId, MemoryId, RunId, ScheduleId};
use planwright_core::memory::{MemoryCommand, NewMemory};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::review::Review;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::policy::{Policy, StandingApproval};
use planwright_core::presence::{AgentClient, Presence, ProcessPlace, Terminal};
use planwright_core::refusal::RefusalCode;
use planwright_core::standing_rule::{PermittedCalls, RulePlace, StandingRule};
use planwright_core::workbook::WorkbookCommand;
use planwright_core::workspace::Workspace;
use proptest::prelude::*;

use crate::presence::{client, process, terminal_of};
use crate::properties::{Act, act, run_act};
use crate::random_conversation::{calls, say, tell};
use crate::world::*;

/// One act of an agent's process.
#[derive(Debug, Clone)]
enum Move {
    /// A random command that claims to be a person's, from a process of this kind.
    Claims(Act, usize),
    /// The same with what a person does beside plans.
    Orders(Order, usize),
    /// A random command of the agent itself.
    Acts(Act),
    /// The agent asks for a permission in its open turn.
    Asks,
    /// What carries plans out has a look: it continues whatever was approved.
    Executes(Act),
    /// Another program begins to use the session: younger, older, of another machine or in namespaces of its own.
    Appears(AgentClient),
}

/// What a person does beside plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Permit(Grant),
    SaveMemory,
    PromoteMemory,
    ForgetMemory,
    AddGoal,
    WriteDiary,
    StartRun,
    ResumeRun,
    AddSchedule,
    ChangeSchedule(ScheduleChange),
    Rename,
    ChooseWorkspace,
    TurnFilesOn,
    TurnFilesOff,
    UndoMemory,
    DeclineOffer,
    ChangeGoal,
    AddTask,
    /// A run of a goal that is made with it.
    StartNewGoal,
    StopRuns,
    /// The next step of a plan that was approved step by step.
    Release,
    /// An approval, or a request for changes, with comments.
    Review(bool),
    DraftReview,
    ResolveComment,
    AnswerQuestions,
}

const ORDERS: [Order; 31] = [
    Order::Permit(Grant::Once),
    Order::Permit(Grant::Plan),
    Order::Permit(Grant::Always),
    Order::Permit(Grant::No),
    Order::SaveMemory,
    Order::PromoteMemory,
    Order::ForgetMemory,
    Order::AddGoal,
    Order::WriteDiary,
    Order::StartRun,
    Order::ResumeRun,
    Order::AddSchedule,
    Order::ChangeSchedule(ScheduleChange::Resume),
    Order::ChangeSchedule(ScheduleChange::Delete),
    Order::Rename,
    Order::ChooseWorkspace,
    Order::TurnFilesOn,
    Order::TurnFilesOff,
    Order::ChangeSchedule(ScheduleChange::Pause),
    Order::UndoMemory,
    Order::DeclineOffer,
    Order::ChangeGoal,
    Order::AddTask,
    Order::StartNewGoal,
    Order::StopRuns,
    Order::Release,
    Order::Review(true),
    Order::Review(false),
    Order::DraftReview,
    Order::ResolveComment,
    Order::AnswerQuestions,
];

/// They may be about nothing in the session as it begins.
const ABOUT_NOTHING: [Order; 9] = [
    Order::StopRuns,
    Order::TurnFilesOff,
    Order::ChangeSchedule(ScheduleChange::Pause),
    Order::DeclineOffer,
    Order::Review(true),
    Order::Review(false),
    Order::DraftReview,
    Order::ResolveComment,
    Order::AnswerQuestions,
];

impl Order {
    /// `None` where there is nothing to order about.
    fn on(self, world: &World) -> Option<Command> {
        let text = || "empty the bin".to_owned();
        let session = world.snapshot.session.as_ref()?;
        let memory = world.snapshot.memories.keys().next().cloned();
        let memory = memory.unwrap_or_else(|| MemoryId::new("not-there").unwrap());
        let driver = "here".to_owned();
        Some(match self {
            Self::Permit(grant) => {
                let Ask { id, digest, .. } = session.turn.as_ref()?.ask.clone()?;
                let answer = AskAnswer::Permission { grant, note: None, arguments: None };
                Command::Answer(AnswerCommand { ask: id, digest, answer })
            }
            Self::SaveMemory => Command::Memory(MemoryCommand::Save(Box::new(NewMemory::by_person(text())))),
            Self::PromoteMemory => Command::Memory(MemoryCommand::Promote { memory }),
            Self::ForgetMemory => Command::Memory(MemoryCommand::Forget { memory }),
            Self::AddGoal => Command::Auto(AutoCommand::AddGoal { title: text() }),
            Self::WriteDiary => Command::Auto(AutoCommand::WriteDiary { text: text(), run: None }),
            Self::StartRun => Command::Auto(AutoCommand::Start { target: StartTarget::Current, driver }),
            Self::ResumeRun => {
                let run = session.auto.as_ref().and_then(|state| state.runs.first()).map(|run| run.id().clone());
                let run = run.unwrap_or_else(|| RunId::new("not-there").unwrap());
                Command::Auto(AutoCommand::Resume { run, driver })
            }
            Self::AddSchedule => Command::Auto(AutoCommand::AddSchedule(NewSchedule {
                expression: "0 9 * * *".to_owned(),
                zone: None,
                title: text(),
                goal: None,
                max_executions: None,
            })),
            Self::ChangeSchedule(change) => {
                let schedule = session.auto.as_ref().and_then(|state| state.schedules.first());
                let schedule = schedule.map(|schedule| schedule.id.clone());
                let schedule = schedule.unwrap_or_else(|| ScheduleId::new("not-there").unwrap());
                Command::Auto(AutoCommand::ChangeSchedule { schedule, change })
            }
            Self::Rename => Command::Session(SessionCommand::Rename { title: Some(text()) }),
            Self::ChooseWorkspace => {
                Command::Session(SessionCommand::ChooseWorkspace(Workspace::at(Some("/home/ada".to_owned()))))
            }
            Self::TurnFilesOn => Command::Workbook(WorkbookCommand::Switch { on: true }),
            Self::TurnFilesOff => Command::Workbook(WorkbookCommand::Switch { on: false }),
            Self::UndoMemory => Command::Memory(MemoryCommand::Undo),
            Self::DeclineOffer => Command::Memory(MemoryCommand::Decline { offer: memory }),
            Self::ChangeGoal => {
                let goal = session.auto.as_ref()?.goals.first()?.id.clone();
                Command::Auto(AutoCommand::ChangeGoal { goal, status: GoalStatus::Paused, note: None })
            }
            Self::AddTask => Command::Auto(AutoCommand::AddTask { title: text(), goal: None }),
            Self::StartNewGoal => {
                Command::Auto(AutoCommand::Start { target: StartTarget::NewGoal { title: text() }, driver })
            }
            Self::StopRuns => Command::Auto(AutoCommand::Stop { run: None }),
            Self::Release => Command::Decide(Decision::Resume { plan: plan_of(world).id.clone(), after_step: Some(1) }),
            Self::Review(approves) => reviewed(plan_of(world), approves),
            Self::DraftReview => {
                Command::Session(SessionCommand::DraftReview { plan: plan_of(world).id.clone(), review: no_comments() })
            }
            Self::ResolveComment => {
                let (plan, comment) = (plan_of(world).id.clone(), CommentId::new("not-there").unwrap());
                Command::Session(SessionCommand::ResolveComment { plan, comment, resolved: true })
            }
            Self::AnswerQuestions => {
                let Ask { id, digest, .. } = session.turn.as_ref()?.ask.clone()?;
                let answer = AskAnswer::Questions { answers: vec![text()] };
                Command::Answer(AnswerCommand { ask: id, digest, answer })
            }
        })
    }
}

/// The newest plan. The person has turned plan work on, so there is one.
fn plan_of(world: &World) -> &Plan {
    world.snapshot.plans.values().max_by_key(|plan| plan.number).unwrap()
}

fn no_comments() -> Review {
    Review { version: 1, comments: Vec::new() }
}

fn reviewed(plan: &Plan, approves: bool) -> Command {
    let decision = match approves {
        true => Decision::Approve {
            plan: plan.id.clone(),
            digest: plan.digest(),
            selection: Selection::All,
            note: None,
            step_by_step: false,
            then: AfterApproval::Wait,
        },
        false => Decision::Revise { plan: plan.id.clone(), feedback: "shorter".to_owned() },
    };
    Command::Decide(Decision::Reviewed { decision: Box::new(decision), review: no_comments() })
}

/// What can be seen of a process that the agent started, or of a request that it sent. The last one is on another machine, where no
/// agent was seen.
fn presences() -> Vec<Option<Presence>> {
    let agent = process(40, 400);
    vec![
        Some(terminal_of(300, false, |seen| seen.ancestors.push(agent))),
        Some(terminal_of(300, false, |seen| seen.terminal = None)),
        Some(terminal_of(300, false, |seen| seen.terminal = Some(Terminal { device: 1, holder: None }))),
        Some(terminal_of(700, false, |_| {})),
        Some(terminal_of(700, true, |seen| seen.place.numbers = 7)),
        Some(terminal_of(300, false, |seen| seen.own_command = true)),
        Some(Presence::terminal(None)),
        Some(Presence::Token),
        None,
        Some(terminal_of(300, false, |seen| seen.place = elsewhere())),
    ]
}

/// Those of them that are certainly processes of the agent. They may not even stop something.
const OF_AGENT: [usize; 4] = [0, 1, 2, 5];

fn elsewhere() -> ProcessPlace {
    ProcessPlace { boot: "elsewhere".to_owned(), numbers: 9, users: 9, time: 9 }
}

fn other_client() -> impl Strategy<Value = AgentClient> {
    (0..4_u8, 1..900_u64, any::<bool>()).prop_map(|(kind, started, in_place)| {
        let place = ProcessPlace { numbers: u64::from(kind) + 1, ..client().place.unwrap() };
        AgentClient {
            machine: format!("machine-{kind}"),
            processes: vec![process(900, started)],
            place: in_place.then_some(place),
            ..client()
        }
    })
}

/// Boxed: the strategies of all acts together are too large for the stack of a test.
fn step() -> BoxedStrategy<Move> {
    let (act, presence) = (act().boxed(), 0..presences().len());
    let order = prop::sample::select(ORDERS.to_vec());
    prop_oneof![
        6 => (act.clone(), presence.clone()).prop_map(|(act, presence)| Move::Claims(act, presence)),
        4 => (order, presence).prop_map(|(order, presence)| Move::Orders(order, presence)),
        4 => act.prop_map(Move::Acts),
        1 => Just(Move::Asks),
        2 => run_act().prop_map(Move::Executes),
        1 => other_client().prop_map(Move::Appears),
    ]
    .boxed()
}

/// A session that an agent of another program uses. The person has turned plan work on and has seen the agent begin. With
/// `released` they have approved a plan of three calls step by step; the first one is done.
fn stage(style: PlanStyle, require: Require, released: bool) -> World {
    let mut world = World::unopened("mcp:k3yk3y8x");
    world.policy = Policy { standing_approval: StandingApproval::Off, ..Policy::default() };
    world.person(open()).unwrap();
    leave_work(&mut world);
    if released {
        release_first_step(&mut world);
    } else {
        world.person(on(style)).unwrap();
    }
    // Where a plan is carried out there may be no turn to begin.
    let _ = world.person(say("Empty the bin"));
    world.person(Order::SaveMemory.on(&world).unwrap()).unwrap();
    world.send(Actor::system("mcp"), Command::Session(SessionCommand::SeeClient(client()))).unwrap();
    world.policy.approval = ApprovalPolicy::requiring(require);
    world.policy.agents_seen = AgentsSeen::Some;
    world
}

/// A schedule that is paused and a run that was interrupted, so that it means something to let them go on.
fn leave_work(world: &mut World) {
    for order in [Order::AddSchedule, Order::ChangeSchedule(ScheduleChange::Pause), Order::AddGoal, Order::StartRun] {
        world.person(order.on(world).unwrap()).unwrap();
    }
    let run = world.snapshot.session.as_ref().unwrap().auto.as_ref().unwrap().runs[0].id().clone();
    world.send(Actor::system("mcp"), Command::Auto(AutoCommand::Interrupt { run })).unwrap();
}

fn release_first_step(world: &mut World) {
    world.person(on(PlanStyle::Collect)).unwrap();
    for _ in 0..3 {
        world.agent(record_one()).unwrap();
    }
    world.agent(finalize()).unwrap();
    let mut command = approve(world.active(), Selection::All);
    if let Command::Decide(Decision::Approve { step_by_step, .. }) = &mut command {
        *step_by_step = true;
    }
    world.person(command).unwrap();
    world.start().unwrap();
    world.begin("s1").unwrap();
    world.end("s1", StepStatus::Completed).unwrap();
}

/// What only a person lets happen.
const DECIDED: [&str; 12] = [
    "plan_approved",
    "approval_signed",
    "execution_started",
    "execution_resumed",
    "step_begun",
    "run_started",
    "run_resumed",
    "schedule_added",
    "schedule_resumed",
    "schedule_deleted",
    "memory_promoted",
    "workspace_chosen",
];

/// A refused permission only stops something.
fn is_decided(event: &Event) -> bool {
    let permits = event.name() == "permission_answered"
        && serde_json::to_string(event).is_ok_and(|text| !text.contains("\"grant\":\"no\""));
    permits || DECIDED.contains(&event.name())
}

fn ask_permission(world: &mut World) {
    let Some(turn) = world.snapshot.session.as_ref().and_then(|session| session.turn.as_ref()) else { return };
    let (turn, call, has_calls) = (turn.id.clone(), turn.ended + 1, turn.calls > turn.ended);
    if !has_calls {
        let _ = world.agent(tell(&turn, &[calls(&["run_command"])]));
    }
    let (arguments, reason) = (serde_json::json!({ "command": "rm -r bin" }), "commands are asked".to_owned());
    let permits = PermittedCalls::Command { line: "rm -r bin".to_owned() };
    let always = Some(Box::new(StandingRule { permits, place: RulePlace::Everywhere }));
    let subject = CallToPermit { tool: "run_command".to_owned(), arguments, reason, paths: Vec::new(), always };
    let subject = AskSubject::Permission(subject);
    let _ = world.agent(Command::Turn(TurnCommand::Ask { turn, call, subject }));
}

/// A command that claims to be a person's, from a process or a request of the agent.
fn claim(world: &mut World, command: Command, presence: usize) -> Result<(), TestCaseError> {
    let before = world.snapshot.session.as_ref().unwrap().plan_mode.clone();
    let by = Actor { presence: presences().swap_remove(presence), ..Actor::person("ada", "cli") };
    let guard = command.guard();
    let decided = world.send(by, command.clone());
    prop_assert!(!decided.iter().flatten().any(is_decided), "{:?}", decided);
    let refused = decided.err().map(|refusal| refusal.code);
    if guard < Guard::Person {
        let may_stop = guard == Guard::Free || !OF_AGENT.contains(&presence);
        prop_assert!(may_stop || refused == Some(RefusalCode::PolicyDenied), "{:?}: {:?}", command, refused);
        return Ok(());
    }
    prop_assert!(refused.is_some(), "it passed: {:?}", command);
    // What a command could not do in any case may be refused for that.
    prop_assert!(guard == Guard::Approval || refused == Some(RefusalCode::PolicyDenied), "{:?}", refused);
    prop_assert_eq!(world.snapshot.session.as_ref().unwrap().plan_mode.enabled, before.enabled);
    Ok(())
}

/// An order about nothing that exists would be refused for that, and the walk would say nothing about who gives it.
#[test]
fn every_order_reaches_a_decision() {
    for order in ORDERS {
        let mut world = stage(PlanStyle::Document, Require::Separate, order == Order::Release);
        if matches!(order, Order::Permit(_) | Order::AnswerQuestions) {
            ask_permission(&mut world);
        }
        let command = order.on(&world).unwrap_or_else(|| panic!("{order:?} is about nothing"));
        let at_terminal = Actor::person("ada", "cli").recognised(terminal_of(300, false, |_| {}));
        match (order, world.send(at_terminal, command)) {
            (_, Ok(events)) => assert!(!events.is_empty() || ABOUT_NOTHING.contains(&order), "{order:?}"),
            (_, Err(refusal)) if ABOUT_NOTHING.contains(&order) => {
                assert_ne!(refusal.code, RefusalCode::PolicyDenied, "{order:?}: {refusal}");
            }
            // They are for a plan that is carried out, and for a session without an open turn. Who gives them is compared before.
            (Order::Permit(Grant::Plan) | Order::ChooseWorkspace, Err(refusal)) => {
                assert_eq!(refusal.code, RefusalCode::WrongStatus, "{order:?}");
            }
            (_, Err(refusal)) => panic!("{order:?}: {refusal}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_an_agents_acts_decides_anything(
        style in prop::sample::select(PlanStyle::ALL.to_vec()),
        require in prop::sample::select(vec![Require::Separate, Require::Verified]),
        released in any::<bool>(),
        moves in prop::collection::vec(step(), 1..60),
    ) {
        let mut world = stage(style, require, released);
        let mut records = Vec::new();
        for one in &moves {
            match one {
                Move::Appears(client) => {
                    let seen = Command::Session(SessionCommand::SeeClient(client.clone()));
                    let _ = world.send(Actor::system("mcp"), seen);
                }
                // No surface takes the commands of what carries plans out, and that begins an execution once.
                Move::Claims(act @ Act::Run(..), _) | Move::Acts(act @ Act::Run(..)) | Move::Executes(act) => {
                    let (by, command) = act.on(&world);
                    if matches!(act, Act::Run(..)) && !world.statuses().contains(&PlanStatus::PartiallyCompleted) {
                        let events = world.send(by, command).unwrap_or_default();
                        prop_assert!(!events.iter().any(is_decided), "{:?}", events);
                    }
                }
                Move::Acts(act) => {
                    let (_, command) = act.on(&world);
                    let events = world.send(Actor::agent("coder", "mcp"), command).unwrap_or_default();
                    prop_assert!(!events.iter().any(is_decided), "{:?}", events);
                }
                Move::Asks => ask_permission(&mut world),
                Move::Claims(act, presence) => {
                    let (_, command) = act.on(&world);
                    claim(&mut world, command, *presence)?;
                }
                Move::Orders(order, presence) => {
                    if let Some(command) = order.on(&world) {
                        claim(&mut world, command, *presence)?;
                    }
                }
            }
            let now = &world.snapshot.session.as_ref().unwrap().clients;
            prop_assert!(now.starts_with(&records), "a record was replaced");
            records.clone_from(now);
        }
    }
}
