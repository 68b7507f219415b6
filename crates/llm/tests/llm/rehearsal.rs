//! The rehearsal model against the real tools, and against tools that refuse.

mod refusals;
mod session;
mod specialists;

use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_engine::model::Model;
use planwright_llm::rehearsal::RehearsalModel;

use crate::world::{RecordingListener, question, tool, user};
use session::TestSession;

const REQUEST: &str = "Please add a health endpoint to the billing service, and then write tests for it.";

#[track_caller]
fn says_what_it_is(text: &str) {
    assert!(text.contains("rehearsal model") && text.contains("PLANWRIGHT_MODEL"), "{text}");
}

#[tokio::test]
async fn a_document_is_drafted_approved_and_carried_out() {
    let mut session = TestSession::planning(PlanStyle::Document).await;
    let text = session.say(REQUEST).await;
    says_what_it_is(&text);
    assert!(text.contains("/plan approve"), "{text}");
    assert_eq!(session.called(), ["plan_get", "plan_set_content"]);
    let plan = session.plan().await;
    assert_eq!(plan.status, PlanStatus::Ready);
    assert_eq!(plan.display_title(), "Add a health endpoint to the billing service");
    let steps: Vec<_> = plan.content.steps().iter().map(|step| step.description.clone()).collect();
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[2], "Write tests for it");

    let text = session.say("yes").await;
    assert!(text.contains("waits for your decision"), "a yes is no approval: {text}");
    assert_eq!(session.plan().await.digest(), plan.digest());

    session.approve().await;
    let text = session.say("go on").await;
    says_what_it_is(&text);
    assert!(text.contains("only rehearsed"), "{text}");
    let calls = session.called();
    assert_eq!(calls.iter().filter(|name| *name == "plan_progress").count(), 8, "each is begun and done: {calls:?}");
    let done = session.newest_plan().await;
    assert_eq!(done.status, PlanStatus::Completed);
    let runs = &done.execution.as_ref().unwrap().steps;
    let says = |text: &Option<String>, message: &str| text.as_deref().is_some_and(|text| text.contains(message));
    assert!(runs.iter().all(|run| says(&run.note, "Only rehearsed") && says(&run.evidence, "None")), "{runs:?}");
}

/// It does nothing of what a plan says, so it reports no step of another agent's plan as done.
#[tokio::test]
async fn an_approved_document_of_another_agent_is_left_alone() {
    for message in ["yes, go ahead", "go on", "[Plan 1 was approved by \"ada\". Carry it out now.]", "Bake the bread"] {
        let mut session = TestSession::planning(PlanStyle::Document).await;
        session.drafted_by_another("# Bread\n\n- [ ] Bake it\n").await;
        session.approve().await;
        let before = session.plan().await;
        let text = session.say(message).await;
        says_what_it_is(&text);
        assert!(text.contains("only plans that I drafted") && text.contains("`PLANWRIGHT_MODEL`"), "{text}");
        assert_eq!(session.called(), ["plan_get"], "{message}");
        let after = session.plan().await;
        assert_eq!((after.status, after.digest()), (before.status, before.digest()), "{message}");
    }
}

#[tokio::test]
async fn a_yes_changes_nothing_about_a_plan_that_waits() {
    for style in [PlanStyle::Document, PlanStyle::Build, PlanStyle::Collect] {
        let mut session = TestSession::planning(style).await;
        session.say(REQUEST).await;
        let before = session.plan().await;
        for message in ["yes, go ahead", "Yes, please do it!", "ok, looks good, go"] {
            let text = session.say(message).await;
            assert!(text.contains("waits for your decision"), "{style:?} {message}: {text}");
            assert_eq!(session.plan().await.digest(), before.digest(), "{style:?} {message}");
        }
    }
}

#[tokio::test]
async fn an_approved_document_is_carried_out_when_the_engine_begins() {
    for opening in [
        "[Plan 1 was approved by \"ada\", with the note \"a view instead?\". Carry it out now.]",
        "[Go on with plan 1. Is anything open?",
    ] {
        let mut session = TestSession::planning(PlanStyle::Document).await;
        session.say(REQUEST).await;
        let text = session.say(opening).await;
        assert!(text.contains("waits for your decision"), "only the store tells what is approved: {text}");
        session.approve().await;
        let text = session.say(opening).await;
        assert!(text.contains("only rehearsed"), "{text}");
        assert_eq!(session.newest_plan().await.status, PlanStatus::Completed);
    }
}

/// What was begun before the turn ended is not left out.
#[tokio::test]
async fn a_document_is_gone_on_with_where_it_stands() {
    let mut session = TestSession::planning(PlanStyle::Document).await;
    session.say(REQUEST).await;
    session.approve().await;
    session.report(1, "done").await;
    session.report(2, "in_progress").await;
    session.say("[Go on with plan 1]").await;
    assert_eq!(session.called().len(), 1 + 3 * 2, "{:?}", session.called());
    assert_eq!(session.newest_plan().await.status, PlanStatus::Completed);
}

