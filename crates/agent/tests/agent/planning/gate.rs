//! What is advertised is exactly what the gate lets through, at every moment of a turn.

use planwright_core::command::{Command, SessionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::policy::DocumentTools;
use planwright_core::turn::ToolStatus;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use super::{report, set};
use crate::test_tools::Prop;
use crate::world::{World, person, script, statuses, tool_names};

/// Tools that are there in every style and status.
const ALWAYS: [&str; 7] =
    ["ask_person", "diary_write", "glob_files", "grep_files", "list_files", "memory_search", "read_file"];
/// Tools that change what the session has; not while a plan is built.
const CHANGING: [&str; 3] = ["goal_add", "memory_save", "task_add"];
const BUILDING: [&str; 9] = [
    "ask_agent",
    "plan_add_step",
    "plan_create_draft",
    "plan_get",
    "plan_list",
    "plan_remove_step",
    "plan_set_metadata",
    "plan_submit",
    "plan_update_step",
];

/// The tools of the request with this number, sorted.
fn advertised(world: &World, number: usize) -> Vec<String> {
    let request = world.sent(number);
    let mut names: Vec<_> = tool_names(&request).into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

fn tools(groups: &[&[&str]]) -> Vec<String> {
    let mut names: Vec<_> = groups.iter().flat_map(|group| group.iter()).map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}

const WRITE: &[&str] = &["delete_file", "edit_file", "move_file", "write_file"];

#[tokio::test]
async fn every_style_and_status_has_its_own_tools() {
    let world = World::with(ScriptedModel::new([]).otherwise(Reply::text("Yes.")), |_| {}).await;
    let ask = async || {
        world.say("Well?").await;
        advertised(&world, world.model.requests().len())
    };
    assert_eq!(ask().await, tools(&[&ALWAYS, &CHANGING, WRITE]));
    world.send("/plan on").await;
    let document = tools(&[&ALWAYS, &CHANGING, WRITE, &["plan_get", "plan_set_content"]]);
    assert_eq!(ask().await, document);
    world.model.then(set("- [ ] one\n- [ ] two"));
    assert_eq!(ask().await, document, "while it waits");
    world.approve(1, Selection::All).await;
    let working = tools(&[&ALWAYS, &CHANGING, WRITE, &["plan_get", "plan_progress", "plan_set_content"]]);
    assert_eq!(ask().await, working, "approved");
    world.model.then(report(1));
    assert_eq!(ask().await, working, "while it is carried out");
    world.send("/plan off").await;
    assert_eq!(ask().await, tools(&[&ALWAYS, &CHANGING, WRITE]));
    world.send("/plan on collect").await;
    assert_eq!(ask().await, tools(&[&ALWAYS, &CHANGING, WRITE, &["plan_finalize", "plan_get"]]));
    world.send("/plan on build").await;
    assert_eq!(ask().await, tools(&[&ALWAYS, &BUILDING]));
}

#[tokio::test]
async fn with_plan_tools_read_only_nothing_is_written_until_the_plan_is_approved() {
    let write = || Reply::call("write_file", json!({"path": "a.txt", "content": "one"}));
    let model =
        ScriptedModel::new([write(), set("- [ ] one"), write(), Reply::text("Ready."), write(), Reply::text("Done.")]);
    let world = World::with(model, |setup| setup.policy.document_tools = DocumentTools::ReadOnly).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Done, ToolStatus::Refused]);
    assert_eq!(advertised(&world, 4), tools(&[&ALWAYS, &CHANGING, &["plan_get", "plan_set_content"]]));
    assert!(!world.files().join("a.txt").exists());
    world.send("/plan approve").await;
    assert_eq!(statuses(&world.events().await).last(), Some(&ToolStatus::Done));
    assert!(advertised(&world, 5).contains(&"write_file".to_owned()));
}

#[tokio::test]
async fn plan_tools_are_denied_while_plan_work_is_off_and_nothing_changes() {
    let calls = [
        set("- [ ] one"),
        Reply::call("plan_get", json!({})),
        report(1),
        Reply::call("plan_finalize", json!({})),
        Reply::call("plan_create_draft", json!({"goal": "x"})),
        Reply::call("plan_set_metadata", json!({"goal": "x"})),
        Reply::call("plan_add_step", json!({"description": "x", "agent": "coder"})),
        Reply::call("plan_update_step", json!({"step_id": "s1", "description": "x"})),
        Reply::call("plan_remove_step", json!({"step_id": "s1"})),
        Reply::call("plan_submit", json!({})),
        Reply::call("plan_list", json!({})),
        Reply::call("plan_set_content", json!({"wrong": 1})),
    ];
    let count = calls.len();
    let world = World::with(ScriptedModel::new(calls).otherwise(Reply::text("They are off.")), |_| {}).await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), vec![ToolStatus::Refused; count]);
    let results = script(&world.model.last_request());
    let denied = results.iter().filter(|line| line.starts_with("failed") && line.contains("POLICY_DENIED")).count();
    assert_eq!(denied, count, "{results:#?}");
    assert!(world.events().await.iter().all(|event| event.plan().is_none()));
    assert_eq!(world.engine().sessions().get(&world.session).await.unwrap().plans_made, 0);
}

