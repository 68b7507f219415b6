//! A request that has a name and comes twice is carried out once, and comes to the same both times.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::Agent;
use planwright_agent::session::input::{Input, Request};
use planwright_agent::session::outcome::{Answer, TurnOutcome};
use planwright_core::command::{Command, TurnCommand};
use planwright_core::ids::RequestId;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::{LedgerResult, Submission};
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::process::Process;
use crate::world::{World, person, turns};

fn named(name: &str) -> RequestId {
    RequestId::new(name).unwrap()
}

async fn send(world: &World, name: &str, text: &str) -> TurnOutcome {
    world.agent.send_as(Some(named(name)), &world.session, &person(), text, &Watcher::none()).await.unwrap()
}

fn hello(agent: &Agent, world: &World) -> JoinHandle<LedgerResult<TurnOutcome>> {
    let (agent, session, id) = (agent.clone(), world.session.clone(), Some(named("request-1")));
    tokio::spawn(async move { agent.send_as(id, &session, &person(), "Hello", &Watcher::none()).await })
}

#[tokio::test]
async fn a_message_that_comes_twice_is_answered_once_with_the_same_words() {
    let world = World::new([Reply::text("One."), Reply::text("Two.")]).await;
    let first = send(&world, "request-1", "Count").await;
    assert_eq!(send(&world, "request-1", "Count").await, first);
    assert_eq!((first.reply.as_str(), world.model.requests().len()), ("One.", 1));
    assert_eq!(send(&world, "request-2", "Count").await.reply, "Two.");
    assert_eq!(turns(&world.events().await).len(), 2);
    world.is_sound().await;
}

#[tokio::test]
async fn the_plan_that_the_answer_showed_is_shown_again() {
    let call = Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] one" }));
    let world = World::new([call, Reply::text("There it is.")]).await;
    world.send("/plan on").await;
    let first = send(&world, "request-1", "Plan it").await;
    assert!(first.plan.is_some());
    let again = send(&world, "request-1", "Plan it").await;
    assert_eq!((&again.plan, &again.end), (&first.plan, &Some(TurnEnd::Answered)));
    assert_eq!((again.usage, again.model_calls, again.tool_calls), (first.usage, first.model_calls, first.tool_calls));
}

#[tokio::test]
async fn one_that_comes_again_while_it_is_answered_waits_for_that_answer() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Here.").behind(&gate)]).await;
    let elsewhere = world.another(&ScriptedModel::new([]), "another").await;
    let first = hello(&world.agent, &world);
    world.model.asked(1).await;
    let second = hello(&elsewhere, &world);
    gate.open();
    let (first, second) = (first.await.unwrap().unwrap(), second.await.unwrap().unwrap());
    assert_eq!((first.reply, second.reply), ("Here.".to_owned(), "Here.".to_owned()));
    assert_eq!(turns(&world.events().await).len(), 1);
}

