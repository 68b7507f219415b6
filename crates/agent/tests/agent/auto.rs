//! Runs of the agent by itself: ticks in the session's own queue, memory in the scopes of the run, and what ends them.

mod brakes;
mod conversations;
mod schedules;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use planwright_core::auto::{
    AutoCommand, AutoRun, AutoState, GoalStatus, RunEnd, RunKind, RunState, StartTarget, TaskStatus,
};
use planwright_core::command::Command;
use planwright_core::event::{AutoEvent, Event, MemoryEvent, TurnEvent};
use planwright_core::gate::AutoTool;
use planwright_core::memory::{MemoryScope, ScopeChain};
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Purpose, TurnEnd};
use planwright_engine::Engine;
use planwright_engine::ledger::RunsFilter;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use planwright_test_support::talk::{Talk as _, Watcher};
use serde_json::json;

use crate::world::{World, events, person, session, tool_names};

/// The newest message of the person or of a tick.
pub(crate) fn newest(request: &ModelRequest) -> &str {
    let told = request.messages.iter().rev().find_map(|message| match message {
        ModelMessage::User { text } => Some(text.as_str()),
        ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    });
    told.unwrap_or_default()
}

/// Whether the model has made this call in the turn already.
pub(crate) fn called(request: &ModelRequest, tool: &str) -> bool {
    let turn = request.messages.iter().rev().take_while(|message| !matches!(message, ModelMessage::User { .. }));
    turn.into_iter().any(|message| matches!(message, ModelMessage::ToolResult { name, .. } if name == tool))
}

pub(crate) fn done() -> Reply {
    Reply::call("task_update", json!({ "status": "done", "note": "all of it" }))
}

/// A model that ends each task in one turn, and answers everything else with words.
pub(crate) fn diligent() -> ScriptedModel {
    ScriptedModel::answering(|request| match newest(request) {
        tick if tick.contains("_RUN ") && !called(request, "task_update") => done(),
        _ => Reply::text("Done."),
    })
}

pub(crate) async fn state(engine: &Engine, session: &SessionIdentity) -> AutoState {
    engine.auto().state(session).await.unwrap()
}

impl World {
    pub(crate) async fn auto(&self) -> AutoState {
        state(self.engine(), &self.session).await
    }

    /// Waits until no run of the session is driven here any more.
    pub(crate) async fn until_runs_rest(&self) {
        until_rest(&self.agent, &self.session).await;
    }

