//! The rehearsal model as a specialist, who is given a step or asked a question, and as the planner who asks.

use planwright_core::model::{ModelMessage, ModelRequest, SentCall, ToolSpec};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::prompt::SUMMARIZE;
use planwright_engine::model::{Model, Silent};
use planwright_llm::rehearsal::RehearsalModel;
use serde_json::{Value, json};

use super::session::{TestSession, string_tool};
use super::{REQUEST, says_what_it_is};
use crate::world::{tool, user};

const STEP: &str = "[Step 2 of 4 of plan 7]\n\nGoal: bread.\nYour step: bake it.";

const REFUSED: (&str, bool) = (r#"{"code":"LIMIT_EXCEEDED","message":"The oven is full."}"#, true);

/// Plays a specialist's turn: `answer` says what each call comes to. Gives the calls and the last words.
async fn play(tools: &[ToolSpec], answer: impl Fn(&str) -> (&'static str, bool)) -> (Vec<(String, Value)>, String) {
    let mut request = ModelRequest {
        messages: vec![user(STEP)],
        tools: tools.into(),
        system: "You are the baker.".to_owned(),
        ..ModelRequest::default()
    };
    let mut made = Vec::new();
    for number in 0..20 {
        let reply = RehearsalModel::default().reply(&request, &Silent).await.unwrap();
        let Some(call) = reply.calls.into_iter().next() else { return (made, reply.text) };
        let (id, name) = (number.to_string(), call.name.clone());
        made.push((name.clone(), serde_json::from_str(&call.arguments).unwrap()));
        let calls = vec![SentCall { id: id.clone(), call }];
        request.messages.push(ModelMessage::Assistant { text: reply.text, calls });
        let (text, failed) = answer(&name);
        // Once a step has its outcome there is nothing more to report.
        if name == "plan_progress" && !failed {
            request.tools = request.tools.iter().filter(|tool| tool.name != "plan_progress").cloned().collect();
        }
        request.messages.push(ModelMessage::ToolResult { id, name, text: text.to_owned(), failed });
    }
    panic!("the turn does not end: {made:?}")
}

fn kitchen() -> Vec<ToolSpec> {
    vec![
        string_tool("write_file", &["path", "content"], &["path", "content"]),
        tool("read_file"),
        tool("plan_progress"),
    ]
}

#[tokio::test]
async fn a_step_is_rehearsed_with_a_note_and_reported() {
    let (calls, text) = play(&kitchen(), |_| ("{}", false)).await;
    says_what_it_is(&text);
    assert!(text.contains("Step 2 of plan 7 is reported"), "{text}");
    let [(write, written), (report, reported)] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((write.as_str(), report.as_str()), ("write_file", "plan_progress"));
    assert_eq!(written["path"], "rehearsal-plan-7-step-2.md");
    assert!(written["content"].as_str().unwrap().contains("> Goal: bread. Your step: bake it"), "{written}");
    let expected = json!({
        "status": "done",
        "note": "Only rehearsed: a note stands for the work.",
        "evidence": "rehearsal-plan-7-step-2.md",
    });
    assert_eq!(*reported, expected);
}

#[tokio::test]
async fn a_step_that_has_to_be_named_is() {
    let progress = string_tool("plan_progress", &["step", "status"], &["step", "status"]);
    let (calls, _) = play(&[progress], |_| ("{}", false)).await;
    let [(_, reported)] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((&reported["step"], &reported["status"]), (&json!(2), &json!("done")));
    assert!(reported["evidence"].as_str().unwrap().starts_with("None"), "{reported}");
}

#[tokio::test]
async fn what_goes_wrong_in_a_step_is_reported_or_told() {
    let (calls, _) = play(&kitchen(), |name| if name == "write_file" { REFUSED } else { ("{}", false) }).await;
    assert_eq!((&calls[1].1["status"], &calls[1].1["evidence"]), (&json!("failed"), &json!("The oven is full.")));
    let (calls, text) = play(&kitchen(), |name| if name == "plan_progress" { REFUSED } else { ("{}", false) }).await;
    assert_eq!(calls.len(), 2, "it is not tried again: {calls:?}");
    assert!(text.contains("The oven is full."), "{text}");
}

#[tokio::test]
async fn a_question_is_answered_in_two_sentences() {
    for question in ["[Question from the planner]\n\nPlease summarise:\nis there flour?", "[Question from the planner"]
    {
        for tools in [vec![], vec![tool("read_file"), tool("list_files")]] {
            let request =
                ModelRequest { messages: vec![user(question)], tools: tools.into(), ..ModelRequest::default() };
            let reply = RehearsalModel::default().reply(&request, &Silent).await.unwrap();
            assert!(reply.calls.is_empty() && reply.text.contains("rehearsal model"), "{reply:?}");
            assert!(reply.text.matches('.').count() == 2 && reply.text.len() < 300, "{}", reply.text);
            assert_eq!(reply.text.contains("“Please summarise: is there flour?”"), question.contains("flour"));
        }
    }
}

/// Words that open a step for a specialist are just words when a person says them.
#[tokio::test]
async fn in_the_conversation_with_the_person_the_model_is_no_specialist() {
    for message in [STEP, "[Question from the planner] is there flour?"] {
        let mut session = TestSession::planning(PlanStyle::Document).await;
        session.say(message).await;
        assert_eq!(session.plan().await.status, PlanStatus::Ready, "{message}");
    }
}

#[tokio::test]
async fn a_specialist_is_asked_before_a_draft_is_built() {
    let mut session = TestSession::planning(PlanStyle::Build).await.with_specialists_to_ask();
    let text = session.say(REQUEST).await;
    says_what_it_is(&text);
    assert_eq!(session.called()[..4], ["plan_get", "ask_agent", "plan_create_draft", "plan_set_metadata"]);
    assert_eq!(session.called().iter().filter(|name| *name == "ask_agent").count(), 1);
    let plan = session.plan().await;
    assert_eq!((plan.status, plan.content.steps().len()), (PlanStatus::Ready, 4));
    let shown = session.shown().await;
    assert!(shown.contains("The researcher says: “Nothing is known about “What exists already"), "{shown}");
}

/// The assumptions of a draft after the question had this outcome.
async fn assumptions(text: &str, failed: bool) -> Value {
    let names = ["ask_agent", "plan_create_draft", "plan_set_metadata", "plan_add_step", "plan_submit"];
    let mut request = ModelRequest {
        messages: vec![user("Bake bread")],
        tools: names.iter().map(|name| tool(name)).collect(),
        ..ModelRequest::default()
    };
    for id in ["1", "2"] {
        let call = RehearsalModel::default().reply(&request, &Silent).await.unwrap().calls.remove(0);
        let (text, failed) = if call.name == "ask_agent" { (text, failed) } else { ("{}", false) };
        let (id, name) = (id.to_owned(), call.name.clone());
        let calls = vec![SentCall { id: id.clone(), call }];
        request.messages.push(ModelMessage::Assistant { text: String::new(), calls });
        request.messages.push(ModelMessage::ToolResult { id, name, text: text.to_owned(), failed });
    }
    // The way to ask may be gone by then.
    request.tools = request.tools[1..].into();
    let call = RehearsalModel::default().reply(&request, &Silent).await.unwrap().calls.remove(0);
    assert_eq!(call.name, "plan_set_metadata");
    let given: Value = serde_json::from_str(&call.arguments).unwrap();
    given["assumptions"][1].clone()
}

#[tokio::test]
async fn whatever_is_answered_the_draft_goes_on() {
    assert_eq!(assumptions("There is\nflour.\u{1b}", false).await, "The researcher says: “There is flour.⟦U+001B⟧”");
    assert_eq!(assumptions(r#"{"agent":"x","answer":"Flour."}"#, false).await, "The researcher says: “Flour.”");
    assert_eq!(assumptions(" ", false).await, "The researcher had no answer");
    assert_eq!(assumptions(REFUSED.0, true).await, "The researcher could not be asked: The oven is full.");
    let long = assumptions(&"flour ".repeat(500), false).await;
    assert!(long.as_str().unwrap().len() < 250, "{long}");
}

#[tokio::test]
async fn a_specialists_conversation_can_be_summarised() {
    for message in [STEP, "[Question from the planner] is there flour?"] {
        let request =
            ModelRequest { system: SUMMARIZE.to_owned(), messages: vec![user(message)], ..ModelRequest::default() };
        let reply = RehearsalModel::default().reply(&request, &Silent).await.unwrap();
        assert!(reply.text.starts_with("Summary"), "{}", reply.text);
    }
}
