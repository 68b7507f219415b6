//! Every client has a transport of its own, also on the same machine and with the same token.

use std::collections::HashSet;

use serde_json::json;

use crate::client::{Client, Hello};
use crate::world::{SESSION, World};

#[tokio::test]
async fn every_websocket_has_a_transport_of_its_own() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let origin = format!("http://{}", world.address);
    let browser = Hello::new().with("cookie", &cookie).with("origin", &origin);
    let program = Hello::new().bearer(&world.token);
    // Two programs, and two tabs of one browser.
    for hello in [&program, &program, &browser, &browser] {
        let mut client = Client::connect(world.address, hello).await.unwrap();
        client.send(json!({ "type": "message", "sessionId": SESSION, "text": "/new" })).await;
        let answer = client.next_of("answer").await;
        assert_ne!(answer["sessionId"], SESSION, "{answer}");
    }
    let pointers = world.store.ledger().await.pointers().await.unwrap();
    let transports: HashSet<_> = pointers.iter().map(|(transport, _)| transport.0.clone()).collect();
    assert_eq!((pointers.len(), transports.len()), (4, 4), "{pointers:?}");
    for secret in [world.token.as_str(), cookie.split_once('=').unwrap().1] {
        assert!(transports.iter().all(|transport| !transport.contains(secret)), "{transports:?}");
    }
}
