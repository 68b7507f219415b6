//! Reading a resource of an upstream server as a call like any other: an address that the server does not list is free text,
//! and can say or change something.

use std::time::Duration;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::{AnnotationTrust, ServerName};
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::UpstreamRequest;
use serde_json::{Value, json};

use super::UpstreamTools;
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolAnswer, ToolContext};

/// The end of the name of every such tool.
const SUFFIX: &str = "__read_resource";

#[derive(Debug)]
pub(super) struct ResourceTool {
    spec: ToolSpec,
    server: ServerName,
    effect: ToolEffect,
    longest_call: Duration,
    upstream: UpstreamTools,
}

/// The name of the tool that reads resources of a server.
pub(crate) fn resource_tool_name(server: &ServerName) -> String {
    format!("{server}{SUFFIX}")
}

impl ResourceTool {
    /// The tool with this name, if it is one of a configured server.
    pub(super) fn named(upstream: &UpstreamTools, name: &str) -> Option<Self> {
        let server = name.strip_suffix(SUFFIX)?;
        let server = upstream.servers().iter().find(|known| known.name.as_str() == server)?;
        let spec = ToolSpec {
            name: name.to_owned(),
            description: format!("Read the resource of the MCP server {} with this address.", server.name),
            input_schema: json!({
                "type": "object",
                "properties": { "uri": { "type": "string" } },
                "required": ["uri"],
                "additionalProperties": false,
            }),
        };
        // Whether reading changes nothing is the server's word, like its annotations.
        let effect = match server.trust {
            AnnotationTrust::Trusted => ToolEffect::ReadsOnly,
            AnnotationTrust::Unset | AnnotationTrust::Ignored => ToolEffect::Changes,
        };
        let (server, longest_call) = (server.name.clone(), server.longest_call);
        Some(Self { spec, server, effect, longest_call, upstream: upstream.clone() })
    }
}

#[async_trait]
impl Tool for ResourceTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        self.effect
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        uri_of(&self.spec.name, arguments).map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.longest_call
    }

    async fn call(&self, _context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let uri = uri_of(&self.spec.name, &arguments)?;
        let read = self.upstream.request(&self.server, UpstreamRequest::ReadResource { uri }).await;
        read.map(ToolAnswer::from).map_err(LedgerError::into_refusal)
    }
}

fn uri_of(name: &str, arguments: &Arguments) -> Result<String, Refusal> {
    let uri = arguments.get("uri").and_then(Value::as_str).filter(|uri| !uri.trim().is_empty());
    let missing = || Refusal::invalid(format!("{} takes `uri`, the address of the resource.", quoted(name)));
    uri.map(str::to_owned).ok_or_else(missing)
}
