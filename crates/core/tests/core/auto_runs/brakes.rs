//! Budgets and brakes: each pauses the run with its reason, and a person lets it continue.

use std::time::Duration;

use planwright_core::auto::{
    AutoCommand, Budget, BudgetLimit, BudgetSpan, ModelPrice, RunPause, RunState, StartTarget,
};
use planwright_core::event::Event;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::TurnEnd;

use super::{auto, names, reply};
use crate::world::World;

fn pause(world: &World, run: &planwright_core::ids::RunId) -> Option<RunPause> {
    match world.state_of(run) {
        RunState::Paused { reason, .. } => Some(reason),
        RunState::Running | RunState::Interrupted { .. } | RunState::Ended { .. } => None,
    }
}

/// A budget that nothing else reaches.
fn only(change: impl FnOnce(&mut Budget)) -> Budget {
    let mut budget = Budget::default();
    change(&mut budget);
    budget
}

#[test]
fn each_budget_pauses_the_run_and_asks() {
    // Each turn takes 100 tokens, a second, and 150 millionths.
    type Change = fn(&mut Budget);
    let cases: [(BudgetLimit, Change); 4] = [
        (BudgetLimit::Turns, |budget| budget.turns = Some(3)),
        (BudgetLimit::Tokens, |budget| budget.tokens = Some(300)),
        (BudgetLimit::Time, |budget| budget.time = Some(Duration::from_secs(3))),
        (BudgetLimit::Money, |budget| budget.micros = Some(450)),
    ];
    for (limit, change) in cases {
        for span in [BudgetSpan::Run, BudgetSpan::Day] {
            let mut world = World::new();
            let budget = only(change);
            let policy = &mut world.policy.auto;
            (policy.run, policy.day) = match span {
                BudgetSpan::Run => (budget, Budget::default()),
                BudgetSpan::Day => (Budget::default(), budget),
            };
            policy.prices = vec![ModelPrice { model: "openai:coder".to_owned(), input: 1_000_000, output: 2_000_000 }];
            policy.idle_turns = 100;
            let other = world.task("Another", None);
            let run = world.run(StartTarget::NewGoal { title: "Tidy".to_owned() });
            let other = world.run(StartTarget::Task(other));
            for _ in 0..2 {
                world.tick(run.id(), "Working.");
                assert_eq!(pause(&world, run.id()), None, "{limit:?} {span:?}");
            }
            let events = world.tick(run.id(), "Working.");
            assert_eq!(pause(&world, run.id()), Some(RunPause::Budget { limit, span }));
            assert_eq!(events.iter().filter(|event| event.name() == "run_ticked").count(), 1);
            // The budget of the day is that of every run.
            let all = pause(&world, other.id()).is_some();
            assert_eq!(all, span == BudgetSpan::Day, "{limit:?} {span:?}");
            let context = world.auto().run(run.id()).unwrap().context.clone();
            assert_eq!(world.begin_tick(&context), Err(RefusalCode::WrongStatus));
            // A person lets it continue, and its budget counts anew; what it spent is still told.
            let resume = |by: &planwright_core::ids::RunId| {
                auto(AutoCommand::Resume { run: by.clone(), driver: "here".to_owned() })
            };
            assert_eq!(world.agent(resume(run.id())).unwrap_err().code, RefusalCode::PolicyDenied);
            world.person(resume(run.id())).unwrap();
            world.tick(run.id(), "Working.");
            assert_eq!(pause(&world, run.id()), None, "{limit:?} {span:?}");
            assert_eq!(world.auto().run(run.id()).unwrap().spent.turns, 4);
        }
    }
}

#[test]
fn what_one_day_spends_does_not_count_on_the_next() {
    let mut world = World::new();
    world.policy.auto.day = Budget { turns: Some(2), ..Budget::default() };
    world.policy.auto.idle_turns = 100;
    let run = world.run(StartTarget::Current);
    world.tick(run.id(), "Working.");
    let today = world.auto().spent_on(world.stamp(super::system()).at);
    assert_eq!((today.turns, today.tokens), (1, 100));
    let tomorrow = world.stamp(super::system()).at + jiff::SignedDuration::from_hours(24);
    assert_eq!(world.auto().spent_on(tomorrow).turns, 0);
}

#[test]
fn turns_without_progress_pause_the_run() {
    // Words alone are no progress, whatever they say.
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    for expected in ["Working.", "Still working.", "Working on it."] {
        assert_eq!(pause(&world, run.id()), None);
        world.tick(run.id(), expected);
    }
    assert_eq!(pause(&world, run.id()), Some(RunPause::NoProgress { turns: 3 }));

    // The same calls with the same results are none either. The first of them is new.
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    for _ in 0..3 {
        world.tick_with_call(run.id(), "list_files", "a.txt");
        assert_eq!(pause(&world, run.id()), None);
    }
    world.tick_with_call(run.id(), "list_files", "a.txt");
    assert_eq!(pause(&world, run.id()), Some(RunPause::NoProgress { turns: 3 }));

    // Another result is progress, and so is a task that was added.
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    for number in 0..10 {
        world.tick_with_call(run.id(), "list_files", &format!("{number}.txt"));
    }
    assert_eq!(pause(&world, run.id()), None);
    for number in 0..10 {
        let context = world.auto().run(run.id()).unwrap().context.clone();
        let turn = world.begin_tick(&context).unwrap();
        world.agent(super::add_task(&format!("Part {number}"), None)).unwrap();
        world.end_turn(turn, vec![reply("Noted.", 1)], TurnEnd::Answered).unwrap();
    }
    assert_eq!(pause(&world, run.id()), None);
    // Its own diary is none: a run that only writes what it does is stuck.
    for _ in 0..3 {
        let context = world.auto().run(run.id()).unwrap().context.clone();
        let turn = world.begin_tick(&context).unwrap();
        world.agent(auto(AutoCommand::WriteDiary { text: "Working.".to_owned(), run: Some(context) })).unwrap();
        world.end_turn(turn, vec![reply("Noted.", 1)], TurnEnd::Answered).unwrap();
    }
    assert_eq!(pause(&world, run.id()), Some(RunPause::NoProgress { turns: 3 }));
}

