//! What the engine says, as MCP says it.

use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerError;
use planwright_engine::tools::ToolDefinition;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Without an output schema: there are clients that hold refusals against it, too.
pub(super) fn tool(definition: ToolDefinition) -> Tool {
    let ToolDefinition { name, description, input_schema, reads_only } = definition;
    let schema = match input_schema {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    };
    let hints = ToolAnnotations::new().read_only(reads_only).destructive(false).open_world(false);
    Tool::new(name, description, schema).with_annotations(hints)
}

/// The outcome of a call. A refusal is one, too: the model reads it and can do better, which it cannot with an error
/// of the protocol.
pub(super) fn outcome(outcome: Result<Value, Refusal>) -> CallToolResult {
    match outcome {
        Ok(value) => {
            let text = recorded(&value).unwrap_or_else(|| value.to_string());
            with_structure(CallToolResult::success(vec![ContentBlock::text(text)]), value)
        }
        Err(refusal) => {
            let value = json!(refusal);
            with_structure(CallToolResult::error(vec![ContentBlock::text(value.to_string())]), value)
        }
    }
}

/// The same where rmcp does not fit it to the client's version.
pub(super) fn plain_outcome(outcome: Result<Value, Refusal>) -> Value {
    let mut result = self::outcome(outcome);
    // Older clients do not know it, and newer ones read its absence the same way.
    result.result_type = None;
    json!(result)
}

/// An error in words. rmcp's "no such method" consists of nothing but the method's name.
pub(super) fn in_words(mut error: ErrorData, method: &str) -> ErrorData {
    if error.code == ErrorCode::METHOD_NOT_FOUND && error.message == method {
        error.message = format!("Method not found: {}", quoted(method)).into();
    }
    error
}

/// A request about the tools themselves that cannot be answered now.
pub(super) fn unanswered(error: LedgerError) -> ErrorData {
    let refusal = error.into_refusal();
    ErrorData::internal_error(refusal.message.clone(), Some(json!(refusal)))
}

/// The `[Planned]` line of a call that was written down instead of run.
fn recorded(value: &Value) -> Option<String> {
    let planned = value.get("planned").and_then(Value::as_bool) == Some(true);
    value.get("message").and_then(Value::as_str).filter(|_| planned).map(str::to_owned)
}

fn with_structure(mut result: CallToolResult, value: Value) -> CallToolResult {
    result.structured_content = Some(value);
    result
}