#[tokio::test]
async fn a_tool_of_another_style_is_denied() {
    for (on, wrong) in [
        ("/plan on document", Reply::call("plan_finalize", json!({}))),
        ("/plan on document", Reply::call("plan_submit", json!({}))),
        ("/plan on collect", set("- [ ] one")),
        ("/plan on collect", Reply::call("plan_list", json!({}))),
        ("/plan on build", set("- [ ] one")),
        ("/plan on build", Reply::call("plan_finalize", json!({}))),
    ] {
        let world = World::new([wrong, Reply::text("No.")]).await;
        world.send(on).await;
        let before = world.plan(1).await;
        world.say("Plan it").await;
        let answer = script(&world.sent(2)).pop().unwrap();
        assert!(answer.contains("POLICY_DENIED") && answer.contains("style"), "{on}: {answer}");
        assert_eq!(world.plan(1).await, before, "{on}");
    }
}

#[tokio::test]
async fn a_report_is_only_taken_for_an_approved_plan() {
    let world = World::new([report(1), set("- [ ] one"), report(1), Reply::text("Ready.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Done, ToolStatus::Refused]);
    assert!(world.plan(1).await.execution.is_none());
}

#[tokio::test]
async fn plan_work_that_another_process_turns_on_in_the_middle_of_a_turn_counts_from_the_next_call_on() {
    let gate = Gate::closed();
    let prop = Prop::changing("prop");
    let model = ScriptedModel::new([
        Reply::call("prop", json!({"n": 1})),
        Reply::call("prop", json!({"n": 2})).behind(&gate),
        Reply::text("Done."),
    ]);
    let world = World::with(model, |setup| setup.tool(&prop)).await;
    let turn = world.say_in_background("Ring");
    world.model.asked(2).await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    other.engine().sessions().enable_plan_mode(&world.session, &person(), PlanStyle::Collect).await.unwrap();
    gate.open();
    turn.await.unwrap().unwrap();
    assert_eq!(prop.calls(), [json!({"n": 1})]);
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done, ToolStatus::Planned]);
    assert!(!advertised(&world, 2).contains(&"plan_finalize".to_owned()));
    assert!(advertised(&world, 3).contains(&"plan_finalize".to_owned()));
    assert!(world.sent(3).system.contains("Plan work is on, style collect"));
}

#[tokio::test]
async fn plan_work_that_another_process_turns_off_between_two_calls_is_off() {
    let gate = Gate::closed();
    let model = ScriptedModel::new([set("- [ ] one"), set("- [ ] two").behind(&gate), Reply::text("It is off.")]);
    let world = World::with(model, |_| {}).await;
    world.send("/plan on").await;
    let turn = world.say_in_background("Plan it");
    world.model.asked(2).await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    let off = Command::Session(SessionCommand::DisablePlanMode);
    other.engine().submit(&world.session, &person(), off).await.unwrap();
    gate.open();
    let outcome = turn.await.unwrap().unwrap();
    assert_eq!(outcome.reply, "It is off.");
    assert_eq!(world.plan(1).await.markdown(), "- [ ] one");
    assert!(script(&world.sent(3)).last().unwrap().contains("POLICY_DENIED"));
    assert_eq!(advertised(&world, 3), tools(&[&ALWAYS, &CHANGING, WRITE]));
    assert_eq!(outcome.plan, None, "a parked plan is not put forward");
}

#[tokio::test]
async fn a_style_that_changes_in_the_middle_changes_what_a_call_comes_to() {
    let gate = Gate::closed();
    let prop = Prop::changing("prop");
    let model = ScriptedModel::new([Reply::call("prop", json!({})).behind(&gate), Reply::text("Done.")]);
    let world = World::with(model, |setup| setup.tool(&prop)).await;
    world.send("/plan on collect").await;
    let turn = world.say_in_background("Ring");
    world.model.asked(1).await;
    world.engine().sessions().enable_plan_mode(&world.session, &person(), PlanStyle::Build).await.unwrap();
    gate.open();
    turn.await.unwrap().unwrap();
    assert!(prop.calls().is_empty());
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused]);
}
