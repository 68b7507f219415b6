//! Upstream MCP servers: listed, shown, accepted, and in the inbox.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::upstream::{AnnotationTrust, ServerName, UpstreamAnnotations, UpstreamTool};
use planwright_engine::toolbox::Toolbox;
use planwright_engine::tools::Arguments;
use planwright_engine::upstream::{
    CallObserver, ConnectionState, ToolOffer, ToolPins, ToolSelection, UpstreamError, UpstreamResult, UpstreamServer,
    UpstreamServers, UpstreamTools,
};
use planwright_llm::scripted::ScriptedModel;
use serde_json::json;
use tokio::runtime::Handle;

use crate::world::World;

/// One server whose description a test changes.
#[derive(Debug)]
struct FakeServers {
    servers: Vec<UpstreamServer>,
    description: Mutex<String>,
}

#[async_trait]
impl UpstreamServers for FakeServers {
    fn servers(&self) -> &[UpstreamServer] {
        &self.servers
    }

    fn connection(&self, _server: &ServerName) -> ConnectionState {
        ConnectionState::Connected
    }

    fn has_news(&self, _server: &ServerName) -> bool {
        false
    }

    async fn offer(&self, _server: &ServerName) -> Result<Arc<ToolOffer>, UpstreamError> {
        let tool = UpstreamTool {
            name: "read".to_owned(),
            title: None,
            description: self.description.lock().unwrap().clone(),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: UpstreamAnnotations::default(),
        };
        Ok(Arc::new(ToolOffer::new(vec![tool], Vec::new())))
    }

    async fn call(
        &self,
        server: &ServerName,
        _tool: &str,
        _arguments: Arguments,
        _observer: &dyn CallObserver,
    ) -> Result<UpstreamResult, UpstreamError> {
        Err(UpstreamError::NotConfigured(server.clone()))
    }

    async fn stop(&self) {}
}

async fn world() -> (World, Arc<FakeServers>) {
    let server = UpstreamServer {
        name: "files".parse().unwrap(),
        reached_by: "mcp-files".to_owned(),
        trust: AnnotationTrust::Ignored,
        selection: ToolSelection::new(&[], 128).unwrap(),
        longest_call: Duration::from_secs(1),
    };
    let servers = Arc::new(FakeServers { servers: vec![server], description: Mutex::new("Reads.".to_owned()) });
    let port = Arc::clone(&servers);
    let world = World::set_up(ScriptedModel::new([]), |setup| {
        let pins: Arc<dyn ToolPins> = tokio::task::block_in_place(|| Handle::current().block_on(setup.ledger()));
        setup.tools = Toolbox::default().with_upstream(UpstreamTools::new(port, pins, setup.files(), 1024));
    })
    .await;
    (world, servers)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_shown_accepted_and_shown_again_when_it_changes() {
    let (world, servers) = world().await;
    let shown = world.get("/api/mcp-servers/files").await.with(200);
    assert_eq!((&shown["state"], &shown["tools"]), (&json!("not_accepted"), &json!(0)));
    assert_eq!(shown["difference"], "new `read`: Reads.\n");
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
    *servers.description.lock().unwrap() = "Reads and sends.".to_owned();
    let changed = world.get("/api/mcp-servers/files").await.with(200);
    assert_eq!((&changed["state"], &changed["tools"]), (&json!("changed"), &json!(0)));
    assert_eq!(world.get("/api/inbox").await.with(200)["items"][0]["digest"], changed["digest"]);
    let listed = world.get("/api/mcp-servers").await.with(200);
    assert_eq!(listed["servers"][0]["name"], "files");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_configured_is_not_found() {
    let (configured, _) = world().await;
    let digest = json!({ "digest": "0".repeat(64) });
    for world in [configured, World::new([]).await] {
        for name in ["other", "Not-a-name", "a__b"] {
            world.get(&format!("/api/mcp-servers/{name}")).await.refused(404, "NOT_FOUND");
            world.post(&format!("/api/mcp-servers/{name}/accept"), digest.clone()).await.refused(404, "NOT_FOUND");
        }
    }
    assert_eq!(World::new([]).await.get("/api/mcp-servers").await.with(200), json!({ "servers": [] }));
}
