//! When tools or the model fail: the turn ends in words, and the next message is answered.

use std::time::Duration;

use planwright_agent::tokens::Tokens;
use planwright_core::conversation::CountTokens as _;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ModelMessage;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_engine::model::ModelErrorKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::test_tools::{Act, Prop};
use crate::world::{World, script, statuses};

/// A world in which the model calls this tool and then says `Done.`
async fn with_tool(tool: &Prop) -> World {
    let model = ScriptedModel::new([Reply::call("prop", json!({})), Reply::text("Done."), Reply::text("Hello.")]);
    World::with(model, |setup| {
        setup.tool(tool);
        setup.policy.turn.tool_time = Duration::from_millis(20);
    })
    .await
}

#[tokio::test]
async fn a_tool_that_fails_is_told_to_the_model() {
    for (refusal, status) in [
        (Refusal::not_found("There is no such bell."), ToolStatus::Refused),
        (Refusal::new(RefusalCode::Unavailable, "The bell is broken."), ToolStatus::Failed),
    ] {
        let output = refusal.message.clone();
        let world = with_tool(&Prop::new("prop", ToolEffect::Changes, Act::Refuse(refusal))).await;
        assert_eq!(world.say("Ring").await.reply, "Done.");
        assert!(script(&world.sent(2))[2].contains(&output));
        assert_eq!(statuses(&world.events().await), [status]);
    }
}

#[tokio::test]
async fn a_tool_that_hangs_is_given_up() {
    let tool = Prop::new("prop", ToolEffect::Changes, Act::Hang);
    let world = with_tool(&tool).await;
    assert_eq!(world.say("Ring").await.reply, "Done.");
    let sent = script(&world.sent(2));
    assert!(sent[2].starts_with("failed prop: It did not end within 0.02 seconds"), "{sent:?}");
    assert_eq!(statuses(&world.events().await), [ToolStatus::TimedOut]);
}

