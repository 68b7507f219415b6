//! Goals, tasks, schedules and runs: who may do what, what a turn of a run leads to, and what stops a run.

mod brakes;
mod properties;
mod schedules;

use planwright_core::actor::Actor;
use planwright_core::auto::{
    AutoCommand, AutoExecutionContext, AutoRun, AutoState, GoalStatus, RunEnd, RunKind, RunState, StartTarget,
    TaskStatus,
};
use planwright_core::command::{Command, Decision, StuckChoice, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::{GoalId, RunId, TaskId, TurnId};
use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::{PermissionCounts, StepStatus};
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::{Purpose, ToolOutcome, ToolStatus, TurnEnd, TurnEnding, TurnInput};
use planwright_core::workspace::CallChanges;

use crate::world::{Decided, World, finalize, record_one, set, step};

pub(crate) fn auto(command: AutoCommand) -> Command {
    Command::Auto(command)
}

fn add_goal(title: &str) -> Command {
    auto(AutoCommand::AddGoal { title: title.to_owned() })
}

fn add_task(title: &str, goal: Option<GoalId>) -> Command {
    auto(AutoCommand::AddTask { title: title.to_owned(), goal })
}

fn start(target: StartTarget) -> Command {
    auto(AutoCommand::Start { target, driver: "here".to_owned() })
}

fn system() -> Actor {
    Actor::system("cli")
}

impl World {
    fn auto(&self) -> AutoState {
        self.snapshot.session.as_ref().unwrap().auto.as_deref().cloned().unwrap_or_default()
    }

    fn goal(&mut self, title: &str) -> GoalId {
        self.person(add_goal(title)).unwrap();
        self.auto().goals.last().unwrap().id.clone()
    }

    fn task(&mut self, title: &str, goal: Option<&GoalId>) -> TaskId {
        self.person(add_task(title, goal.cloned())).unwrap();
        self.auto().tasks.last().unwrap().id.clone()
    }

    fn run(&mut self, target: StartTarget) -> AutoRun {
        self.person(start(target)).unwrap();
        self.auto().runs.last().unwrap().clone()
    }

    fn state_of(&self, run: &RunId) -> RunState {
        self.auto().run(run).unwrap().state.clone()
    }

    fn begin_tick(&mut self, context: &AutoExecutionContext) -> Result<TurnId, RefusalCode> {
        let purpose = Purpose::Run(Box::new(context.clone()));
        let begin = Command::Turn(TurnCommand::Begin { text: "Go on".to_owned(), tokens: 2, purpose });
        let events = self.send(system(), begin).map_err(|refusal| refusal.code)?;
        Ok(events.iter().find_map(Event::turn).unwrap().clone())
    }

    fn end_turn(&mut self, turn: TurnId, inputs: Vec<TurnInput>, end: TurnEnd) -> Decided {
        let ending = Some(TurnEnding::from(end));
        self.agent(Command::Turn(TurnCommand::Record { turn, inputs, ending }))
    }

    /// One turn of the run in which the model says this.
    fn tick(&mut self, run: &RunId, expected: &str) -> Vec<Event> {
        let context = self.auto().run(run).unwrap().context.clone();
        let turn = self.begin_tick(&context).unwrap();
        self.end_turn(turn, vec![reply(expected, 100)], TurnEnd::Answered).unwrap()
    }

    /// Ticks the run once with one call that has this result.
    fn tick_with_call(&mut self, run: &RunId, name: &str, result: &str) -> Vec<Event> {
        let context = self.auto().run(run).unwrap().context.clone();
        let turn = self.begin_tick(&context).unwrap();
        let calls = vec![ToolCall { name: name.to_owned(), arguments: "{}".to_owned(), signatures: Vec::new() }];
        let usage = Usage { input_tokens: 60, output_tokens: 40 };
        let called = TurnInput::Replied { reply: ModelReply { calls, usage, ..ModelReply::default() }, tokens: 1 };
        let outcome = ToolOutcome { status: ToolStatus::Done, text: result.to_owned() };
        let (changes, permissions) = (CallChanges::default(), PermissionCounts::default());
        let ended = TurnInput::ToolEnded { call: 1, outcome, tokens: 1, changes, permissions };
        self.end_turn(turn, vec![called, ended, reply("", 0)], TurnEnd::Answered).unwrap()
    }
}

fn reply(expected: &str, tokens: u64) -> TurnInput {
    let usage = Usage { input_tokens: tokens / 2, output_tokens: tokens - tokens / 2 };
    TurnInput::Replied { reply: ModelReply { text: expected.to_owned(), usage, ..ModelReply::default() }, tokens: 1 }
}

fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

#[test]
fn a_run_is_a_task_run_unless_a_goal_is_given_or_active() {
    // In an empty session it works on the conversation.
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    assert_eq!((run.context.run_kind(), run.number), (RunKind::Task, 1));
    assert_eq!(world.auto().tasks[0].title, "Continue the work of this conversation");

    let mut world = World::new();
    let task = world.task("Renew the certificate", None);
    let run = world.run(StartTarget::Current);
    assert_eq!((run.context.run_kind(), run.context.task_id()), (RunKind::Task, &task));

    let mut world = World::new();
    world.task("On its own", None);
    let goal = world.goal("No warnings");
    let task = world.task("The first warning", Some(&goal));
    let run = world.run(StartTarget::Current);
    assert_eq!(
        (run.context.run_kind(), run.context.goal_id(), run.context.task_id()),
        (RunKind::Goal, Some(&goal), &task)
    );
    // A task that belongs to a goal is never a run of its own.
    world.person(auto(AutoCommand::Stop { run: None })).unwrap();
    let run = world.run(StartTarget::Task(task));
    assert_eq!(run.context.run_kind(), RunKind::Goal);

    // A goal without tasks gets one, and a new goal is made with its run.
    let mut world = World::new();
    let run = world.run(StartTarget::NewGoal { title: "Tidy the backlog".to_owned() });
    assert_eq!(run.context.run_kind(), RunKind::Goal);
    let state = world.auto();
    assert_eq!(
        (state.goals[0].title.as_str(), state.tasks[0].title.as_str()),
        ("Tidy the backlog", "Tidy the backlog")
    );
    assert_eq!(state.tasks[0].goal.as_ref(), Some(&state.goals[0].id));
}

#[test]
fn what_is_of_another_session_is_not_there() {
    let mut world = World::new();
    let (goal, task, run) =
        (GoalId::new("g-other").unwrap(), TaskId::new("t-other").unwrap(), RunId::new("r-other").unwrap());
    for command in [
        AutoCommand::ChangeGoal { goal: goal.clone(), status: GoalStatus::Done, note: None },
        AutoCommand::ChangeTask { task: task.clone(), status: TaskStatus::Done, note: None },
        AutoCommand::AddTask { title: "A task".to_owned(), goal: Some(goal.clone()) },
        AutoCommand::Start { target: StartTarget::Goal(goal), driver: "here".to_owned() },
        AutoCommand::Start { target: StartTarget::Task(task), driver: "here".to_owned() },
        AutoCommand::Resume { run: run.clone(), driver: "here".to_owned() },
        AutoCommand::Stop { run: Some(run) },
    ] {
        assert_eq!(world.person(auto(command.clone())).unwrap_err().code, RefusalCode::NotFound, "{command:?}");
    }
    assert_eq!(world.auto(), AutoState::default());
}

#[test]
fn an_agent_sets_goals_and_tasks_and_starts_nothing() {
    let mut world = World::new();
    world.agent(add_goal("No warnings")).unwrap();
    let goal = world.auto().goals[0].id.clone();
    world.agent(add_task("The first", Some(goal.clone()))).unwrap();
    let task = world.auto().tasks[0].id.clone();
    let run = world.run(StartTarget::Current);
    for command in [
        AutoCommand::Start { target: StartTarget::Current, driver: "here".to_owned() },
        AutoCommand::Resume { run: run.id().clone(), driver: "here".to_owned() },
        AutoCommand::Stop { run: None },
        AutoCommand::Interrupt { run: run.id().clone() },
    ] {
        assert_eq!(world.agent(auto(command.clone())).unwrap_err().code, RefusalCode::PolicyDenied, "{command:?}");
    }
    world.agent(auto(AutoCommand::ChangeTask { task, status: TaskStatus::Done, note: None })).unwrap();
    assert_eq!(world.auto().tasks[0].status, TaskStatus::Done);
}

#[test]
fn a_stopped_run_never_ticks_and_its_turn_ends_with_it() {
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    let turn = world.begin_tick(&run.context).unwrap();
    let events = world.person(auto(AutoCommand::Stop { run: Some(run.id().clone()) })).unwrap();
    assert_eq!(names(&events), ["turn_ended", "run_ticked", "run_ended"]);
    assert!(
        matches!(&events[0], Event::Turn { event: TurnEvent::Ended { ending }, .. } if ending.end == TurnEnd::Stopped)
    );
    assert!(matches!(world.state_of(run.id()), RunState::Ended { end: RunEnd::Stopped, .. }));
    assert_eq!(world.begin_tick(&run.context), Err(RefusalCode::WrongStatus));
    // What its process still wants to record is refused.
    assert_eq!(world.end_turn(turn, vec![], TurnEnd::Answered).unwrap_err().code, RefusalCode::WrongStatus);
    let again = world.person(auto(AutoCommand::Stop { run: Some(run.id().clone()) }));
    assert_eq!(again.unwrap_err().code, RefusalCode::WrongStatus);
}

#[test]
fn a_stop_and_a_reset_end_every_run() {
    for command in [Command::Turn(TurnCommand::Stop), crate::world::reset()] {
        let mut world = World::new();
        let (one, other) = (world.task("One", None), world.task("Another", None));
        let (one, other) = (world.run(StartTarget::Task(one)), world.run(StartTarget::Task(other)));
        world.begin_tick(&one.context).unwrap();
        world.person(command.clone()).unwrap();
        for run in [one, other] {
            assert!(matches!(world.state_of(run.id()), RunState::Ended { end: RunEnd::Stopped, .. }), "{command:?}");
        }
        assert!(world.snapshot.session.as_ref().unwrap().turn.is_none());
    }
}

#[test]
fn nothing_starts_or_ticks_while_a_plan_waits_for_a_person() {
    let mut world = World::planning(PlanStyle::Document);
    let run = world.run(StartTarget::Current);
    world.agent(set("# Move\n\n1. Pack\n")).unwrap();
    assert_eq!(world.begin_tick(&run.context), Err(RefusalCode::WrongStatus));
    let another = world.task("Another", None);
    let refused = world.person(start(StartTarget::Task(another.clone()))).unwrap_err();
    assert_eq!(refused.code, RefusalCode::WrongStatus);
    assert!(refused.message.contains("Plan 1 waits"), "{}", refused.message);
    // After the decision both go on.
    let reject = crate::world::reject(&world.active().id);
    world.person(reject).unwrap();
    world.tick(run.id(), "Working.");
    world.run(StartTarget::Task(another));
}

#[test]
fn nothing_starts_or_ticks_while_the_result_of_a_step_is_unknown() {
    let mut world = World::planning(PlanStyle::Collect);
    let run = world.run(StartTarget::Current);
    world.agent(record_one()).unwrap();
    world.agent(finalize()).unwrap();
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world.begin("s1").unwrap();
    world.end("s1", StepStatus::Uncertain).unwrap();
    assert_eq!(world.begin_tick(&run.context), Err(RefusalCode::WrongStatus));
    let another = world.task("Another", None);
    let refused = world.person(start(StartTarget::Task(another))).unwrap_err();
    assert!(refused.message.contains("Plan 1 waits"), "{}", refused.message);
    let plan = world.active().id.clone();
    world.person(Command::Decide(Decision::Settle { plan, step: step("s1"), choice: StuckChoice::Skip })).unwrap();
    world.tick(run.id(), "Working.");
}

#[test]
fn a_run_of_a_goal_moves_from_task_to_task_and_ends_with_the_last() {
    let mut world = World::new();
    let goal = world.goal("No warnings");
    let (first, second) = (world.task("The first", Some(&goal)), world.task("The second", Some(&goal)));
    world.task("On its own", None);
    let run = world.run(StartTarget::Goal(goal));
    let done =
        |task: &TaskId| auto(AutoCommand::ChangeTask { task: task.clone(), status: TaskStatus::Done, note: None });
    // In the middle of its turn the run stays with its task; afterwards it moves on.
    let turn = world.begin_tick(&run.context).unwrap();
    assert_eq!(names(&world.agent(done(&first)).unwrap()), ["task_changed"]);
    let events = world.end_turn(turn, vec![reply("Done.", 10)], TurnEnd::Answered).unwrap();
    assert_eq!(names(&events), ["model_replied", "turn_ended", "run_ticked", "run_moved"]);
    let now = world.auto().run(run.id()).unwrap().clone();
    assert_eq!((now.context.task_id(), now.context.run_kind()), (&second, RunKind::Goal));
    // The context of the tick before is not the run's any more.
    assert_eq!(world.begin_tick(&run.context), Err(RefusalCode::WrongStatus));
    // A person may end the last task between two turns.
    let events = world.person(done(&second)).unwrap();
    assert_eq!(names(&events), ["task_changed", "run_ended"]);
    assert!(matches!(world.state_of(run.id()), RunState::Ended { end: RunEnd::Completed, .. }));
}

#[test]
fn a_run_that_is_interrupted_after_its_task_was_done_stands_at_the_next_one() {
    let mut world = World::new();
    let goal = world.goal("No warnings");
    let (first, second) = (world.task("The first", Some(&goal)), world.task("The second", Some(&goal)));
    let run = world.run(StartTarget::Goal(goal));
    let turn = world.begin_tick(&run.context).unwrap();
    let done = AutoCommand::ChangeTask { task: first, status: TaskStatus::Done, note: None };
    world.agent(auto(done)).unwrap();
    let events = world.end_turn(turn, vec![], TurnEnd::Interrupted).unwrap();
    assert_eq!(names(&events), ["turn_ended", "run_ticked", "run_interrupted", "run_moved"]);
    let now = world.auto().run(run.id()).unwrap().clone();
    assert_eq!(now.context.task_id(), &second);
    assert!(matches!(now.state, RunState::Interrupted { .. }));
    // It moves no further by itself, and a person lets it continue there.
    assert_eq!(world.begin_tick(&now.context), Err(RefusalCode::WrongStatus));
    world.person(auto(AutoCommand::Resume { run: run.id().clone(), driver: "there".to_owned() })).unwrap();
    world.tick(run.id(), "Working.");
}

#[test]
fn a_run_ends_as_its_task_and_its_goal_do() {
    for (status, end) in [
        (TaskStatus::Done, RunEnd::Completed),
        (TaskStatus::Skipped, RunEnd::Completed),
        (TaskStatus::Failed, RunEnd::Failed),
    ] {
        let mut world = World::new();
        let task = world.task("One", None);
        let run = world.run(StartTarget::Current);
        let note = Some("that was it".to_owned());
        world.person(auto(AutoCommand::ChangeTask { task, status, note: note.clone() })).unwrap();
        assert!(
            matches!(world.state_of(run.id()), RunState::Ended { end: found, note: told, .. } if found == end && told == note)
        );
    }
    for (status, end) in [
        (GoalStatus::Paused, RunEnd::Stopped),
        (GoalStatus::Cancelled, RunEnd::Stopped),
        (GoalStatus::Done, RunEnd::Completed),
    ] {
        let mut world = World::new();
        let goal = world.goal("No warnings");
        let run = world.run(StartTarget::Current);
        world.person(auto(AutoCommand::ChangeGoal { goal, status, note: None })).unwrap();
        assert!(matches!(world.state_of(run.id()), RunState::Ended { end: found, .. } if found == end), "{status}");
    }
}

#[test]
fn an_interrupted_run_waits_for_a_person_and_is_started_again() {
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    world.send(system(), auto(AutoCommand::Interrupt { run: run.id().clone() })).unwrap();
    assert!(matches!(world.state_of(run.id()), RunState::Interrupted { .. }));
    assert_eq!(world.begin_tick(&run.context), Err(RefusalCode::WrongStatus));
    let resume = auto(AutoCommand::Resume { run: run.id().clone(), driver: "there".to_owned() });
    world.person(resume).unwrap();
    assert_eq!(world.auto().run(run.id()).unwrap().driver, "there");
    world.tick(run.id(), "Working.");
    // A turn that its process left ends, and the run with it.
    let turn = world.begin_tick(&run.context).unwrap();
    let events = world.end_turn(turn, vec![], TurnEnd::Interrupted).unwrap();
    assert_eq!(names(&events), ["turn_ended", "run_ticked", "run_interrupted"]);
    // `/auto on` begins anew where the interrupted run stood.
    let again = world.run(StartTarget::Current);
    assert_eq!(again.context.task_id(), run.context.task_id());
    assert!(matches!(world.state_of(run.id()), RunState::Ended { end: RunEnd::Stopped, .. }));
    assert!(matches!(world.state_of(again.id()), RunState::Running));
}

/// A turn that its process left worked until the last thing that it did.
#[test]
fn the_time_that_no_process_was_there_is_not_spent() {
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    for taken_over in [true, false] {
        let before = world.auto().run(run.id()).unwrap().spent.millis;
        let turn = world.begin_tick(&run.context).unwrap();
        let begun = world.stamp(system()).at;
        for _ in 0..500 {
            world.person(auto(AutoCommand::WriteDiary { text: "Time passes.".to_owned(), run: None })).unwrap();
        }
        let away = world.stamp(system()).at.duration_since(begun).as_millis();
        // Another process takes the turn over, or knows that its process is dead and ends it.
        if taken_over {
            world.send(system(), Command::Turn(TurnCommand::Resume { turn: turn.clone() })).unwrap();
            world.end_turn(turn, vec![], TurnEnd::Interrupted).unwrap();
        } else {
            let events = world.send(system(), auto(AutoCommand::Interrupt { run: run.id().clone() })).unwrap();
            assert_eq!(names(&events), ["turn_ended", "run_ticked", "run_interrupted"]);
        }
        let spent = i128::from(world.auto().run(run.id()).unwrap().spent.millis - before);
        assert!(spent * 10 < away, "{spent} of {away} ms");
        world.person(auto(AutoCommand::Resume { run: run.id().clone(), driver: "here".to_owned() })).unwrap();
    }
}

#[test]
fn every_event_comes_back_from_the_journal() {
    let mut world = World::new();
    let goal = world.goal("No warnings");
    world.task("The first", Some(&goal));
    let run = world.run(StartTarget::Current);
    world.tick(run.id(), "Working.");
    let mut head = planwright_core::journal::Head::START;
    let mut replayed = planwright_core::snapshot::Snapshot::new(world.snapshot.identity.clone());
    for sealed in &world.journal {
        let entry = head.check(&world.snapshot.identity, sealed).unwrap();
        replayed.apply(&entry.event, &entry.context(), entry.seq);
    }
    assert_eq!(replayed.session, world.snapshot.session);
    let stored = serde_json::to_string(&world.snapshot.session).unwrap();
    let read: Option<planwright_core::session::Session> = serde_json::from_str(&stored).unwrap();
    assert_eq!(read.as_ref(), world.snapshot.session.as_deref());
    assert!(stored.contains("\"run_kind\":\"GOAL_RUN\""), "{stored}");
}
