//! A process dies in the middle of a turn, and another one continues where it stopped.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::progress::Progress;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::process::{Process, records_an_outcome};
use crate::test_tools::{Act, Prop};
use crate::world::{World, script, statuses, turns};

async fn resume(world: &World) -> planwright_agent::session::outcome::TurnOutcome {
    world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_turn_whose_model_was_thinking_goes_on_elsewhere() {
    let world = World::new([Reply::text("I heard you."), Reply::text("And again.")]).await;
    let model = ScriptedModel::new([Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "Hello");
    model.asked(1).await;
    process.die().await;
    let (watcher, mut told) = Watcher::new();
    let outcome = world.agent.resume(&world.session, &watcher).await.unwrap().unwrap();
    assert_eq!(outcome.reply, "I heard you.");
    let mut progress = Vec::new();
    while let Ok(one) = told.try_recv() {
        progress.push(one);
    }
    assert!(progress.contains(&Progress::Resumed(outcome.turn)), "{progress:?}");
    assert_eq!(script(&world.sent(1)), ["user: Hello"]);
    let expected = ["session_opened", "turn_begun", "turn_resumed", "model_replied", "turn_ended"];
    assert_eq!(world.event_names().await, expected);
    assert_eq!(world.agent.resume(&world.session, &Watcher::none()).await.unwrap(), None, "there is nothing left");
    world.is_sound().await;
}

#[tokio::test]
async fn the_next_message_finishes_what_was_interrupted_first() {
    let world = World::new([Reply::text("First."), Reply::text("Second.")]).await;
    let model = ScriptedModel::new([Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "One");
    model.asked(1).await;
    process.die().await;
    assert_eq!(world.say("Two").await.reply, "Second.");
    assert_eq!(script(&world.sent(2)), ["user: One", "model: First.", "user: Two"]);
    assert_eq!(turns(&world.events().await).len(), 2);
    world.is_sound().await;
}

/// A process that dies while `prop` is running for the first time, as the second of two calls.
async fn dies_in_a_tool(effect: ToolEffect) -> (World, Prop, Prop) {
    let (done, prop) = (Prop::changing("done_before"), Prop::new("prop", effect, Act::HangOnce));
    let world = World::with(ScriptedModel::new([Reply::text("Done.")]), |setup| {
        setup.tool(&done);
        setup.tool(&prop);
    })
    .await;
    let reply =
        Reply::call("done_before", json!({})).and_call("prop", json!({"n": 1})).and_call("prop", json!({"n": 2}));
    let model = ScriptedModel::new([reply]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "Do all three");
    prop.called(1).await;
    process.die().await;
    (world, done, prop)
}

#[tokio::test]
async fn a_call_that_may_be_repeated_is_made_again_and_nothing_else_is() {
    for effect in [ToolEffect::ReadsOnly, ToolEffect::Repeatable] {
        let (world, done, prop) = dies_in_a_tool(effect).await;
        assert_eq!(resume(&world).await.reply, "Done.");
        assert_eq!(done.calls().len(), 1, "what has an outcome is not done again");
        assert_eq!(prop.calls(), [json!({"n": 1}), json!({"n": 1}), json!({"n": 2})]);
        assert_eq!(statuses(&world.events().await), [ToolStatus::Done; 3]);
        assert_eq!(world.model.requests().len(), 1, "the reply that was there is not asked for again");
        world.has_a_valid_history();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_repeated_is_uncertain_and_the_next_one_is_made() {
    let (world, done, prop) = dies_in_a_tool(ToolEffect::Changes).await;
    assert_eq!(resume(&world).await.reply, "Done.");
    assert_eq!(done.calls().len(), 1);
    assert_eq!(prop.calls(), [json!({"n": 1}), json!({"n": 2})], "the one that was begun is not begun again");
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done, ToolStatus::Uncertain, ToolStatus::Done]);
    let sent = script(&world.sent(1));
    assert!(sent[3].starts_with("failed prop:") && sent[3].contains("not known whether it was done"), "{sent:?}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_call_that_was_not_asked_for_before_the_crash_is_not_uncertain() {
    let prop = Prop::changing("prop");
    let model = ScriptedModel::new([Reply::call("prop", json!({})), Reply::text("Done.")]);
    let world = World::with(model, |setup| setup.tool(&prop)).await;
    let thinking = ScriptedModel::new([Reply::hang()]);
    let process = Process::start(&world, &thinking).await;
    process.send(&world.session, "Ring");
    thinking.asked(1).await;
    process.die().await;
    assert_eq!(resume(&world).await.reply, "Done.");
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done]);
    assert_eq!(prop.calls().len(), 1);
}

/// A process that commits what a plan tool does and dies before the outcome is written down.
async fn dies_behind_a_plan_tool(on: &str, before: impl IntoIterator<Item = Reply>, last: Reply) -> World {
    let model = ScriptedModel::new(before).otherwise(Reply::text("Done."));
    let world = World::with(model, |_| {}).await;
    world.send(on).await;
    world.say("Prepare").await;
    dies_behind(&world, last).await;
    world
}

async fn dies_behind(world: &World, plan_tool: Reply) {
    let model = ScriptedModel::new([plan_tool]);
    let process = Process::hanging(world, &model, records_an_outcome).await;
    process.send(&world.session, "Go");
    process.hangs().await;
    process.die().await;
}

async fn count(world: &World, name: &str) -> usize {
    world.event_names().await.iter().filter(|other| **other == name).count()
}

#[tokio::test]
async fn a_plan_is_set_once_even_if_its_outcome_was_not_recorded() {
    let set = Reply::call("plan_set_content", json!({"plan_markdown": "- [ ] one"}));
    let world = dies_behind_a_plan_tool("/plan on", [], set).await;
    let outcome = resume(&world).await;
    assert_eq!(count(&world, "content_set").await, 1);
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done]);
    assert_eq!(outcome.plan.unwrap().version, 1);
    assert!(script(&world.model.last_request()).last().unwrap().contains("\"status\":\"READY\""));
    world.is_sound().await;
}

