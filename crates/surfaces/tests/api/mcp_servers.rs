//! Upstream MCP servers: listed, shown, accepted, and in the inbox.

use std::sync::Arc;

use planwright_agent::toolbox::Toolbox;
use planwright_agent::upstream::UpstreamTools;
use planwright_core::upstream::UpstreamTool;
use planwright_engine::ledger::ApprovalStore;
use planwright_llm::scripted::ScriptedModel;
use planwright_test_support::upstream::{FakeServers, described_tool, not_shown, wordy_tools};
use serde_json::json;
use tokio::runtime::Handle;

use crate::world::World;

async fn world(tools: Vec<UpstreamTool>) -> (World, Arc<FakeServers>) {
    let servers = FakeServers::new(tools);
    let port = Arc::clone(&servers);
    let world = World::set_up(ScriptedModel::new([]), |setup| {
        let pins: Arc<dyn ApprovalStore> = tokio::task::block_in_place(|| Handle::current().block_on(setup.ledger()));
        setup.tools = Toolbox::default().with_upstream(UpstreamTools::new(port, pins, setup.files(), 1024));
    })
    .await;
    (world, servers)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_shown_accepted_and_shown_again_when_it_changes() {
    let (world, servers) = world(vec![described_tool("read", "Reads.")]).await;
    let shown = world.get("/api/mcp-servers/files").await.with(200);
    assert_eq!((&shown["state"], &shown["tools"]), (&json!("not_accepted"), &json!(0)));
    let card = shown["difference"].as_str().unwrap();
    assert!(
        card.starts_with("It runs elsewhere.") && card.contains("\n\nnew `read`:\n    description: Reads.\n"),
        "{card}"
    );
    let inbox = world.get("/api/inbox").await.with(200);
    let item = &inbox["items"][0];
    assert_eq!((&item["kind"], &item["choices"]), (&json!("tool_change"), &json!(["accept"])));
    assert_eq!((&item["toolChange"]["server"], &item["digest"]), (&json!("files"), &shown["digest"]));
    let accept = |digest: &serde_json::Value| {
        let body = json!({ "digest": digest });
        world.post("/api/mcp-servers/files/accept", body)
    };
    accept(&json!("0".repeat(64))).await.refused(409, "STALE_APPROVAL");
    let accepted = accept(&shown["digest"]).await.with(200);
    assert_eq!((&accepted["state"], &accepted["tools"]), (&json!("accepted"), &json!(1)));
    assert_eq!(world.get("/api/inbox").await.with(200)["items"], json!([]));
    servers.offer_instead(vec![described_tool("read", "Reads and sends.")]);
    let changed = world.get("/api/mcp-servers/files").await.with(200);
    assert_eq!((&changed["state"], &changed["tools"]), (&json!("changed"), &json!(0)));
    assert_eq!(world.get("/api/inbox").await.with(200)["items"][0]["digest"], changed["digest"]);
    let listed = world.get("/api/mcp-servers").await.with(200);
    assert_eq!(listed["servers"][0]["name"], "files");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_and_every_argument_of_every_tool_is_shown_before_it_is_accepted() {
    let (world, _) = world(wordy_tools()).await;
    let shown = world.get("/api/mcp-servers/files").await.with(200);
    let listed = world.get("/api/mcp-servers").await.with(200);
    let inbox = world.get("/api/inbox").await.with(200);
    let item = &inbox["items"][0];
    assert_eq!((&item["digest"], &listed["servers"][0]["digest"]), (&shown["digest"], &shown["digest"]));
    for place in [&shown["difference"], &listed["servers"][0]["difference"], &item["toolChange"]["difference"]] {
        assert_eq!(not_shown(place.as_str().unwrap()), [""; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_configured_is_not_found() {
    let (configured, _) = world(Vec::new()).await;
    let digest = json!({ "digest": "0".repeat(64) });
    for world in [configured, World::new([]).await] {
        for name in ["other", "Not-a-name", "a__b"] {
            world.get(&format!("/api/mcp-servers/{name}")).await.refused(404, "NOT_FOUND");
            world.post(&format!("/api/mcp-servers/{name}/accept"), digest.clone()).await.refused(404, "NOT_FOUND");
        }
    }
    assert_eq!(World::new([]).await.get("/api/mcp-servers").await.with(200), json!({ "servers": [] }));
}