    pub(crate) async fn until_run(&self, number: u32, wanted: impl Fn(&AutoRun) -> bool) -> AutoRun {
        loop {
            let state = self.auto().await;
            if let Some(run) = state.runs.iter().find(|run| run.number == number).filter(|run| wanted(run)) {
                return run.clone();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

pub(crate) async fn until_rest(agent: &planwright_agent::Agent, session: &SessionIdentity) {
    while agent.drives(session) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_task_is_worked_on_until_it_is_done() {
    let world = World::with(diligent(), |_| {}).await;
    assert_eq!(world.send("/task add Renew the certificate").await.reply, "Task 1 is added: Renew the certificate.");
    let started = world.send("/auto on").await;
    assert!(started.reply.starts_with("Run 1 (TASK_RUN) is started: task 1, "), "{}", started.reply);
    world.until_runs_rest().await;
    let state = world.auto().await;
    assert_eq!((state.tasks[0].status, state.tasks[0].note.as_deref()), (TaskStatus::Done, Some("all of it")));
    assert!(matches!(state.runs[0].state, RunState::Ended { end: RunEnd::Completed, .. }));
    assert_eq!(state.runs[0].spent.turns, 1);
    // The tick is a turn of the session, in the name of the system, and carries the whole context.
    let events = world.events().await;
    let purpose = events.iter().find_map(|event| match event {
        Event::Turn { event: TurnEvent::Begun { purpose: Purpose::Run(context), .. }, .. } => Some(context.clone()),
        _ => None,
    });
    let context = purpose.unwrap();
    assert_eq!((&context.session, &context.run_id), (&world.session, state.runs[0].id()));
    assert_eq!((context.run_kind(), context.goal_id(), context.task_id()), (RunKind::Task, None, &state.tasks[0].id));
    let first = world.sent(1);
    assert!(newest(&first).starts_with("[TASK_RUN 1] Begin with task 1: Renew the certificate."), "{}", newest(&first));
    assert!(first.system.contains("- task 1: Renew the certificate\n"), "{}", first.system);
    for tool in ["goal_add", "goal_list", "goal_update", "task_add", "task_list", "task_update", "diary_write"] {
        assert!(tool_names(&first).contains(&tool), "{tool}");
    }
    // Nothing of it is in the prompt of a session without goals and tasks.
    let other = session("session-two");
    world.engine().sessions().open(&other, &person()).await.unwrap();
    world.agent.send(&other, &person(), "Hello", &Watcher::none()).await.unwrap();
    let hello = world.model.last_request();
    assert!(!hello.system.contains("# Goals and tasks"));
    let offered: Vec<_> = tool_names(&hello).into_iter().filter(|name| AutoTool::named(name).is_some()).collect();
    assert_eq!(offered, ["goal_add", "task_add", "diary_write"]);
    // A goal of the same turn is listed and changed in it.
    let second = Reply::call("goal_list", json!({})).and_call("goal_update", json!({ "goal": 1, "status": "paused" }));
    world.model.then(Reply::call("goal_list", json!({})).and_call("goal_add", json!({ "title": "No warnings" })));
    world.model.then(second);
    world.agent.send(&other, &person(), "Mind the warnings", &Watcher::none()).await.unwrap();
    assert!(tool_names(&world.model.last_request()).contains(&"goal_update"));
    let stored = world.engine().auto().state(&other).await.unwrap();
    assert_eq!(stored.goals[0].status, GoalStatus::Paused);
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_goal_is_worked_towards_task_by_task() {
    let world = World::with(diligent(), |_| {}).await;
    world.send("/goal add No warnings").await;
    for task in ["the first", "the second", "the third"] {
        world.send(&format!("/task add #1 {task}")).await;
    }
    world.send("/task add on its own").await;
    assert!(world.send("/auto on").await.reply.starts_with("Run 1 (GOAL_RUN) is started: task 1 of goal 1, "));
    world.until_runs_rest().await;
    let state = world.auto().await;
    let statuses: Vec<_> = state.tasks.iter().map(|task| task.status).collect();
    assert_eq!(statuses, [TaskStatus::Done, TaskStatus::Done, TaskStatus::Done, TaskStatus::Open]);
    assert_eq!(state.runs[0].spent.turns, 3);
    let status = world.send("/auto status").await.reply;
    assert!(status.contains("run 1 (GOAL_RUN) is completed"), "{status}");
    assert!(status.contains("3 turns"), "{status}");
    world.is_sound().await;
}

/// What each turn of a run saves, and what it finds.
#[tokio::test]
async fn two_tasks_under_same_goal_share_goal_scope_but_keep_task_private_details() {
    let model = ScriptedModel::answering(|request| {
        let tick = newest(request);
        let saves = |content: &str, kind: &str| Reply::call("memory_save", json!({ "content": content, "kind": kind }));
        let results = request.messages.iter().rev().take_while(|message| !matches!(message, ModelMessage::User { .. }));
        match results.filter(|message| matches!(message, ModelMessage::ToolResult { .. })).count() {
            0 if tick.contains("_RUN") => saves(&format!("zebra detail of {}", &tick[..12]), "result"),
            1 if tick.contains("_RUN") => saves("zebra decision", "decision"),
            2 if tick.contains("_RUN") => Reply::call("memory_search", json!({ "query": "zebra" })),
            3 if tick.contains("_RUN") => done(),
            _ => Reply::text("Done."),
        }
    });
    let world = World::with(model, |_| {}).await;
    world.send("/goal add The zoo").await;
    world.send("/task add #1 first").await;
    world.send("/task add #1 second").await;
    world.send("/task add alone").await;
    world.send("/auto on 1").await;
    world.until_runs_rest().await;
    world.send("/auto on task 3").await;
    world.until_runs_rest().await;
    let state = world.auto().await;
    let goal = MemoryScope::of_goal(&world.session, &state.goals[0].id);
    let tasks: Vec<_> = state.tasks.iter().map(|task| MemoryScope::of_task(&task.id)).collect();
    let saved: Vec<_> = world.events().await.iter().filter_map(Event::memory_event).cloned().collect();
    let scopes = saved.iter().map(|event| match event {
        MemoryEvent::Saved { item } => item.scope.clone(),
        other => panic!("{other:?}"),
    });
    let scopes: Vec<_> = scopes.collect();
    assert_eq!(
        scopes,
        [tasks[0].clone(), goal.clone(), tasks[1].clone(), goal.clone(), tasks[2].clone(), tasks[2].clone()]
    );
    // What each run found: its own details and what it shares, never those of another task.
    let found: Vec<_> = world
        .model
        .requests()
        .iter()
        .filter(|request| called(request, "memory_search"))
        .map(|request| {
            let text = request.messages.iter().rev().find_map(|message| match message {
                ModelMessage::ToolResult { name, text, .. } if name == "memory_search" => Some(text.clone()),
                _ => None,
            });
            let value: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
            let scopes =
                value["items"].as_array().unwrap().iter().map(|item| item["scope"].as_str().unwrap().to_owned());
            scopes.collect::<std::collections::BTreeSet<_>>()
        })
        .collect();
    let set =
        |scopes: &[&MemoryScope]| scopes.iter().map(ToString::to_string).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(found.first().unwrap(), &set(&[&tasks[0], &goal]));
    assert!(found.iter().any(|found| *found == set(&[&tasks[1], &goal])), "{found:#?}");
    assert_eq!(found.last().unwrap(), &set(&[&tasks[2]]));
    // An ordinary turn reads none of it.
    let memories =
        world.engine().memories().search(&ScopeChain::of_session(&world.session), "zebra", 10).await.unwrap();
    assert!(memories.found.is_empty());
}

#[tokio::test]
async fn a_run_and_the_person_share_the_queue_and_never_overlap() {
    // The run works until the person's message is answered.
    let answered = Arc::new(AtomicBool::new(false));
    let model = ScriptedModel::answering(move |request| {
        let heard = answered.load(Ordering::SeqCst);
        match newest(request) {
            "Are you there?" => {
                answered.store(true, Ordering::SeqCst);
                Reply::text("Yes.")
            }
            _ if called(request, "list_files") => Reply::text("Working."),
            _ if heard && called(request, "task_update") => Reply::text("Done."),
            _ if heard => done(),
            _ => Reply::call("list_files", json!({ "path": format!("part-{}", request.messages.len()) })),
        }
    });
    let world = World::with(model, |_| {}).await;
    world.send("/task add Look around").await;
    world.send("/auto on").await;
    world.until_run(1, |run| run.spent.turns >= 2).await;
    assert_eq!(world.say("Are you there?").await.reply, "Yes.");
    world.until_runs_rest().await;
    let mut open = None;
    let mut people = 0;
    for event in world.events().await {
        match event {
            Event::Turn { id, event: TurnEvent::Begun { purpose, .. } } => {
                assert_eq!(open.replace(id), None, "two turns overlap");
                people += usize::from(purpose == Purpose::Answer);
            }
            Event::Turn { id, event: TurnEvent::Ended { .. } } => assert_eq!(open.take(), Some(id)),
            _ => {}
        }
    }
    assert_eq!(people, 1);
    assert!(matches!(world.auto().await.runs[0].state, RunState::Ended { end: RunEnd::Completed, .. }));
    world.is_sound().await;
}

#[tokio::test]
async fn off_ends_the_turn_in_flight_and_no_tick_follows() {
    for command in ["/auto off", "/auto off 1", "/stop"] {
        let world = World::new([Reply::hang()]).await;
        world.send("/task add Look around").await;
        world.send("/auto on").await;
        world.model.asked(1).await;
        let answer = world.send(command).await;
        assert!(answer.reply.contains("topped"), "{command}: {}", answer.reply);
        world.until_runs_rest().await;
        let state = world.auto().await;
        assert!(matches!(state.runs[0].state, RunState::Ended { end: RunEnd::Stopped, .. }), "{command}");
        let ended = world
            .events()
            .await
            .iter()
            .filter_map(Event::turn_event)
            .any(|event| matches!(event, TurnEvent::Ended { ending } if ending.end == TurnEnd::Stopped));
        assert!(ended, "{command}");
        assert_eq!(world.model.requests().len(), 1, "{command}");
        assert_eq!(world.send("/auto off").await.reply, "No run is open in this session.");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_run_waits_for_a_persons_answer_and_continues_with_it() {
    let model = ScriptedModel::answering(|request| match newest(request) {
        tick if !tick.contains("_RUN ") => Reply::text("Hello."),
        _ if called(request, "task_update") => Reply::text("Done."),
        _ if called(request, "ask_person") => done(),
        _ => Reply::call("ask_person", json!({ "questions": [{ "text": "Which certificate?" }] })),
    });
    let world = World::with(model, |_| {}).await;
    world.send("/task add Renew the certificate").await;
    world.send("/auto on").await;
    let asks = || async { world.engine().sessions().get(&world.session).await.unwrap().waiting_ask().cloned() };
    while asks().await.is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // No other run starts meanwhile.
    world.send("/task add Something else").await;
    assert_eq!(world.send("/auto on task 2").await.refusal, Some(RefusalCode::WrongStatus));
    world.send("The one of the shop").await;
    world.until_runs_rest().await;
    let state = world.auto().await;
    assert!(matches!(state.runs[0].state, RunState::Ended { end: RunEnd::Completed, .. }), "{:?}", state.runs[0]);
    assert_eq!(state.runs[0].spent.turns, 1);
}

#[tokio::test]
async fn a_run_stops_for_its_own_plan_until_a_person_decides() {
    let model = ScriptedModel::answering(|request| match newest(request) {
        _ if called(request, "plan_set_content") || called(request, "task_update") => Reply::text("There."),
        tick if tick.contains("Begin with") => {
            Reply::call("plan_set_content", json!({ "plan_markdown": "# Move\n\n1. Pack\n" }))
        }
        tick if tick.contains("_RUN ") => done(),
        _ => Reply::text("Hello."),
    });
    let world = World::with(model, |_| {}).await;
    world.send("/plan on").await;
    world.send("/task add Plan the move").await;
    world.send("/auto on").await;
    world.until_run(1, |run| run.spent.turns == 1).await;
    // The driver has looked and waits.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.auto().await.runs[0].spent.turns, 1);
    world.send("/plan reject").await;
    world.until_runs_rest().await;
    let state = world.auto().await;
    assert_eq!(state.runs[0].spent.turns, 2);
    assert!(matches!(state.runs[0].state, RunState::Ended { end: RunEnd::Completed, .. }));
}

#[tokio::test]
async fn after_a_restart_a_run_is_listed_as_interrupted_and_starts_again_with_one_word() {
    let world = World::new([Reply::hang()]).await;
    world.send("/task add Renew the certificate").await;
    world.send("/auto on").await;
    world.model.asked(1).await;
    world.agent.drain(Duration::ZERO).await;
    let world = World { model: diligent(), ..world };
    let world = world.restart_with(|setup| setup.options.owner = "the next process".to_owned()).await;
    // The turn that was left is ended, and no model is asked.
    world.agent.resume(&world.session, &Watcher::none()).await.unwrap();
    assert!(world.model.requests().is_empty());
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    let status = world.send("/auto status").await.reply;
    assert!(
        status.contains("run 1 (TASK_RUN) is interrupted: its process ended")
            && status.contains("`/auto resume 1`: Continue"),
        "{status}"
    );
    assert!(world.model.requests().is_empty());
    assert!(world.send("/auto resume").await.reply.starts_with("Run 1 (TASK_RUN) continues: "));
    world.until_runs_rest().await;
    assert!(matches!(world.auto().await.runs[0].state, RunState::Ended { end: RunEnd::Completed, .. }));
    world.is_sound().await;
}

/// Its lease runs for a while; on the same machine it is known that nobody uses it.
#[tokio::test]
async fn a_run_whose_process_is_known_to_be_dead_is_interrupted_at_once_with_its_turn() {
    let world = World::new([Reply::hang()]).await;
    world.send("/task add Renew the certificate").await;
    world.send("/auto on").await;
    world.model.asked(1).await;
    let world = World { model: diligent(), ..world };
    let world = world
        .restart_with(|setup| {
            setup.options.owner = "the next process".to_owned();
            setup.options.is_gone = |owner| owner == "the test";
        })
        .await;
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_some());
    let status = world.send("/auto status").await.reply;
    assert!(status.contains("run 1 (TASK_RUN) is interrupted: its process ended"), "{status}");
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    assert!(world.model.requests().is_empty());
}

#[tokio::test]
async fn a_process_that_dies_between_two_turns_leaves_an_interrupted_run() {
    let world = World::with(diligent(), |_| {}).await;
    world.send("/task add Renew the certificate").await;
    // Another process starts the run and is gone before its first tick.
    let command = AutoCommand::Start { target: StartTarget::Current, driver: "a dead process".to_owned() };
    world.engine().submit(&world.session, &person(), Command::Auto(command)).await.unwrap();
    assert!(world.send("/auto status").await.reply.contains("run 1 (TASK_RUN) is running"));
    let world = world.restart_with(|setup| setup.options.is_gone = |owner| owner == "a dead process").await;
    let status = world.send("/auto status").await.reply;
    assert!(status.contains("run 1 (TASK_RUN) is interrupted"), "{status}");
    let waiting = world.engine().inbox().runs().await.unwrap().0;
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].task, "Renew the certificate");
}

/// A process on another machine gives signs of life while its runs do nothing, however long they wait for a person.
#[tokio::test]
async fn a_run_of_another_machine_is_interrupted_two_minutes_after_the_last_sign_of_life() {
    let clock = TestClock::stopped();
    let world = World::with(diligent(), |setup| setup.clock = Some(clock.clone())).await;
    world.send("/task add Renew the certificate").await;
    let elsewhere = "on another machine";
    let command = AutoCommand::Start { target: StartTarget::Current, driver: elsewhere.to_owned() };
    world.engine().submit(&world.session, &person(), Command::Auto(command)).await.unwrap();
    world.send("/plan on").await;
    world.model.then(Reply::call("plan_set_content", json!({ "plan_markdown": "# Move\n\n1. Pack\n" })));
    world.say("Plan the move").await;
    let status = async |expected: &str| {
        let status = world.send("/auto status").await.reply;
        assert!(status.contains(&format!("run 1 (TASK_RUN) is {expected}")), "{status}");
    };
    clock.advance(Duration::from_secs(3_600));
    world.engine().ledger().heartbeat(elsewhere, world.engine().now()).await.unwrap();
    status("running").await;
    clock.advance(Duration::from_secs(119));
    status("running").await;
    // What a person does in the session is no sign of life, and neither is that of another process.
    world.send("/diary add Still waiting").await;
    world.engine().ledger().heartbeat("a third process", world.engine().now()).await.unwrap();
    clock.advance(Duration::from_secs(2));
    status("interrupted").await;
    world.is_sound().await;
}

#[tokio::test]
async fn a_clock_that_is_ahead_interrupts_no_run_of_another_machine() {
    let clock = TestClock::stopped();
    let world = World::with(diligent(), |setup| setup.clock = Some(clock.clone())).await;
    world.send("/task add Renew the certificate").await;
    let (elsewhere, their_time) = ("on another machine", world.engine().now());
    let command = AutoCommand::Start { target: StartTarget::Current, driver: elsewhere.to_owned() };
    world.engine().submit(&world.session, &person(), Command::Auto(command)).await.unwrap();
    let is_running = async || {
        world.agent.note_interrupted_runs(&world.session).await.unwrap();
        world.auto().await.runs[0].is_running()
    };
    // The time of day is 200 seconds later here, and it is set while the process is watched.
    clock.jump(200_000);
    for beat in 0..10 {
        let at = their_time + SignedDuration::from_secs(20 * beat);
        world.engine().ledger().heartbeat(elsewhere, at).await.unwrap();
        assert!(is_running().await, "heartbeat {beat}");
        clock.advance(Duration::from_secs(20));
        clock.jump(3_600_000);
    }
    clock.advance(Duration::from_secs(90));
    clock.jump(-7_200_000);
    assert!(is_running().await, "the last heartbeat was seen 110 seconds ago");
    clock.advance(Duration::from_secs(11));
    assert!(!is_running().await, "it was seen 121 seconds ago");
}

/// The process of a run that waits for a person says every 20 seconds that it is alive, and stops with its last run.
#[tokio::test]
async fn a_process_gives_signs_of_life_while_it_drives_a_run() {
    let clock = TestClock::stopped();
    let model = ScriptedModel::answering(|request| match newest(request) {
        _ if called(request, "plan_set_content") => Reply::text("There."),
        _ => Reply::call("plan_set_content", json!({ "plan_markdown": "# Move\n\n1. Pack\n" })),
    });
    let world = World::with(model, |setup| setup.clock = Some(clock.clone())).await;
    let other = world.another(&diligent(), "another process").await;
    let alive = async || world.engine().ledger().alive_at("the test").await.unwrap();
    // The next sign of life is due some time after the last one was stored, and only its task knows when: time passes until
    // it is there.
    let until_alive_now = async || {
        for _ in 0..2_000 {
            if alive().await == Some(world.engine().now()) {
                return;
            }
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(21)).await;
            tokio::time::resume();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("there is no sign of life");
    };
    world.send("/plan on").await;
    world.send("/task add Plan the move").await;
    assert_eq!(alive().await, None, "a process without runs gives none");
    world.send("/auto on").await;
    world.until_run(1, |run| run.spent.turns == 1).await;
    until_alive_now().await;
    for _ in 0..3 {
        clock.advance(Duration::from_secs(600));
        until_alive_now().await;
        other.note_interrupted_runs(&world.session).await.unwrap();
        assert!(world.auto().await.runs[0].is_running());
    }
    world.send("/auto off").await;
    world.until_runs_rest().await;
    let last = alive().await;
    clock.advance(Duration::from_secs(600));
    tokio::time::timeout(Duration::from_secs(20), world.agent.drain(Duration::from_secs(5))).await.expect("it ends");
    assert_eq!(alive().await, last);
}

#[tokio::test]
async fn goals_tasks_diary_and_schedules_by_command() {
    let world = World::new([]).await;
    for (command, reply) in [
        ("/goals", "This session has no goals. `/goal add <goal>` sets one."),
        ("/tasks", "This session has no tasks. `/task add <task>` adds one."),
        ("/diary", "The diary is empty."),
        (
            "/goal add No warnings",
            "Goal 1 is set: No warnings. `/task add #1 …` adds a task to it, `/auto on 1` works towards it.",
        ),
        ("/task add #1 The first", "Task 1 is added: The first."),
        ("/task done 1 it was easy", "Task 1 is done."),
        (
            "/goal show 1",
            "goal 1 is active: No warnings, 1 of 1 tasks finished\n\n- task 1 of goal 1 is done: The first (it was easy)",
        ),
        ("/goal pause 1", "Goal 1 is paused."),
        ("/goal cancel 1 -- not needed", "Goal 1 is cancelled."),
        ("/goals", "- goal 1 is cancelled: No warnings (not needed), 1 of 1 tasks finished"),
        ("/diary add Bought milk", "Written."),
        ("/schedule", "This session has no schedules. `/schedule add 0 9 * * 1 <what to do>` makes one."),
    ] {
        assert_eq!(world.send(command).await.reply, reply, "{command}");
    }
    assert!(world.send("/diary").await.reply.ends_with("Ada: Bought milk"));
    assert_eq!(world.send("/task done 7").await.refusal, Some(RefusalCode::NotFound));
    assert_eq!(world.send("/auto on 7").await.refusal, Some(RefusalCode::NotFound));
    let made = world.send("/schedule add 0 9 * * 1 tz=Europe/Berlin max=3 Read the news").await.reply;
    assert!(
        made.starts_with(
            "schedule 1 is active: `0 9 * * 1` in Europe/Berlin, Read the news, 0 of 3 executions, next at "
        ),
        "{made}"
    );
    assert!(made.ends_with("Only `planwright serve` starts its runs; without a running server none begins."), "{made}");
    assert!(world.send("/schedule pause 1").await.reply.starts_with("schedule 1 is paused"));
    assert_eq!(world.send("/schedule delete 1").await.reply, "The schedule is deleted.");
    assert_eq!(world.send("/schedule add 0 9 30 2 * never").await.refusal, Some(RefusalCode::InvalidArgument));
    world.is_sound().await;
}

#[tokio::test]
async fn deleting_the_session_ends_its_runs_and_leaves_nothing() {
    let world = World::new([Reply::hang()]).await;
    world.send("/goal add No warnings").await;
    world.send("/schedule add 0 9 * * 1 Read the news").await;
    world.send("/auto on").await;
    world.model.asked(1).await;
    world.agent.delete(&world.session, &person()).await.unwrap();
    world.until_runs_rest().await;
    assert_eq!(world.engine().auto().state(&world.session).await.unwrap_err().code(), RefusalCode::NotFound);
    let ledger = world.setup.ledger().await;
    for which in [RunsFilter::Running, RunsFilter::Waiting] {
        assert!(ledger.sessions_with_runs(which, None, 10).await.unwrap().items.is_empty());
    }
    let far = world.engine().now() + jiff::SignedDuration::from_hours(24 * 30);
    assert!(ledger.take_due(far, Duration::from_secs(60), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_a_run_says_never_reaches_another_session() {
    let world = World::with(diligent(), |_| {}).await;
    let other = session("session-two");
    world.engine().sessions().open(&other, &person()).await.unwrap();
    let mut elsewhere = world.agent.observe(&other);
    let mut here = world.agent.observe(&world.session);
    world.send("/task add Renew the certificate").await;
    world.send("/auto on").await;
    world.until_runs_rest().await;
    assert!(here.try_recv().is_ok());
    assert!(elsewhere.try_recv().is_err());
    assert_eq!(events(world.engine(), &other).await.len(), 1);
    // A goal of one session cannot be worked towards in another.
    world.send("/goal add Here only").await;
    let goal = world.auto().await.goals[0].id.clone();
    let place = planwright_agent::session::input::ChatLocation::new(world.place().transport, other.clone());
    let refused =
        world.agent.type_text(&place, &person(), &format!("/goal done {goal}"), &Watcher::none()).await.unwrap();
    assert_eq!(refused.refusal, Some(RefusalCode::NotFound));
    assert!(world.events().await.iter().any(|event| matches!(event, Event::Auto(AutoEvent::RunStarted { .. }))));
}