#[tokio::test]
async fn an_approved_plan_is_superseded_once() {
    let set = |text: &str| Reply::call("plan_set_content", json!({ "plan_markdown": text }));
    let world = World::new([set("- [ ] one"), Reply::text("Ready."), Reply::text("Done.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    assert!(!world.send("/plan approve").await.refused());
    dies_behind(&world, set("- [ ] two")).await;
    let outcome = resume(&world).await;
    assert_eq!((count(&world, "plan_superseded").await, count(&world, "content_set").await), (1, 2));
    assert_eq!(world.plan(1).await.status, PlanStatus::Superseded);
    assert_eq!(outcome.plan.unwrap().number, 2);
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_is_recorded_once() {
    let write = Reply::call("write_file", json!({"path": "a.txt", "content": "one"}));
    let world = dies_behind_a_plan_tool("/plan on collect", [], write).await;
    resume(&world).await;
    assert_eq!(count(&world, "step_recorded").await, 1);
    assert_eq!(statuses(&world.events().await), [ToolStatus::Planned]);
    assert!(!world.files().join("a.txt").exists());
    world.is_sound().await;
}

#[tokio::test]
async fn a_plan_that_was_finalised_before_the_crash_ends_the_turn_after_it() {
    let look = Reply::call("list_files", json!({}));
    let finalize = Reply::call("plan_finalize", json!({"summary": "Look around."}));
    let world = dies_behind_a_plan_tool("/plan on collect", [look], finalize).await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    let outcome = resume(&world).await;
    assert_eq!(outcome.end, Some(TurnEnd::PlanReady { plan: world.plan(1).await.id }));
    assert_eq!(outcome.reply, "Look around.");
    assert_eq!(outcome.plan.unwrap().status, PlanStatus::Ready);
    assert_eq!(count(&world, "plan_finalized").await, 1);
    world.is_sound().await;
}

#[tokio::test]
async fn a_plan_that_was_cancelled_for_being_empty_before_the_crash_ends_the_turn_after_it() {
    let finalize = Reply::call("plan_finalize", json!({}));
    let world = dies_behind_a_plan_tool("/plan on collect", [], finalize).await;
    let outcome = resume(&world).await;
    assert_eq!(outcome.end, Some(TurnEnd::NothingPlanned { plan: world.plan(1).await.id }));
    assert_eq!(statuses(&world.events().await), [ToolStatus::Settled]);
    assert_eq!(count(&world, "plan_cancelled").await, 1);
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_of_a_proposal_is_added_once() {
    let create = Reply::call("plan_create_draft", json!({"goal": "Ship it"}));
    let add = Reply::call("plan_add_step", json!({"description": "Build it", "agent": "coder"}));
    let world = dies_behind_a_plan_tool("/plan on build", [create], add).await;
    resume(&world).await;
    assert_eq!(count(&world, "step_added").await, 1);
    assert_eq!(world.plan(1).await.content.steps().len(), 1);
    world.is_sound().await;
}

#[tokio::test]
async fn a_turn_that_is_interrupted_too_often_is_given_up() {
    let model = ScriptedModel::new([Reply::text("Here I am.")]);
    let world = World::with(model, |setup| setup.policy.turn.resumptions = 1).await;
    for first in [true, false] {
        let model = ScriptedModel::new([Reply::hang()]);
        let process = Process::start(&world, &model).await;
        if first {
            process.send(&world.session, "Hello");
        } else {
            process.resume(&world.session);
        }
        model.asked(1).await;
        process.die().await;
    }
    let outcome = resume(&world).await;
    assert_eq!(outcome.end, Some(TurnEnd::Interrupted));
    assert!(outcome.reply.contains("interrupted 2 times"), "{}", outcome.reply);
    assert!(world.model.requests().is_empty());
    assert_eq!(world.say("Hello?").await.reply, "Here I am.");
    let resumed = world
        .events()
        .await
        .iter()
        .filter(|event| matches!(event, Event::Turn { event: TurnEvent::Resumed, .. }))
        .count();
    assert_eq!(resumed, 2);
    world.has_a_valid_history();
    world.is_sound().await;
}
