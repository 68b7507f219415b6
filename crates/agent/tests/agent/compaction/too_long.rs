//! A model that takes less than it was thought to.

use planwright_agent::tokens::Tokens;
use planwright_core::conversation::message_tokens;
use planwright_core::model::ModelRequest;
use planwright_core::turn::TurnEnd;
use planwright_engine::model::ModelErrorKind;
use planwright_llm::scripted::{Reply, ScriptedModel};

use super::{everything_fits, talkative};
use crate::world::{World, newest_message};

const CONTEXT: u32 = 24_000;

fn tokens(request: &ModelRequest) -> u32 {
    let counter = Tokens::default();
    request.messages.iter().map(|message| message_tokens(message, &counter)).sum()
}

#[tokio::test]
async fn a_request_that_is_too_long_is_made_shorter_until_it_is_taken() {
    let model = ScriptedModel::answering(|request| match tokens(request) {
        0..3_000 => talkative(request),
        _ => Reply::error(ModelErrorKind::TooLong, "That is too long for me."),
    });
    let world = World::with(model, |setup| setup.options.context_tokens = Some(CONTEXT)).await;
    for n in 0..40 {
        let output = format!("number {n}");
        let outcome = world.say(&output).await;
        assert_eq!(outcome.end, Some(TurnEnd::Answered), "{}", outcome.reply);
        assert_eq!(newest_message(&world.model.last_request()), output);
    }
    let refused = world.model.requests().iter().filter(|request| tokens(request) >= 3_000).count();
    assert!(refused > 0, "the conversation never grew too long");
    everything_fits(&world, CONTEXT);
    world.is_sound().await;
}

#[tokio::test]
async fn a_model_that_takes_nothing_is_not_asked_for_ever() {
    let model = ScriptedModel::answering(|_| Reply::error(ModelErrorKind::TooLong, "That is too long for me."));
    let world = World::with(model, |_| {}).await;
    let outcome = world.say("Hello").await;
    assert_eq!(outcome.end, Some(TurnEnd::ModelFailed { message: "That is too long for me.".to_owned() }));
    assert!(world.model.requests().len() < 10, "{} requests", world.model.requests().len());
    world.model.then(Reply::text("Here I am."));
    assert_eq!(world.say("Hello?").await.reply, "Here I am.");
    world.is_sound().await;
}
