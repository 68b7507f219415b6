//! What the engine says, as MCP says it.

use std::sync::Arc;

use planwright_agent::tool_schema::ToolDefinition;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerError;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, InputRequiredResult, JsonObject, ResultType, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::titles;

/// The first version with schemas of results.
const WITH_OUTPUT_SCHEMAS: &str = "2025-06-18";

pub(super) fn tool(definition: ToolDefinition, context: &RequestContext<RoleServer>) -> Tool {
    let ToolDefinition { name, description, input_schema, reads_only } = definition;
    let schema = match input_schema {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    };
    let mut hints = ToolAnnotations::new()
        .read_only(reads_only)
        .destructive(false)
        .idempotent(titles::is_idempotent(name))
        .open_world(false);
    let title = titles::title(name).map(str::to_owned);
    hints.title.clone_from(&title);
    let mut tool = Tool::new(name, description, schema).with_annotations(hints);
    tool.title = title;
    let version = context.protocol_version();
    if version.is_some_and(|version| version.as_str() >= WITH_OUTPUT_SCHEMAS) {
        tool.output_schema = titles::output_schema(name).map(Arc::new);
    }
    tool
}

/// What a call answers with.
pub(super) enum CallAnswer {
    /// Of Planwright itself.
    Own(Value),
    /// Of an upstream server.
    PassedOn(Box<CallToolResult>),
    /// None yet: an upstream server asks something before, or the person is asked whether the call is made.
    InputRequired(Box<InputRequiredResult>),
    /// An upstream server's error about what the client can be asked, or about its answers.
    Error(Box<ErrorData>),
}

/// The outcome of a call. A refusal is one, too: the model reads it and can do better, which it cannot with an error
/// of the protocol.
pub(super) fn outcome(outcome: Result<CallAnswer, Refusal>, ignored: &[String]) -> CallToolResult {
    match outcome {
        Ok(CallAnswer::PassedOn(result)) => *result,
        // The caller answers with these where the protocol has them.
        Ok(CallAnswer::InputRequired(_) | CallAnswer::Error(_)) => {
            CallToolResult::error(vec![ContentBlock::text("A server asks for input that cannot be given here.")])
        }
        Ok(CallAnswer::Own(value)) => {
            let value = with_ignored(value, ignored);
            let text = recorded(&value).unwrap_or_else(|| value.to_string());
            with_structure(CallToolResult::success(vec![ContentBlock::text(text)]), value)
        }
        Err(refusal) => {
            let value = with_ignored(json!(refusal), ignored);
            with_structure(CallToolResult::error(vec![ContentBlock::text(value.to_string())]), value)
        }
    }
}

/// The outcome of a call where rmcp does not fit it to the client's version.
pub(super) fn plain_outcome(outcome: Result<CallAnswer, Refusal>, is_newest: bool) -> Value {
    let mut result = self::outcome(outcome, &[]);
    // Older clients do not know it.
    if !is_newest {
        result.result_type = None;
    }
    json!(result)
}

/// Names the type of a result that an upstream server of an older version sent without. rmcp takes it out for a client of such a
/// version.
pub(super) fn name_type(result_type: &mut Option<ResultType>) {
    if result_type.is_none() {
        *result_type = Some(ResultType::COMPLETE);
    }
}

/// An error in words. rmcp's "no such method" consists of nothing but the method's name.
pub(super) fn readable(mut error: ErrorData, method: &str) -> ErrorData {
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

/// A request whose parameters do not fit, or that cannot be answered now.
pub(super) fn refused_request(error: LedgerError) -> ErrorData {
    match error {
        LedgerError::Refused(refusal) => ErrorData::invalid_params(refusal.message.clone(), Some(json!(refusal))),
        error => unanswered(error),
    }
}

/// The error that a client gets for a refused resource. Its data name the address.
pub(super) fn refused_resource(uri: &str, error: LedgerError) -> ErrorData {
    let mut refused = match error {
        LedgerError::Refused(refusal) if refusal.code == RefusalCode::NotFound => {
            ErrorData::resource_not_found(refusal.message.clone(), Some(json!(refusal)))
        }
        error => refused_request(error),
    };
    if let Some(Value::Object(data)) = &mut refused.data {
        data.insert("uri".to_owned(), json!(uri));
    }
    refused
}

pub(super) fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("There is no resource {}.", quoted(uri)), Some(json!({ "uri": uri })))
}

/// The `[Planned]` line of a call that was written down instead of run.
fn recorded(value: &Value) -> Option<String> {
    let planned = value.get("planned").and_then(Value::as_bool) == Some(true);
    value.get("message").and_then(Value::as_str).filter(|_| planned).map(str::to_owned)
}

/// Names the fields of the call that were passed over.
fn with_ignored(mut value: Value, ignored: &[String]) -> Value {
    if let (Value::Object(object), false) = (&mut value, ignored.is_empty()) {
        object.insert("ignored".to_owned(), json!(ignored));
    }
    value
}

fn with_structure(mut result: CallToolResult, value: Value) -> CallToolResult {
    result.structured_content = Some(value);
    result
}
