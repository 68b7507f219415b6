//! How a call of a client's own tool ended, from what the client sends after it.

use serde_json::{Map, Value};

/// A call that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallOutcome {
    pub(super) has_failed: bool,
    /// The answer, or the reason of the failure.
    pub(super) text: String,
}

/// The fields that a result is sent in.
const RESULTS: [&str; 2] = ["tool_response", "tool_output"];
/// The fields that the reason of a failure is sent in, instead of a result.
const ERRORS: [&str; 2] = ["error", "error_message"];
/// Where an answer has its text, the best one first.
const TEXTS: [&str; 10] = [
    "llmContent",
    "text",
    "content",
    "output",
    "aggregated_output",
    "result",
    "stdout",
    "message",
    "file",
    "filenames",
];

impl CallOutcome {
    /// `None` if the client tells nothing about it.
    pub(super) fn of(details: &Map<String, Value>) -> Option<Self> {
        let error = ERRORS.iter().find_map(|field| details.get(*field)).map(text_of);
        let event = super::wire::event_name(details).unwrap_or_default();
        if event.to_ascii_lowercase().ends_with("failure") {
            let text = error.unwrap_or_else(|| "the client does not say why".to_owned());
            return Some(Self { has_failed: true, text });
        }
        let sent = RESULTS.iter().find_map(|field| details.get(*field))?;
        // Some clients send a result as JSON in a text.
        let parsed = sent.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()).filter(Value::is_object);
        let result = parsed.as_ref().unwrap_or(sent);
        match failure(result) {
            Some(reason) => Some(Self { has_failed: true, text: reason }),
            None => Some(Self { has_failed: false, text: text_of(result) }),
        }
    }
}

/// Why the call failed, if its result says that it did.
fn failure(result: &Value) -> Option<String> {
    let error = result.get("error").filter(|error| !error.is_null() && **error != Value::Bool(false));
    if let Some(error) = error {
        return Some(text_of(error));
    }
    let is_error = ["is_error", "isError"].iter().any(|field| result.get(*field) == Some(&Value::Bool(true)));
    let code = ["exit_code", "exitCode", "exit"].iter().find_map(|field| {
        let places = [result.get(*field), result.get("metadata").and_then(|metadata| metadata.get(*field))];
        places.into_iter().flatten().find_map(Value::as_i64)
    });
    let code = code.or_else(|| code_in_text(result)).filter(|code| *code != 0);
    if !is_error && code.is_none() {
        return None;
    }
    let mut texts = ["stderr", "returnDisplay"].into_iter().filter_map(|field| result.get(field)?.as_str());
    let text = texts.find(|text| !text.trim().is_empty()).map_or_else(|| text_of(result), str::to_owned);
    Some(match code {
        Some(code) => format!("exit code {code}: {}", text.trim()),
        None => text,
    })
}

/// Gemini CLI writes the exit code of a command into the text for its model, below what the command wrote.
fn code_in_text(result: &Value) -> Option<i64> {
    const BELOW: [&str; 5] =
        ["</untrusted_context>", "Process Group PGID:", "Background PIDs:", "Signal:", "Exit Code:"];
    let text = result.get("llmContent")?.as_str()?;
    let mut below = text.lines().rev().take_while(|line| BELOW.iter().any(|label| line.starts_with(*label)));
    below.find_map(|line| line.strip_prefix("Exit Code:"))?.trim().parse().ok()
}

/// The text of an answer if it has one, else all of it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match TEXTS.iter().find_map(|name| fields.get(*name)).filter(|text| !text.is_null()) {
            Some(text) => text_of(text),
            None => value.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_end_of_a_call_is_read_from_what_each_client_sends() {
        let ended = |details: Value| CallOutcome::of(details.as_object().unwrap());
        for (details, has_failed, text) in [
            (
                json!({ "tool_response": { "stdout": "one\ntwo", "stderr": "", "interrupted": false } }),
                false,
                "one\ntwo",
            ),
            (json!({ "tool_response": { "type": "text", "file": { "filePath": "/a", "content": "x" } } }), false, "x"),
            (
                json!({ "hook_event_name": "PostToolUseFailure", "error": "Exit code 2\nno such file" }),
                true,
                "Exit code 2\nno such file",
            ),
            (json!({ "hook_event_name": "postToolUseFailure", "error_message": "timed out" }), true, "timed out"),
            (json!({ "event": "PostToolUseFailure" }), true, "the client does not say why"),
            (
                json!({ "tool_response": { "llmContent": [{ "text": "a" }, { "text": "b" }], "returnDisplay": "" } }),
                false,
                "a\nb",
            ),
            (
                json!({ "tool_response": { "llmContent": "x", "error": { "message": "not found", "type": "x" } } }),
                true,
                "not found",
            ),
            (
                json!({ "tool_output": "{\"exitCode\":1,\"stdout\":\"\",\"stderr\":\"no rule\"}" }),
                true,
                "exit code 1: no rule",
            ),
            (json!({ "tool_output": "{\"exitCode\":0,\"stdout\":\"fine\"}" }), false, "fine"),
            (json!({ "tool_response": { "output": "boom", "metadata": { "exit": 3 } } }), true, "exit code 3: boom"),
            (
                json!({ "tool_response": {
                    "llmContent": "<untrusted_context>\nOutput: no rule\nExit Code: 2\nProcess Group PGID: 436\n</untrusted_context>",
                    "returnDisplay": "no rule",
                } }),
                true,
                "exit code 2: no rule",
            ),
            (
                json!({ "tool_response": { "llmContent": "Output: Exit Code: 2\nExit Code: 3\nfine", "returnDisplay": "fine" } }),
                false,
                "Output: Exit Code: 2\nExit Code: 3\nfine",
            ),
            (json!({ "tool_response": [{ "type": "text", "text": "one" }] }), false, "one"),
            (json!({ "tool_response": { "content": "no", "isError": true } }), true, "no"),
            (json!({ "tool_response": "plain" }), false, "plain"),
        ] {
            assert_eq!(ended(details.clone()), Some(CallOutcome { has_failed, text: text.to_owned() }), "{details}");
        }
        assert_eq!(ended(json!({ "tool_name": "Bash" })), None);
    }
}
