//! MCP over streamable HTTP, byte by byte.

use std::collections::{BTreeMap, HashMap};

use planwright_core::session::SessionIdentity;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::client::{Answer, Ask, write};
use crate::world::{TIMEOUT, World};

const PATH: &str = "POST /mcp/k3yk3y8x";

fn message(ask: Ask, body: &Value) -> Ask {
    ask.header("Accept", "application/json, text/event-stream").json(&body.to_string())
}

fn hello(version: &str) -> Value {
    let about = json!({ "name": "over-http", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// The JSON-RPC messages of an answer, with the ids of their events.
fn messages(answer: &Answer) -> Vec<(String, Value)> {
    let text = &answer.body;
    let mut id = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(value) = line.strip_prefix("id:") {
            id = value.trim().to_owned();
        }
        if let Some(data) = line.strip_prefix("data:").map(str::trim).filter(|data| data.starts_with('{')) {
            found.push((id.clone(), serde_json::from_str(data).unwrap()));
        }
    }
    if found.is_empty() && text.trim_start().starts_with('{') {
        found.push((id, serde_json::from_str(text).unwrap()));
    }
    found
}

/// Reads a stream that stays open until these words come.
async fn read_until(world: &World, ask: &Ask, expected: &str) -> String {
    let mut stream = world.connect().await;
    write(&mut stream, &ask.bytes()).await;
    let mut bytes = Vec::new();
    loop {
        let mut more = [0; 4096];
        let read = timeout(TIMEOUT, stream.read(&mut more)).await.expect("the server answers").unwrap();
        bytes.extend_from_slice(&more[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains(expected) {
            return text;
        }
        assert!(read > 0, "the stream ended: {text}");
    }
}

/// Begins a connection of an older version and returns its id.
async fn connect(world: &World, path: &str, version: &str) -> String {
    let answer = world.send(message(world.allowed(path), &hello(version))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let told = messages(&answer).pop().unwrap().1;
    assert_eq!(told["result"]["protocolVersion"], version, "{told}");
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let accepted = world.send(message(world.allowed(path).header("Mcp-Session-Id", &id), &ready)).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    id
}

async fn ask(world: &World, path: &str, id: &str, body: &Value) -> Value {
    let answer = world.send(message(world.allowed(path).header("Mcp-Session-Id", id), body)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    messages(&answer).into_iter().map(|(_, message)| message).find(|message| message["id"] == body["id"]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_version_from_the_oldest_to_the_newest_works_on_one_plan() {
    let world = World::new().await;
    let mut text = String::new();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = connect(&world, PATH, version).await;
        let read = ask(&world, PATH, &id, &call(2, "plan_get", json!({}))).await;
        assert_eq!(read["result"]["structuredContent"]["markdown"], text, "{version}: {read}");
        text = format!("# By {version}\n\n- [ ] one\n");
        let set = ask(&world, PATH, &id, &call(3, "plan_set_content", json!({ "plan_markdown": text }))).await;
        assert_eq!(set["result"]["structuredContent"]["status"], "READY", "{version}: {set}");
        let list = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/list" });
        let tools = ask(&world, PATH, &id, &list).await;
        let has_output_schema = tools["result"]["tools"][0].get("outputSchema").is_some();
        assert_eq!(has_output_schema, version >= "2025-06-18", "{version}: {tools}");
    }
    // The newest version has no connections: every request stands alone.
    let mut alone = call(9, "plan_get", json!({}));
    alone["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "newest", "version": "1" },
    });
    let request = world
        .allowed(PATH)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "plan_get");
    let answer = world.send(message(request, &alone)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let told = messages(&answer).pop().unwrap().1;
    assert_eq!(told["result"]["structuredContent"]["markdown"], text, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_broke_is_resumed_after_the_last_event() {
    let world = World::new().await;
    let id = connect(&world, PATH, "2025-11-25").await;
    ask(&world, PATH, &id, &call(2, "plan_set_content", json!({ "plan_markdown": "# A" }))).await;
    let wait = call(3, "plan_await_decision", json!({ "timeout_seconds": 2 }));
    let request = message(world.allowed(PATH).header("Mcp-Session-Id", &id), &wait);
    // The connection breaks after the first event, which has an id, while the call waits.
    let begun = read_until(&world, &request, "id:").await;
    let first = begun.lines().find_map(|line| line.strip_prefix("id:")).unwrap().trim().to_owned();
    let again = world
        .allowed("GET /mcp/k3yk3y8x")
        .header("Accept", "text/event-stream")
        .header("Mcp-Session-Id", &id)
        .header("Last-Event-ID", &first);
    let stream = read_until(&world, &again, "not an approval").await;
    assert!(stream.contains("\"id\":3"), "{stream}");
}

/// Connections wait for the word that their session was written to, and ask for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_idle_asks_the_store_for_nothing() {
    let world = World::new().await;
    let mut streams = Vec::new();
    for n in 0..8 {
        let path = format!("/mcp/idle-session-{n}");
        let id = connect(&world, &format!("POST {path}"), "2025-11-25").await;
        ask(&world, &format!("POST {path}"), &id, &call(2, "plan_get", json!({}))).await;
        let stream = world.allowed(&format!("GET {path}")).header("Accept", "text/event-stream");
        let mut open = world.connect().await;
        write(&mut open, &stream.header("Mcp-Session-Id", &id).bytes()).await;
        streams.push(open);
    }
    let id = connect(&world, PATH, "2025-11-25").await;
    ask(&world, PATH, &id, &call(2, "plan_set_content", json!({ "plan_markdown": "# A" }))).await;
    let wait = call(3, "plan_await_decision", json!({ "timeout_seconds": 1 }));
    ask(&world, PATH, &id, &wait).await;
    let idle = |looks: HashMap<SessionIdentity, usize>| {
        let of_idle = looks.into_iter().filter(|(session, _)| session.conversation.as_str().starts_with("idle-"));
        of_idle.collect::<BTreeMap<_, _>>()
    };
    let before = idle(world.control.looks());
    assert_eq!(before.len(), 8);
    // One second in which a connection beside them works.
    ask(&world, PATH, &id, &call(4, "plan_set_content", json!({ "plan_markdown": "# B" }))).await;
    ask(&world, PATH, &id, &call(5, "plan_await_decision", json!({ "timeout_seconds": 1 }))).await;
    assert_eq!(idle(world.control.looks()), before);
    drop(streams);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_the_host_and_the_origin_are_checked() {
    let world = World::new().await;
    let without = world.send(message(world.ask(PATH), &hello("2025-11-25"))).await;
    assert_eq!(without.status, 401, "{without:?}");
    let foreign = Ask::new(PATH).header("Host", "evil.example.org").bearer(&world.token);
    assert_eq!(world.send(message(foreign, &hello("2025-11-25"))).await.status, 421);
    let page = world.allowed(PATH).header("Origin", "https://evil.example.org");
    assert_eq!(world.send(message(page, &hello("2025-11-25"))).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_stays_in_its_session() {
    let world = World::new().await;
    let id = connect(&world, PATH, "2025-11-25").await;
    let other = ask(&world, "POST /mcp/another-session", &id, &call(2, "plan_get", json!({}))).await;
    assert_eq!(other["result"]["structuredContent"]["code"], "CONFLICT", "{other}");
    let odd = world.send(message(world.allowed("POST /mcp/no%20key"), &hello("2025-11-25"))).await;
    assert_eq!(odd.status, 404, "{odd:?}");
    let style = world.send(message(world.allowed("POST /mcp/k3yk3y8x?plan=sideways"), &hello("2025-11-25"))).await;
    assert_eq!(style.status, 400, "{style:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_session_clients_share_the_default_one_and_the_style_can_be_chosen() {
    let world = World::new().await;
    let id = connect(&world, "POST /mcp", "2025-11-25").await;
    ask(&world, "POST /mcp", &id, &call(2, "plan_set_content", json!({ "plan_markdown": "# Shared" }))).await;
    let second = connect(&world, "POST /mcp", "2025-06-18").await;
    let read = ask(&world, "POST /mcp", &second, &call(2, "plan_get", json!({}))).await;
    assert_eq!(read["result"]["structuredContent"]["markdown"], "# Shared", "{read}");
    let path = "POST /mcp/collected1?plan=collect";
    let third = connect(&world, path, "2025-11-25").await;
    let added = ask(&world, path, &third, &call(2, "plan_add_call", json!({ "tool": "Bash", "arguments": {} }))).await;
    assert_eq!(added["result"]["structuredContent"]["planned"], true, "{added}");
}

/// A request of the newest protocol.
fn alone(world: &World, version: &str, method: &str, params: Value) -> Ask {
    let name = params["uri"].as_str().map(str::to_owned);
    let mut request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "newest", "version": "1" },
    });
    let headers = world.allowed(PATH).header("MCP-Protocol-Version", version).header("Mcp-Method", method);
    let headers = match name {
        Some(name) => headers.header("Mcp-Name", &name),
        None => headers,
    };
    message(headers, &request)
}

/// Clients of MCP read errors of JSON-RPC and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_an_error_of_json_rpc() {
    let world = World::new().await;
    for (method, params) in [
        ("initialize", json!({})),
        ("ping", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({ "uri": "planwright://plan/active" })),
        ("resources/unsubscribe", json!({ "uri": "planwright://plan/active" })),
        ("unknown/method", json!({})),
    ] {
        let answer = world.send(alone(&world, "2026-07-28", method, params)).await;
        assert_eq!(answer.status, 404, "{method}: {answer:?}");
        let error = messages(&answer).pop().unwrap().1;
        assert_eq!((&error["error"]["code"], &error["id"]), (&json!(-32601), &json!(7)), "{method}: {error}");
    }
    let future = world.send(alone(&world, "v999.0.0", "server/discover", json!({}))).await;
    assert_eq!(future.status, 400, "{future:?}");
    let error = messages(&future).pop().unwrap().1;
    assert_eq!(error["error"]["data"]["requested"], "v999.0.0", "{error}");
    let bare = json!({ "jsonrpc": "2.0", "id": 8, "method": "server/discover", "params": {} });
    let headers =
        world.allowed(PATH).header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "server/discover");
    let answer = world.send(message(headers, &bare)).await;
    let error = messages(&answer).pop().unwrap().1;
    assert_eq!((answer.status, &error["error"]["code"]), (400, &json!(-32602)), "{error}");

    // What is refused before the request is read has no id, and the usual problem as its data.
    let unknown = world.send(message(world.allowed("POST /mcp/no%20key"), &hello("2025-11-25"))).await;
    let stranger = world.send(message(world.ask(PATH), &hello("2025-11-25"))).await;
    let page = world.allowed(PATH).header("Origin", "https://evil.example.org");
    let page = world.send(message(page, &hello("2025-11-25"))).await;
    let no_session = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let ended = world.allowed(PATH).header("Mcp-Session-Id", "gone");
    let ended = world.send(message(ended, &no_session)).await;
    let unacceptable = world.send(world.allowed(PATH).json(&no_session.to_string())).await;
    for (answer, status, code) in [
        (unknown, 404, "NOT_FOUND"),
        (stranger, 401, "UNAUTHENTICATED"),
        (page, 403, "POLICY_DENIED"),
        (ended, 404, "NOT_FOUND"),
        (unacceptable, 406, "INVALID_ARGUMENT"),
    ] {
        assert_eq!((answer.status, answer.header("content-type")), (status, Some("application/json")), "{answer:?}");
        let error = messages(&answer).pop().unwrap().1;
        assert_eq!((&error["jsonrpc"], error.get("id")), (&json!("2.0"), None), "{error}");
        assert_eq!(error["error"]["data"]["code"], code, "{error}");
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
    }
}
