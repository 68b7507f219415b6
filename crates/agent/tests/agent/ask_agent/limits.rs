//! What a specialist takes counts against the turn that asks.

use planwright_core::turn::{TurnEnd, TurnLimit};
use planwright_llm::scripted::Reply;
use serde_json::json;

use super::{ask, planning};
use crate::specialist_scripts::scripted;
use crate::talk::Talk as _;
use crate::world::script;

fn looks(count: usize) -> impl Iterator<Item = Reply> {
    (0..count).map(|n| Reply::call("glob_files", json!({"pattern": format!("{n}")})))
}

fn reached(limit: TurnLimit) -> TurnEnd {
    TurnEnd::LimitReached { limit }
}

#[tokio::test]
async fn its_calls_and_tokens_are_those_of_the_turn() {
    let replies = [ask("coder", "Well?").with_usage(10, 1), Reply::text("Ok.").with_usage(20, 2)];
    let world = planning(replies, |_| {}).await;
    let look = Reply::call("list_files", json!({})).with_usage(100, 3);
    scripted(&world, "asked coder", [look, Reply::text("Well.").with_usage(200, 4)]);
    let outcome = world.say("Plan it").await;
    assert_eq!((outcome.usage.input_tokens, outcome.usage.output_tokens), (330, 10));
    assert_eq!(outcome.model_calls, 4);
}

#[tokio::test]
async fn calls_of_the_model_are_counted_over_both() {
    let world = planning([ask("coder", "Well?"), Reply::text("Not reached.")], |setup| {
        setup.policy.turn.model_calls = 4;
    })
    .await;
    scripted(&world, "asked coder", looks(9));
    let outcome = world.say("Plan it").await;
    assert_eq!(outcome.end, Some(reached(TurnLimit::ModelCalls)));
    assert_eq!(world.model.requests_of("asked coder").len(), 3, "one was the planner's");
    assert_eq!(world.model.requests().len(), 4);
    assert!(outcome.reply.contains("`turn.model_calls`"), "{}", outcome.reply);
    world.is_sound().await;
}

#[tokio::test]
async fn tool_calls_are_counted_over_both() {
    let world = planning([ask("coder", "Well?"), Reply::call("list_files", json!({})), Reply::text("No.")], |setup| {
        setup.policy.turn.tool_calls = 3;
    })
    .await;
    scripted(&world, "asked coder", looks(2).chain([Reply::text("Well.")]));
    let outcome = world.say("Plan it").await;
    assert_eq!(
        outcome.end,
        Some(reached(TurnLimit::ToolCalls)),
        "two of the specialist's and the question: {}",
        outcome.reply
    );
    world.is_sound().await;
}

#[tokio::test]
async fn tokens_are_counted_over_both() {
    let world = planning([ask("coder", "Well?").with_usage(400, 0), Reply::text("No.")], |setup| {
        setup.policy.turn.tokens = 1_000;
    })
    .await;
    let look = |n: u64| Reply::call("glob_files", json!({"pattern": format!("{n}")})).with_usage(400, 0);
    scripted(&world, "asked coder", [look(1), look(2), look(3)]);
    let outcome = world.say("Plan it").await;
    assert_eq!(outcome.end, Some(reached(TurnLimit::Tokens)));
    assert_eq!(world.model.requests_of("asked coder").len(), 2, "{}", outcome.reply);
    world.is_sound().await;
}

#[tokio::test]
async fn what_was_asked_before_a_restart_counts_too() {
    // The limits of a turn are those of the whole turn, also when another process continues it.
    let world = planning([], |setup| setup.policy.turn.model_calls = 4).await;
    let model = crate::specialist_scripts::staffed()
        .script("", [ask("coder", "Well?")])
        .script("asked coder", looks(2).chain([Reply::hang()]));
    let process = crate::process::Process::start(&world, &model).await;
    process.send(&world.session, "Plan it");
    model.asked(4).await;
    process.die().await;
    scripted(&world, "asked coder", looks(9));
    let outcome = world.agent.resume(&world.session, &crate::talk::Watcher::none()).await;
    assert_eq!(outcome.unwrap().unwrap().end, Some(reached(TurnLimit::ModelCalls)));
    assert_eq!(world.model.requests_of("asked coder").len(), 1);
    let sent = script(&world.model.requests_of("asked coder")[0]);
    assert_eq!(sent.len(), 5, "it continues where it stopped: {sent:?}");
    world.is_sound().await;
}
