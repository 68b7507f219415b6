//! A store file that is deleted while the server runs: the server says so, and acknowledges nothing.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::server_process::{Running, TIMEOUT};
use crate::world::World;

#[test]
fn a_server_whose_store_file_is_deleted_acknowledges_nothing_and_is_not_ready() {
    let world = World::new();
    let server = Running::start(&world);
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].clone();
    assert_eq!(server.get("/readyz").status, 200);
    std::fs::remove_file(world.store()).unwrap();
    let refused = server.post("/api/plans/enable", &json!({ "sessionId": session }));
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("deleted"), "{refused:?}");
    // The answer of a moment ago may be given once more.
    let begun = Instant::now();
    while server.get("/readyz").status != 503 {
        assert!(begun.elapsed() < TIMEOUT, "it stays ready");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!world.store().exists(), "no other store is made in its place");
    server.stop();
}
