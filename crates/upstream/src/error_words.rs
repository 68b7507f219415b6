//! Why a connection was not made, in words for a person who knows nothing of the library that made it.

use std::error::Error;

use planwright_sandbox::SandboxError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// What a program prints that wanted the network and has none.
const NO_NETWORK: [&str; 11] = [
    "ENOTCACHED",
    "offline",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ENETUNREACH",
    "ECONNREFUSED",
    "name resolution",
    "Name or service not known",
    "Network is unreachable",
    "dns error",
    "fetch failed",
];
/// What a program prints that wanted a file and may not have it.
const NO_FILE: [&str; 9] = [
    "ENOENT",
    "EACCES",
    "EROFS",
    "EPERM",
    "No such file",
    "Permission denied",
    "Read-only file system",
    "Cannot find module",
    "ModuleNotFoundError",
];

pub(crate) fn of_start(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => match error.error.downcast_ref() {
            Some(error) => of_http(error),
            None => chain(&*error.error),
        },
        ClientInitializeError::ExpectedInitResponse(None) => "it closed the connection before it answered".to_owned(),
        ClientInitializeError::ExpectedInitResponse(Some(_)) | ClientInitializeError::ExpectedInitResult(_) => {
            "its first message is no answer to `initialize`, so it may be no MCP server".to_owned()
        }
        ClientInitializeError::ConflictInitResponseId(..) | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "its first answer belongs to another request than the one that was sent".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of the protocol that Planwright knows".to_owned()
        }
        ClientInitializeError::Cancelled => "the connection was ended".to_owned(),
        other => chain(other),
    }
}

fn of_http(error: &StreamableHttpError<reqwest::Error>) -> String {
    match error {
        StreamableHttpError::Client(error) => of_request(error),
        StreamableHttpError::HttpStatus(error) => of_status(error.status),
        StreamableHttpError::AuthRequired(_) => of_status(401),
        StreamableHttpError::InsufficientScope(_) => of_status(403),
        StreamableHttpError::SessionExpired => of_status(404),
        StreamableHttpError::UnexpectedContentType(found) => {
            let found = found.as_deref().unwrap_or("nothing that is named");
            format!("it answers with {found}, and an MCP server answers with JSON or events")
        }
        StreamableHttpError::UnexpectedServerResponse(text) => match status_in(text) {
            Some(status) => of_status(status),
            None => format!("its answer is no message of the protocol: {text}"),
        },
        StreamableHttpError::UnexpectedEndOfStream | StreamableHttpError::TransportChannelClosed => {
            "it closed the connection before it answered".to_owned()
        }
        other => chain(other),
    }
}

fn of_request(error: &reqwest::Error) -> String {
    let text = chain(error);
    let lower = text.to_lowercase();
    if error.is_timeout() {
        "nothing answers at its address in time".to_owned()
    } else if lower.contains("connection refused") {
        "nothing listens at its address (connection refused)".to_owned()
    } else if lower.contains("dns error") || lower.contains("failed to lookup address") {
        "no machine with the name in its address is found".to_owned()
    } else if lower.contains("certificate") {
        format!("its certificate is not trusted: {}", last_cause(error))
    } else {
        format!("the connection failed: {}", last_cause(error))
    }
}

fn of_status(status: u16) -> String {
    match status {
        401 => "it asks for credentials (HTTP 401); `headers` in its settings gives them".to_owned(),
        403 => "it refuses the credentials that it was given (HTTP 403)".to_owned(),
        404 | 405 => format!("its address has no MCP server at this path (HTTP {status})"),
        300..=399 => format!("its address leads to another one (HTTP {status}), and redirects are not followed"),
        429 => "it has had too many requests (HTTP 429)".to_owned(),
        500.. => format!("it failed to answer (HTTP {status})"),
        _ => format!("it refuses the connection (HTTP {status})"),
    }
}

/// The status in a text such as `HTTP 404 Not Found: …`.
fn status_in(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("HTTP ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (300..600).contains(status))
}

/// Why a program was not started.
pub(crate) fn of_sandbox(error: &SandboxError) -> String {
    match error {
        SandboxError::NotEnforceable { level, reason } => format!(
            "this system cannot enforce the sandbox level {level}, so the program was not started: {reason}. With `sandbox = \"open\"` \
             in its settings, and with a person's word (`planwright mcp-server accept NAME --allow-access`), it runs without a sandbox"
        ),
        SandboxError::Start(reason) => format!("it cannot be started: {reason}"),
        other => other.to_string(),
    }
}

/// The line of a program's last output that says what is wrong: the last one, except where a runtime prints more behind it.
pub(crate) fn telling_line(output: &str) -> Option<&str> {
    // npm ends with the name of a file, and says before that what is wrong.
    let says_something = |line: &&str| !line.is_empty() && !line.contains("A complete log of this run");
    let mut lines = output.lines().rev().map(str::trim).filter(says_something);
    let last = lines.next()?;
    // Node ends with its version, behind the error with its stack and its properties.
    let is_error = |line: &&str| !line.starts_with("at ") && (line.contains("Error: ") || line.contains("Error ["));
    match last.starts_with("Node.js v") {
        true => Some(lines.find(is_error).unwrap_or(last)),
        false => Some(last),
    }
}

/// What a person should know about a program in the sandbox that failed: it may have wanted what it may not have.
pub(crate) fn sandbox_hint(failure: &str, has_network: bool) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| failure.contains(word));
    if !has_network && has(&NO_NETWORK) {
        return Some("it runs in the sandbox without a network; `network = true` in its settings asks for it");
    }
    has(&NO_FILE).then_some(
        "it runs in the sandbox, and `planwright mcp-server show` says what it reads and writes; `read` and `write` in its settings ask \
         for more",
    )
}

fn last_cause(error: &dyn Error) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}

/// An error with its causes, each once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_words() {
        for (text, status) in
            [("unexpected: HTTP 404 Not Found: x", Some(404)), ("HTTP is fine", None), ("HTTP 999", None)]
        {
            assert_eq!(status_in(text), status, "{text}");
        }
        for (status, words) in [
            (307, "redirects are not followed"),
            (401, "`headers`"),
            (404, "no MCP server at this path"),
            (502, "failed to answer"),
        ] {
            assert!(of_status(status).contains(words), "{status}");
        }
    }

    #[test]
    fn the_line_that_says_what_is_wrong_is_told() {
        let node = "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/srv/none.js'\n    \
                    at Module._load (node:internal:1) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n";
        for (output, line) in [
            (node, Some("Error: Cannot find module '/srv/none.js'")),
            ("starts\nNode.js v20.20.2\n", Some("Node.js v20.20.2")),
            (
                "Traceback\nModuleNotFoundError: No module named 'x'\n\n",
                Some("ModuleNotFoundError: No module named 'x'"),
            ),
            ("npm error 404\nnpm error A complete log of this run can be found in: /x\n", Some("npm error 404")),
            ("\n", None),
        ] {
            assert_eq!(telling_line(output), line, "{output}");
        }
    }

    #[test]
    fn a_program_that_wanted_more_is_told_apart() {
        let network = "it ended with exit code 1; its last output: npm error getaddrinfo EAI_AGAIN registry";
        assert!(sandbox_hint(network, false).is_some_and(|hint| hint.contains("network = true")));
        assert_eq!(sandbox_hint(network, true), None);
        let module = "it ended with exit code 1; its last output: ModuleNotFoundError: No module named 'x'";
        assert!(sandbox_hint(module, false).is_some_and(|hint| hint.contains("`read`")));
        assert_eq!(sandbox_hint("it ended with exit code 7; its last output: the licence has expired", false), None);
    }
}
