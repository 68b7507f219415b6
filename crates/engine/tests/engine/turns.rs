//! A turn from the person's words to the answer: what is stored, and what the model is sent.

use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::world::{World, script};

#[tokio::test]
async fn a_message_is_answered_and_both_are_stored() {
    let world = World::new([Reply::text("Hello, Ada.").with_usage(10, 5)]).await;
    let outcome = world.say("Hello").await;
    assert_eq!(outcome.end, TurnEnd::Answered);
    assert_eq!(outcome.reply, "Hello, Ada.");
    assert_eq!(outcome.usage.total(), 15);
    assert_eq!(world.event_names().await, ["session_opened", "turn_begun", "model_replied", "turn_ended"]);
    assert_eq!(script(&world.sent(1)), ["user: Hello"]);
    world.is_sound().await;
}

#[tokio::test]
async fn several_calls_in_one_reply_are_carried_out_in_order() {
    let world = World::new([
        Reply::call("write_file", json!({"path": "a.txt", "content": "one"}))
            .and_call("read_file", json!({"path": "a.txt"}))
            .with_text("Let me write."),
        Reply::text("Done."),
    ])
    .await;
    let outcome = world.say("Write a file").await;
    assert_eq!(outcome.reply, "Done.");
    assert_eq!(outcome.tool_calls, 2);
    let sent = script(&world.sent(2));
    assert_eq!(sent[1], "model: Let me write. [write_file, read_file]");
    assert!(sent[2].starts_with("result write_file:"), "{sent:?}");
    assert!(sent[3].contains("one"), "{sent:?}");
    assert_eq!(std::fs::read_to_string(world.files().join("a.txt")).unwrap(), "one");
    world.is_sound().await;
}

#[tokio::test]
async fn the_next_turn_reads_what_was_said_before() {
    let world = World::new([Reply::text("Blue it is."), Reply::text("Blue.")]).await;
    world.say("My colour is blue").await;
    world.say("What is my colour?").await;
    assert_eq!(script(&world.sent(2)), ["user: My colour is blue", "model: Blue it is.", "user: What is my colour?"]);
}
