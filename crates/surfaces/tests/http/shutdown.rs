//! Shutdown: requests that have begun are answered, within the grace.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{next, rest, write};
use crate::world::{TIMEOUT, World};

/// A request that has begun and is not there yet.
async fn half_asked(world: &World) -> (TcpStream, Vec<u8>) {
    let mut stream = world.connect().await;
    // When this is answered the connection is surely served.
    write(&mut stream, &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut stream).await.status, 200);
    let ask = world.ask("POST /api/login").json(&format!(r#"{{"token":"{}"}}"#, world.token));
    let ask = ask.header("Expect", "100-continue");
    let bytes = ask.bytes();
    let head = ask.head().len();
    write(&mut stream, &bytes[..head]).await;
    // The server says that it waits for the body: the request is being handled.
    let mut line = [0; 25];
    let read = timeout(TIMEOUT, tokio::io::AsyncReadExt::read_exact(&mut stream, &mut line)).await;
    read.expect("it is waited for the body").unwrap();
    assert_eq!(&line, b"HTTP/1.1 100 Continue\r\n\r\n");
    (stream, bytes[head..].to_vec())
}

#[tokio::test]
async fn requests_that_have_begun_are_answered_and_no_new_connection_is_accepted() {
    let world = World::limited(|limits| limits.header_time = Duration::from_secs(3600)).await;
    let (mut stream, rest_of_it) = half_asked(&world).await;
    let mut idle = world.connect().await;
    write(&mut idle, &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut idle).await.status, 200);

    world.shutdown.cancel();
    assert!(rest(&mut idle).await.is_none(), "an idle connection is closed");
    let refused = async { while TcpStream::connect(world.address).await.is_ok() {} };
    timeout(TIMEOUT, refused).await.expect("the door is shut");
    write(&mut stream, &rest_of_it).await;
    let answer = rest(&mut stream).await.unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    world.ended().await;
}

#[tokio::test]
async fn after_the_grace_whatever_is_left_is_cut() {
    let world = World::with(|options| options.grace = Duration::from_millis(100)).await;
    let (mut stream, _) = half_asked(&world).await;
    world.shutdown.cancel();
    world.ended().await;
    assert!(rest(&mut stream).await.is_none());
}

#[tokio::test]
async fn an_idle_server_ends_at_once() {
    let world = World::with(|options| options.grace = Duration::from_secs(3600)).await;
    world.shutdown.cancel();
    world.ended().await;
}
