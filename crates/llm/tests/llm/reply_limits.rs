//! Replies that are too large: they are dropped while they arrive, and the request fails in words.

use planwright_engine::model::ModelErrorKind;
use planwright_llm::{Options, ReplyLimits};
use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::world::{ask, model_at, model_with, question, quick};

const MIB: usize = 1024 * 1024;

/// One event in the form of each provider.
struct Form {
    choice: &'static str,
    text: fn(&str) -> Value,
    call: fn(&str) -> Value,
    framed: fn(&Value) -> String,
}

fn server_sent(event: &Value) -> String {
    format!("data: {event}\n\n")
}

const FORMS: [Form; 4] = [
    Form {
        choice: "openai:gpt-5",
        text: |text| json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }),
        call: |arguments| {
            let function = json!({ "name": "write_file", "arguments": arguments });
            json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "function": function }] } }] })
        },
        framed: server_sent,
    },
    Form {
        choice: "anthropic:claude-sonnet-4-5",
        text: |text| json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": text } }),
        call: |arguments| {
            let block = json!({ "type": "tool_use", "name": "write_file", "input": { "content": arguments } });
            json!({ "type": "content_block_start", "content_block": block })
        },
        framed: server_sent,
    },
    Form {
        choice: "gemini:gemini-2.5-pro",
        text: |text| json!({ "candidates": [{ "content": { "parts": [{ "text": text }] } }] }),
        call: |arguments| {
            let function = json!({ "name": "write_file", "args": { "content": arguments } });
            json!({ "candidates": [{ "content": { "parts": [{ "functionCall": function }] } }] })
        },
        framed: server_sent,
    },
    Form {
        choice: "ollama:qwen3",
        text: |text| json!({ "message": { "content": text } }),
        call: |arguments| {
            let function = json!({ "name": "write_file", "arguments": { "content": arguments } });
            json!({ "message": { "tool_calls": [{ "function": function }] } })
        },
        framed: |event| format!("{event}\n"),
    },
];

/// The server offers 50 MiB; about as much as the limit allows is taken from it, and nothing is asked for again.
async fn refused(choice: &str, answer: Answer, expected: &str) -> usize {
    let server = Server::answering([answer]).await;
    let (reply, heard) = ask(&model_at(&server, choice), &question()).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLarge, "{choice}: {error}");
    assert!(error.message.contains(expected), "{choice}: {error}");
    assert!(error.message.len() < 400, "{choice}: {error}");
    assert!(heard.agains().is_empty() && server.received().len() == 1, "{choice}");
    assert!(heard.text().len() <= MIB, "{choice}: {} bytes were passed on", heard.text().len());
    server.bytes_taken()
}

#[tokio::test]
async fn text_without_an_end_is_dropped() {
    for form in FORMS {
        let event = (form.framed)(&(form.text)(&"word ".repeat(20)));
        let endless = Answer::endless(event, 50 * MIB);
        let taken = refused(form.choice, endless, "more than 1048576 bytes of text (`reply.text_bytes`)").await;
        assert!(taken < 16 * MIB, "{}: {taken} bytes were taken", form.choice);
    }
}

/// An event that never ends is given up at its limit, and not when all of it has arrived.
#[tokio::test]
async fn one_endless_event_is_dropped() {
    for form in FORMS {
        let event = (form.framed)(&(form.text)("MARK"));
        let (before, _) = event.split_once("MARK").unwrap();
        let endless = Answer::endless_after(before.to_owned(), "x".repeat(1000), 50 * MIB);
        let taken = refused(form.choice, endless, "more than 4194304 bytes (`reply.event_bytes`)").await;
        assert!(taken < 16 * MIB, "{}: {taken} bytes were taken", form.choice);
    }
}

#[tokio::test]
async fn calls_without_an_end_are_dropped() {
    for form in FORMS {
        let event = (form.framed)(&(form.call)(&"word ".repeat(2000)));
        let taken = refused(form.choice, Answer::endless(event, 50 * MIB), "`reply.").await;
        assert!(taken < 16 * MIB, "{}: {taken} bytes were taken", form.choice);
    }
}

/// The number of a call is the provider's, and nothing is made room for by it.
#[tokio::test]
async fn the_number_of_a_call_costs_nothing() {
    let call = json!({ "index": 4_000_000_000_u64, "function": { "name": "plan_get", "arguments": "{}" } });
    let event = server_sent(&json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }));
    let server = Server::answering([Answer::stream(&format!("{event}data: [DONE]\n\n"))]).await;
    let reply = ask(&model_at(&server, "openai:gpt-5"), &question()).await.0.unwrap();
    assert_eq!(reply.calls.len(), 1);
}

/// Everything within the limits arrives whole: arguments of a megabyte, in pieces of a few bytes.
#[tokio::test]
async fn a_large_call_within_the_limits_arrives_whole() {
    let content = "0123456789".repeat(MIB / 10);
    let arguments = json!({ "content": content }).to_string();
    let mut body = String::new();
    for piece in arguments.as_bytes().chunks(50) {
        let event = (FORMS[0].call)(std::str::from_utf8(piece).unwrap());
        body += &server_sent(&event);
    }
    body += "data: [DONE]\n\n";
    let server = Server::answering([Answer::whole(body)]).await;
    let reply = ask(&model_at(&server, "openai:gpt-5"), &question()).await.0.unwrap();
    assert!(reply.calls.len() == 1 && reply.calls[0].arguments == arguments);
}

#[tokio::test]
async fn limits_are_settings() {
    let small = ReplyLimits { text_bytes: 10, ..ReplyLimits::default() };
    let options = Options { limits: small, ..quick() };
    let server = Server::answering([Answer::stream(include_str!("wire/openai_text.sse"))]).await;
    let error = ask(&model_with(&server, "openai:gpt-5", options), &question()).await.0.unwrap_err();
    assert!(error.message.contains("more than 10 bytes of text"), "{error}");
    for (limits, expected) in [
        (ReplyLimits { calls: 1, ..ReplyLimits::default() }, "more than 1 tool calls"),
        (ReplyLimits { arguments_bytes: 10, ..ReplyLimits::default() }, "more than 10 bytes (`reply.arguments_bytes`)"),
        (ReplyLimits { reply_bytes: 20, ..ReplyLimits::default() }, "more than 20 bytes (`reply.bytes`)"),
        (ReplyLimits { stream_bytes: 500, ..ReplyLimits::default() }, "more than 500 bytes (`reply.stream_bytes`)"),
    ] {
        let server = Server::answering([Answer::stream(include_str!("wire/openai_calls.sse"))]).await;
        let options = Options { limits, ..quick() };
        let error = ask(&model_with(&server, "openai:gpt-5", options), &question()).await.0.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::TooLarge);
        assert!(error.message.contains(expected), "{error}");
    }
}

/// The body of an error is not read to its end either.
#[tokio::test]
async fn an_endless_error_is_dropped() {
    let endless = Answer::endless("<p>busy</p>".repeat(100), 50 * MIB).status(400);
    let server = Server::answering([endless]).await;
    let error = ask(&model_at(&server, "openai:gpt-5"), &question()).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(server.bytes_taken() < 16 * MIB, "{} bytes were taken", server.bytes_taken());
}
