//! What providers write about an error. Their forms differ, and none of them is relied on.

use std::time::Duration;

use serde_json::Value;

/// How much of the body of an error is read.
pub(super) const ERROR_BODY_BYTES: usize = 64 * 1024;

/// What an error that is reported in the middle of an answer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReportedError {
    RateLimit,
    Temporary,
    TooLong,
    Permanent,
}

impl ReportedError {
    pub(super) fn of(event: &str) -> Self {
        let has = |signs: &[&str]| signs.iter().any(|sign| event.contains(sign));
        if is_about_length(event) {
            Self::TooLong
        } else if has(&["rate_limit", "RESOURCE_EXHAUSTED", "\"code\":429"]) {
            Self::RateLimit
        } else if has(&["invalid_request", "INVALID_ARGUMENT", "blockReason", "content_policy", "PERMISSION_DENIED"]) {
            Self::Permanent
        } else {
            Self::Temporary
        }
    }
}

/// The sentence in the body of an error, or the body itself.
pub(super) fn message(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    // Gemini wraps it in a list.
    let value = value.get(0).unwrap_or(&value);
    let places = [
        "/error/message",
        "/error/error/message",
        "/error",
        "/message",
        "/detail",
        "/promptFeedback/blockReason",
        "/finishReason",
    ];
    let sentence = places.iter().find_map(|place| value.pointer(place)?.as_str());
    sentence.map_or_else(|| strip_nulls(value).to_string(), str::to_owned)
}

fn strip_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let filled = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(filled.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value.clone(),
    }
}

pub(super) fn is_about_length(body: &str) -> bool {
    let body = body.to_lowercase();
    let signs = [
        "context_length_exceeded",
        "maximum context length",
        "prompt is too long",
        "exceed context limit",
        "exceeds the maximum number of tokens",
        "exceed_context_size",
        "exceeds the available context size",
        "context window",
    ];
    signs.iter().any(|sign| body.contains(sign))
}

/// Whether the account has no credit, which waiting does not change.
pub(super) fn is_about_money(body: &str) -> bool {
    ["insufficient_quota", "billing_hard_limit", "credit balance"].iter().any(|sign| body.contains(sign))
}

/// The wait that the provider asks for: in a header, or, with Gemini, in the body.
pub(super) fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>, body: &str) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let milliseconds = header("retry-after-ms").and_then(number).map(|many| many / 1000.0);
    let seconds = || header("retry-after").and_then(number);
    let in_body = || {
        let (_, rest) = body.split_once("\"retryDelay\"")?;
        number(rest.trim_start_matches([':', ' ', '"']).split_once('s')?.0)
    };
    let seconds = milliseconds.or_else(seconds).or_else(in_body)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_is_found_wherever_it_is() {
        for (body, expected) in [
            (r#"{"error":{"message":"Bad key","type":"x"}}"#, "Bad key"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded"),
            (r#"[{"error":{"code":429,"message":"Quota"}}]"#, "Quota"),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, "SAFETY"),
            (r#"{"finishReason":null}"#, "{}"),
            ("<html>nginx</html>", "<html>nginx</html>"),
        ] {
            assert_eq!(message(body), expected, "{body}");
        }
    }

    #[test]
    fn waits_are_read_from_headers_and_bodies() {
        let no_header = |_: &str| None;
        let header = |wanted: &'static str, value: &'static str| move |name: &str| (name == wanted).then_some(value);
        let delay = r#"{"error":{"details":[{"@type":"…RetryInfo","retryDelay": "17s"}]}}"#;
        assert_eq!(retry_after(header("retry-after", "2"), ""), Some(Duration::from_secs(2)));
        assert_eq!(retry_after(header("retry-after-ms", "250"), ""), Some(Duration::from_millis(250)));
        assert_eq!(retry_after(no_header, delay), Some(Duration::from_secs(17)));
        for value in ["Fri, 31 Dec 1999 23:59:59 GMT", "-1", "NaN", ""] {
            assert_eq!(retry_after(|_: &str| Some(value), ""), None, "{value}");
        }
        assert_eq!(retry_after(no_header, "{}"), None);
    }
}
