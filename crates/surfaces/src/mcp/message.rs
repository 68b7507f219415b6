//! One line as a JSON-RPC message, or what to say about it.

use planwright_core::refusal::Refusal;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::answer;
use super::line::MAX_LINE;
use super::recover_id::{self, RequestHint};

/// A line, read.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// It cannot be taken, and this answer says why.
    Refused(Value),
    /// Nothing is to be said: a blank line, or a notification or an answer that makes no sense. Those are never
    /// answered, or two programs could answer each other for ever.
    Nothing,
}

pub(super) fn read(line: &[u8]) -> Incoming {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let id = recover_id::recover_id(line).id;
            return refused(ErrorCode::PARSE_ERROR, id, format!("The message is not valid UTF-8: {error}."));
        }
    };
    match serde_json::from_str(text) {
        Ok(message) => Incoming::Message(Box::new(message)),
        Err(_) => explain(text),
    }
}

pub(super) fn too_long(hint: RequestHint) -> Incoming {
    let message = format!("The message is longer than {MAX_LINE} bytes and was skipped.");
    if hint.is_call {
        return refused_call(hint.id, Refusal::limit(message));
    }
    refused(ErrorCode::INVALID_REQUEST, hint.id, message)
}

/// Finds out what is wrong with text that is not a message.
fn explain(text: &str) -> Incoming {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return unreadable(text, &error),
    };
    let object = match value {
        Value::Object(object) => object,
        Value::Array(_) => return invalid(Value::Null, "Batches are not taken; send one message per line."),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return invalid(Value::Null, "A message is a JSON object.");
        }
    };
    let has = |name: &str| object.contains_key(name);
    if !has("method") && (has("result") || has("error")) {
        tracing::debug!("an answer that cannot be read was left alone");
        return Incoming::Nothing;
    }
    let id = object.get("id").filter(|id| is_usable(id)).cloned().unwrap_or_default();
    if !object.get("method").is_some_and(Value::is_string) {
        return invalid(id, "A message has a `method`, which is a string.");
    }
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "A message has `jsonrpc`, which is \"2.0\".");
    }
    if !has("id") {
        tracing::debug!("a notification that cannot be read was left alone");
        return Incoming::Nothing;
    }
    if id.is_null() {
        return invalid(id, "The `id` of a request is a string or a whole number.");
    }
    if has("result") || has("error") {
        return invalid(id, "A request has no `result` and no `error`.");
    }
    let message = "The `params` of a request are an object, and so is the `_meta` in them.";
    refused(ErrorCode::INVALID_PARAMS, id, message.to_owned())
}

/// Text that is not JSON, or JSON that holds what no value can.
fn unreadable(text: &str, error: &serde_json::Error) -> Incoming {
    let hint = recover_id::recover_id(text.as_bytes());
    // Half a surrogate pair, too large a number and too deep a nesting are well formed. They are in the arguments that
    // a model wrote, so the model is told.
    let is_well_formed = serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_well_formed && hint.is_call {
        let message = format!(
            "The call cannot be read: {error}. Half of a surrogate pair is no character, and numbers and nesting have \
             limits."
        );
        return refused_call(hint.id, Refusal::invalid(message));
    }
    refused(ErrorCode::PARSE_ERROR, hint.id, format!("The message is not JSON: {error}."))
}

/// Whether a request may have this id.
pub(super) fn is_usable(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

/// The answer to a call is a refusal like any other, which reaches the model. Which protocol the client speaks is in the part that cannot
/// be read; the newest one reads a result without a type as a complete one.
fn refused_call(id: Value, refusal: Refusal) -> Incoming {
    tracing::debug!(code = %refusal.code, message = %refusal, "a call was refused unread");
    Incoming::Refused(json!({ "jsonrpc": "2.0", "id": id, "result": answer::plain_outcome(Err(refusal), false) }))
}

fn invalid(id: Value, message: &str) -> Incoming {
    refused(ErrorCode::INVALID_REQUEST, id, message.to_owned())
}

fn refused(code: ErrorCode, id: Value, message: String) -> Incoming {
    tracing::debug!(%message, "a line was refused");
    Incoming::Refused(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": message } }))
}
