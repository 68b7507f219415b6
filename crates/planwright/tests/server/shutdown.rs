use std::io::{BufRead as _, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use serde_json::json;

use crate::server_process::{Running, logged, serve};
use crate::world::World;

/// A request whose end does not come, so that the server has something to wait for.
fn unfinished_request(server: &Running) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "POST /api/sessions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\nexpect: 100-continue\r\n\r\n",
        server.address, server.token
    )
    .unwrap();
    // The server has read the headers and waits for the rest.
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    stream
}

/// No new connection is accepted from the moment it stops.
fn wait_until_closed(server: &Running) {
    while TcpStream::connect(&server.address).is_ok() {
        std::thread::yield_now();
    }
}

#[test]
fn either_signal_ends_it_and_that_is_no_error() {
    for name in ["TERM", "INT"] {
        let world = World::new();
        let server = Running::start(&world);
        server.signal(name);
        assert_eq!(server.ended(), 0, "{name}: {}", logged(&world));
        assert!(logged(&world).contains("server_stopped"));
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let world = World::new();
    let server = Running::start(&world);
    let _open = unfinished_request(&server);
    server.signal("TERM");
    wait_until_closed(&server);
    server.signal("TERM");
    assert_eq!(server.ended(), 1, "{}", logged(&world));
    assert!(logged(&world).contains("server_ended_at_once"));
}

#[test]
fn what_is_under_way_is_answered_first() {
    let world = World::new();
    let server = Running::start(&world);
    let mut open = unfinished_request(&server);
    server.signal("TERM");
    wait_until_closed(&server);
    let body = format!("{:<100}", json!({ "channel": "web" }).to_string());
    open.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    open.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 201 "), "{answer}");
    assert_eq!(server.ended(), 0, "{}", logged(&world));
}

#[test]
fn a_hangup_changes_nothing_where_there_is_no_terminal() {
    let world = World::new();
    let server = Running::start(&world);
    server.signal("HUP");
    assert_eq!(server.get("/api/sessions").status, 200);
    assert_eq!(server.stop(), 0);
}

#[test]
fn the_service_manager_is_told_when_it_is_ready_and_when_it_stops() {
    let world = World::new();
    let path = world.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let heard = || {
        let mut state = [0; 64];
        let read = socket.recv(&mut state).unwrap();
        String::from_utf8(state[..read].to_vec()).unwrap()
    };
    let server = Running::started(&world, serve(&world).arg("--json").env("NOTIFY_SOCKET", &path));
    assert_eq!(heard(), "READY=1");
    server.signal("TERM");
    assert_eq!(heard(), "STOPPING=1");
    assert_eq!(server.ended(), 0);
}

#[test]
fn people_are_told_that_it_stops() {
    let world = World::new();
    let mut child = serve(&world).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.contains("Ctrl+C stops it")));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(lines.any(|line| line.starts_with("Stopping")));
    assert!(child.wait().unwrap().success());
}
