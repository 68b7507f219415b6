//! A client without the token gets nothing. What is asked comes from the description that the server itself
//! gives, so that a new call without protection is found here.

use serde_json::Value;

use crate::server_process::{Answer, Running, request, serve};
use crate::world::World;

/// A client without the token, by what it sends instead.
const STRANGERS: [(&str, &str); 7] = [
    ("nothing", ""),
    ("a wrong token", "authorization: Bearer 0000000000000000000000000000000000000000000000000000000000000000\r\n"),
    ("an empty token", "authorization: Bearer \r\n"),
    ("another scheme", "authorization: Basic cGxhbndyaWdodDpwbGFud3JpZ2h0\r\n"),
    ("a cookie of nonsense", "cookie: planwright=nonsense\r\n"),
    ("a cookie of nonsense and an origin", "cookie: planwright=nonsense\r\norigin: http://ADDRESS\r\n"),
    ("an empty cookie", "cookie: planwright=\r\n"),
];

/// All that a stranger may see.
const OPEN: [&str; 10] =
    ["/", "/settings", "/s/k3yk3y8x", "/p/1", "/start", "/start.js", "/start.css", "/icon.svg", "/healthz", "/readyz"];

/// Wrong tokens are many here, and what is counted by address is tested elsewhere.
fn patient_server(world: &World) -> Running {
    let mut command = serve(world);
    command.arg("--json").env("PLANWRIGHT_SERVER_WRONG_TOKENS_PER_MINUTE", "1000000");
    Running::started(world, command.env("PLANWRIGHT_SERVER_BURST", "1000000"))
}

#[test]
fn every_described_call_is_refused_to_strangers() {
    let world = World::new();
    let server = patient_server(&world);
    let session = server.post("/api/sessions", &serde_json::json!({ "sessionId": "k3yk3y8x" }));
    assert_eq!(session.status, 201, "{session:?}");
    let document = server.get("/api/openapi.json").json();
    let mut asked = 0;
    for (path, calls) in document["paths"].as_object().unwrap() {
        // An existing resource is refused in the same way as a missing one.
        let path = path.replace("{sessionId}", "k3yk3y8x").replace("{id}", "1");
        for (method, call) in calls.as_object().unwrap() {
            assert!(call["security"].is_null(), "{method} {path} has doors of its own");
            refused(&server, &method.to_uppercase(), &path, &example(&document, call));
            asked += 1;
        }
        for method in ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            refused(&server, method, &path, "");
        }
    }
    assert!(asked >= 22, "only {asked} calls are described");
    let sessions = server.get("/api/sessions").json();
    assert_eq!(sessions["sessions"][0]["seq"], 1, "a request without the token changed something: {sessions}");
}

#[test]
fn whatever_is_not_on_the_short_list_is_refused_to_strangers() {
    let world = World::new();
    let server = patient_server(&world);
    for path in OPEN {
        let answer = server.without_token(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        refused(&server, "POST", path, "{}");
    }
    for path in [
        "/api/openapi.json",
        "/api/logout",
        "/metrics",
        "/ws",
        "/mcp",
        "/api",
        "/api/",
        "/api/nothing",
        "/api/sessions/",
        "//api/sessions",
        "/healthz/",
        "/healthz/../api/sessions",
        "/HEALTHZ",
        "/%68ealthz",
        "/nothing",
        "/favicon.ico",
    ] {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            refused(&server, method, path, "");
        }
    }
    refused(&server, "GET", "/api/login", "");
}

/// What the description says can be sent.
fn example(document: &Value, call: &Value) -> String {
    if call["requestBody"]["content"]["application/octet-stream"].is_object() {
        return "the bytes of a file".to_owned();
    }
    let Some(schema) = call["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str() else {
        assert!(call.get("requestBody").is_none(), "{call}");
        return String::new();
    };
    let example = &document.pointer(schema.trim_start_matches('#')).unwrap()["example"];
    assert!(example.is_object(), "{schema}: {example}");
    example.to_string()
}

#[track_caller]
fn refused(server: &Running, method: &str, path: &str, body: &str) {
    for (who, headers) in STRANGERS {
        let headers = headers.replace("ADDRESS", &server.address);
        let answer = request(&server.address, method, path, &headers, body);
        assert_eq!(answer.status, 401, "{method} {path} with {who}: {answer:?}");
        is_problem(method, path, &answer);
    }
}

#[track_caller]
fn is_problem(method: &str, path: &str, answer: &Answer) {
    let head = answer.head.to_ascii_lowercase();
    // MCP over HTTP has errors of JSON-RPC.
    let (kind, problem) = if path == "/mcp" { ("json", "/error/data") } else { ("problem+json", "") };
    assert!(head.contains(&format!("content-type: application/{kind}")), "{answer:?}");
    assert!(head.contains("www-authenticate: bearer"), "{answer:?}");
    if method != "HEAD" {
        let body = answer.json();
        let problem = body.pointer(problem).unwrap();
        assert_eq!((&problem["status"], &problem["code"]), (&401.into(), &"UNAUTHENTICATED".into()), "{answer:?}");
    }
}
