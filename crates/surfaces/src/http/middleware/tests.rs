//! Routes that only exist here, behind the real middleware.

use std::io;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt as _;

use super::{RequestHandling, handle};
use crate::http::access::allowed_hosts::AllowedHosts;
use crate::http::access::credentials::Credentials;
use crate::http::access::{Access, Authenticated};
use crate::http::extract::{self, Path, Query};
use crate::http::{ServerLimits, Token};

const TOKEN: &str = "a-token-of-the-test";

/// Nothing here takes that long; it turns a hanging test into a failing one.
const TIMEOUT: Duration = Duration::from_secs(20);

/// These routes behind the middleware, at port 80 of this machine.
fn behind_middleware(token: Token, routes: Router) -> Router {
    let mut hosts = AllowedHosts::new(&[], &[]).unwrap();
    hosts.listen_on("127.0.0.1:80".parse().unwrap());
    let access = Access::new(Credentials::new(token, None), hosts, &ServerLimits::default());
    let handling = RequestHandling { access: Arc::new(access), metrics: Default::default() };
    routes.layer(axum::middleware::from_fn_with_state(handling, handle))
}

fn given(routes: Router) -> Router {
    behind_middleware(Token::Given(TOKEN.into()), routes)
}

fn ask(method: &str, target: &str, token: &str) -> axum::http::request::Builder {
    let ask = Request::builder().method(method).uri(target).header(header::HOST, "localhost");
    ask.header(header::AUTHORIZATION, format!("Bearer {token}"))
}

async fn send(routes: &Router, request: Request) -> Response {
    tokio::time::timeout(TIMEOUT, routes.clone().oneshot(request)).await.expect("it answers").unwrap()
}

