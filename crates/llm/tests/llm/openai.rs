//! Chat completions, as OpenAI and everything that speaks like it streams them.

use planwright_core::model::{ModelReply, Usage};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::world::{KEY, ask, call, model_at, question, turn};

#[tokio::test]
async fn text_comes_piece_by_piece_and_whole() {
    let server = Server::answering([Answer::stream(include_str!("wire/openai_text.sse"))]).await;
    let model = model_at(&server, "openai:gpt-5");
    let (reply, heard) = ask(&model, &question()).await;
    assert_eq!(
        reply.unwrap(),
        ModelReply {
            text: "Grüße from the model ✓".to_owned(),
            usage: Usage { input_tokens: 19, output_tokens: 10 },
            ..ModelReply::default()
        }
    );
    assert_eq!(heard.pieces(), ["Grüße", " from", " the model ✓"]);
    let received = server.only_request();
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(
        received.body,
        json!({
            "model": "gpt-5",
            "stream": true,
            "stream_options": { "include_usage": true },
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Hello?" },
            ],
        })
    );
}

#[tokio::test]
async fn calls_come_out_of_fragments_beside_text() {
    let server = Server::answering([Answer::stream(include_str!("wire/openai_calls.sse"))]).await;
    let (reply, heard) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
    assert_eq!(
        reply.unwrap(),
        ModelReply {
            text: "Let me look.".to_owned(),
            calls: vec![call("read_file", r#"{"path":"notes.md"}"#), call("plan_get", "{}")],
            usage: Usage { input_tokens: 82, output_tokens: 33 },
            cut_off: false,
        }
    );
    assert_eq!(heard.text(), "Let me look.");
}

#[tokio::test]
async fn the_history_goes_out_with_results_tied_to_their_calls() {
    let server = Server::answering([Answer::stream(include_str!("wire/openai_text.sse"))]).await;
    ask(&model_at(&server, "openai:gpt-5"), &turn()).await.0.unwrap();
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
                    {
                        "id": "call_0",
                        "type": "function",
                        "function": { "name": "read_file", "arguments": r#"{"path":"notes.md"}"# },
                    },
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": { "name": "plan_get", "arguments": r#"{"unreadable_arguments":"{ not json"}"# },
                    },
                ],
            },
            { "role": "tool", "tool_call_id": "call_0", "content": r#"{"text":"Buy milk"}"# },
            { "role": "tool", "tool_call_id": "call_1", "content": r#"{"code":"INVALID_ARGUMENT"}"# },
        ])
    );
    assert_eq!(
        body["tools"][0],
        json!({
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "What read_file does.",
                "strict": false,
                "parameters": {
                    "type": "object",
                    "properties": { "path": { "type": ["string", "null"], "default": null } },
                    "additionalProperties": false,
                },
            },
        })
    );
    assert_eq!(body["tools"].as_array().unwrap().len(), 2);
    assert_eq!(body["max_completion_tokens"], json!(512));
}

#[tokio::test]
async fn arguments_that_are_not_json_come_as_they_were_written() {
    let server = Server::answering([Answer::stream(include_str!("wire/openai_broken_arguments.sse"))]).await;
    let (reply, _) = ask(&model_at(&server, "openai:gpt-5"), &question()).await;
    let reply = reply.unwrap();
    assert_eq!(reply.calls, [call("write_file", r#"{"path": "a.md", "conte"#)]);
    assert!(reply.cut_off);
}

/// The wire library reads an effort out of the end of a name; servers have models that are really called so.
#[tokio::test]
async fn names_go_out_as_they_are() {
    for name in ["qwen3-max", "mistral-medium", "openai/gpt-oss-20b:free", "o3-high"] {
        let server = Server::answering([Answer::stream(include_str!("wire/openai_text.sse"))]).await;
        ask(&model_at(&server, &format!("openai:{name}")), &question()).await.0.unwrap();
        let body = server.only_request().body;
        assert_eq!(body["model"], json!(name));
        assert_eq!(body.get("reasoning_effort"), None, "{body}");
    }
}
