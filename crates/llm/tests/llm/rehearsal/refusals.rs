//! However a call ends, the turn ends in text.

use planwright_core::model::{ModelMessage, ModelReply, ModelRequest, SentCall};
use planwright_engine::model::{Model, Silent};
use planwright_llm::rehearsal::RehearsalModel;

use crate::world::{tool, user};

const STYLES: [&[&str]; 5] = [
    &["plan_get", "plan_set_content"],
    &["plan_get", "plan_set_content", "plan_progress"],
    &["plan_get", "plan_finalize", "list_files", "write_file"],
    &["plan_get", "plan_create_draft", "plan_set_metadata", "plan_add_step", "plan_submit"],
    &["plan_get", "ask_agent", "plan_create_draft", "plan_set_metadata", "plan_add_step", "plan_submit"],
];

async fn reply(request: &ModelRequest) -> ModelReply {
    RehearsalModel::default().reply(request, &Silent).await.unwrap()
}

/// Plays a turn in which `answer` says what each call comes to. Gives the text and how many calls were made.
async fn play(tools: &[&str], answer: impl Fn(&str) -> (String, bool)) -> (String, usize) {
    let mut request = ModelRequest {
        messages: vec![user("Bake bread")],
        tools: tools.iter().map(|name| tool(name)).collect(),
        ..ModelRequest::default()
    };
    for number in 0..200 {
        let reply = reply(&request).await;
        let Some(call) = reply.calls.into_iter().next() else { return (reply.text, number) };
        let (id, name) = (number.to_string(), call.name.clone());
        request
            .messages
            .push(ModelMessage::Assistant { text: reply.text, calls: vec![SentCall { id: id.clone(), call }] });
        let (text, failed) = answer(&name);
        request.messages.push(ModelMessage::ToolResult { id, name, text, failed });
    }
    panic!("{tools:?}: the turn does not end")
}

#[tokio::test]
async fn refusals_are_told_in_their_own_words() {
    let denied = r#"{"code":"POLICY_DENIED","message":"Not while it rains.","errors":[{"path":"/goal","message":"the goal is wet"}]}"#;
    for tools in STYLES {
        let (text, calls) = play(tools, |_| (denied.to_owned(), true)).await;
        assert!(text.contains("Not while it rains.") && text.contains("the goal is wet"), "{tools:?}: {text}");
        assert!(calls <= 4, "{tools:?}: {calls}");
    }
}

#[tokio::test]
async fn odd_answers_end_in_text_too() {
    let statuses =
        ["COLLECTING", "READY", "APPROVED", "EXECUTING", "COMPLETED", "PARTIALLY_COMPLETED", "REJECTED", "new"];
    for tools in STYLES {
        for text in ["", "ok", "null", "[]", "{}", "{\"next\":null}", "\u{1b}[2J"] {
            for failed in [false, true] {
                let (told, _) = play(tools, |_| (text.to_owned(), failed)).await;
                assert!(!told.is_empty() && !told.contains('\u{1b}'), "{tools:?} {text:?}: {told:?}");
            }
        }
        for status in statuses {
            let plan = format!(r#"{{"status":"{status}","progress":{{"next":{{"step":1}}}},"steps":[1]}}"#);
            let (told, _) = play(tools, |_| (plan.clone(), false)).await;
            assert!(told.contains("rehearsal model"), "{tools:?} {status}: {told}");
        }
    }
}

#[tokio::test]
async fn a_call_that_was_never_answered_ends_the_turn() {
    let call = planwright_core::model::ToolCall {
        name: "plan_set_content".to_owned(),
        arguments: "{}".to_owned(),
        signatures: Vec::new(),
    };
    let request = ModelRequest {
        messages: vec![
            user("Bake bread"),
            ModelMessage::Assistant { text: String::new(), calls: vec![SentCall { id: "1".to_owned(), call }] },
        ],
        tools: [tool("plan_get"), tool("plan_set_content")].into(),
        ..ModelRequest::default()
    };
    let reply = reply(&request).await;
    assert!(reply.calls.is_empty() && reply.text.contains("was not answered"), "{reply:?}");
}

#[tokio::test]
async fn feedback_is_found_in_the_prompt_where_the_plan_cannot_be_read() {
    let request = ModelRequest {
        system: "You plan.\nFeedback: less salt\n".to_owned(),
        messages: vec![user("Bake bread")],
        tools: [tool("plan_set_content")].into(),
        ..ModelRequest::default()
    };
    let reply = reply(&request).await;
    assert!(reply.calls[0].arguments.contains("less salt"), "{reply:?}");
}
