//! What goes wrong at a provider: what is waited out, what is not, and what people are told.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use planwright_engine::model::ModelErrorKind;
use planwright_llm::{ModelChoice, connect};

use crate::server::{Answer, Server};
use crate::world::{KEY, ask, model_at, model_with, question, quick};

const TEXT: &str = include_str!("wire/openai_text.sse");

fn openai_error(message: &str, code: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"error","param":null,"code":"{code}"}}}}"#)
}

#[tokio::test]
async fn what_does_not_pass_is_told_at_once() {
    let no_key = format!("Incorrect API key provided: {KEY}. Find yours at https://…");
    for (status, message, code, kind, expected) in [
        (
            401,
            no_key.as_str(),
            "invalid_api_key",
            ModelErrorKind::NotAllowed,
            "does not accept the key in OPENAI_API_KEY (401)",
        ),
        (403, "Country not supported", "x", ModelErrorKind::NotAllowed, "Country not supported"),
        (
            404,
            "The model `gpt-x` does not exist",
            "model_not_found",
            ModelErrorKind::Refused,
            "There is no model gpt-x at http",
        ),
        (
            400,
            "Unknown parameter",
            "unknown_parameter",
            ModelErrorKind::Refused,
            "refused the request (400): Unknown parameter",
        ),
        (422, "Nope", "x", ModelErrorKind::Refused, "(422): Nope"),
        (413, "Too large", "x", ModelErrorKind::TooLong, "(413)"),
        (
            400,
            "This model's maximum context length is 8192 tokens.",
            "context_length_exceeded",
            ModelErrorKind::TooLong,
            "The request is too long for gpt-x (400): This model's",
        ),
        (
            429,
            "You exceeded your current quota",
            "insufficient_quota",
            ModelErrorKind::TooManyRequests,
            "The account at the server at http",
        ),
        (400, "a\\u001b[2Jb\\u202e", "x", ModelErrorKind::Refused, "a⟦U+001B⟧[2Jb⟦U+202E⟧"),
    ] {
        let server = Server::answering([Answer::error(status, &openai_error(message, code))]).await;
        let (reply, heard) = ask(&model_at(&server, "openai:gpt-x"), &question()).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(expected), "{error}");
        assert!(heard.agains().is_empty() && heard.pieces().is_empty());
        assert_eq!(server.received().len(), 1, "{status} is not asked again");
    }
}

#[tokio::test]
async fn long_bodies_are_shortened() {
    let server = Server::answering([Answer::error(400, &"x".repeat(100_000))]).await;
    let error = ask(&model_at(&server, "openai:gpt-x"), &question()).await.0.unwrap_err();
    assert!(error.message.len() < 600, "{}", error.message.len());
}

#[tokio::test]
async fn trouble_that_passes_is_waited_out() {
    for status in [408, 429, 500, 502, 503, 529] {
        let server = Server::answering([Answer::error(status, &openai_error("Busy", "x")), Answer::stream(TEXT)]).await;
        let (reply, heard) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
        assert_eq!(reply.unwrap().text, "Grüße from the model ✓");
        let agains = heard.agains();
        assert_eq!(agains.len(), 1, "{status}");
        assert!(agains[0].0.contains("Busy"), "{agains:?}");
        assert_eq!(server.received().len(), 2);
        assert_eq!(server.received()[0].body, server.received()[1].body);
    }
}

#[tokio::test]
async fn a_wait_the_provider_asks_for_is_kept() {
    let busy = Answer::error(429, &openai_error("Busy", "rate_limit_exceeded"));
    let answers =
        [busy.clone().header("retry-after-ms", "20"), busy.header("retry-after", "0.03"), Answer::stream(TEXT)];
    let server = Server::answering(answers).await;
    let (reply, heard) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
    reply.unwrap();
    let waits: Vec<_> = heard.agains().into_iter().map(|(_, wait)| wait).collect();
    assert!(waits[0] >= Duration::from_millis(20) && waits[1] >= Duration::from_millis(30), "{waits:?}");
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_begun() {
    let busy = Answer::error(429, &openai_error("Come back tomorrow", "x")).header("retry-after", "86400");
    let server = Server::answering([busy]).await;
    let (reply, heard) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooManyRequests);
    assert!(error.message.contains("Come back tomorrow"), "{error}");
    assert!(heard.agains().is_empty());
}

#[tokio::test]
async fn attempts_are_limited() {
    let server = Server::answering((0..9).map(|_| Answer::error(503, "<html>Service Unavailable</html>"))).await;
    let (reply, heard) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert!(error.message.ends_with("After 3 attempts, the request was given up."), "{error}");
    assert_eq!((server.received().len(), heard.agains().len()), (3, 2));
}

