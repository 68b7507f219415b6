//! Clients of the life cycle without `initialize`, and rmcp's own client.

use planwright_surfaces::mcp;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::world::{Client, DOCUMENT, World, checked};

fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "newer-agent", "version": "2" },
    });
    params
}

#[tokio::test]
async fn requests_that_carry_their_own_context_are_answered() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    let list = client.ask("tools/list", with_meta(json!({}))).await;
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 6, "{list}");
    assert_eq!(list["result"]["resultType"], "complete");
    let call = with_meta(json!({ "name": "plan_set_content", "arguments": { "plan_markdown": "# A" } }));
    let answer = client.ask("tools/call", call).await;
    assert_eq!(checked(&answer)["structuredContent"]["status"], "READY");

    let plan = world.active_plan().await;
    let entries = world.engine.ledger().plan_journal(&world.session, &plan.id).await.unwrap();
    assert_eq!(entries.last().unwrap().as_ref().unwrap().by.name, "newer-agent");
    client.leave().await;
}

#[tokio::test]
async fn they_are_told_about_other_tools_when_they_listen() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    let call = with_meta(json!({ "name": "plan_set_content", "arguments": { "plan_markdown": "# A" } }));
    client.ask("tools/call", call).await;
    let wanted = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    let id = client.send_request("subscriptions/listen", with_meta(wanted)).await;
    let acknowledged = client.notification().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));

    // It does not stand in the way of other requests.
    client.ask("tools/list", with_meta(json!({}))).await;
    let ada = planwright_core::actor::Actor::person("ada", "cli");
    let style = planwright_core::plan::PlanStyle::Collect;
    world.engine.sessions().enable_plan_mode(&world.session, &ada, style).await.unwrap();
    let changed = client.notification().await;
    assert_eq!(changed["method"], "notifications/tools/list_changed", "{changed}");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{changed}");

    // At the end the subscription is closed properly.
    client.stop_writing().await;
    let closed = client.answer_to(&json!(id)).await;
    assert_eq!(closed["result"]["resultType"], "complete", "{closed}");
    assert!(client.receive().await.is_none());
    client.ended().await;
}

#[tokio::test]
async fn methods_that_the_newest_protocol_has_no_more_do_not_exist_for_them() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    let level = json!({ "level": "info" });
    let uri = json!({ "uri": "planwright://plan/active" });
    for (method, params) in [
        ("initialize", json!({})),
        ("ping", json!({})),
        ("logging/setLevel", json!({})),
        ("logging/setLevel", level),
        ("resources/subscribe", json!({})),
        ("resources/subscribe", uri.clone()),
        ("resources/unsubscribe", uri),
    ] {
        let refused = client.ask(method, with_meta(params)).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
    }
    let missing = client.ask("resources/read", with_meta(json!({ "uri": "book://none" }))).await;
    assert_eq!((&missing["error"]["code"], &missing["error"]["data"]["uri"]), (&json!(-32602), &json!("book://none")));
    // A call that rmcp cannot read has the type of its result, too.
    let call = with_meta(json!({ "name": "plan_get", "arguments": [] }));
    let answer = client.ask("tools/call", call).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    client.leave().await;
}

#[tokio::test]
async fn rmcps_own_client_gets_along() {
    let world = World::new().await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let server = tokio::spawn(mcp::serve(world.options(DOCUMENT), input, output, std::future::pending()));
    let client = ().serve(ours).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 6);
    let Value::Object(arguments) = json!({ "plan_markdown": "# A" }) else { unreachable!() };
    let set = client.call_tool(CallToolRequestParams::new("plan_set_content").with_arguments(arguments)).await.unwrap();
    assert_eq!(set.structured_content.unwrap()["status"], "READY");
    let refused = client.call_tool(CallToolRequestParams::new("plan_submit")).await.unwrap();
    assert_eq!((refused.is_error, &refused.structured_content.unwrap()["code"]), (Some(true), &json!("POLICY_DENIED")));
    client.cancel().await.unwrap();
    server.await.unwrap().unwrap();
}
