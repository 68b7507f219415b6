//! Providers that fall silent.

use std::time::Duration;

use planwright_engine::model::ModelErrorKind;
use planwright_llm::{Options, Timeouts};

use crate::server::{Answer, Server};
use crate::world::{ask, model_with, question, quick};

const TEXT: &str = include_str!("wire/openai_text.sse");
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(80);

fn with_timeouts(first_byte: Duration, between_reads: Duration) -> Options {
    Options { timeouts: Timeouts { first_byte, between_reads, ..Timeouts::default() }, ..quick() }
}

#[tokio::test]
async fn an_answer_that_does_not_begin_is_given_up() {
    let server = Server::answering([Answer::stream(TEXT).silent_before("data:")]).await;
    let model = model_with(&server, "openai:gpt-5", with_timeouts(SHORT, LONG));
    let (reply, heard) = ask(&model, &question()).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Stalled);
    assert!(error.message.contains("has sent nothing for 80ms"), "{error}");
    assert!(heard.agains().is_empty());
}

#[tokio::test]
async fn an_answer_that_stops_in_the_middle_is_given_up() {
    for (choice, whole, mark) in [
        ("openai:gpt-5", TEXT, "data: [DONE]"),
        ("anthropic:claude-sonnet-4-5", include_str!("wire/anthropic_text.sse"), "event: message_stop"),
        ("gemini:gemini-2.5-pro", include_str!("wire/gemini_text.sse"), "STOP"),
        ("ollama:qwen3", include_str!("wire/ollama_text.ndjson"), "\"done\":true"),
    ] {
        let server = Server::answering([Answer::stream(whole).silent_before(mark)]).await;
        let model = model_with(&server, choice, with_timeouts(LONG, SHORT));
        let (reply, heard) = ask(&model, &question()).await;
        assert_eq!(reply.unwrap_err().kind, ModelErrorKind::Stalled, "{choice}");
        assert!(heard.text().starts_with("Grüße"), "{choice}: what came was heard");
    }
}

/// Routers keep a connection alive with comments while the model thinks, and models send pieces without words.
#[tokio::test]
async fn a_slow_answer_that_shows_signs_of_life_is_waited_for() {
    let alive = ": KEEPALIVE\n\n".repeat(12);
    let slow = Answer::stream(&format!("{alive}{TEXT}")).slowly(Duration::from_millis(30));
    let server = Server::answering([slow]).await;
    let model =
        model_with(&server, "openai:gpt-5", with_timeouts(Duration::from_millis(400), Duration::from_millis(400)));
    let (reply, _) = ask(&model, &question()).await;
    assert_eq!(reply.unwrap().text, "Grüße from the model ✓");
}
