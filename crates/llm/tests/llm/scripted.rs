//! The scripted model, which other tests rely on.

use std::time::Duration;

use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_engine::model::{Model, ModelErrorKind, Silent};
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use crate::world::{RecordingListener, call, question, user};

fn asking(expected: &str) -> ModelRequest {
    ModelRequest { messages: vec![user(expected)], ..ModelRequest::default() }
}

fn complains(model: &ScriptedModel) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| model.assert_finished())).is_err()
}

#[tokio::test]
async fn replies_come_in_order_and_requests_are_kept() {
    let model = ScriptedModel::new([
        Reply::call("plan_get", json!({}))
            .and_raw_call("write_file", "{ oops")
            .with_text("Let me see.")
            .with_usage(7, 8),
        Reply::text("Done with it.").cut_off(),
    ]);
    let heard = RecordingListener::default();
    let first = model.reply(&asking("one"), &heard).await.unwrap();
    assert_eq!(first.calls, [call("plan_get", "{}"), call("write_file", "{ oops")]);
    assert_eq!((first.text.as_str(), first.usage.total()), ("Let me see.", 15));
    assert_eq!(heard.pieces(), ["Let ", "me ", "see."]);
    assert!(model.reply(&asking("two"), &Silent).await.unwrap().cut_off);
    assert_eq!(model.requests(), [asking("one"), asking("two")]);
    assert_eq!(model.last_request(), asking("two"));
    model.assert_finished();
}

#[tokio::test]
async fn a_script_that_is_over_says_what_it_was_asked() {
    let model = ScriptedModel::new([]);
    let error = model.clone().reply(&asking("more?"), &Silent).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.message.contains("request 1") && error.message.contains("`more?`"), "{error}");
    assert!(complains(&model));
    model.then(Reply::text("here"));
    assert_eq!(model.reply(&asking("more?"), &Silent).await.unwrap().text, "here");
}

#[tokio::test]
async fn replies_that_were_not_asked_for_are_missed() {
    let model = ScriptedModel::new([Reply::text("never")]);
    assert!(complains(&model));
}

#[tokio::test]
async fn sessions_have_scripts_of_their_own() {
    let model = ScriptedModel::labelled(|request| request.system.clone())
        .script("a", [Reply::text("a1"), Reply::text("a2")])
        .script("b", [Reply::text("b1")])
        .otherwise(Reply::made_from(|request| Reply::text(format!("{} messages", request.messages.len()))));
    let ask = async |system: &str| {
        let request = ModelRequest { system: system.to_owned(), ..asking("x") };
        model.reply(&request, &Silent).await.unwrap().text
    };
    assert_eq!([ask("a").await, ask("b").await, ask("a").await, ask("c").await], ["a1", "b1", "a2", "1 messages"]);
    assert_eq!(model.requests_of("a").len(), 2);
    let order: Vec<_> = model.recorded().into_iter().map(|one| (one.number, one.label)).collect();
    assert_eq!(order, [(1, "a".into()), (2, "b".into()), (3, "a".into()), (4, "c".into())]);
}

#[tokio::test]
async fn failures_come_after_what_was_said() {
    let model = ScriptedModel::new([Reply::text("half a").then_error(ModelErrorKind::Unavailable, "gone")]);
    let heard = RecordingListener::default();
    let error = model.reply(&question(), &heard).await.unwrap_err();
    assert_eq!((error.kind, heard.text().as_str()), (ModelErrorKind::Unavailable, "half a"));
}

#[tokio::test]
async fn an_attempt_that_is_repeated_does_not_count() {
    let model = ScriptedModel::new([Reply::text("whole text").tried_again("broke off", Duration::from_secs(1))]);
    let heard = RecordingListener::default();
    model.reply(&question(), &heard).await.unwrap();
    assert_eq!(heard.agains(), [("broke off".to_owned(), Duration::from_secs(1))]);
    assert_eq!(heard.text(), "whole text");
    assert!(heard.pieces().len() > 2);
}

#[tokio::test]
async fn a_reply_that_hangs_can_be_dropped() {
    let model = ScriptedModel::new([Reply::text("well").then_hang(), Reply::hang()]);
    for number in 1..=2 {
        let asked = model.clone();
        let waiting = tokio::spawn(async move { asked.reply(&question(), &Silent).await });
        model.asked(number).await;
        waiting.abort();
        model.abandoned(number).await;
    }
}

#[tokio::test]
async fn a_gate_holds_a_reply_back() {
    let gate = Gate::closed();
    let model = ScriptedModel::new([Reply::text("at last").behind(&gate)]);
    let asked = model.clone();
    let waiting = tokio::spawn(async move { asked.reply(&question(), &Silent).await });
    model.asked(1).await;
    assert!(!waiting.is_finished());
    gate.open();
    assert_eq!(waiting.await.unwrap().unwrap().text, "at last");
}

#[tokio::test(start_paused = true)]
async fn a_wait_takes_no_time_where_time_stands_still() {
    let model = ScriptedModel::answering(|request| match request.messages.last() {
        Some(ModelMessage::User { text }) => Reply::text(text.to_uppercase()).after(Duration::from_secs(3600)),
        Some(ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. }) | None => Reply::text("?"),
    });
    assert_eq!(model.reply(&asking("loud"), &Silent).await.unwrap().text, "LOUD");
}
