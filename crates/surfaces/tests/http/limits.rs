//! Requests that are too large, too deep, too slow or broken.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use crate::client::{next, rest, write};
use crate::world::World;

const MOMENT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_not_even_read() {
    let world = World::limited(|limits| limits.body_bytes = 1000).await;
    let mut stream = world.connect().await;
    let ask = world.ask("POST /api/login").header("Content-Type", "application/json").header("Content-Length", "1001");
    write(&mut stream, &ask.head()).await;
    next(&mut stream).await.assert_problem(413, "LIMIT_EXCEEDED");

    let just_fits = format!("{:<1000}", r#"{"token":"wrong"}"#);
    world.send(world.ask("POST /api/login").json(&just_fits)).await.assert_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_body_that_does_not_say_how_large_it_is_is_cut() {
    let world = World::limited(|limits| limits.body_bytes = 1000).await;
    let mut stream = world.connect().await;
    let ask = world.ask("POST /api/login").header("Content-Type", "application/json");
    write(&mut stream, &ask.header("Transfer-Encoding", "chunked").head()).await;
    for _ in 0..3 {
        write(&mut stream, format!("190\r\n{}\r\n", " ".repeat(400)).as_bytes()).await;
    }
    next(&mut stream).await.assert_problem(413, "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn bodies_are_json_and_say_where_they_are_wrong() {
    let world = World::limited(|limits| limits.json_depth = 3).await;
    let login = |body: &str| world.ask("POST /api/login").json(body);
    for (body, path, text) in [
        ("{", "", "it is not JSON: EOF"),
        ("[]", "", ""),
        ("nonsense", "", "it is not JSON: expected"),
        (r#"{"token":"a"} x"#, "", "text after the JSON value"),
        (r#"{"token":5}"#, "/token", "/token is invalid: it is the number 5, and has to be text"),
        (r#"{"token":["a"]}"#, "/token", "it is a list, and has to be text"),
        (r#"{"token":"a","more":1}"#, "/more", "there is no field `more`"),
        (r#"{"token":"a","token":"b"}"#, "", "the field `token` is given twice"),
        (r#"{"token":[[[]]]}"#, "", "nested more than 3 deep"),
        (r#"{}"#, "", "the field `token` is missing"),
    ] {
        let answer = world.send(login(body)).await;
        answer.assert_problem(400, "INVALID_ARGUMENT");
        let problem = answer.json();
        assert!(problem["detail"].as_str().unwrap().contains(text), "{body}: {problem}");
        if !path.is_empty() {
            assert_eq!(problem["errors"][0]["path"], path, "{body}: {problem}");
        }
    }
    let deep = format!("{}{}", "[".repeat(4000), "]".repeat(4000));
    world.send(login(&deep)).await.assert_problem(400, "INVALID_ARGUMENT");
    let invalid = world.ask("POST /api/login").header("Content-Type", "application/json").body(b"{\"token\":\"\xff\"}");
    world.send(invalid).await.assert_problem(400, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn json_is_sent_as_json() {
    let world = World::new().await;
    let body = br#"{"token":"wrong"}"#;
    let ask = || world.ask("POST /api/login");
    for kind in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
        let answer = world.send(ask().header("Content-Type", kind).body(body)).await;
        assert_eq!(answer.status, 401, "{kind}: {answer:?}");
    }
    for kind in ["text/plain", "text/json", "multipart/form-data", "application/jsonx", ""] {
        let answer = world.send(ask().header("Content-Type", kind).body(body)).await;
        answer.assert_problem(415, "INVALID_ARGUMENT");
    }
    world.send(ask().body(body)).await.assert_problem(415, "INVALID_ARGUMENT");
    let twice = ask().header("Content-Type", "text/plain").json(r#"{"token":"wrong"}"#);
    world.send(twice).await.assert_problem(415, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn headers_are_not_too_many_and_not_too_large() {
    let world = World::limited(|limits| {
        limits.headers = 20;
        limits.header_bytes = 8192;
    })
    .await;
    let many = |count: usize| (0..count).fold(world.ask("GET /healthz"), |ask, n| ask.header(&format!("X-{n}"), "x"));
    assert_eq!(world.send(many(15)).await.status, 200);
    assert_eq!(world.send(many(30)).await.status, 431);
    let large = |bytes: usize| world.ask("GET /healthz").header("X-Large", &"x".repeat(bytes));
    assert_eq!(world.send(large(4000)).await.status, 200);
    assert_eq!(world.send(large(10_000)).await.status, 431);
    let long = world.ask(&format!("GET /{}", "x".repeat(10_000)));
    assert!(matches!(world.send(long).await.status, 414 | 431));
    assert_eq!(world.send(world.ask("GET /healthz")).await.status, 200);
}

#[tokio::test]
async fn a_client_that_does_not_finish_the_headers_is_cut_off() {
    let world = World::limited(|limits| limits.header_time = MOMENT).await;
    let mut silent = world.connect().await;
    let mut slow = world.connect().await;
    write(&mut slow, b"GET /healthz HTTP/1.1\r\nHost: ").await;
    for stream in [&mut silent, &mut slow] {
        let answer = rest(stream).await;
        assert!(answer.is_none_or(|answer| answer.status == 408));
    }
    // Between two requests as well.
    let mut stream = world.connect().await;
    write(&mut stream, &world.ask("GET /healthz").bytes()).await;
    assert_eq!(next(&mut stream).await.status, 200);
    rest(&mut stream).await;
}

#[tokio::test]
async fn a_client_that_does_not_finish_the_body_is_cut_off() {
    let world = World::limited(|limits| limits.body_time = MOMENT).await;
    let mut stream = world.connect().await;
    let ask = world.ask("POST /api/login").header("Content-Type", "application/json").header("Content-Length", "100");
    write(&mut stream, &ask.head()).await;
    write(&mut stream, b"{\"token\":").await;
    rest(&mut stream).await.unwrap().assert_problem(408, "LIMIT_EXCEEDED");
    // A handler that does not read the body does not wait for it.
    let mut stream = world.connect().await;
    write(&mut stream, &world.ask("GET /healthz").header("Content-Length", "100").head()).await;
    assert_eq!(next(&mut stream).await.status, 200);
}

#[tokio::test]
async fn broken_requests_do_no_harm() {
    let world = World::new().await;
    let own = world.address;
    for bytes in [
        b"\r\n\r\n\r\n".as_slice(),
        b"\0\0\0\0",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = world.connect().await;
        write(&mut stream, bytes).await;
        stream.shutdown().await.unwrap();
        if let Some(answer) = rest(&mut stream).await {
            assert!((400..500).contains(&answer.status), "{}: {answer:?}", bytes.escape_ascii());
        }
    }
    // Half a request, then nothing any more.
    for bytes in [world.ask("GET /healthz").header("X", "y").head(), world.ask("POST /api/login").json("{}").head()] {
        let mut stream = world.connect().await;
        write(&mut stream, &bytes[..bytes.len() - 2]).await;
        stream.shutdown().await.unwrap();
        rest(&mut stream).await;
    }
    // A body that breaks off in the middle.
    let mut stream = world.connect().await;
    let ask = world.ask("POST /api/login").header("Content-Type", "application/json").header("Content-Length", "100");
    write(&mut stream, &ask.head()).await;
    stream.shutdown().await.unwrap();
    if let Some(answer) = rest(&mut stream).await {
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    for _ in 0..20 {
        drop(world.connect().await);
    }
    assert_eq!(world.send(world.ask("GET /healthz")).await.status, 200, "{own}");
}

#[tokio::test]
async fn a_request_with_two_lengths_is_not_two_requests() {
    let world = World::new().await;
    let mut stream = world.connect().await;
    let smuggled = world.allowed("GET /metrics").bytes();
    let ask = world.ask("POST /api/login").header("Transfer-Encoding", "chunked");
    let ask = ask.header("Content-Length", &(5 + smuggled.len()).to_string());
    write(&mut stream, &ask.head()).await;
    write(&mut stream, b"0\r\n\r\n").await;
    write(&mut stream, &smuggled).await;
    stream.shutdown().await.unwrap();
    let answer = rest(&mut stream).await.unwrap();
    assert!(!answer.body.contains("http_requests_total"), "{answer:?}");
}

#[tokio::test]
async fn requests_with_the_token_are_limited() {
    let world = World::limited(|limits| {
        limits.requests_per_second = 1;
        limits.burst = 3;
    })
    .await;
    let mut refused = None;
    for _ in 0..20 {
        let answer = world.send(world.allowed("GET /nothing")).await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        answer.assert_problem(404, "NOT_FOUND");
    }
    let refused = refused.expect("there is a limit");
    refused.assert_problem(429, "LIMIT_EXCEEDED");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // Probes are answered all the same.
    for _ in 0..5 {
        assert_eq!(world.send(world.ask("GET /healthz")).await.status, 200);
    }
}

#[tokio::test]
async fn a_file_may_be_larger_than_other_bodies() {
    let world = World::new().await;
    let opened = world.send(world.allowed("POST /api/sessions").json(r#"{"sessionId":"with-files"}"#)).await;
    assert_eq!(opened.status, 201, "{opened:?}");
    let path = "POST /api/sessions/with-files/files?name=large.bin";
    let large = vec![b'x'; 3 * 1024 * 1024];
    let kept = world.send(world.allowed(path).body(&large)).await;
    assert_eq!((kept.status, &kept.json()["bytes"]), (201, &large.len().into()), "{kept:?}");
    let too_large = world.allowed(path).header("Content-Length", &(11 * 1024 * 1024).to_string());
    world.send(too_large).await.assert_problem(413, "LIMIT_EXCEEDED");
    let other = world.allowed("POST /api/sessions").header("Content-Length", &large.len().to_string());
    world.send(other).await.assert_problem(413, "LIMIT_EXCEEDED");
    // Without the token no file is read.
    world.send(world.ask(path).header("Content-Length", "1")).await.assert_problem(401, "UNAUTHENTICATED");
}
