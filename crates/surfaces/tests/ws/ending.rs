//! How connections end that the server ends.

use std::time::Duration;

use planwright_agent::tools::PlanTools;
use planwright_surfaces::http::Token;
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::time::timeout;

use crate::client::{Client, Hello};
use crate::world::{SESSION, TIMEOUT, World, person, session};

/// Entries of half a megabyte each, far more than fits into what lies between two programs.
async fn write_much(world: &World, times: usize) {
    let plan = planwright_core::plan::PlanStyle::Document;
    world.engine.sessions().enable_plan_mode(&session(SESSION), &person(), plan).await.unwrap();
    for n in 0..times {
        let text = format!("# Version {n}\n\n{}", "x".repeat(500_000));
        let arguments = json!({ "plan_markdown": text }).as_object().cloned().unwrap();
        let by = planwright_core::actor::Actor::agent("claude", "mcp");
        PlanTools::new(&world.engine).call(&session(SESSION), &by, "plan_set_content", arguments).await.unwrap();
    }
}

/// A client with a small buffer that reads nothing.
async fn who_does_not_read(world: &World) -> Client {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let hello = Hello::new().bearer(&world.token);
    let mut client = Client::connect_on(socket, world.address, &hello).await.unwrap();
    client.send(json!({ "type": "subscribe", "sessionId": SESSION, "after": 0 })).await;
    client
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let world = World::limited(|limits| limits.send_timeout = Duration::from_millis(300)).await;
    write_much(&world, 40).await;
    let mut client = who_does_not_read(&world).await;
    world.until_connected(0).await;
    // What was on the way may still be read; it is not all of it, and no frame is broken.
    let mut received = Vec::new();
    while let Ok(frame) = client.try_next().await {
        received.push(frame["seq"].as_u64().unwrap());
    }
    assert!(received.len() < world.journal(SESSION).await.len(), "{received:?}");
    // A client that reconnects continues from there.
    let after = received.last().copied().unwrap_or_default();
    let mut client = world.follower(SESSION, after).await;
    for entry in &world.journal(SESSION).await[after as usize..] {
        assert_eq!(client.entry().await, *entry);
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_delay_others() {
    let world = World::limited(|limits| limits.send_timeout = TIMEOUT).await;
    write_much(&world, 20).await;
    let _stuck = who_does_not_read(&world).await;
    let journal = world.journal(SESSION).await;
    let mut client = world.follower(SESSION, 0).await;
    for entry in &journal {
        assert_eq!(client.entry().await, *entry);
    }
}

#[tokio::test]
async fn a_new_token_ends_what_the_old_one_opened() {
    let mut world = World::limited(|limits| limits.send_timeout = Duration::from_secs(600)).await;
    write_much(&world, 40).await;
    let mut by_token = world.follower(SESSION, None).await;
    let hello = Hello::new().with("cookie", &world.cookie().await).with("origin", &format!("http://{}", world.address));
    let mut by_cookie = Client::connect(world.address, &hello).await.unwrap();
    by_cookie.is_alive().await;
    let stuck = who_does_not_read(&world).await;
    Token::File(world.token_file()).rotate().unwrap();
    assert_eq!(by_token.closed().await, Some(1008));
    assert_eq!(by_cookie.closed().await, Some(1008));
    let new = std::fs::read_to_string(world.token_file()).unwrap();
    new.trim().clone_into(&mut world.token);
    world.until_connected(0).await;
    drop(stuck);
    world.follower(SESSION, None).await;
}

#[tokio::test]
async fn connected_clients_are_told_that_the_server_stops() {
    let world = World::limited(|limits| limits.send_timeout = Duration::from_secs(600)).await;
    write_much(&world, 40).await;
    let mut client = world.follower(SESSION, None).await;
    let _stuck = who_does_not_read(&world).await;
    world.until_connected(2).await;
    world.shutdown.cancel();
    assert_eq!(client.closed().await, Some(1012));
    world.ended().await;
}

#[tokio::test]
async fn a_client_that_does_not_answer_pings_is_disconnected() {
    let world = World::limited(|limits| {
        (limits.ping, limits.send_timeout) = (Duration::from_millis(50), Duration::from_millis(50));
    })
    .await;
    // It answers pings when it reads, and it does not.
    let silent = world.client().await;
    let mut there = world.client().await;
    let both = async {
        tokio::join!(world.until_connected(1), async {
            // A client that reads answers pings by reading.
            while timeout(Duration::from_millis(20), there.closed()).await.is_err() {
                if world.get("/metrics").await.contains("websocket_connections 1\n") {
                    break;
                }
            }
        })
    };
    timeout(TIMEOUT, both).await.unwrap();
    drop(silent);
    there.is_alive().await;
}
