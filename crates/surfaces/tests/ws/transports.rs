//! A WebSocket names the session in each frame, so nothing is kept of where it is.

use serde_json::json;

use crate::client::{Client, Hello};
use crate::world::{SESSION, World};

#[tokio::test]
async fn no_pointer_stays_of_a_websocket() {
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
    assert_eq!(world.store.ledger().await.pointers().await.unwrap(), []);
}
