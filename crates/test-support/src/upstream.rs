//! An upstream server without a process, and an offer that is too long for one screen.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::upstream::{AnnotationTrust, ServerName, UpstreamAnnotations, UpstreamTool, command_digest};
use planwright_engine::upstream::Arguments;
use planwright_engine::upstream::{
    CallObserver, ConnectionState, ToolOffer, ToolSelection, UpstreamError, UpstreamResult, UpstreamServer,
    UpstreamServers,
};
use serde_json::json;

/// One server, `files`, whose tools a test changes. It takes no calls.
#[derive(Debug)]
pub struct FakeServers {
    servers: Vec<UpstreamServer>,
    tools: Mutex<Vec<UpstreamTool>>,
}

impl FakeServers {
    pub fn new(tools: Vec<UpstreamTool>) -> Arc<Self> {
        let server = UpstreamServer {
            name: "files".parse().expect("a name"),
            reached_by: "mcp-files".to_owned(),
            command: command_digest("mcp-files").into(),
            trust: AnnotationTrust::Ignored,
            selection: ToolSelection::new(&[], 128).expect("no patterns"),
            longest_call: Duration::from_secs(1),
        };
        Arc::new(Self { servers: vec![server], tools: Mutex::new(tools) })
    }

    pub fn offer_instead(&self, tools: Vec<UpstreamTool>) {
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools;
    }
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
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Arc::new(ToolOffer::new(tools, Vec::new())))
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

pub fn described_tool(name: &str, description: &str) -> UpstreamTool {
    UpstreamTool {
        name: name.to_owned(),
        title: None,
        description: description.to_owned(),
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: UpstreamAnnotations::default(),
    }
}

/// Sixty tools, each described in several lines and with a described argument. The server of the tests of `crates/upstream`
/// offers the same in its mode `wordy`.
pub fn wordy_tools() -> Vec<UpstreamTool> {
    let tool = |number| UpstreamTool {
        input_schema: json!({ "type": "object", "properties": {
            "path": { "type": "string", "description": format!("Where tool {number} looks.") }
        } }),
        ..described_tool(
            &format!("tool_{number}"),
            &format!("Tool {number}.\n{}\nThe last line of tool {number}.", "It works. ".repeat(20)),
        )
    };
    (1..=60).map(tool).collect()
}

/// What of the [`wordy_tools`] does not occur in the text that a person was shown.
pub fn not_shown(text: &str) -> Vec<String> {
    let parts = (1..=60).flat_map(|number| {
        let name = format!("new `tool_{number}`");
        [name, format!("The last line of tool {number}."), format!("\"Where tool {number} looks.\"")]
    });
    parts.filter(|part| !text.contains(part.as_str())).collect()
}
