//! Order over REST. The order of arrival is defined in two cases: requests on one connection, and a request that
//! is sent after a streamed one was accepted. Requests on two connections that are sent at the same moment have no order.

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{AT_ONCE, PAIRS, SESSIONS, command, effects, expected};
use crate::stores::Store;
use crate::world::{TIMEOUT, World};

struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
    token: String,
}

impl Connection {
    async fn open(world: &World) -> Self {
        let stream = BufReader::new(TcpStream::connect(world.address).await.unwrap());
        Self { stream, address: world.address.to_string(), token: world.token.clone() }
    }

    async fn send(&mut self, key: &str, text: &str, accept: &str) {
        let body = json!({ "text": text }).to_string();
        let request = format!(
            "POST /api/sessions/{key}/messages HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\naccept: {accept}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(TIMEOUT, self.stream.read_line(&mut line)).await.expect("the server answers").unwrap();
        line.trim_end().to_owned()
    }

    /// Reads to the end of the next answer that has a length.
    async fn answer(&mut self) {
        let status = self.line().await;
        let mut length = 0;
        loop {
            let line = self.line().await.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        timeout(TIMEOUT, self.stream.read_exact(&mut body)).await.expect("the server answers").unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK", "{}", String::from_utf8_lossy(&body));
    }

    /// Reads a streamed answer up to this event.
    async fn event(&mut self, name: &str) {
        let wanted = format!("event: {name}");
        loop {
            let line = self.line().await;
            assert_ne!(line, "event: problem");
            if line == wanted {
                return;
            }
        }
    }
}

async fn world() -> (World, Vec<String>) {
    let model = ScriptedModel::new([]).otherwise(Reply::text("Yes."));
    let world = World::with(Store::sqlite(), model, |_| {}).await;
    let keys: Vec<_> = (0..SESSIONS).map(|n| format!("session-{n:04}")).collect();
    for key in &keys {
        world.open(key).await;
    }
    (world, keys)
}

async fn assert_in_order(world: &World, keys: &[String], mut clients: JoinSet<()>) {
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    for key in keys {
        assert_eq!(effects(&world.journal(key).await), expected(), "{key}");
    }
}

/// One connection carries one request after another, also if the client does not wait for the answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pairs_that_are_pipelined_take_effect_in_the_order_they_were_sent() {
    let (world, keys) = world().await;
    let mut clients = JoinSet::new();
    for key in keys.clone() {
        let mut connection = Connection::open(&world).await;
        clients.spawn(async move {
            for first in (0..PAIRS).step_by(AT_ONCE) {
                for pair in first..first + AT_ONCE {
                    connection.send(&key, &format!("message {pair}"), "application/json").await;
                    connection.send(&key, command(pair), "application/json").await;
                }
                for _ in 0..2 * AT_ONCE {
                    connection.answer().await;
                }
            }
        });
    }
    assert_in_order(&world, &keys, clients).await;
}

/// A message that was accepted has its place: a command that is sent then, on another connection and while the turn is
/// under way, takes effect after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pairs_on_two_connections_take_effect_in_the_order_they_were_accepted() {
    let (world, keys) = world().await;
    let mut clients = JoinSet::new();
    for key in keys.clone() {
        let (mut talking, mut deciding) = (Connection::open(&world).await, Connection::open(&world).await);
        clients.spawn(async move {
            for pair in 0..PAIRS {
                talking.send(&key, &format!("message {pair}"), "text/event-stream").await;
                talking.event("accepted").await;
                deciding.send(&key, command(pair), "application/json").await;
                talking.event("answer").await;
                deciding.answer().await;
            }
        });
    }
    assert_in_order(&world, &keys, clients).await;
}
