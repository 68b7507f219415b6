//! Clients that do not read cost the server little, however much there is to tell them.

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::plan::PlanStyle;
use serde_json::json;
use tokio::net::TcpSocket;

use crate::client::Client;
use crate::program::{Address, Program};
use crate::stores::Store;
use crate::world::{TIMEOUT, session};

const KEY: &str = "session-one";
const CLIENTS: u64 = 8;
const ENTRIES: u64 = 80;
const ENTRY: u64 = 500_000;

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_read_are_cut_off_and_cost_little() {
    let store = Store::sqlite();
    let server = Program::rehearsing(&store, &[]);
    server.at().open(KEY).await;
    let (engine, by) = (store.engine().await, Actor::agent("claude", "mcp"));
    engine.sessions().enable_plan_mode(&session(KEY), &by, PlanStyle::Document).await.unwrap();
    for n in 0..ENTRIES {
        let text = format!("# Version {n}\n\n{}", "x".repeat(ENTRY as usize));
        let arguments = json!({ "plan_markdown": text }).as_object().cloned().unwrap();
        PlanTools::new(&engine).call(&session(KEY), &by, "plan_set_content", arguments).await.unwrap();
    }
    let before = server.most_memory();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut client = Client::connect_on(socket, server.address, &Address::hello()).await.unwrap();
        client.send(json!({ "type": "subscribe", "sessionId": KEY, "after": 0 })).await;
        clients.push(client);
    }
    let at = server.at();
    let open = |text: &str| text.contains(&format!("websocket_connections {CLIENTS}\n"));
    assert!(open(at.get("/metrics").await.body.as_str().unwrap()), "they are connected");
    let asking =
        async { while !at.get("/metrics").await.body.as_str().unwrap().contains("websocket_connections 0\n") {} };
    tokio::time::timeout(TIMEOUT, asking).await.expect("they are cut off");
    let grown = server.most_memory() - before;
    // A few entries for each: one that is read, as text, and on its way.
    assert!(grown < CLIENTS * 10 * ENTRY, "{CLIENTS} clients took {} MiB", grown >> 20);
    assert!(grown < CLIENTS * ENTRIES * ENTRY / 8, "that would be no proof");
}
