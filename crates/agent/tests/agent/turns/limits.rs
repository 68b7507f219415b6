//! Every limit of a turn ends it with words that name the setting.

use std::time::Duration;

use planwright_core::gate::ToolEffect;
use planwright_core::model::ModelRequest;
use planwright_core::turn::{TurnEnd, TurnLimit, TurnLimits};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use serde_json::json;

use crate::test_tools::{Act, Prop};
use crate::world::World;

/// Calls `prop` with another argument every time, for ever.
fn restless(request: &ModelRequest) -> Reply {
    Reply::call("prop", json!({"number": request.messages.len()})).with_usage(100, 10)
}

async fn restless_world(prop: &Prop, limits: impl FnOnce(&mut TurnLimits)) -> World {
    let model = ScriptedModel::answering(restless);
    World::with(model, |setup| {
        setup.tool(prop);
        limits(&mut setup.policy.turn);
    })
    .await
}

#[tokio::test]
async fn a_turn_ends_after_so_many_calls_of_the_model() {
    let prop = Prop::changing("prop");
    let world = restless_world(&prop, |limits| limits.model_calls = 3).await;
    let outcome = world.say("Go").await;
    assert_eq!(outcome.end, Some(TurnEnd::LimitReached { limit: TurnLimit::ModelCalls }));
    assert!(outcome.reply.contains("after 3 calls of the model") && outcome.reply.contains("`turn.model_calls`"));
    assert_eq!((world.model.requests().len(), prop.calls().len()), (3, 3), "the last calls are carried out");
    world.model.then(Reply::text("Going on."));
    assert_eq!(world.say("go on").await.reply, "Going on.");
    world.has_a_valid_history();
}

#[tokio::test]
async fn a_turn_ends_after_so_many_tool_calls() {
    let prop = Prop::changing("prop");
    let world = restless_world(&prop, |limits| limits.tool_calls = 4).await;
    let two = Reply::call("prop", json!({"a": 1})).and_call("prop", json!({"b": 2})).and_call("prop", json!({"c": 3}));
    world.model.then(two.clone());
    world.model.then(two);
    let outcome = world.say("Go").await;
    assert_eq!(outcome.end, Some(TurnEnd::LimitReached { limit: TurnLimit::ToolCalls }));
    assert!(outcome.reply.contains("after 4 tool calls") && outcome.reply.contains("`turn.tool_calls`"));
    assert_eq!(prop.calls().len(), 4);
    world.model.then(Reply::text("Going on."));
    assert_eq!(world.say("go on").await.reply, "Going on.");
    // Two calls of the last reply have no outcome; the model is told so.
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_turn_ends_after_so_many_tokens() {
    let prop = Prop::changing("prop");
    let world = restless_world(&prop, |limits| limits.tokens = 300).await;
    let outcome = world.say("Go").await;
    assert_eq!(outcome.end, Some(TurnEnd::LimitReached { limit: TurnLimit::Tokens }));
    assert!(outcome.reply.contains("more than 300 tokens") && outcome.reply.contains("`turn.tokens`"));
    assert_eq!(outcome.usage.total(), 330);
}

#[tokio::test]
async fn a_turn_ends_after_so_much_time() {
    let clock = TestClock::stopped();
    let hand = clock.clone();
    let model = ScriptedModel::answering(move |request| {
        hand.advance(Duration::from_secs(40));
        restless(request)
    });
    let prop = Prop::changing("prop");
    let world = World::with(model, |setup| {
        setup.tool(&prop);
        setup.clock = Some(clock);
        setup.policy.turn.time = Duration::from_secs(90);
    })
    .await;
    let outcome = world.say("Go").await;
    assert_eq!(outcome.end, Some(TurnEnd::LimitReached { limit: TurnLimit::Time }));
    assert!(outcome.reply.contains("longer than 90 seconds") && outcome.reply.contains("`turn.seconds`"));
    assert_eq!(prop.calls().len(), 2, "what is asked for too late is not done");
    world.is_sound().await;
}

#[tokio::test]
async fn an_answer_counts_even_if_it_comes_late() {
    let clock = TestClock::stopped();
    let hand = clock.clone();
    let model = ScriptedModel::answering(move |_| {
        hand.advance(Duration::from_secs(3600));
        Reply::text("At last.")
    });
    let world = World::with(model, |setup| {
        setup.clock = Some(clock);
        setup.policy.turn.time = Duration::from_secs(90);
    })
    .await;
    assert_eq!(world.say("Take your time").await.reply, "At last.");
}

#[tokio::test]
async fn the_same_calls_again_and_again_end_the_turn() {
    let prop = Prop::new("prop", ToolEffect::ReadsOnly, Act::Answer(json!("nothing new")));
    let model = ScriptedModel::answering(|_| Reply::call("prop", json!({"what": "news"})));
    let world = World::with(model, |setup| {
        setup.tool(&prop);
        setup.policy.turn.repetitions = 3;
    })
    .await;
    let outcome = world.say("What is new?").await;
    assert_eq!(outcome.end, Some(TurnEnd::Looping));
    assert_eq!((world.model.requests().len(), prop.calls().len()), (5, 4));
    assert!(outcome.reply.contains("the same thing 5 times in a row"), "{}", outcome.reply);
    world.model.then(Reply::text("Nothing."));
    assert_eq!(world.say("go on").await.reply, "Nothing.");
    world.has_a_valid_history();
}

#[tokio::test]
async fn the_same_call_with_something_in_between_is_no_loop() {
    let prop = Prop::changing("prop");
    let look = || Reply::call("list_files", json!({}));
    let model = ScriptedModel::new((0..6).flat_map(|n| [look(), Reply::call("prop", json!({"n": n}))]))
        .otherwise(Reply::text("Done."));
    let world = World::with(model, |setup| setup.tool(&prop)).await;
    assert_eq!(world.say("Go").await.reply, "Done.");
    assert_eq!(prop.calls().len(), 6);
}

#[tokio::test]
async fn a_model_that_never_ends_ends_with_the_time_there_is() {
    let model = ScriptedModel::new([Reply::text("For ever and ").then_hang(), Reply::text("Here I am.")]);
    let world = World::with(model, |setup| setup.policy.turn.time = Duration::from_millis(50)).await;
    let outcome = world.say("Talk").await;
    assert_eq!(outcome.end, Some(TurnEnd::LimitReached { limit: TurnLimit::Time }));
    assert!(outcome.reply.contains("`turn.seconds`"), "{}", outcome.reply);
    assert_eq!(world.say("Hello?").await.reply, "Here I am.");
    world.is_sound().await;
}

#[tokio::test]
async fn what_a_provider_does_not_count_is_counted_for_it() {
    let world = World::new([Reply::text("Two words.")]).await;
    let usage = world.say("Hello").await.usage;
    assert!(usage.input_tokens > 100, "the prompt and the tools are in it: {usage:?}");
    assert!((2..20).contains(&usage.output_tokens), "{usage:?}");
}
