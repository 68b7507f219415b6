//! Tool results that are larger than the model can read, and turns with many of them.

use planwright_core::gate::ToolEffect;
use planwright_core::model::ModelMessage;
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::{CONTEXT, everything_fits, is_summary, small_world, summaries};
use crate::test_tools::{Act, Prop};
use crate::world::{World, newest_message, script};

fn log() -> Prop {
    let text = "A line of the log, as long as logs go.\n".repeat(1_000);
    Prop::new("read_log", ToolEffect::ReadsOnly, Act::Answer(json!({ "log": text })))
}

async fn world_with_log(model: ScriptedModel, log: &Prop) -> World {
    World::with(model, |setup| {
        setup.options.context_tokens = Some(CONTEXT);
        setup.policy.turn.repetitions = 100;
        setup.tool(log);
    })
    .await
}

#[tokio::test]
async fn one_huge_result_fits_and_says_what_is_missing() {
    let log = log();
    let world =
        world_with_log(ScriptedModel::new([Reply::call("read_log", json!({})), Reply::text("Read.")]), &log).await;
    assert_eq!(world.say("Read the log, please").await.reply, "Read.");
    let request = world.sent(2);
    let Some(ModelMessage::ToolResult { text, .. }) = request.messages.last() else { panic!("{:?}", script(&request)) };
    assert!(text.contains("characters are left out"), "{text}");
    everything_fits(&world, CONTEXT);
}

#[tokio::test]
async fn many_huge_results_in_one_turn_fit_with_the_persons_words_whole() {
    let log = log();
    let message = format!("Read the log again and again. {}", "Be careful. ".repeat(40));
    let model = ScriptedModel::answering(|request| {
        if is_summary(request) {
            return Reply::text("The log was read.");
        }
        Reply::call("read_log", json!({"n": request.messages.len()})).and_call("read_log", json!({"more": true}))
    });
    let world = world_with_log(model, &log).await;
    // The model calls tools until the turn reaches its limit.
    let outcome = world.say(&message).await;
    assert!(matches!(outcome.end, Some(TurnEnd::LimitReached { .. })), "{outcome:?}");
    assert!(log.calls().len() > 50);
    everything_fits(&world, CONTEXT);
    assert!(!summaries(&world).await.is_empty());
    for request in world.model.requests().iter().filter(|request| !is_summary(request)) {
        assert_eq!(newest_message(request), message);
        if request.messages.len() > 1 {
            let last = request.messages.last();
            assert!(matches!(last, Some(ModelMessage::ToolResult { .. })), "the newest results are always there");
        }
    }
    world.is_sound().await;
}

#[tokio::test]
async fn twenty_huge_results_of_one_reply_share_the_room() {
    let log = log();
    let many = (0..20).fold(Reply::default(), |reply, n| reply.and_call("read_log", json!({ "n": n })));
    let world = world_with_log(ScriptedModel::new([many]).otherwise(Reply::text("Read.")), &log).await;
    assert_eq!(world.say("Read all logs").await.reply, "Read.");
    assert_eq!(world.say("Did you?").await.reply, "Read.");
    assert_eq!(log.calls().len(), 20);
    everything_fits(&world, CONTEXT);
    world.is_sound().await;
}

#[tokio::test]
async fn a_model_that_said_nothing_is_asked_again_within_the_budget() {
    let log = log();
    let many = (0..20).fold(Reply::default(), |reply, n| reply.and_call("read_log", json!({ "n": n })));
    let model = ScriptedModel::labelled(|request| String::from(if is_summary(request) { "sum" } else { "" }))
        .script("", [many, Reply::text(""), Reply::text("Read.")])
        .otherwise(Reply::text("The logs were read."));
    let world = world_with_log(model, &log).await;
    assert_eq!(world.say("Read all logs").await.reply, "Read.");
    assert!(newest_message(&world.model.last_request()).starts_with("[Your last reply was empty."));
    everything_fits(&world, CONTEXT);
}

#[tokio::test]
async fn a_huge_reply_of_the_model_does_not_crowd_out_the_next_words() {
    let world = small_world(ScriptedModel::new([
        Reply::text("blah ".repeat(20_000)),
        Reply::text("Short."),
        Reply::text("Short."),
    ]))
    .await;
    world.say("Tell me everything").await;
    assert_eq!(world.say("Now shortly").await.end, Some(TurnEnd::Answered));
    assert_eq!(newest_message(&world.model.last_request()), "Now shortly");
    everything_fits(&world, CONTEXT);
}

#[tokio::test]
async fn huge_arguments_of_a_call_fit_as_well() {
    let content = "A very long line of the story.\n".repeat(3_000);
    let world = small_world(ScriptedModel::new([
        Reply::call("write_file", json!({"path": "story.txt", "content": content})),
        Reply::text("Written."),
    ]))
    .await;
    assert_eq!(world.say("Write a story").await.reply, "Written.");
    assert_eq!(std::fs::read_to_string(world.files().join("story.txt")).unwrap(), content);
    everything_fits(&world, CONTEXT);
}