#[tokio::test]
async fn a_tool_that_panics_has_failed_and_the_turn_goes_on() {
    for act in [Act::Panic, Act::PanicWhileChecking] {
        let world = with_tool(&Prop::new("prop", ToolEffect::Changes, act)).await;
        assert_eq!(world.say("Ring").await.reply, "Done.");
        let sent = script(&world.sent(2));
        assert!(sent[2].starts_with("failed prop:") && sent[2].contains("INTERNAL"), "{sent:?}");
        assert_eq!(statuses(&world.events().await), [ToolStatus::Failed]);
        assert_eq!(world.say("Hello").await.reply, "Hello.");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_model_that_panics_ends_the_turn_in_words() {
    let model = ScriptedModel::new([Reply::made_from(|_| panic!("the model broke")), Reply::text("Here I am.")]);
    let world = World::with(model, |_| {}).await;
    let outcome = world.say("Hello").await;
    assert!(matches!(outcome.end, Some(TurnEnd::ModelFailed { .. })), "{outcome:?}");
    assert!(outcome.reply.starts_with("The model could not answer."), "{}", outcome.reply);
    assert_eq!(world.say("Hello?").await.reply, "Here I am.");
    world.is_sound().await;
}

#[tokio::test]
async fn a_huge_result_is_shortened_before_it_is_stored() {
    let text = "A line of the log.\n".repeat(40_000);
    let tool = Prop::new("prop", ToolEffect::ReadsOnly, Act::Answer(json!({"log": text})));
    let world = with_tool(&tool).await;
    assert_eq!(world.say("Read the log").await.reply, "Done.");
    let ModelMessage::ToolResult { text: sent, .. } = &world.sent(2).messages[2] else { panic!("no result was sent") };
    assert!(Tokens::default().count(sent) <= 16_000, "{} tokens", Tokens::default().count(sent));
    assert!(sent.contains("characters are left out"), "it does not say that something is missing");
    assert!(sent.starts_with("{\"log\":\"A line") && sent.ends_with("\"}"), "beginning and end are kept");
    world.is_sound().await;
}

#[tokio::test]
async fn a_model_that_fails_ends_the_turn_in_words_and_the_next_one_works() {
    for kind in [
        ModelErrorKind::NotAllowed,
        ModelErrorKind::TooManyRequests,
        ModelErrorKind::Unavailable,
        ModelErrorKind::Stalled,
        ModelErrorKind::Refused,
        ModelErrorKind::Unreadable,
    ] {
        let failing = Reply::text("Half an ans").then_error(kind, "The provider says no.");
        let world = World::new([failing, Reply::text("Here I am.")]).await;
        let outcome = world.say("Hello").await;
        assert_eq!(outcome.end, Some(TurnEnd::ModelFailed { message: "The provider says no.".to_owned() }));
        assert_eq!(outcome.reply, "The model could not answer. The provider says no.", "{kind:?}");
        assert_eq!(world.event_names().await, ["session_opened", "turn_begun", "turn_ended"]);
        assert_eq!(world.say("And now?").await.reply, "Here I am.");
        let sent = script(&world.sent(2));
        assert_eq!(sent.len(), 3, "{sent:?}");
        assert_eq!(sent[1], "model: [This turn ended because the model could not answer.]");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_model_that_fails_after_a_call_leaves_a_valid_history() {
    let tool = Prop::changing("prop");
    let model = ScriptedModel::new([
        Reply::call("prop", json!({})),
        Reply::error(ModelErrorKind::Unavailable, "It is away."),
        Reply::text("Here I am."),
    ]);
    let world = World::with(model, |setup| setup.tool(&tool)).await;
    assert!(world.say("Ring").await.reply.contains("It is away."));
    assert_eq!(world.say("Again").await.reply, "Here I am.");
    assert_eq!(tool.calls().len(), 1, "what was done is not done again");
    world.has_a_valid_history();
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_once() {
    let world = World::new([Reply::text(" \n"), Reply::text("Hello.")]).await;
    assert_eq!(world.say("Hello").await.reply, "Hello.");
    let sent = script(&world.sent(2));
    assert_eq!(sent.len(), 2, "nothing empty is sent back: {sent:?}");
    assert!(sent[1].starts_with("user: [Your last reply was empty."), "{sent:?}");
    world.model.then(Reply::text("Yes."));
    world.say("Well?").await;
    let later = ["user: Hello", "model: Hello.", "user: Well?"];
    assert_eq!(script(&world.sent(3)), later, "what was said to the silent model is not part of the conversation");
}

#[tokio::test]
async fn two_empty_replies_are_no_answer() {
    let world = World::new([Reply::text(""), Reply::text("\n"), Reply::text("Hello.")]).await;
    let outcome = world.say("Hello").await;
    assert_eq!(outcome.end, Some(TurnEnd::NoAnswer));
    assert!(outcome.reply.contains("answered with nothing, twice"), "{}", outcome.reply);
    assert_eq!(world.say("Hello?").await.reply, "Hello.");
    world.has_a_valid_history();
}

#[tokio::test]
async fn an_answer_that_was_cut_off_says_so() {
    let world = World::new([Reply::text("Once upon a").cut_off()]).await;
    let outcome = world.say("Tell me a story").await;
    assert_eq!(outcome.end, Some(TurnEnd::Answered));
    assert!(outcome.reply.starts_with("Once upon a\n\n") && outcome.reply.contains("cut off"), "{}", outcome.reply);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_carried_out() {
    let half = Reply::raw_call("write_file", r#"{"path": "a.txt", "content": "Once upon"#).cut_off();
    let world = World::new([half, Reply::text("It was too long.")]).await;
    let outcome = world.say("Write a story").await;
    assert_eq!(outcome.reply, "It was too long.");
    assert!(!world.files().join("a.txt").exists());
    assert!(script(&world.sent(2))[2].contains("not valid JSON"));
}
