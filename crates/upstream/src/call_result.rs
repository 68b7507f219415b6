//! The result of a call, read with care.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planwright_engine::upstream::{UpstreamContent, UpstreamResult};
use rmcp::model::ServerResult;
use serde_json::Value;

/// The error says what is wrong with the result.
pub(crate) fn read(result: &ServerResult) -> Result<UpstreamResult, String> {
    let value = match result {
        ServerResult::InputRequiredResult(_) => {
            return Err("it asks for input where it cannot be given".to_owned());
        }
        ServerResult::CreateTaskResult(_) => {
            return Err("it answered with a task, which is not supported".to_owned());
        }
        other => serde_json::to_value(other).map_err(|error| error.to_string())?,
    };
    read_value(&value)
}

fn read_value(value: &Value) -> Result<UpstreamResult, String> {
    let blocks = match value.get("content") {
        Some(Value::Array(content)) => content.clone(),
        None if value.get("structuredContent").is_some() => Vec::new(),
        Some(_) | None => return Err("the result has no content".to_owned()),
    };
    Ok(UpstreamResult {
        content: blocks.iter().map(content_of).collect(),
        blocks,
        structured: value.get("structuredContent").filter(|structured| !structured.is_null()).cloned(),
        is_error: value.get("isError").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn content_of(value: &Value) -> UpstreamContent {
    known_content(value).unwrap_or_else(|| UpstreamContent::Unknown(value.clone()))
}

fn known_content(value: &Value) -> Option<UpstreamContent> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let bytes = |value: &Value, key: &str| STANDARD.decode(value.get(key)?.as_str()?).ok();
    let mime_type = |value: &Value| text(value, "mimeType");
    Some(match value.get("type")?.as_str()? {
        "text" => UpstreamContent::Text(text(value, "text")?),
        "image" | "audio" => {
            UpstreamContent::Bytes { mime_type: mime_type(value), uri: None, bytes: bytes(value, "data")? }
        }
        "resource" => {
            let resource = value.get("resource")?;
            let uri = text(resource, "uri")?;
            match text(resource, "text") {
                Some(text) => UpstreamContent::Resource { mime_type: mime_type(resource), uri, text },
                None => UpstreamContent::Bytes {
                    mime_type: mime_type(resource),
                    uri: Some(uri),
                    bytes: bytes(resource, "blob")?,
                },
            }
        }
        "resource_link" => UpstreamContent::Link {
            uri: text(value, "uri")?,
            name: text(value, "name").unwrap_or_default(),
            description: text(value, "description"),
            mime_type: mime_type(value),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_content_is_read() {
        let result = read_value(&json!({
            "content": [
                { "type": "text", "text": "hello" },
                { "type": "image", "mimeType": "image/png", "data": "aGk=" },
                { "type": "resource", "resource": { "uri": "file:///a", "text": "A" } },
                { "type": "resource", "resource": { "uri": "file:///b", "blob": "aGk=" } },
                { "type": "resource_link", "uri": "file:///c", "name": "c" },
                { "type": "image", "data": "not base64!" },
                { "type": "hologram" },
            ],
            "structuredContent": { "a": 1 },
            "isError": true,
        }));
        let result = result.unwrap();
        assert!(result.is_error && result.structured == Some(json!({ "a": 1 })));
        let kinds: Vec<_> = result
            .content
            .iter()
            .map(|content| match content {
                UpstreamContent::Text(_) => "text",
                UpstreamContent::Bytes { .. } => "bytes",
                UpstreamContent::Resource { .. } => "resource",
                UpstreamContent::Link { .. } => "link",
                UpstreamContent::Unknown(_) => "unknown",
            })
            .collect();
        assert_eq!(kinds, ["text", "bytes", "resource", "bytes", "link", "unknown", "unknown"]);
    }

    #[test]
    fn a_result_without_content_is_none() {
        for value in [json!({}), json!({ "content": "text" }), json!(null)] {
            assert!(read_value(&value).is_err(), "{value}");
        }
        assert!(read_value(&json!({ "structuredContent": { "ok": true } })).is_ok());
    }
}
