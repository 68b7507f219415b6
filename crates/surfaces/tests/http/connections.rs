//! How many connections there may be, and what they are used for.

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::asking::{next, rest, write};
use crate::world::{PATIENCE, World};

#[tokio::test]
async fn one_too_many_is_sent_away_and_a_place_that_is_free_again_is_given() {
    let world = World::limited(|limits| limits.connections = 2).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = world.connect().await;
        write(&mut stream, &world.ask("GET /healthz").bytes()).await;
        assert_eq!(next(&mut stream).await.status, 200);
        held.push(stream);
    }
    let mut third = world.connect().await;
    let answer = rest(&mut third).await.expect("it is told why");
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));

    drop(held.pop());
    // The place is free when the server has noticed.
    timeout(PATIENCE, async {
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
    .expect("the place is given to somebody else");
    write(&mut held[0], &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut held[0]).await.status, 200, "whoever was in is still in");
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
async fn answers_have_numbers_of_their_own() {
    let world = World::new().await;
    let mut seen = std::collections::HashSet::new();
    for ask in [world.ask("GET /healthz"), world.ask("GET /metrics"), world.allowed("GET /nothing")] {
        let answer = world.send(ask).await;
        assert!(seen.insert(answer.header("x-request-id").unwrap().to_owned()), "{answer:?}");
    }
}
