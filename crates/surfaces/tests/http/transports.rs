//! Every client has a transport of its own, which the log tells by a short hash.

use std::collections::HashSet;

use planwright_store::Location;
use serde_json::{Value, json};

use crate::client::Ask;
use crate::logs::log;
use crate::world::World;

impl World {
    /// Sends the request and gives the hash of its transport, as the log has it on every line of the request.
    async fn transport_hash(&self, ask: Ask) -> String {
        let log = log();
        let answer = self.send(ask).await;
        let id = answer.header("x-request-id").unwrap();
        let lines: Vec<Value> = log.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let hashes: HashSet<_> = lines
            .iter()
            .filter(|line| line["span"]["request_id"] == id)
            .map(|line| line["span"]["transport_chat_hash"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(hashes.len(), 1, "{hashes:?}");
        hashes.into_iter().next().unwrap()
    }
}

#[tokio::test]
async fn the_log_tells_clients_apart() {
    let _ = log();
    let world = World::new().await;
    let (one, other) = (world.cookie().await, world.cookie().await);
    let look = || world.ask("GET /api/sessions");
    let asks = || {
        [
            look().cookie(&one),
            look().cookie(&other),
            look().bearer(&world.token),
            look().bearer(&world.token).header("User-Agent", "curl/8"),
            look().bearer(&world.token).header("Planwright-Client", "nightly"),
            look().bearer(&world.token).header("Planwright-Client", "weekly"),
        ]
    };
    let mut hashes = Vec::new();
    for ask in asks() {
        hashes.push(world.transport_hash(ask).await);
    }
    assert!(hashes.iter().all(|hash| hash.len() == 12), "{hashes:?}");
    assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), hashes.len(), "{hashes:?}");
    for (ask, before) in asks().into_iter().zip(&hashes) {
        assert_eq!(world.transport_hash(ask).await, *before, "the same client has the same transport");
    }
    assert_eq!(world.transport_hash(world.ask("GET /healthz")).await, "", "no client is known without the token");
}

#[tokio::test]
async fn every_rest_client_moves_its_own_pointer() {
    let world = World::new().await;
    let ask = |what: &str, client: &str| world.allowed(what).header("Planwright-Client", client);
    let created = world.send(ask("POST /api/sessions", "one").json("{}")).await.json();
    let path = format!("POST /api/sessions/{}/messages", created["sessionId"].as_str().unwrap());
    for client in ["one", "two", "two"] {
        let answer = world.send(ask(&path, client).json(&json!({ "text": "/new" }).to_string())).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let store = planwright_store::open(&Location::Sqlite(world.database())).await.unwrap();
    let pointers = store.pointers().await.unwrap();
    let transports: HashSet<_> = pointers.iter().map(|(transport, _)| transport.0.as_str()).collect();
    assert_eq!(transports.len(), 2, "{pointers:?}");
}