#[tokio::test]
async fn feedback_makes_another_document() {
    let mut session = TestSession::planning(PlanStyle::Document).await;
    session.say(REQUEST).await;
    let first = session.plan().await;
    session.revise("fewer moving parts, please").await;
    session.say("The person asked for changes.").await;
    let second = session.plan().await;
    assert_ne!(second.digest(), first.digest());
    assert!(session.shown().await.contains("fewer moving parts, please"));
    assert_eq!(second.status, PlanStatus::Ready);

    session.say("revise: and mention the changelog").await;
    assert!(session.shown().await.contains("mention the changelog"));

    session.approve().await;
    session.revise("no tests after all").await;
    session.say("go on").await;
    let third = session.plan().await;
    assert_eq!(third.status, PlanStatus::Ready);
    assert!(session.shown().await.contains("no tests after all"));
}

#[tokio::test]
async fn calls_are_collected_and_finalised() {
    let mut session = TestSession::planning(PlanStyle::Collect).await;
    let text = session.say(REQUEST).await;
    says_what_it_is(&text);
    assert_eq!(session.called(), ["plan_get", "list_files", "write_file", "plan_finalize"]);
    let plan = session.plan().await;
    assert_eq!((plan.status, plan.content.steps().len()), (PlanStatus::Ready, 2));

    let text = session.say("Bake bread as well").await;
    assert!(text.contains("/plan revise"), "{text}");
    session.revise("use another file").await;
    session.say("The person asked for changes.").await;
    let second = session.plan().await;
    assert_eq!(second.status, PlanStatus::Ready);
    assert_ne!(second.digest(), plan.digest());
    assert!(session.shown().await.contains("use another file"));
}

#[tokio::test]
async fn without_anything_to_call_nothing_is_collected() {
    let mut session = TestSession::planning(PlanStyle::Collect).await.without_other_tools();
    let text = session.say(REQUEST).await;
    assert!(text.contains("no tool"), "{text}");
    assert_eq!(session.plan().await.status, PlanStatus::Collecting);
}

#[tokio::test]
async fn a_draft_is_built_and_submitted() {
    let mut session = TestSession::planning(PlanStyle::Build).await;
    let text = session.say(REQUEST).await;
    says_what_it_is(&text);
    let mut expected = vec!["plan_get", "plan_create_draft", "plan_set_metadata"];
    expected.extend(["plan_add_step"; 4]);
    expected.push("plan_submit");
    assert_eq!(session.called(), expected);
    let plan = session.plan().await;
    assert_eq!((plan.status, plan.content.steps().len()), (PlanStatus::Ready, 4));

    session.revise("a reviewer has to look").await;
    session.say("The person asked for changes.").await;
    let second = session.plan().await;
    assert_eq!((second.status, second.content.steps().len()), (PlanStatus::Ready, 5));
    assert!(session.shown().await.contains("a reviewer has to look"));

    let text = session.say("ok").await;
    assert!(text.contains("waits for your decision"), "{text}");
    session.say("Bake bread").await;
    assert_eq!(session.plan().await.display_title(), "Bake bread");
}

#[tokio::test]
async fn agents_of_the_configuration_are_given_the_steps() {
    let mut session = TestSession::with_agents(&["baker", "taster"]).await;
    session.say("Bake bread").await;
    assert_eq!(session.plan().await.status, PlanStatus::Ready);
    assert!(session.shown().await.contains("baker"));
}

#[tokio::test]
async fn without_plan_work_it_says_how_to_begin() {
    let mut request = question();
    request.tools = [tool("read_file")].into();
    let reply = RehearsalModel::default().reply(&request, &RecordingListener::default()).await.unwrap();
    says_what_it_is(&reply.text);
    assert!(reply.text.contains("/plan on") && reply.calls.is_empty());
}

#[tokio::test]
async fn a_summary_is_short_and_the_same_every_time() {
    let mut request = ModelRequest { system: "Summarise the conversation.".to_owned(), ..ModelRequest::default() };
    for number in 0..50 {
        request.messages.push(user(&format!("Wish number {number}\nwith more")));
        request.messages.push(ModelMessage::Assistant { text: format!("Granted {number}"), calls: Vec::new() });
    }
    let model = RehearsalModel::default();
    let heard = RecordingListener::default();
    let reply = model.reply(&request, &heard).await.unwrap();
    assert!(reply.text.contains("Wish number 49") && reply.text.len() < 1000, "{}", reply.text);
    assert_eq!(heard.text(), reply.text);
    assert!(heard.pieces().len() > 10, "word by word");
    assert_eq!(model.reply(&request, &RecordingListener::default()).await.unwrap(), reply);
    assert!(reply.usage.input_tokens > 100 && reply.usage.output_tokens > 10);
}
