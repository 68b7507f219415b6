//! A log that cannot be written: the server answers, counts what is lost, and stops as it should.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;

use serde_json::{Value, json};

use crate::server_process::{Running, serve};
use crate::world::World;

/// Talks to the server until a plan is carried out. Every answer must come.
#[track_caller]
fn use_it(server: &Running) {
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(server.post("/api/plans/enable", &json!({ "sessionId": session })).status, 200);
    let messages = format!("/api/sessions/{session}/messages");
    let answer = server.post(&messages, &json!({ "text": "move the blog to a new host" })).json();
    assert!(answer["plan"]["planId"].is_string(), "{answer}");
    assert_eq!(server.get("/api/sessions").status, 200);
}

fn lines_lost(server: &Running) -> u64 {
    let metrics = server.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("log_lines_lost_count "));
    line.unwrap_or_else(|| panic!("log_lines_lost_count is not in {metrics}")).parse().unwrap()
}

#[test]
fn stderr_that_was_closed_changes_nothing_for_clients() {
    let world = World::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let server = Running::started(&world, serve(&world).arg("--json").stderr(OwnedFd::from(writer)));
    // The reader is gone: from here on every line fails with "broken pipe".
    drop(reader);
    use_it(&server);
    assert!(lines_lost(&server) > 0);
    let ready = server.without_token("/readyz");
    assert!(ready.body.contains("The log cannot be written"), "{ready:?}");
    assert_eq!(server.stop(), 0);
}

#[test]
fn stderr_on_a_full_disk_changes_nothing_for_clients() {
    let world = World::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let server = Running::started(&world, serve(&world).arg("--json").stderr(full));
    use_it(&server);
    assert!(lines_lost(&server) > 0);
    let ready = server.without_token("/readyz");
    assert!(ready.body.contains("No space left on device"), "{ready:?}");
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_log_that_is_read_again_tells_how_many_lines_were_lost() {
    let world = World::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = serve(&world);
    // Every request logs many lines, so that the pipe and the queue are soon full.
    command.args(["--json"]).env("PLANWRIGHT_LOG", "trace").stderr(OwnedFd::from(writer));
    let server = Running::started(&world, &mut command);
    // The command holds the writing end as well.
    drop(command);
    use_it(&server);
    while lines_lost(&server) == 0 {
        assert_eq!(server.get("/api/sessions").status, 200);
    }
    let lines = BufReader::new(reader).lines();
    let told = lines.map_while(Result::ok).find_map(|line| {
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        (line["event"] == "log_lines_lost").then(|| line["lines"].as_u64().unwrap())
    });
    assert!(told.unwrap() > 0);
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_log_that_is_never_read_does_not_keep_the_server_from_stopping() {
    let world = World::new();
    let (_unread, writer) = std::io::pipe().unwrap();
    let mut command = serve(&world);
    command.args(["--json"]).env("PLANWRIGHT_LOG", "trace").stderr(OwnedFd::from(writer));
    let server = Running::started(&world, &mut command);
    drop(command);
    while lines_lost(&server) == 0 {
        assert_eq!(server.get("/api/sessions").status, 200);
    }
    use_it(&server);
    assert_eq!(server.stop(), 0);
}

/// `serve | head -n1` ends the reader of stdout, and `serve 2>&1 | …` has both in one pipe.
#[test]
fn stdout_that_was_closed_changes_nothing_either() {
    let world = World::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = serve(&world);
    let server = Running::from_log(&world, command.stdout(OwnedFd::from(writer)));
    use_it(&server);
    assert_eq!(server.stop(), 0);
}
