//! A process that shuts down leaves its work where the next one continues it at once.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::Agent;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::refusal::RefusalCode;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

/// Longer than any test waits.
const PATIENT: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_turn_is_left_behind_the_answer_it_waits_for_and_goes_on_elsewhere_without_waiting() {
    let gate = Gate::closed();
    let prop = Prop::changing("ring");
    let replies = [Reply::call("ring", json!({})).behind(&gate)];
    let world = World::with(ScriptedModel::new(replies), |setup| setup.tool(&prop)).await;
    let turn = world.say_in_background("Ring");
    world.model.asked(1).await;
    let agent = world.agent.clone();
    let draining = tokio::spawn(async move { agent.drain(PATIENT).await });
    gate.open();
    draining.await.unwrap();
    let left = turn.await.unwrap().unwrap_err();
    assert_eq!(left.code(), RefusalCode::Unavailable);
    assert_eq!(prop.calls().len(), 1, "what the model asked for is done");
    assert_eq!(world.event_names().await, ["session_opened", "turn_begun", "model_replied", "tool_ended"]);

    let next = ScriptedModel::new([Reply::text("Rung.")]);
    let agent = world.another(&next, "the next one").await;
    let outcome = agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
    assert_eq!(outcome.reply, "Rung.");
    assert_eq!((prop.calls().len(), next.requests().len()), (1, 1), "and nothing is done twice");
    world.is_sound().await;
}

#[tokio::test]
async fn a_model_that_does_not_answer_in_time_is_asked_again_by_the_next_process() {
    let world = World::new([Reply::hang()]).await;
    let turn = world.say_in_background("Hello");
    world.model.asked(1).await;
    world.agent.drain(Duration::ZERO).await;
    assert_eq!(turn.await.unwrap().unwrap_err().code(), RefusalCode::Unavailable);
    let next = ScriptedModel::new([Reply::text("Good morning.")]);
    let agent = world.another(&next, "the next one").await;
    assert_eq!(agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap().reply, "Good morning.");
}

#[tokio::test]
async fn nothing_is_begun_any_more() {
    let world = World::new([]).await;
    world.agent.drain(PATIENT).await;
    assert_eq!(world.try_say("Hello").await.unwrap_err().code(), RefusalCode::Unavailable);
    assert_eq!(world.event_names().await, ["session_opened"]);
}

#[tokio::test]
async fn an_execution_is_left_between_two_steps_and_no_step_is_done_twice() {
    let leaver: Arc<OnceLock<Agent>> = Arc::default();
    let agent = Arc::clone(&leaver);
    let leave = move || {
        let agent = agent.get().unwrap().clone();
        tokio::spawn(async move { agent.drain(PATIENT).await });
    };
    let first = Prop::new("first", ToolEffect::Changes, Act::Set(Arc::new(leave)));
    let second = Prop::changing("second");
    let replies =
        [Reply::call("first", json!({})).and_call("second", json!({})), Reply::call("plan_finalize", json!({}))];
    let world = World::with(ScriptedModel::new(replies), |setup| {
        setup.tool(&first);
        setup.tool(&second);
    })
    .await;
    leaver.set(world.agent.clone()).unwrap();
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    world.approve(1, Selection::All).await;
    let plan = world.plan(1).await.id;
    let left = world.agent.carry_out(&world.session, &person(), &plan, &Watcher::none()).await.unwrap_err();
    assert_eq!(left.code(), RefusalCode::Unavailable);
    assert_eq!((world.plan(1).await.status, second.calls().len()), (PlanStatus::Executing, 0));

    let agent = world.another(&ScriptedModel::new([]), "the next one").await;
    let answer = agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap().unwrap();
    assert!(answer.reply.contains("2 done"), "{}", answer.reply);
    assert_eq!((first.calls().len(), second.calls().len()), (1, 1));
    world.is_sound().await;
}
