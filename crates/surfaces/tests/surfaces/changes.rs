use planwright_core::actor::Actor;
use planwright_core::plan::PlanStyle;
use planwright_surfaces::mcp::PlanStart;
use serde_json::{Value, json};

use crate::world::{DOCUMENT, World};

fn list_changed() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
}

#[tokio::test]
async fn an_approval_elsewhere_brings_the_tool_that_reports_on_it() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] one" })).await;
    assert_eq!(client.tool_names().await, ["plan_get", "plan_set_content"]);
    world.approve().await;
    assert_eq!(client.notification().await, list_changed());
    assert_eq!(client.tool_names().await, ["plan_get", "plan_set_content", "plan_progress"]);

    // Its own last report takes the tool away again.
    client.succeed("plan_progress", json!({ "status": "done" })).await;
    assert_eq!(client.notification().await, list_changed());
    assert_eq!(client.tool_names().await, ["plan_get", "plan_set_content"]);
    client.leave().await;
}

#[tokio::test]
async fn turning_plan_work_off_and_on_elsewhere_is_told() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let elsewhere = world.another_engine().await;
    let ada = Actor::person("ada", "cli");

    elsewhere.sessions().disable_plan_mode(&world.session, &ada).await.unwrap();
    assert_eq!(client.notification().await, list_changed());
    assert_eq!(client.tool_names().await, [""; 0]);
    client.refused_with("plan_get", json!({}), "POLICY_DENIED").await;

    elsewhere.sessions().enable_plan_mode(&world.session, &ada, PlanStyle::Collect).await.unwrap();
    assert_eq!(client.notification().await, list_changed());
    assert_eq!(client.tool_names().await, ["plan_get", "plan_finalize"]);
    client.leave().await;
}

#[tokio::test]
async fn a_change_that_leaves_the_tools_as_they_are_is_not_told() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    for n in 0..5 {
        client.succeed("plan_set_content", json!({ "plan_markdown": format!("# {n}") })).await;
    }
    // The only notification there is belongs to the approval.
    world.approve().await;
    assert_eq!(client.notification().await, list_changed());
    assert!(client.tool_names().await.contains(&"plan_progress".to_owned()));
    assert_eq!(client.leave().await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_client_that_started_with_plan_work_off_is_told_when_it_is_turned_on() {
    let world = World::new().await;
    let mut client = world.client(PlanStart::Off).await;
    let elsewhere = world.another_engine().await;
    elsewhere
        .sessions()
        .enable_plan_mode(&world.session, &Actor::person("ada", "cli"), PlanStyle::Build)
        .await
        .unwrap();
    assert_eq!(client.notification().await, list_changed());
    assert!(client.tool_names().await.contains(&"plan_submit".to_owned()));
    client.leave().await;
}
