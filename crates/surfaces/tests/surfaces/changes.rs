use planwright_core::actor::Actor;
use planwright_core::plan::PlanStyle;
use planwright_surfaces::mcp::PlanStart;
use serde_json::{Value, json};

use crate::world::{DOCUMENT, World};

fn list_changed() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
}

/// Clients read the list once, so it is the same before and after an approval; the life cycle refuses.
#[tokio::test]
async fn the_list_is_the_same_whatever_the_status_of_the_plan_is() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let tools = ["plan_get", "plan_set_content", "plan_progress", "plan_await_decision"];
    assert_eq!(client.tool_names().await, tools);
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] one" })).await;
    let refused = client.refuse("plan_progress", json!({ "status": "done" })).await;
    assert_eq!(refused["code"], "WRONG_STATUS");
    assert!(refused["message"].as_str().unwrap().contains("approved or executing; this one is READY"), "{refused}");
    assert_eq!(client.tool_names().await, tools);
    world.approve().await;
    assert_eq!(client.tool_names().await, tools);
    client.succeed("plan_progress", json!({ "status": "done" })).await;
    assert_eq!(client.tool_names().await, tools);
    assert_eq!(client.leave().await, [Value::Null; 0], "nothing was told");
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
    assert_eq!(
        client.tool_names().await,
        ["plan_get", "plan_progress", "plan_add_call", "plan_finalize", "plan_await_decision"]
    );
    client.leave().await;
}

#[tokio::test]
async fn a_change_that_leaves_the_tools_as_they_are_is_not_told() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    for n in 0..5 {
        client.succeed("plan_set_content", json!({ "plan_markdown": format!("# {n}") })).await;
    }
    world.approve().await;
    client.succeed("plan_get", json!({})).await;
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
