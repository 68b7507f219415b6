//! Chat, as Ollama streams it: a line of JSON for every piece.

use planwright_core::model::{ModelReply, Usage};
use planwright_engine::model::ModelErrorKind;
use serde_json::json;

use crate::server::{Answer, Server};
use crate::world::{ask, call, model_at, question, turn};

const MODEL: &str = "ollama:qwen3:8b";

#[tokio::test]
async fn text_comes_piece_by_piece_and_whole() {
    let server = Server::answering([Answer::stream(include_str!("wire/ollama_text.ndjson"))]).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    assert_eq!(
        reply.unwrap(),
        ModelReply {
            text: "Grüße from the model ✓".to_owned(),
            usage: Usage { input_tokens: 26, output_tokens: 8 },
            ..ModelReply::default()
        }
    );
    assert_eq!(heard.pieces(), ["Grüße", " from", " the model ✓"]);
    let received = server.only_request();
    assert_eq!(received.path, "/api/chat");
    assert_eq!(received.header("authorization"), "");
    assert_eq!(
        received.body,
        json!({
            "model": "qwen3:8b",
            "stream": true,
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Hello?" },
            ],
        })
    );
}

#[tokio::test]
async fn calls_come_beside_text_and_thoughts_are_kept_quiet() {
    let server = Server::answering([Answer::stream(include_str!("wire/ollama_calls.ndjson"))]).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    assert_eq!(
        reply.unwrap(),
        ModelReply {
            text: "Let me look.".to_owned(),
            calls: vec![call("read_file", r#"{"path":"notes.md"}"#), call("plan_get", "{}")],
            usage: Usage { input_tokens: 90, output_tokens: 22 },
            cut_off: false,
        }
    );
    assert_eq!(heard.text(), "Let me look.");
}

#[tokio::test]
async fn the_history_goes_out_in_order() {
    let server = Server::answering([Answer::stream(include_str!("wire/ollama_text.ndjson"))]).await;
    ask(&model_at(&server, MODEL), &turn()).await.0.unwrap();
    let body = server.only_request().body;
    assert_eq!(
        body["messages"],
        json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "What do the notes say?" },
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    { "function": { "name": "read_file", "arguments": { "path": "notes.md" } } },
                    { "function": { "name": "plan_get", "arguments": { "unreadable_arguments": "{ not json" } } },
                ],
            },
            { "role": "tool", "content": r#"{"text":"Buy milk"}"# },
            { "role": "tool", "content": r#"{"code":"INVALID_ARGUMENT"}"# },
        ])
    );
    assert_eq!(body["options"], json!({ "num_predict": 512 }));
    assert_eq!(body["tools"][0]["function"]["name"], json!("read_file"));
}

#[tokio::test]
async fn a_stream_that_ends_before_it_is_done_is_asked_for_again() {
    let whole = include_str!("wire/ollama_text.ndjson");
    let (line, _) = whole.split_once('\n').unwrap();
    let server = Server::answering([Answer::stream(&format!("{line}\n")), Answer::stream(whole)]).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    assert_eq!(reply.unwrap().text, "Grüße from the model ✓");
    assert_eq!(heard.agains().len(), 1);
}

#[tokio::test]
async fn an_error_in_the_last_line_is_told() {
    let whole = include_str!("wire/ollama_text.ndjson");
    let (line, _) = whole.split_once('\n').unwrap();
    let broken =
        format!("{line}\n{{\"error\":\"an error was encountered while running the model: CUDA out of memory\"}}\n");
    let server = Server::answering((0..3).map(|_| Answer::stream(&broken))).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert!(error.message.contains("CUDA out of memory") && error.message.contains("3 attempts"), "{error}");
    assert_eq!(heard.agains().len(), 2);
}

#[tokio::test]
async fn a_model_that_is_not_there_can_be_fetched() {
    let body = r#"{"error":"model 'qwen3:8b' not found"}"#;
    let server = Server::answering([Answer::error(404, body)]).await;
    let error = ask(&model_at(&server, MODEL), &question()).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.message.contains("`ollama pull qwen3:8b`"), "{error}");
}
