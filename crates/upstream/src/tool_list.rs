//! The tools of a server, read with care: a tool that cannot be used is left out and named.

use std::collections::HashSet;

use planwright_core::upstream::{UpstreamAnnotations, UpstreamTool};
use planwright_core::visible::quoted;
use planwright_engine::upstream::ToolOffer;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value, json};

/// Of more tools than this the rest is left out.
const MAX_TOOLS: usize = 20_000;
const MAX_PAGES: usize = 1_000;
/// The largest description of one tool, with its schemas.
const MAX_TOOL_BYTES: usize = 64 * 1024;
/// All descriptions together.
const MAX_LIST_BYTES: usize = 32 * 1024 * 1024;
/// The problems that are named one by one.
const MAX_PROBLEMS: usize = 20;

pub(crate) async fn read(peer: &Peer<RoleClient>) -> Result<ToolOffer, ServiceError> {
    let mut reader = ListReader::default();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let result = peer.send_request(request).await?;
        let page = serde_json::to_value(result).unwrap_or_default();
        reader.push(&page);
        cursor = page.get("nextCursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()).map(str::to_owned);
        if cursor.is_none() || reader.is_full {
            return Ok(reader.offer());
        }
    }
    reader.note(format!("its list has more than {MAX_PAGES} pages; the rest is left out"));
    Ok(reader.offer())
}

#[derive(Debug, Default)]
struct ListReader {
    tools: Vec<UpstreamTool>,
    names: HashSet<String>,
    bytes: usize,
    problems: Vec<String>,
    more_problems: usize,
    is_full: bool,
}

impl ListReader {
    fn push(&mut self, page: &Value) {
        let Some(tools) = page.get("tools").and_then(Value::as_array) else {
            return self.note("it sent a list of tools that cannot be read".to_owned());
        };
        for tool in tools {
            if self.tools.len() >= MAX_TOOLS || self.bytes >= MAX_LIST_BYTES {
                self.is_full = true;
                return self.note(format!("it offers more than {} tools; the rest is left out", self.tools.len()));
            }
            match tool_of(tool) {
                Ok((tool, bytes)) if self.names.insert(tool.name.clone()) => {
                    self.bytes += bytes;
                    self.tools.push(tool);
                }
                Ok((tool, _)) => self.note(format!("it offers two tools {}; the first counts", quoted(&tool.name))),
                Err(problem) => self.note(problem),
            }
        }
    }

    fn note(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }

    fn offer(mut self) -> ToolOffer {
        if self.more_problems > 0 {
            self.problems.push(format!("and {} more problems", self.more_problems));
        }
        ToolOffer::new(self.tools, self.problems)
    }
}

/// The tool and the size of its description.
fn tool_of(value: &Value) -> Result<(UpstreamTool, usize), String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text("name").filter(|name| !name.is_empty()).ok_or("one of its tools has no name")?;
    let bytes = value.to_string().len();
    if bytes > MAX_TOOL_BYTES {
        return Err(format!("its tool {} is described in {bytes} bytes; {MAX_TOOL_BYTES} is the most", quoted(&name)));
    }
    let input_schema = match value.get("inputSchema") {
        Some(Value::Object(schema)) => arguments_schema(schema),
        Some(_) | None => None,
    };
    let input_schema = input_schema
        .ok_or_else(|| format!("the arguments of its tool {} are not described as one object", quoted(&name)))?;
    let claims = |key: &str| value.get("annotations").and_then(|annotations| annotations.get(key)?.as_bool());
    let tool = UpstreamTool {
        title: text("title"),
        description: text("description").unwrap_or_default(),
        input_schema,
        output_schema: value.get("outputSchema").filter(|schema| schema.is_object()).cloned(),
        annotations: UpstreamAnnotations {
            read_only: claims("readOnlyHint"),
            idempotent: claims("idempotentHint"),
            destructive: claims("destructiveHint"),
        },
        name,
    };
    Ok((tool, bytes))
}

/// Providers refuse a whole request if the arguments of one tool are not an object.
fn arguments_schema(schema: &Map<String, Value>) -> Option<Value> {
    let mut schema = schema.clone();
    match schema.get("type") {
        None => drop(schema.insert("type".to_owned(), json!("object"))),
        Some(kind) if kind == "object" => {}
        Some(_) => return None,
    }
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() || schema.get("required").is_some_and(|required| !required.is_array()) {
        return None;
    }
    Some(Value::Object(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_cannot_be_used_is_left_out_and_named() {
        let mut reader = ListReader::default();
        reader.push(&json!({ "tools": [
            { "name": "good", "description": "Good.", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
            { "name": "bare", "inputSchema": {} },
            { "name": "good", "inputSchema": {} },
            { "name": "", "inputSchema": {} },
            { "name": "list", "inputSchema": { "type": "array" } },
            { "name": "odd", "inputSchema": { "properties": [] } },
            { "name": "none" },
            { "name": "large", "description": "x".repeat(MAX_TOOL_BYTES), "inputSchema": {} },
            "nonsense",
        ] }));
        let names: Vec<_> = reader.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "bare"]);
        assert_eq!(reader.tools[0].annotations.read_only, Some(true));
        assert_eq!(reader.problems.len(), 7, "{:?}", reader.problems);
        assert_eq!(reader.tools[1].input_schema, json!({ "type": "object", "properties": {} }));
    }
}
