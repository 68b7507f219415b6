//! Who may call the workbook tools, and when.

use planwright_agent::tools::{ExternalTools, PlanTools};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::content::PlanContent;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::ToolStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::world::{World, person, statuses, tool_names};

const TOOLS: [&str; 7] =
    ["init_plan", "read_plan", "write_plan", "update_plan", "clear_plan", "list_plans", "export_plan"];

fn workbook_tools<'a>(all: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    all.into_iter().filter(|name| TOOLS.contains(name)).collect()
}

#[tokio::test]
async fn the_tools_are_advertised_only_while_planning_files_are_on() {
    let world = World::new([Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
    world.say("one").await;
    world.send("/plan files on").await;
    world.say("two").await;
    world.send("/plan files off").await;
    world.say("three").await;
    let advertised = |number| workbook_tools(tool_names(&world.sent(number))).len();
    assert_eq!([advertised(1), advertised(2), advertised(3)], [0, 7, 0]);
    for tool in TOOLS {
        let refusal = world.try_call(tool, json!({})).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::PolicyDenied, "{tool}");
    }
}

#[tokio::test]
async fn the_setting_has_them_on_from_the_beginning_and_a_person_can_switch_them_off() {
    let world = World::with(ScriptedModel::new([]), |setup| setup.policy.planning_files.enabled = true).await;
    let advertised = async || {
        let tools = PlanTools::new(world.engine()).advertised(&world.session).await.unwrap();
        workbook_tools(tools.iter().map(|tool| tool.name)).len()
    };
    assert_eq!(advertised().await, 7);
    world.send("/plan files off").await;
    assert_eq!(advertised().await, 0);
}

/// A client of another program is told about other tools by comparing names, without reading the list.
#[tokio::test]
async fn the_names_for_other_programs_are_those_of_their_list() {
    let world = World::new([]).await;
    let commands = [
        "/plan off",
        "/plan on",
        "/plan files on",
        "/plan on collect",
        "/plan files off",
        "/plan on build",
        "/plan done",
    ];
    let mut lists = Vec::new();
    for command in commands {
        world.send(command).await;
        let (engine, tools) = (world.engine(), ExternalTools::new(world.engine()));
        let listed: Vec<_> = tools.advertised(&world.session).await.unwrap().iter().map(|tool| tool.name).collect();
        let stored = engine.ledger().session(&world.session).await.unwrap();
        assert_eq!(
            tools.advertised_names(&world.session, stored.map(|stored| stored.session.into())),
            listed,
            "{command}"
        );
        lists.push(listed);
    }
    lists.dedup();
    assert!(lists.len() > 4, "{lists:?}");
}

#[tokio::test]
async fn in_style_collect_they_run_and_are_no_steps() {
    let world = World::new([
        Reply::call("init_plan", json!({ "task_title": "T" }))
            .and_call("write_plan", json!({ "which": "findings", "content": "found" }))
            .and_call("write_file", json!({ "path": "a", "content": "b" })),
        Reply::call("plan_finalize", json!({})),
    ])
    .await;
    world.send("/plan files on").await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    let expected = [ToolStatus::Done, ToolStatus::Done, ToolStatus::Planned, ToolStatus::Settled];
    assert_eq!(statuses(&world.events().await), expected);
    let PlanContent::Collect(collected) = world.plan(1).await.content else { panic!() };
    assert_eq!(collected.steps.len(), 1);
    world.disk_agrees().await;
}

#[tokio::test]
async fn with_planning_files_off_they_are_no_steps_either() {
    let world = World::new([Reply::call("read_plan", json!({})), Reply::text("Well.")]).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused]);
    assert!(
        !world
            .events()
            .await
            .iter()
            .any(|event| matches!(event, Event::Plan { event: PlanEvent::StepRecorded { .. }, .. }))
    );
}

#[tokio::test]
async fn they_run_while_only_reading_is_allowed() {
    for style in [PlanStyle::Document, PlanStyle::Build] {
        let replies = [Reply::call("init_plan", json!({ "task_title": "T" })), Reply::text("Begun.")];
        let world = World::with(ScriptedModel::new(replies), |setup| {
            setup.policy.document_tools = planwright_core::policy::DocumentTools::ReadOnly;
        })
        .await;
        world.send("/plan files on").await;
        world.engine().sessions().enable_plan_mode(&world.session, &person(), style).await.unwrap();
        world.say("Plan it").await;
        assert_eq!(statuses(&world.events().await), [ToolStatus::Done], "{style}");
    }
}

#[tokio::test]
async fn a_specialist_that_is_asked_may_only_read() {
    let world = World::new([
        Reply::call("ask_agent", json!({ "agent": "researcher", "question": "What is known?" })),
        Reply::call("read_plan", json!({})).and_call("write_plan", json!({ "which": "findings", "content": "x" })),
        Reply::text("This is known."),
        Reply::text("I see."),
    ])
    .await;
    world.send("/plan files on").await;
    world.call("init_plan", json!({ "task_title": "T" })).await;
    world.send("/plan on build").await;
    world.say("Plan it").await;
    assert_eq!(workbook_tools(tool_names(&world.sent(2))), ["read_plan", "list_plans"]);
    let outcomes = statuses(&world.events().await);
    assert_eq!(outcomes[..2], [ToolStatus::Done, ToolStatus::Refused]);
    assert_eq!(world.workbook().await.document(planwright_core::workbook::DocumentKind::Findings).version, 1);
}