#[tokio::test]
async fn one_that_comes_again_after_a_crash_goes_on_with_what_was_begun() {
    let world = World::new([Reply::text("Here.")]).await;
    let model = ScriptedModel::new([Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send_as(named("request-1"), &world.session, "Hello");
    model.asked(1).await;
    process.die().await;
    assert_eq!(send(&world, "request-1", "Hello").await.reply, "Here.");
    assert_eq!(turns(&world.events().await).len(), 1);
    world.is_sound().await;
}

#[tokio::test]
async fn an_approval_that_comes_twice_is_one() {
    let call = Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] one" }));
    let world = World::new([call, Reply::text("There."), Reply::text("Done.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let plan = world.plan(1).await;
    for _ in 0..2 {
        let engine = world.engine().as_request(named("request-1"));
        let approved = engine
            .plans()
            .approve(&world.session, &person(), &plan.id, plan.digest(), Selection::All, None)
            .await
            .unwrap();
        assert_eq!(approved.status, PlanStatus::Approved);
    }
    assert_eq!(world.event_names().await.iter().filter(|name| **name == "plan_approved").count(), 1);
}

#[tokio::test]
async fn one_that_another_process_begins_in_the_last_moment_gets_its_outcome() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Here.").behind(&gate)]).await;
    let begins = |submission: &Submission| matches!(submission.command, Command::Turn(TurnCommand::Begin { .. }));
    let process = Process::hanging(&world, &ScriptedModel::new([]), begins).await;
    // Both find an idle session, and the other one is a moment later with its first entry.
    let second = hello(&process.agent, &world);
    process.hangs().await;
    let first = hello(&world.agent, &world);
    world.model.asked(1).await;
    process.wake();
    gate.open();
    let (first, second) = (first.await.unwrap().unwrap(), second.await.unwrap().unwrap());
    assert_eq!((first.reply, second.reply), ("Here.".to_owned(), "Here.".to_owned()));
    assert_eq!(turns(&world.events().await).len(), 1);
    world.is_sound().await;
}

#[tokio::test]
async fn a_name_that_was_used_for_another_text_is_refused() {
    let world = World::new([Reply::text("One."), Reply::text("Two.")]).await;
    send(&world, "request-1", "Count").await;
    let before = world.events().await;
    let id = Some(named("request-1"));
    let other = world.agent.send_as(id, &world.session, &person(), "Sing", &Watcher::none()).await.unwrap_err();
    assert_eq!(other.code(), RefusalCode::Conflict, "{other}");
    assert_eq!(world.events().await, before);
    assert_eq!(world.say("Go on").await.reply, "Two.", "the session is free");
}

/// Types it under a name.
async fn send_named(world: &World, name: &str, text: &str) -> Answer {
    let request = Request::new(world.place(), person()).named(Some(named(name)));
    world.agent.submit(Input::typed(text), request).outcome().await.unwrap().answer().unwrap()
}

#[tokio::test]
async fn commands_that_come_twice_are_carried_out_once_with_the_same_outcome() {
    let drafted = Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] one" }));
    let done = Reply::call("plan_progress", json!({ "step": 1, "status": "done" }));
    let replies = [drafted, Reply::text("There."), done, Reply::text("Done."), Reply::text("Revised.")];
    let world = World::new(replies).await;
    let texts = [
        "/plan move the blog",
        "/plan approve 1",
        "/plan done",
        "/plan on collect",
        "/plan cancel 2",
        "/plan files on",
        "/plan revise #2 shorter",
        "/reset",
        "/new",
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let name = format!("request-{number}");
        let first = send_named(&world, &name, text).await;
        let before = world.events().await;
        let again = send_named(&world, &name, text).await;
        assert_eq!((again.session, again.refusal), (first.session, first.refusal), "{text}");
        // More may be known of a turn that was carried out before; commands are answered word for word.
        let is_turn = first.end.is_some();
        assert!(
            again.reply == first.reply || is_turn && again.reply.starts_with(&first.reply),
            "{text}: {}",
            again.reply
        );
        assert_eq!(world.events().await, before, "{text}");
    }
    world.is_sound().await;
}

#[tokio::test]
async fn leaving_plan_work_twice_says_the_same_whatever_became_of_the_plan_since() {
    for leave in ["/plan off", "/plan done"] {
        let drafted = Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] one" }));
        let world = World::new([drafted, Reply::text("There.")]).await;
        world.send("/plan on").await;
        world.say("Plan it").await;
        let first = send_named(&world, "leave", leave).await;
        assert!(first.reply.contains("READY"), "{}", first.reply);
        world.send("/plan cancel 1").await;
        world.send("/plan on collect").await;
        let before = world.events().await;
        assert_eq!(send_named(&world, "leave", leave).await.reply, first.reply, "{leave}");
        assert_eq!(world.events().await, before, "{leave}: plan work that was begun since is left alone");
    }
}

#[tokio::test]
async fn a_stop_that_comes_twice_stops_nothing_that_was_begun_since() {
    let world = World::new([Reply::hang(), Reply::hang()]).await;
    for stopped_in in ["here", "elsewhere"] {
        let name = format!("stop-{stopped_in}");
        let asked = world.model.requests().len();
        let first = world.send_in_background("Hello");
        world.model.asked(asked + 1).await;
        let agent = match stopped_in {
            "here" => world.agent.clone(),
            _ => world.another(&ScriptedModel::new([]), "another").await,
        };
        let stop = async |agent: &Agent| {
            let request = Request::new(world.place(), person()).named(Some(named(&name)));
            agent.submit(Input::typed("/stop"), request).outcome().await.unwrap().answer().unwrap().reply
        };
        assert_eq!(stop(&agent).await, "Stopped.");
        first.await.unwrap().unwrap();
        world.model.then(Reply::hang());
        let second = world.send_in_background("Hello again");
        world.model.asked(asked + 2).await;
        let before = world.events().await;
        for agent in [&agent, &world.agent] {
            assert_eq!(stop(agent).await, "Stopped.", "{stopped_in}");
        }
        assert_eq!(world.events().await, before, "{stopped_in}: the second turn was stopped");
        assert_eq!(world.send("/stop").await.reply, "Stopped.");
        second.await.unwrap().unwrap();
        world.model.then(Reply::hang());
    }
    world.is_sound().await;
}

#[tokio::test]
async fn a_resumption_that_comes_twice_begins_no_turn_again_and_says_the_same() {
    let drafted = Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] one" }));
    let message = ["One?", "Two?", "Three?", "Four?", "Five?", "Six?"].map(Reply::text);
    let model = ScriptedModel::new([drafted, Reply::text("There.")].into_iter().chain(message));
    let world = World::with(model.otherwise(Reply::text("I was not to be asked.")), |_| {}).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.send("/plan approve").await;
    // Of a plan that is paused, and of one that a person resumed and no process has begun.
    for (name, resumed) in [("paused", false), ("executing", true)] {
        if resumed {
            let plan = world.plan(1).await;
            world.engine().plans().resume(&world.session, &person(), &plan.id).await.unwrap();
        }
        let first = send_named(&world, name, "/plan resume").await;
        assert!(first.reply.contains("It is paused"), "{name}: {}", first.reply);
        let (before, asked) = (world.events().await, world.model.requests().len());
        let again = send_named(&world, name, "/plan resume").await;
        assert_eq!(again.reply, first.reply, "{name}");
        assert_eq!((world.events().await, world.model.requests().len()), (before, asked), "{name}");
    }
    world.is_sound().await;
}
