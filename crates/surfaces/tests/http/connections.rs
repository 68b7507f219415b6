//! How many connections may be open, and which one gives way.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{next, rest, write};
use crate::world::{TIMEOUT, World};

/// A connection that has presented the token.
async fn authenticated(world: &World) -> TcpStream {
    let mut stream = world.connect().await;
    write(&mut stream, &world.allowed("GET /nothing").bytes()).await;
    assert_eq!(next(&mut stream).await.status, 404);
    stream
}

#[tokio::test]
async fn authenticated_connections_are_limited_and_a_free_slot_is_used_again() {
    let world = World::limited(|limits| limits.connections = 2).await;
    let mut held = vec![authenticated(&world).await, authenticated(&world).await];
    let mut third = world.connect().await;
    let answer = rest(&mut third).await.expect("it is answered");
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));

    drop(held.pop());
    // The slot is free as soon as the server has noticed.
    timeout(TIMEOUT, async {
        loop {
            let mut stream = world.connect().await;
            write(&mut stream, &world.ask("GET /healthz").header("Connection", "close").bytes()).await;
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes).await;
            if bytes.starts_with(b"HTTP/1.1 200") {
                return;
            }
        }
    })
    .await
    .expect("the slot is used again");
    write(&mut held[0], &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut held[0]).await.status, 200, "the other connection stays open");
}

#[tokio::test]
async fn the_oldest_unauthenticated_connection_gives_way() {
    let world = World::limited(|limits| limits.connections = 4).await;
    let mut owner = authenticated(&world).await;
    let mut strangers = Vec::new();
    for _ in 0..2 {
        strangers.push(world.connect().await);
    }
    // Its answer proves that the server has accepted the two before it.
    let mut third = world.connect().await;
    write(&mut third, &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut third).await.status, 200);

    assert!(rest(&mut strangers[0]).await.is_none(), "the oldest one is closed");
    write(&mut strangers[1], &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut strangers[1]).await.status, 200, "the newer one stays open");
    write(&mut owner, &world.allowed("GET /nothing").bytes()).await;
    assert_eq!(next(&mut owner).await.status, 404, "the owner's stays open");
}

#[tokio::test]
async fn every_request_of_a_connection_is_checked() {
    let world = World::new().await;
    let mut stream = world.connect().await;
    for _ in 0..2 {
        write(&mut stream, &world.allowed("GET /nothing").bytes()).await;
        next(&mut stream).await.assert_problem(404, "NOT_FOUND");
        write(&mut stream, &world.ask("GET /nothing").bytes()).await;
        next(&mut stream).await.assert_problem(401, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn many_clients_at_once_are_all_answered() {
    let world = World::new().await;
    let asking = (0..200).map(|_| world.send(world.allowed("GET /nothing")));
    for answer in futures::future::join_all(asking).await {
        answer.assert_problem(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let world = World::new().await;
    let mut seen = std::collections::HashSet::new();
    for ask in [world.ask("GET /healthz"), world.ask("GET /metrics"), world.allowed("GET /nothing")] {
        let answer = world.send(ask).await;
        assert!(seen.insert(answer.header("x-request-id").unwrap().to_owned()), "{answer:?}");
    }
}
