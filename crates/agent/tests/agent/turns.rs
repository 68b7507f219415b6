//! A turn from the person's words to the answer: what is stored, and what the model is sent.

mod calls;
mod failures;
mod limits;
mod progress;
mod stops;

use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::Reply;

use crate::world::{World, script};

#[tokio::test]
async fn a_message_is_answered_and_both_are_stored() {
    let world = World::new([Reply::text("Hello, Ada.").with_usage(10, 5)]).await;
    let outcome = world.say("Hello").await;
    assert_eq!(outcome.end, Some(TurnEnd::Answered));
    assert_eq!(outcome.reply, "Hello, Ada.");
    assert_eq!(outcome.usage.total(), 15);
    assert_eq!(world.event_names().await, ["session_opened", "turn_begun", "model_replied", "turn_ended"]);
    assert_eq!(script(&world.sent(1)), ["user: Hello"]);
    world.is_sound().await;
}

#[tokio::test]
async fn the_next_turn_reads_what_was_said_before() {
    let world = World::new([Reply::text("Blue it is."), Reply::text("Blue.")]).await;
    world.say("My colour is blue").await;
    world.say("What is my colour?").await;
    assert_eq!(script(&world.sent(2)), ["user: My colour is blue", "model: Blue it is.", "user: What is my colour?"]);
}

#[tokio::test]
async fn a_blank_message_is_refused_and_nothing_is_stored() {
    let world = World::new([]).await;
    for text in ["", " \n\t "] {
        let refused = world.try_say(text).await.unwrap_err();
        assert!(refused.to_string().contains("The message is blank"), "{refused}");
    }
    assert_eq!(world.event_names().await, ["session_opened"]);
}

#[tokio::test]
async fn a_session_that_is_not_there_is_not_begun_by_a_message() {
    let mut world = World::new([]).await;
    world.session = crate::world::session("session-two");
    let refused = world.try_say("Hello?").await.unwrap_err();
    assert!(refused.to_string().contains("no session cli:session-two"), "{refused}");
    assert!(world.model.requests().is_empty());
}

#[tokio::test]
async fn nothing_of_what_was_reset_is_read_again() {
    let world = World::new([Reply::text("Noted."), Reply::text("Which colour?")]).await;
    world.say("My colour is blue").await;
    world.send("/reset").await;
    world.say("What is my colour?").await;
    assert_eq!(script(&world.sent(2)), ["user: What is my colour?"]);
    world.is_sound().await;
}
