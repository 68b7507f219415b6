//! The workbook over MCP: the same tools, the same gate, the same files.

use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_surfaces::mcp::PlanStart;
use serde_json::{Value, json};

use crate::world::{COLLECT, DOCUMENT, World};

const TOOLS: [&str; 7] =
    ["init_plan", "read_plan", "write_plan", "update_plan", "clear_plan", "list_plans", "export_plan"];

async fn switch(world: &World, on: bool) {
    let (elsewhere, ada) = (world.another_engine().await, Actor::person("ada", "cli"));
    elsewhere.sessions().open(&world.session, &ada).await.unwrap();
    elsewhere.workbooks().switch_planning_files(&world.session, &ada, on).await.unwrap();
}

#[tokio::test]
async fn the_tools_come_and_go_with_the_switch() {
    let world = World::new().await;
    let mut client = world.client(PlanStart::Off).await;
    assert_eq!(client.tool_names().await, [""; 0]);
    client.refused_with("init_plan", json!({ "task_title": "T" }), "POLICY_DENIED").await;
    switch(&world, true).await;
    assert_eq!(client.notification().await["method"], "notifications/tools/list_changed");
    assert_eq!(client.tool_names().await, TOOLS);
    client.succeed("init_plan", json!({ "task_title": "T" })).await;
    switch(&world, false).await;
    assert_eq!(client.notification().await["method"], "notifications/tools/list_changed");
    // A client that read the list once is refused at the call.
    client.refused_with("read_plan", json!({}), "POLICY_DENIED").await;
    client.leave().await;
}

#[tokio::test]
async fn a_workbook_is_kept_from_beginning_to_end() {
    let world = World::new().await;
    switch(&world, true).await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("init_plan", json!({ "task_title": "Move the shop" })).await;
    let folder = world.plan_folder();
    assert!(std::fs::read_to_string(folder.join("task_plan.md")).unwrap().contains("Move the shop"));
    let done = "# Move the shop\n\nStatus: in progress\n\n## Goal\n\nnew shop\n";
    client.succeed("write_plan", json!({ "which": "task_plan", "content": done })).await;
    client.succeed("update_plan", json!({ "which": "task_plan", "section": "Goal", "content": "a newer shop" })).await;
    let read = client.succeed("read_plan", json!({})).await;
    assert_eq!(read["text"], done.replace("new shop", "a newer shop"));
    let refusal =
        client.refuse("update_plan", json!({ "which": "task_plan", "section": "Goals", "content": "x" })).await;
    assert_eq!(refusal["code"], "INVALID_ARGUMENT");
    assert!(refusal["errors"].to_string().contains("Goal"), "{refusal}");
    std::fs::write(folder.join("task_plan.md"), done.replace("in progress", "complete")).unwrap();
    let next = client.succeed("init_plan", json!({ "task_title": "Next" })).await;
    assert_eq!(next["begun"], true);
    let archive = folder.join("archive").join(next["archived"].as_str().unwrap());
    assert!(std::fs::read_to_string(archive).unwrap().contains("Status: complete"), "a person's edit counts");
    let listed = client.succeed("list_plans", json!({})).await;
    assert_eq!((&listed["current"]["title"], &listed["archived_in_all"]), (&json!("Next"), &json!(1)));
    // The client's agent works elsewhere, and finds the copy by its path.
    let exported = client.succeed("export_plan", json!({})).await;
    let copy = std::fs::read_to_string(exported["path"].as_str().unwrap()).unwrap();
    assert!(copy.contains("Next"), "{copy}");
    client.succeed("clear_plan", json!({ "confirm": true })).await;
    assert!(!folder.join("task_plan.md").exists());
    client.leave().await;
}

#[tokio::test]
async fn in_style_collect_they_run_and_are_not_recorded() {
    let world = World::new().await;
    switch(&world, true).await;
    let mut client = world.client(COLLECT).await;
    assert_eq!(client.succeed("init_plan", json!({ "task_title": "T" })).await["begun"], true);
    assert_eq!(client.succeed("send_mail", json!({})).await["step"], 1);
    let plan = client.succeed("plan_get", json!({})).await;
    assert_eq!(plan["steps"].as_array().map(Vec::len), Some(1), "{plan}");
    client.leave().await;
}

#[tokio::test]
async fn a_session_has_no_way_into_the_workbook_of_another() {
    let world = World::new().await;
    switch(&world, true).await;
    let mut client = world.client(PlanStart::Off).await;
    client.succeed("init_plan", json!({ "task_title": "Secret" })).await;
    client.leave().await;
    let other: SessionIdentity = "mcp:another1".parse().unwrap();
    let ada = Actor::person("ada", "cli");
    world.engine.sessions().open(&other, &ada).await.unwrap();
    world.engine.workbooks().switch_planning_files(&other, &ada, true).await.unwrap();
    let mut options = world.options(PlanStart::Off);
    options.session = planwright_surfaces::mcp::SessionChoice::Fixed(other);
    let mut client = crate::world::Client::connect(options);
    client.initialize().await;
    client.refused_with("read_plan", json!({}), "NOT_FOUND").await;
    assert_eq!(client.succeed("list_plans", json!({})).await["current"], Value::Null);
    client.leave().await;
}

#[tokio::test]
async fn what_a_tool_takes_is_said_in_its_schema() {
    let world = World::new().await;
    switch(&world, true).await;
    let mut client = world.client(PlanStart::Off).await;
    let answer = client.ask("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let read = tools.iter().find(|tool| tool["name"] == "read_plan").unwrap();
    assert!(read["inputSchema"].to_string().contains("task_plan"), "{read}");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        let reads = ["read_plan", "list_plans", "memory_search"].contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
    }
    client.leave().await;
}
