//! Messages, as Anthropic streams them.

use planwright_core::model::{ModelMessage, ModelReply, Usage};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::world::{KEY, ask, call, model_at, question, result, sent, turn, user};

const MODEL: &str = "anthropic:claude-sonnet-4-5";

#[tokio::test]
async fn text_comes_piece_by_piece_and_whole() {
    let server = Server::answering([Answer::stream(include_str!("wire/anthropic_text.sse"))]).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    assert_eq!(
        reply.unwrap(),
        ModelReply {
            text: "Grüße from the model ✓".to_owned(),
            usage: Usage { input_tokens: 25, output_tokens: 15 },
            ..ModelReply::default()
        }
    );
    assert_eq!(heard.pieces(), ["Grüße", " from", " the model ✓"]);
    let received = server.only_request();
    assert_eq!(received.path, "/v1/messages");
    assert_eq!(received.header("x-api-key"), KEY);
    assert_eq!(received.header("anthropic-version"), "2023-06-01");
    assert_eq!(
        received.body,
        json!({
            "model": "claude-sonnet-4-5",
            "stream": true,
            "max_tokens": 16384,
            "system": "Be brief.",
            "messages": [{ "role": "user", "content": "Hello?" }],
        })
    );
}

#[tokio::test]
async fn calls_come_with_the_thinking_that_has_to_go_back() {
    let server = Server::answering([
        Answer::stream(include_str!("wire/anthropic_calls.sse")),
        Answer::stream(include_str!("wire/anthropic_text.sse")),
    ])
    .await;
    let model = model_at(&server, MODEL);
    let (reply, heard) = ask(&model, &question()).await;
    let reply = reply.unwrap();
    assert_eq!(heard.text(), "Let me look.");
    assert_eq!(reply.text, "Let me look.");
    assert_eq!(reply.usage, Usage { input_tokens: 25, output_tokens: 65 });
    let [first, second] = reply.calls.as_slice() else { panic!("{reply:?}") };
    assert_eq!((first.name.as_str(), first.arguments.as_str()), ("read_file", r#"{"path":"notes.md"}"#));
    assert_eq!((second.name.as_str(), second.arguments.as_str()), ("plan_get", "{}"));
    assert!(second.signatures.is_empty());

    let mut request = question();
    request.messages = vec![
        user("Hello?"),
        ModelMessage::Assistant {
            text: reply.text.clone(),
            calls: vec![sent("a", first.clone()), sent("b", second.clone())],
        },
        result("a", "read_file", "milk"),
        result("b", "plan_get", "none"),
    ];
    ask(&model, &request).await.0.unwrap();
    let body = &server.received()[1].body;
    assert_eq!(
        body["messages"][1]["content"][0],
        json!({ "type": "thinking", "thinking": "I should look.", "signature": "EqQBCgIYAh" })
    );
    assert_eq!(body["messages"][1]["content"][1], json!({ "type": "text", "text": "Let me look." }));
}

#[tokio::test]
async fn the_history_goes_out_with_results_tied_to_their_calls() {
    let server = Server::answering([Answer::stream(include_str!("wire/anthropic_text.sse"))]).await;
    ask(&model_at(&server, MODEL), &turn()).await.0.unwrap();
    let body = server.only_request().body;
    assert_eq!(
        body["messages"],
        json!([
            { "role": "user", "content": "What do the notes say?" },
            {
                "role": "assistant",
                "content": [
                    { "type": "text", "text": "Let me look." },
                    { "type": "tool_use", "id": "call_0", "name": "read_file", "input": { "path": "notes.md" } },
                    {
                        "type": "tool_use",
                        "id": "call_1",
                        "name": "plan_get",
                        "input": { "unreadable_arguments": "{ not json" },
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    { "type": "tool_result", "tool_use_id": "call_0", "content": r#"{"text":"Buy milk"}"# },
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_1",
                        "content": r#"{"code":"INVALID_ARGUMENT"}"#,
                        "is_error": true,
                    },
                ],
            },
        ])
    );
    assert_eq!(body["max_tokens"], json!(512));
    assert_eq!(body["tools"][0]["name"], json!("read_file"));
    assert_eq!(body["tools"][0]["input_schema"]["type"], json!("object"));
}

#[tokio::test]
async fn a_call_that_was_cut_off_comes_as_far_as_it_got() {
    let server = Server::answering([Answer::stream(include_str!("wire/anthropic_cut_off.sse"))]).await;
    let reply = ask(&model_at(&server, MODEL), &question()).await.0.unwrap();
    assert_eq!(reply.calls, [call("write_file", r#"{"path": "a.md", "conte"#)]);
    assert!(reply.cut_off);
}

#[tokio::test]
async fn signatures_of_another_provider_stay_at_home() {
    let server = Server::answering([Answer::stream(include_str!("wire/anthropic_text.sse"))]).await;
    let mut foreign = call("plan_get", "{}");
    foreign.signatures = vec!["gemini:CpcDAdHtim8".to_owned()];
    let mut request = question();
    request.messages.push(ModelMessage::Assistant { text: String::new(), calls: vec![sent("a", foreign)] });
    request.messages.push(result("a", "plan_get", "none"));
    ask(&model_at(&server, MODEL), &request).await.0.unwrap();
    let body = server.only_request().body;
    assert!(!body.to_string().contains("CpcDAdHtim8"), "{body}");
}