async fn problem(response: Response) -> Value {
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

/// The next piece of the stream; `None` at its end.
async fn next(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    let frame = tokio::time::timeout(TIMEOUT, body.frame()).await.expect("something happens")?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

#[tokio::test]
async fn a_stream_ends_when_the_token_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, TOKEN).unwrap();
    let (told, heard) = mpsc::unbounded_channel::<&'static str>();
    let (ended, mut ends) = mpsc::unbounded_channel();
    let heard = Arc::new(Mutex::new(Some(heard)));
    let stream = get(async move |Authenticated(until): Authenticated| {
        // A handler that keeps it is told as well, as a WebSocket has to be.
        tokio::spawn(async move {
            until.cancelled().await;
            let _ = ended.send(());
        });
        let mut heard = heard.lock().unwrap().take().unwrap();
        Body::from_stream(futures::stream::poll_fn(move |cx| {
            heard.poll_recv(cx).map(|expected| expected.map(|expected| Ok::<_, io::Error>(Bytes::from(expected))))
        }))
    });
    let routes = behind_middleware(Token::File(file.clone()), Router::new().route("/stream", stream));

    let mut body = send(&routes, ask("GET", "/stream", TOKEN).body(Body::empty()).unwrap()).await.into_body();
    assert!(body.size_hint().exact().is_none());
    told.send("one").unwrap();
    assert_eq!(next(&mut body).await.unwrap().unwrap(), "one");

    let new = Token::File(file).rotate().unwrap();
    // Presenting the new token makes it known at once.
    let new = secrecy::ExposeSecret::expose_secret(&new);
    let other = send(&routes, ask("GET", "/nothing", new).body(Body::empty()).unwrap()).await;
    assert_eq!(other.status(), StatusCode::NOT_FOUND);
    told.send("two").unwrap();
    assert!(next(&mut body).await.unwrap().is_err(), "nothing more is sent");
    tokio::time::timeout(TIMEOUT, ends.recv()).await.expect("it is told").unwrap();
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountQuery {
    count: Option<u8>,
}

#[derive(Debug, Deserialize)]
struct NumberPath {
    number: u8,
}

#[tokio::test]
async fn a_value_that_cannot_be_read_is_a_problem_that_says_why() {
    let routes = Router::new()
        .route("/query", get(async |Query(wish): Query<CountQuery>| wish.count.unwrap_or_default().to_string()))
        .route("/path/{number}", get(async |Path(place): Path<NumberPath>| place.number.to_string()))
        .route("/bytes", post(async |bytes: Bytes| bytes.len().to_string()))
        .route("/json", post(async |body: axum::Json<Value>| body.0.to_string()));
    let routes = given(routes);
    let get = async |target: &str| send(&routes, ask("GET", target, TOKEN).body(Body::empty()).unwrap()).await;

    assert_eq!(get("/query?count=5").await.status(), StatusCode::OK);
    assert_eq!(get("/query").await.status(), StatusCode::OK);
    assert_eq!(get("/path/7").await.status(), StatusCode::OK);
    for (target, expected) in [
        ("/query?count=500", "the query parameter `count` is invalid: the number is too large"),
        ("/query?count=x", "the query parameter `count` is invalid: it is not a whole number"),
        ("/query?count=1&count=2", "the field `count` is given twice"),
        ("/query?more=1", "there is no field `more`"),
        ("/path/x", "`number` is `x`, and has to be a whole number"),
        ("/path/%ff", "the path is invalid"),
    ] {
        let response = get(target).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{target}");
        let problem = problem(response).await;
        assert_eq!(problem["code"], "INVALID_ARGUMENT");
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{target}: {problem}");
    }

    // The extractors of the library keep to the limits as well, and their errors have the same form.
    let large = ask("POST", "/bytes", TOKEN).body(Body::from(vec![b'x'; 3_000_000])).unwrap();
    let refused = problem(send(&routes, large).await).await;
    assert_eq!((&refused["status"], &refused["code"]), (&json!(413), &json!("LIMIT_EXCEEDED")));
    let untyped = ask("POST", "/json", TOKEN).body(Body::from("{}")).unwrap();
    let refused = problem(send(&routes, untyped).await).await;
    assert_eq!((&refused["status"], &refused["code"]), (&json!(415), &json!("INVALID_ARGUMENT")));
}

#[tokio::test]
async fn a_handler_that_requires_authentication_is_not_reached_without_the_middleware() {
    let routes: Router = Router::new().route("/x", get(async |_: Authenticated| "in"));
    let answer = send(&routes, Request::builder().uri("/x").body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
}

#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log of every test of this process: the first event of a callsite decides for all threads whether it is logged.
fn log() -> Log {
    static LOG: LazyLock<Log> = LazyLock::new(|| {
        let log = Log::default();
        let writer = log.clone();
        let json = tracing_subscriber::fmt().json().with_writer(move || writer.clone());
        tracing::subscriber::set_global_default(json.finish()).unwrap();
        log
    });
    LOG.clone()
}

#[tokio::test]
async fn the_session_in_the_path_is_on_every_line_of_the_request() {
    let log = log();
    let place = get(async || tracing::info!(event = "inside"));
    let (api, mcp) = ("/api/sessions/{sessionId}/x", "/mcp/{sessionId}");
    let routes = given(Router::new().route(api, place.clone()).route(mcp, place));

    for (route, target, session) in [
        (api, "/api/sessions/k3yk3y8x/x", json!("web:k3yk3y8x")),
        (api, "/api/sessions/k3yk3y8x/x?after=1&channel=mcp", json!("mcp:k3yk3y8x")),
        (api, "/api/sessions/k3yk3y8x/x?channel=evil", Value::Null),
        (api, "/api/sessions/not%20a%20key/x", Value::Null),
        (mcp, "/mcp/k3yk3y8x", json!("mcp:k3yk3y8x")),
        (mcp, "/mcp/k3yk3y8x?plan=collect&channel=web", json!("mcp:k3yk3y8x")),
        (mcp, "/mcp/blog", json!("mcp:session-blog")),
        (mcp, "/mcp/not%20a%20key", Value::Null),
    ] {
        let answer = send(&routes, ask("GET", target, TOKEN).body(Body::empty()).unwrap()).await;
        let id = answer.headers()["x-request-id"].to_str().unwrap();
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let lines: Vec<_> = lines.filter(|line| line["span"]["request_id"] == id).collect();
        let events: Vec<_> = lines.iter().map(|line| line["fields"]["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["inside", "http_request"]);
        for line in &lines {
            assert_eq!(line["span"]["session_identity"], session, "{target}: {line}");
        }
        assert_eq!(lines[1]["fields"]["route"], route);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_times_out_in_every_extractor() {
    let routes = given(Router::new().route("/whole", post(async |request: Request| extract::read_body(request).await)));
    let endless = Body::from_stream(futures::stream::pending::<io::Result<Bytes>>());
    let refused = routes.oneshot(ask("POST", "/whole", TOKEN).body(endless).unwrap()).await.unwrap();
    assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
    assert_eq!(problem(refused).await["code"], "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn a_browser_at_a_path_that_does_not_exist_gets_a_page_and_a_program_a_problem() {
    let routes = given(Router::new());
    let open = async |method: &str, path: &str, token: &str, accept: &str| {
        send(&routes, ask(method, path, token).header(header::ACCEPT, accept).body(Body::empty()).unwrap()).await
    };
    let browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
    for token in [TOKEN, "none"] {
        let response = open("GET", "/plans/3", token, browser).await;
        let kind = response.headers()[header::CONTENT_TYPE].clone();
        let is_page = kind == "text/html; charset=utf-8" && response.status() == StatusCode::NOT_FOUND;
        assert_eq!(is_page, super::dashboard::is_built(), "{kind:?} {}", response.status());
    }
    for (method, path, accept) in [
        ("GET", "/plans/3", "*/*"),
        ("GET", "/plans/3", "application/json"),
        ("POST", "/plans/3", browser),
        ("GET", "/api/plan", browser),
        ("GET", "/api", browser),
        ("GET", "/assets/nothing.js", browser),
    ] {
        let response = open(method, path, TOKEN, accept).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{method} {path}");
        problem(response).await;
    }
}