#[test]
fn turns_that_fail_again_and_again_pause_the_run() {
    let failed = || TurnEnd::ModelFailed { message: "503".to_owned() };
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    let mut tick = |end: TurnEnd| {
        let context = world.auto().run(run.id()).unwrap().context.clone();
        let turn = world.begin_tick(&context).unwrap();
        let inputs = if matches!(end, TurnEnd::Answered) { vec![reply("Hm.", 1)] } else { vec![] };
        let events = world.end_turn(turn, inputs, end).unwrap();
        (names(&events), pause(&world, run.id()))
    };
    // One that succeeds in between begins the count anew.
    for end in [failed(), failed(), TurnEnd::Answered, failed(), TurnEnd::NoAnswer] {
        assert_eq!(tick(end).1, None);
    }
    let (events, reason) = tick(failed());
    assert_eq!(events, ["turn_ended", "run_ticked", "run_paused"]);
    assert_eq!(reason, Some(RunPause::Failures { turns: 3, last: "503".to_owned() }));
}

#[test]
fn time_in_which_a_turn_waits_for_a_person_is_not_spent() {
    use planwright_core::ask::{AskAnswer, AskSubject, Question};
    use planwright_core::command::{AnswerCommand, Command, TurnCommand};
    use planwright_core::model::{ModelReply, ToolCall};
    use planwright_core::turn::TurnInput;
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    let turn = world.begin_tick(&run.context).unwrap();
    let calls = vec![ToolCall { name: "ask_person".to_owned(), arguments: "{}".to_owned(), signatures: Vec::new() }];
    let called = TurnInput::Replied { reply: ModelReply { calls, ..ModelReply::default() }, tokens: 1 };
    world.agent(Command::Turn(TurnCommand::Record { turn: turn.clone(), inputs: vec![called], ending: None })).unwrap();
    let questions = vec![Question { text: "Which one?".to_owned(), choices: Vec::new(), many: false }];
    let ask = TurnCommand::Ask { turn: turn.clone(), call: 1, subject: AskSubject::Questions { questions } };
    world.agent(Command::Turn(ask)).unwrap();
    // The person takes a while.
    for _ in 0..100 {
        world.person(super::add_goal("Something else")).unwrap();
    }
    let asked = world.snapshot.session.as_ref().unwrap().waiting_ask().unwrap().clone();
    let answer = AskAnswer::Questions { answers: vec!["That one.".to_owned()] };
    world.person(Command::Answer(AnswerCommand { ask: asked.id, digest: asked.digest, answer })).unwrap();
    world.send(super::system(), Command::Turn(TurnCommand::Resume { turn: turn.clone() })).unwrap();
    let events = world.end_turn(turn, vec![], TurnEnd::Stopped).unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Auto(_))));
    let spent = world.auto().run(run.id()).unwrap().spent;
    assert!(spent.millis < 10_000, "{spent:?}");
}

#[test]
fn a_run_without_any_budget_still_ends() {
    let mut world = World::new();
    (world.policy.auto.run, world.policy.auto.day) = (Budget::default(), Budget::default());
    let run = world.run(StartTarget::Current);
    let mut turns = 0;
    while pause(&world, run.id()).is_none() {
        turns += 1;
        assert!(turns <= 1_000, "the run goes on for ever");
        // Every turn looks different, so none of them is idle.
        world.tick_with_call(run.id(), "read_file", &format!("{turns}"));
    }
    let reason = RunPause::Budget { limit: BudgetLimit::Turns, span: BudgetSpan::Run };
    assert_eq!((turns, pause(&world, run.id())), (1_000, Some(reason)));
}

#[test]
fn calls_of_the_model_that_come_too_fast_pause_the_run() {
    let mut world = World::new();
    let run = world.run(StartTarget::Current);
    for _ in 0..3 {
        let context = world.auto().run(run.id()).unwrap().context.clone();
        let turn = world.begin_tick(&context).unwrap();
        let end = TurnEnd::LimitReached { limit: planwright_core::turn::TurnLimit::CallsPerMinute };
        world.end_turn(turn, vec![reply("Working.", 1)], end).unwrap();
    }
    let last = "the model was called too often within a minute".to_owned();
    assert_eq!(pause(&world, run.id()), Some(RunPause::Failures { turns: 3, last }));
}
