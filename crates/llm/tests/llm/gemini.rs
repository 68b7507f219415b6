//! Generated content, as Gemini streams it.

use planwright_core::model::{ModelMessage, ModelReply, Usage};
use planwright_engine::model::ModelErrorKind;
use serde_json::json;

use crate::server::{Answer, Server};
use crate::world::{KEY, ask, call, model_at, question, result, sent, turn, user};

const MODEL: &str = "gemini:gemini-2.5-pro";

#[tokio::test]
async fn text_comes_piece_by_piece_and_whole() {
    let server = Server::answering([Answer::stream(include_str!("wire/gemini_text.sse"))]).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    assert_eq!(
        reply.unwrap(),
        ModelReply {
            text: "Grüße from the model ✓".to_owned(),
            usage: Usage { input_tokens: 12, output_tokens: 12 },
            ..ModelReply::default()
        }
    );
    assert_eq!(heard.pieces(), ["Grüße", " from", " the model ✓"]);
    let received = server.only_request();
    assert_eq!(received.path, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
    assert_eq!(received.header("x-goog-api-key"), KEY);
    assert_eq!(
        received.body,
        json!({
            "systemInstruction": { "parts": [{ "text": "Be brief." }] },
            "contents": [{ "role": "user", "parts": [{ "text": "Hello?" }] }],
        })
    );
}

#[tokio::test]
async fn calls_come_with_the_signatures_that_have_to_go_back() {
    let server = Server::answering([
        Answer::stream(include_str!("wire/gemini_calls.sse")),
        Answer::stream(include_str!("wire/gemini_text.sse")),
    ])
    .await;
    let model = model_at(&server, MODEL);
    let reply = ask(&model, &question()).await.0.unwrap();
    assert_eq!(reply.text, "Let me look.");
    assert_eq!(reply.usage, Usage { input_tokens: 40, output_tokens: 28 });
    let [first, second] = reply.calls.as_slice() else { panic!("{reply:?}") };
    assert_eq!((first.name.as_str(), first.arguments.as_str()), ("read_file", r#"{"path":"notes.md"}"#));
    assert_eq!((second.name.as_str(), second.arguments.as_str()), ("plan_get", "{}"));
    assert_eq!(first.signatures, ["gemini:CpcDAdHtim8"]);
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
    let contents = &server.received()[1].body["contents"];
    assert_eq!(
        contents[1]["parts"],
        json!([
            { "text": "Let me look." },
            {
                "functionCall": { "name": "read_file", "args": { "path": "notes.md" } },
                "thoughtSignature": "CpcDAdHtim8",
            },
            { "functionCall": { "name": "plan_get", "args": {} } },
        ])
    );
}

#[tokio::test]
async fn the_history_goes_out_with_results_tied_to_their_calls() {
    let server = Server::answering([Answer::stream(include_str!("wire/gemini_text.sse"))]).await;
    ask(&model_at(&server, MODEL), &turn()).await.0.unwrap();
    let body = server.only_request().body;
    let response = |name: &str, content: &str| json!({ "functionResponse": { "name": name, "response": { "name": name, "content": content } } });
    assert_eq!(
        body["contents"],
        json!([
            { "role": "user", "parts": [{ "text": "What do the notes say?" }] },
            {
                "role": "model",
                "parts": [
                    { "text": "Let me look." },
                    { "functionCall": { "name": "read_file", "args": { "path": "notes.md" } } },
                    { "functionCall": { "name": "plan_get", "args": { "unreadable_arguments": "{ not json" } } },
                ],
            },
            {
                "role": "user",
                "parts": [
                    response("read_file", r#"{"text":"Buy milk"}"#),
                    response("plan_get", r#"{"code":"INVALID_ARGUMENT"}"#),
                ],
            },
        ])
    );
    assert_eq!(body["generationConfig"], json!({ "maxOutputTokens": 512 }));
    assert_eq!(body["tools"][0]["functionDeclarations"][1]["name"], json!("plan_get"));
}

#[tokio::test]
async fn a_stream_that_ends_without_a_reason_is_asked_for_again() {
    let cut = Answer::stream(include_str!("wire/gemini_text.sse"))
        .ended_before("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\" the model");
    let server = Server::answering([cut, Answer::stream(include_str!("wire/gemini_text.sse"))]).await;
    let (reply, heard) = ask(&model_at(&server, MODEL), &question()).await;
    assert_eq!(reply.unwrap().text, "Grüße from the model ✓");
    assert_eq!(heard.text(), "Grüße from the model ✓");
    assert_eq!(heard.agains().len(), 1);
}

#[tokio::test]
async fn a_filter_that_stops_everything_is_told() {
    for stopped in [
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9},"modelVersion":"x"}"#,
        r#"{"candidates":[{"finishReason":"PROHIBITED_CONTENT","index":0}],"usageMetadata":{"promptTokenCount":9}}"#,
    ] {
        let server = Server::answering([Answer::stream(&format!("data: {stopped}\r\n\r\n"))]).await;
        let error = ask(&model_at(&server, MODEL), &question()).await.0.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Refused, "{error}");
        assert!(error.message.contains("PROHIBITED_CONTENT"), "{error}");
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn signatures_of_another_provider_stay_at_home() {
    let server = Server::answering([Answer::stream(include_str!("wire/gemini_text.sse"))]).await;
    let mut foreign = call("plan_get", "{}");
    foreign.signatures = vec![r#"anthropic:{"type":"thinking","thinking":"…","signature":"EqQB"}"#.to_owned()];
    let mut request = question();
    request.messages.push(ModelMessage::Assistant { text: String::new(), calls: vec![sent("a", foreign)] });
    request.messages.push(result("a", "plan_get", "none"));
    ask(&model_at(&server, MODEL), &request).await.0.unwrap();
    let body = server.only_request().body;
    assert!(!body.to_string().contains("EqQB"), "{body}");
}