#[tokio::test]
async fn a_stream_that_is_cut_is_asked_for_again_and_nothing_is_said_twice() {
    for (choice, whole, mark) in [
        ("openai:gpt-5", TEXT, "\"content\":\" the model"),
        ("openai:gpt-5", TEXT, "data: [DONE]"),
        ("anthropic:claude-sonnet-4-5", include_str!("wire/anthropic_text.sse"), "event: message_delta"),
        ("anthropic:claude-sonnet-4-5", include_str!("wire/anthropic_calls.sse"), "\"partial_json\":\" \\\"notes"),
        ("gemini:gemini-2.5-pro", include_str!("wire/gemini_text.sse"), "STOP"),
        ("ollama:qwen3", include_str!("wire/ollama_text.ndjson"), "\"done\":true"),
    ] {
        let server = Server::answering([Answer::stream(whole).cut_before(mark), Answer::stream(whole)]).await;
        let (reply, heard) = ask(&model_at(&server, choice), &question()).await;
        let reply = reply.unwrap_or_else(|error| panic!("{choice} at {mark}: {error}"));
        assert_eq!(heard.agains().len(), 1, "{choice} at {mark}");
        assert!(!reply.text.is_empty());
        assert_eq!(heard.text(), reply.text, "{choice} at {mark}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_without_an_error_is_asked_for_again_too() {
    let server = Server::answering([Answer::stream(TEXT).ended_before("data: [DONE]"), Answer::stream(TEXT)]).await;
    let (reply, heard) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
    assert_eq!(reply.unwrap().text, "Grüße from the model ✓");
    assert_eq!(heard.text(), "Grüße from the model ✓");
    assert_eq!(heard.pieces().len(), 6);
}

#[tokio::test]
async fn errors_in_the_middle_of_an_answer_are_understood() {
    let whole = include_str!("wire/anthropic_text.sse");
    let (beginning, _) = whole.split_once("event: content_block_stop").unwrap();
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let server = Server::answering([Answer::stream(&format!("{beginning}{overloaded}")), Answer::stream(whole)]).await;
    let (reply, heard) = ask(&model_at(&server, "anthropic:claude-sonnet-4-5"), &question()).await;
    assert_eq!(reply.unwrap().text, "Grüße from the model ✓");
    assert!(heard.agains()[0].0.contains("Overloaded"), "{:?}", heard.agains());

    let refused =
        "data: {\"error\":{\"message\":\"No such tool\",\"type\":\"invalid_request_error\",\"code\":null}}\n\n";
    let server = Server::answering([Answer::stream(refused)]).await;
    let error = ask(&model_at(&server, "openai:gpt-5"), &question()).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.message.contains("No such tool"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_read_is_said_to_be_so() {
    for (choice, body) in [
        ("openai:gpt-5", "data: {\"choices\":[{\"delta\":{\"cont\n\n"),
        ("anthropic:claude-sonnet-4-5", "event: content_block_start\ndata: {oops}\n\n"),
        ("gemini:gemini-2.5-pro", "data: oops\r\n\r\n"),
        ("ollama:qwen3", "{\"message\": oops}\n"),
    ] {
        let server = Server::answering([Answer::stream(body)]).await;
        let (reply, heard) = ask(&model_at(&server, choice), &question()).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Unreadable, "{choice}: {error}");
        assert!(heard.agains().is_empty());
    }
}

#[tokio::test]
async fn a_wrong_address_is_recognised() {
    for page in ["<!doctype html>\n<title>Welcome</title>\n\n<p>It works!</p>", "{\"object\":\"chat.completion\"}"] {
        let server = Server::answering([Answer::page(page)]).await;
        let error = ask(&model_at(&server, "openai:gpt-5"), &question()).await.0.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Unreadable, "{error}");
        assert!(error.message.contains("OPENAI_BASE_URL"), "{error}");
    }
}

#[tokio::test]
async fn an_unreachable_address_is_named_in_the_error_without_its_secrets() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    for (choice, variable, query) in
        [("openai:gpt-5", "OPENAI_BASE_URL", format!("?key={KEY}")), ("ollama:qwen3", "OLLAMA_BASE_URL", String::new())]
    {
        let lookup = |name: &str| (name == variable).then(|| format!("http://me:{KEY}@127.0.0.1:{port}/v1{query}"));
        let model = connect(&choice.parse::<ModelChoice>().unwrap(), lookup, quick()).unwrap();
        assert!(!format!("{model:?}").contains(KEY));
        let (reply, heard) = ask(&model, &question()).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Unavailable);
        assert!(error.message.contains(&format!("http://127.0.0.1:{port}/v1")), "{error}");
        assert!(error.message.to_lowercase().contains("refused"), "{error}");
        assert_eq!(heard.agains().len(), 2);
    }
}

#[tokio::test]
async fn dropping_the_future_ends_the_request() {
    let server = Server::answering([Answer::stream(TEXT).silent_before("data: [DONE]"), Answer::stream(TEXT)]).await;
    let model = model_with(&server, "openai:gpt-5", quick());
    let question = question();
    let mut asked = Box::pin(ask(&model, &question));
    while server.bytes_taken() == 0 {
        assert!(futures::poll!(&mut asked).is_pending());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(asked);
    tokio::time::timeout(Duration::from_secs(60), server.hung_up()).await.unwrap();
    server.only_request();
}

/// What a test would find in the log file.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_log_tells_of_trouble_and_not_of_keys() {
    let log = Log::default();
    let writer = log.clone();
    let everything = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    // With a single subscriber in the process, tracing asks only the thread that comes to a log line first, and
    // another test's thread has none.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let _listening = tracing::subscriber::set_default(everything);
    let body = openai_error(&format!("You sent {KEY}"), "x");
    let server = Server::answering([Answer::error(500, &body), Answer::error(401, &body)]).await;
    ask(&model_at(&server, "openai:gpt-5"), &question()).await.0.unwrap_err();
    let written = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(written.contains("asking again") && written.contains("You sent (the key)"), "{written}");
    assert!(!written.contains(KEY), "{written}");
}
