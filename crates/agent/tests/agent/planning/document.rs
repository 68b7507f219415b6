//! Style document: one Markdown text is the plan.

use planwright_agent::tools::PlanTools;
use planwright_core::event::{Event, PlanEvent};
use planwright_core::model::ModelMessage;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use super::{report, set};
use crate::world::{World, script, statuses};

/// The answer of the last tool, as the model was sent it.
fn last_result(world: &World) -> Value {
    let request = world.model.last_request();
    let Some(ModelMessage::ToolResult { text, .. }) = request.messages.last() else {
        panic!("no result was sent last: {:?}", script(&request))
    };
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a_plan_is_stored_by_the_call_itself() {
    let world = World::new([set("# Move\n\n- [ ] one\n- [ ] two"), Reply::text("It is ready.")]).await;
    world.send("/plan on").await;
    let outcome = world.say("Plan the move").await;
    let plan = world.plan(1).await;
    assert_eq!((plan.status, plan.version), (PlanStatus::Ready, 1));
    assert_eq!(plan.markdown(), "# Move\n\n- [ ] one\n- [ ] two");
    let answer = last_result(&world);
    assert_eq!(answer["plan_id"], json!(plan.id));
    assert_eq!((&answer["number"], &answer["status"]), (&json!(1), &json!("READY")));
    assert_eq!(answer["digest"], json!(plan.digest()));
    assert_eq!(outcome.end, Some(TurnEnd::Answered));
    assert_eq!(outcome.plan.unwrap().digest, plan.digest());
    world.is_sound().await;
}

#[tokio::test]
async fn the_later_of_two_plans_in_one_reply_is_the_plan_and_both_are_stored() {
    let both = set("- [ ] first").and_call("plan_set_content", json!({"plan_markdown": "- [ ] second"}));
    let world = World::new([both.and_call("list_files", json!({})), Reply::text("Ready.")]).await;
    world.send("/plan on").await;
    let outcome = world.say("Plan it").await;
    let plan = world.plan(1).await;
    assert_eq!((plan.markdown().as_str(), plan.version), ("- [ ] second", 2));
    assert_eq!(outcome.plan.unwrap().markdown, "- [ ] second");
    let history = world.engine().history().of_plan(&world.session, &plan.id).await.unwrap();
    assert_eq!(history.versions.len(), 2);
    let stored: Vec<_> = world
        .events()
        .await
        .into_iter()
        .filter_map(|event| {
            if let Event::Plan { event: PlanEvent::ContentSet { markdown, .. }, .. } = event {
                Some(markdown)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(stored, ["- [ ] first", "- [ ] second"]);
}

#[tokio::test]
async fn a_ready_plan_is_written_over_and_its_digest_changes() {
    let world = World::new([set("- [ ] one"), Reply::text("A."), set("- [ ] two"), Reply::text("B.")]).await;
    world.send("/plan on").await;
    let first = world.say("Plan it").await.plan.unwrap();
    let second = world.say("Rather two").await.plan.unwrap();
    assert_eq!((first.plan_id == second.plan_id, first.version, second.version), (true, 1, 2));
    assert_ne!(first.digest, second.digest);
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert!(world.model.last_request().system.contains(&second.digest.to_string()));
    assert!(!world.model.last_request().system.contains(&first.digest.to_string()));
}

#[tokio::test]
async fn a_blank_plan_is_refused_and_nothing_changes() {
    let world = World::new([set(" \n "), set("- [ ] one"), set("\t"), Reply::text("Ready.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Done, ToolStatus::Refused]);
    assert!(script(&world.sent(2)).last().unwrap().contains("INVALID_ARGUMENT"));
    let plan = world.plan(1).await;
    assert_eq!((plan.markdown().as_str(), plan.version), ("- [ ] one", 1));
}

#[tokio::test]
async fn plan_get_gives_the_text_back_byte_for_byte() {
    let text = "# Über\u{200b}gang 移行\r\n\n```rust\nfn main() {}\t\n```\n- [ ] \"one\" \\ two\n\n   \n";
    let world =
        World::new([set(text), Reply::text("Ready."), Reply::call("plan_get", json!({})), Reply::text("Read.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.say("Read it").await;
    let answer = last_result(&world);
    assert_eq!(answer["markdown"], json!(text));
    assert_eq!(answer["status"], json!("READY"));
    for field in ["plan_id", "number", "title", "digest", "progress"] {
        assert!(answer.get(field).is_some(), "{field} is missing in {answer}");
    }
}

#[tokio::test]
async fn a_revision_of_an_approved_plan_is_a_new_plan_that_waits_again() {
    let world = World::new([set("- [ ] one"), Reply::text("A."), set("- [ ] two"), Reply::text("B.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.approve(1, Selection::All).await;
    let outcome = world.say("Rather two").await;
    let (old, new) = (world.plan(1).await, world.plan(2).await);
    assert_eq!((old.status, new.status), (PlanStatus::Superseded, PlanStatus::Ready));
    assert_eq!((old.superseded_by, new.supersedes), (Some(new.id.clone()), Some(old.id)));
    assert_eq!(outcome.plan.unwrap().plan_id, new.id, "the person is shown the new one");
    assert_eq!(new.approval, None, "the approval is not taken over");
    world.is_sound().await;
}

#[tokio::test]
async fn a_revision_while_the_plan_is_carried_out_stops_its_run() {
    let world = World::new([set("- [ ] one\n- [ ] two"), Reply::text("A."), report(1), set("- [ ] three")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let outcome = world.send("/plan approve").await;
    let (old, new) = (world.plan(1).await, world.plan(2).await);
    assert_eq!((old.status, new.status), (PlanStatus::Superseded, PlanStatus::Ready));
    let expected = [ToolStatus::Done, ToolStatus::Done, ToolStatus::Settled];
    assert_eq!(statuses(&world.events().await), expected, "the new plan is not approved, so nothing of it is done");
    assert!(matches!(outcome.end, Some(TurnEnd::PlanReady { .. })), "{outcome:?}");
    assert_eq!(outcome.plan.unwrap().number, 2);
    world.is_sound().await;
}

#[tokio::test]
async fn an_approved_plan_is_worked_through_and_ends_as_completed() {
    let world = World::new([
        set("- [ ] one\n- [ ] two"),
        Reply::text("A."),
        report(1),
        Reply::call("write_file", json!({"path": "two.txt", "content": "2"})),
        report(2),
        Reply::text("All done."),
        Reply::text("What next?"),
    ])
    .await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let outcome = world.send("/plan approve -- carefully").await;
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Completed);
    assert_eq!(plan.markdown(), "- [ ] one\n- [ ] two", "ticking never edits the approved text");
    assert_eq!(outcome.plan, None, "only what waits for a decision is put before the person");
    assert!(outcome.reply.starts_with("All done.\n\nPlan 1 is **COMPLETED**"), "{}", outcome.reply);
    assert!(outcome.reply.ends_with("2 of 2 steps are done."), "{}", outcome.reply);
    let systems: Vec<_> = world.model.requests().into_iter().map(|request| request.system).collect();
    assert!(systems[2].contains("approved by \"Ada\", with the note \"carefully\""), "{}", systems[2]);
    assert!(systems[3].contains("- Done: 1 of 2") && systems[3].contains("Next: step 2"), "{}", systems[3]);
    assert_eq!(world.say("And now?").await.reply, "What next?", "what was said is not said again");
    assert!(world.model.last_request().system.contains("this plan is over; do not take it up again"));
    world.is_sound().await;
}

#[tokio::test]
async fn the_system_prompt_is_the_same_byte_for_byte_while_nothing_changes() {
    let world = World::new([set("- [ ] one"), Reply::text("A."), Reply::text("B."), Reply::text("C.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.say("Nice").await;
    world.say("Very nice").await;
    let systems: Vec<_> = world.model.requests().into_iter().map(|request| request.system).collect();
    assert_ne!(systems[0], systems[1]);
    assert_eq!(systems[1], systems[2]);
    assert_eq!(systems[2], systems[3]);
    assert!(systems[1].contains("use `plan_get`"), "{}", systems[1]);
}

#[tokio::test]
async fn a_plan_that_the_model_cannot_read_at_once_is_read_by_parts() {
    // It reads on for as long as there is more.
    let model = ScriptedModel::answering(|request| match request.messages.last() {
        Some(ModelMessage::ToolResult { text, .. }) => {
            let part: serde_json::Value = serde_json::from_str(text).unwrap();
            match part.get("next_from") {
                Some(from) => Reply::call("plan_get", json!({ "from": from })),
                None => Reply::text("That is all of it."),
            }
        }
        _ => Reply::call("plan_get", json!({})),
    });
    let world = World::with(model, |setup| setup.options.context_tokens = Some(8_000)).await;
    world.send("/plan on").await;
    let text = "- [ ] a step that takes a few more words than are needed\n".repeat(450);
    let arguments = json!({ "plan_markdown": text }).as_object().cloned().unwrap();
    let agent = planwright_core::actor::Actor::agent("elsewhere", "mcp");
    PlanTools::new(world.engine()).call(&world.session, &agent, "plan_set_content", arguments).await.unwrap();
    world.say("What is the plan?").await;
    let requests = world.model.requests();
    let parts = requests.iter().filter_map(|request| match request.messages.last() {
        Some(ModelMessage::ToolResult { text, .. }) => serde_json::from_str::<serde_json::Value>(text).ok(),
        _ => None,
    });
    let parts: Vec<_> = parts.collect();
    assert!(parts.len() > 2, "{}", parts.len());
    let read: String = parts.iter().map(|part| part["markdown"].as_str().unwrap()).collect();
    assert_eq!(read, text, "no line is missing and none comes twice");
    assert_eq!(world.plan(1).await.markdown(), text);
}

/// Tools and older messages go before a word of the plan does.
#[tokio::test]
async fn in_a_small_context_the_plan_is_whole_and_fewer_tools_are_offered() {
    let model = ScriptedModel::answering(|request| match request.messages.last() {
        Some(ModelMessage::User { text }) if text == "What is the plan?" => Reply::call("plan_get", json!({})),
        Some(ModelMessage::ToolResult { name, .. }) if name == "plan_get" => {
            Reply::call("list_files", json!({ "path": "." }))
        }
        Some(ModelMessage::ToolResult { .. }) => Reply::text("I know the plan."),
        _ => Reply::text("This is an answer of some words that are not needed any more. ".repeat(6)),
    });
    let world = World::with(model, |setup| setup.options.context_tokens = Some(8_000)).await;
    world.send("/plan on").await;
    world.send("/plan files on").await;
    world.send("/goal add A goal for more tools").await;
    let text: String = (0..195).map(|step| format!("- [ ] step number {step}\n")).collect();
    let arguments = json!({ "plan_markdown": text }).as_object().cloned().unwrap();
    let agent = planwright_core::actor::Actor::agent("elsewhere", "mcp");
    PlanTools::new(world.engine()).call(&world.session, &agent, "plan_set_content", arguments).await.unwrap();
    for number in 0..6 {
        world.say(&format!("Tell me about {number}")).await;
    }
    let all = world.model.last_request().tools.len();
    assert_eq!(world.say("What is the plan?").await.reply, "I know the plan.");
    let last = world.model.last_request();
    let read = last.messages.iter().find_map(|message| match message {
        ModelMessage::ToolResult { name, text, .. } if name == "plan_get" => Some(text.clone()),
        _ => None,
    });
    let read: serde_json::Value = serde_json::from_str(&read.expect("the plan is still there")).unwrap();
    assert_eq!(read["markdown"], text);
    assert!(last.tools.len() < all, "{} of {all}", last.tools.len());
    assert!(last.tools.iter().any(|tool| tool.name == "plan_get"));
    world.has_a_valid_history();
}
