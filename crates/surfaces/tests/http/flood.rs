//! Clients without the token send as much as they can, and the owner beside them is answered every time.

use std::collections::BTreeMap;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::{Ask, next, write};
use crate::world::{TIMEOUT, World};

const OWNER_REQUESTS: usize = 100;

/// The owner's rate allows exactly what the owner sends here: a single request of others that counted for it would show.
async fn world() -> World {
    World::limited(|limits| {
        limits.requests_per_second = 1;
        limits.burst = OWNER_REQUESTS as u32;
        limits.refused_per_second = 5;
        limits.connections = 16;
    })
    .await
}

/// Sends requests as fast as they are answered, on a new connection whenever the server closes one. Gives the number of
/// answers by status.
async fn flood(world: &World, ask: Ask, stop: CancellationToken) -> BTreeMap<u16, usize> {
    let mut answers = BTreeMap::new();
    let bytes = ask.bytes();
    while !stop.is_cancelled() {
        let Ok(mut stream) = TcpStream::connect(world.address).await else { continue };
        let mut buffer = [0; 4096];
        while !stop.is_cancelled() && stream.write_all(&bytes).await.is_ok() {
            let Ok(read @ 1..) = stream.read(&mut buffer).await else { break };
            let head = String::from_utf8_lossy(&buffer[..read]);
            if let Some(status) = head.split(' ').nth(1).and_then(|status| status.parse().ok()) {
                *answers.entry(status).or_default() += 1;
            }
        }
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_the_token_take_nothing_from_the_owner() {
    let world = world().await;
    let stop = CancellationToken::new();
    let floods = async {
        let junk = [
            world.ask("GET /api/sessions"),
            world.ask("GET /metrics").bearer("wrong"),
            world.ask("GET /metrics").cookie("planwright=1.2.3"),
            Ask::new("GET /api/inbox").header("Host", "evil.example.org"),
            world.ask("GET /"),
        ];
        let floods = junk.map(|ask| flood(&world, ask, stop.clone()));
        futures::future::join_all(floods).await
    };
    let owner = async {
        let mut answers = BTreeMap::new();
        for _ in 0..OWNER_REQUESTS {
            let answer = world.send(world.allowed("GET /nothing")).await;
            *answers.entry(answer.status).or_insert(0) += 1;
        }
        // The flood lasts until it has met the limit.
        while world.send(world.ask("GET /metrics")).await.status != 429 {}
        stop.cancel();
        answers
    };
    let (flooded, answers) = tokio::join!(floods, owner);
    assert_eq!(answers, BTreeMap::from([(404, OWNER_REQUESTS)]), "beside {flooded:?}");
    let sent: usize = flooded.iter().flat_map(BTreeMap::values).sum();
    assert!(sent > OWNER_REQUESTS, "{flooded:?}");
    assert!(flooded[0].contains_key(&429), "the flood is limited: {flooded:?}");
    assert!(flooded[4].keys().eq([&200]), "open pages are answered: {flooded:?}");
    // The owner's own requests are limited, too.
    let limited = async { while world.send(world.allowed("GET /nothing")).await.status != 429 {} };
    tokio::time::timeout(TIMEOUT, limited).await.expect("the limit is met");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_take_nothing_from_the_owner() {
    let world = world().await;
    let mut kept = world.connect().await;
    write(&mut kept, &world.allowed("GET /nothing").bytes()).await;
    assert_eq!(next(&mut kept).await.status, 404);

    let (stop, tracker) = (CancellationToken::new(), TaskTracker::new());
    let (address, opened) = (world.address, tokio::sync::Semaphore::new(0));
    let opened = std::sync::Arc::new(opened);
    for _ in 0..4 {
        let (stop, opened) = (stop.clone(), opened.clone());
        tracker.spawn(async move {
            let mut idle = Vec::new();
            while !stop.is_cancelled() {
                idle.extend(TcpStream::connect(address).await);
                opened.add_permits(1);
                if idle.len() > 100 {
                    idle.drain(..50);
                }
            }
        });
    }
    // There are more idle connections than the server has slots, before the owner comes.
    opened.acquire_many(64).await.unwrap().forget();
    let mut answers = BTreeMap::new();
    for _ in 0..OWNER_REQUESTS - 2 {
        // Every request has a connection of its own.
        let answer = sent_again_if_closed(&world).await;
        *answers.entry(answer).or_insert(0) += 1;
    }
    write(&mut kept, &world.allowed("GET /nothing").bytes()).await;
    assert_eq!(next(&mut kept).await.status, 404, "an authenticated connection is never closed for others");
    stop.cancel();
    tracker.close();
    tracker.wait().await;
    assert_eq!(answers, BTreeMap::from([(404, OWNER_REQUESTS - 2)]));
}

/// With so few slots, a flood may close a new connection before its request has arrived. It is never answered with 503.
async fn sent_again_if_closed(world: &World) -> u16 {
    loop {
        let mut stream = world.connect().await;
        if stream.write_all(&world.allowed("GET /nothing").header("Connection", "close").bytes()).await.is_err() {
            continue;
        }
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        if let Some(status) = String::from_utf8_lossy(&bytes).split(' ').nth(1) {
            return status.parse().unwrap();
        }
    }
}

/// A local flood of logins does not keep the owner from signing in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_logins_do_not_keep_the_owner_from_signing_in() {
    let world = world().await;
    let stop = CancellationToken::new();
    let wrong = world.ask("POST /api/login").json(r#"{"token":"wrong"}"#);
    let owner = async {
        while world.send(wrong.clone()).await.status != 429 {}
        for path in ["/", "/start.js", "/healthz", "/readyz"] {
            assert_eq!(world.send(world.ask(&format!("GET {path}"))).await.status, 200, "{path}");
        }
        let cookie = world.cookie().await;
        assert_eq!(world.send(world.ask("GET /nothing").cookie(&cookie)).await.status, 404);
        stop.cancel();
    };
    tokio::join!(flood(&world, wrong.clone(), stop.clone()), owner);
}

#[tokio::test]
async fn a_login_has_a_small_body() {
    let world = World::new().await;
    let large = format!(r#"{{"token":"{}"}}"#, "x".repeat(9000));
    world.send(world.ask("POST /api/login").json(&large)).await.assert_problem(413, "LIMIT_EXCEEDED");
}
