//! A server that is reached over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use planwright_core::upstream::AnnotationTrust;
use planwright_engine::upstream::{ToolSelection, UpstreamError, UpstreamServers as _};
use planwright_llm::scripted::Reply;
use planwright_upstream::{PassedRequests, Reach, UpstreamClient, UpstreamServerOptions};
use serde_json::{Value, json};

use crate::world::{World, name, sandbox};

type Seen = Arc<Mutex<Vec<HeaderMap>>>;

async fn answer(State(seen): State<Seen>, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    seen.lock().unwrap().push(headers);
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "web", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "search", "description": "Searches.", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "found it" }] }),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).into_response()
}

/// The address of a server, and the headers that it was sent.
async fn server() -> (String, Seen) {
    let seen = Seen::default();
    let elsewhere = || async { (StatusCode::TEMPORARY_REDIRECT, [("location", "http://127.0.0.1:9/mcp")]) };
    let app = Router::new()
        .route("/mcp", post(answer).get(|| async { StatusCode::METHOD_NOT_ALLOWED }))
        .route("/moved", post(elsewhere))
        .with_state(Arc::clone(&seen));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (format!("http://{address}"), seen)
}

fn options(url: String) -> UpstreamServerOptions {
    let headers = vec![("Authorization".to_owned(), "Bearer person".to_owned())];
    UpstreamServerOptions {
        passed_requests: PassedRequests::default(),
        name: name("web"),
        reach: Reach::Http { url, headers: headers.clone(), written: headers },
        trust: AnnotationTrust::Ignored,
        selection: ToolSelection::new(&[], 128).unwrap(),
        start_time: Duration::from_secs(20),
        call_time: Duration::from_secs(20),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_behind_an_address_are_called_with_the_persons_headers() {
    let (url, seen) = server().await;
    let replies = [Reply::call("web__search", json!({})), Reply::text("Found.")];
    let world = World::with("plain", replies, |setup| setup.servers = vec![options(format!("{url}/mcp"))]).await;
    world.accept("web").await;
    world.send("Search").await;
    assert!(world.results().contains("found it"), "{}", world.results());
    let seen = seen.lock().unwrap();
    assert!(seen.iter().all(|headers| headers.get("authorization").is_some_and(|value| value == "Bearer person")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_answer_or_leads_elsewhere_has_words() {
    let (url, _) = server().await;
    for (address, words) in [
        ("http://127.0.0.1:9/mcp".to_owned(), "nothing listens at its address"),
        (format!("{url}/moved"), "redirects are not followed"),
        (format!("{url}/nothing"), "no MCP server at this path (HTTP 404)"),
    ] {
        let client = UpstreamClient::new(vec![options(address.clone())], &sandbox());
        let error = client.offer(&name("web")).await.unwrap_err();
        let (is_plain, text) = (matches!(&error, UpstreamError::NotReached { .. }), error.to_string());
        assert!(
            is_plain && text.contains(words) && !text.contains("rmcp") && !text.contains("Transport"),
            "{address}: {text}"
        );
    }
}
