use serde_json::{Value, json};

use crate::server_process::Running;
use crate::world::{World, ran};

#[test]
fn it_is_started_asked_and_stopped() {
    let world = World::new();
    let server = Running::start(&world);
    assert_eq!(server.without_token("/healthz").status, 200);
    assert_eq!(server.without_token("/api/sessions").status, 401);
    assert_eq!(server.get("/api/sessions").status, 200);
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_plan_goes_its_whole_way_over_the_network_and_is_there_for_the_command_line() {
    let world = World::new();
    let server = Running::start(&world);
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    let enabled = server.post("/api/plans/enable", &json!({ "sessionId": session }));
    assert_eq!(enabled.status, 200, "{enabled:?}");
    let messages = format!("/api/sessions/{session}/messages");
    let answer = server.post(&messages, &json!({ "text": "move the blog to a new host" })).json();
    let plan = answer["plan"]["planId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    let shown = world.json(&format!("plan show 1 --session web:{session}"));
    assert_eq!((&shown["id"], &shown["status"]), (&json!(plan), &json!("READY")));
    // Decided in a terminal, seen over the network.
    world.run(&format!("plan reject 1 --session web:{session}")).done();
    assert_eq!(server.get(&format!("/api/plans/{plan}")).json()["status"], "REJECTED");
    assert_eq!(server.stop(), 0);
}

#[test]
fn what_is_there_is_told_by_health_and_doctor() {
    let world = World::new();
    let server = Running::start(&world);
    ran(world.command().args(["health", "--listen", &server.address])).done().says("is ready");
    let looked =
        ran(world.command().env("PLANWRIGHT_SERVER_LISTEN", &server.address).args(["doctor", "--json"])).done();
    let looked = looked.json();
    let check = looked["checks"].as_array().unwrap().iter().find(|check| check["name"] == "server").unwrap();
    assert_eq!(check["state"], "fine", "{check}");
    assert!(check["words"].as_str().unwrap().contains("it answers at"), "{check}");
}

#[test]
fn a_new_token_is_the_only_one_from_then_on() {
    let world = World::new();
    let mut server = Running::start(&world);
    let old = server.token.clone();
    server.token = world.json("token rotate")["token"].as_str().unwrap().to_owned();
    assert_eq!(server.get("/api/sessions").status, 200, "the new one counts at once");
    server.token = old;
    assert_eq!(server.get("/api/sessions").status, 401, "and the old one does not");
}

#[test]
fn settings_reach_the_server() {
    let world = World::new();
    world.write("planwright.toml", "[server]\nbody_bytes = 100\nhosts = [\"plans.example.org\"]\n");
    let server = Running::start(&world);
    let large = json!({ "text": "x".repeat(200) });
    assert_eq!(server.post("/api/sessions", &large).status, 413);
    let head = |host: &str| {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        write!(stream, "GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(head("plans.example.org"), "200");
    assert_ne!(head("evil.example.org"), "200");
}

/// A server works only in project folders below those of the setting.
#[test]
fn only_allowed_project_folders_are_taken() {
    let world = World::new();
    let (allowed, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inner = allowed.path().join("shop");
    std::fs::create_dir(&inner).unwrap();
    world.write("planwright.toml", &format!("[projects]\nallow = [\"{}\"]\n", allowed.path().display()));
    let server = Running::start(&world);
    let open = |workspace: &std::path::Path| server.post("/api/sessions", &json!({ "workspace": workspace }));
    assert_eq!(open(&inner).status, 201);
    let refused = open(other.path());
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.json()["detail"].as_str().unwrap().contains("projects.allow"), "{refused:?}");
    // A link below an allowed folder leads to where it leads.
    #[cfg(unix)]
    {
        let link = allowed.path().join("link");
        std::os::unix::fs::symlink(other.path(), &link).unwrap();
        assert_eq!(open(&link).status, 403);
    }
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    let text = format!("/project {}", other.path().display());
    let typed = server.post(&format!("/api/sessions/{session}/messages"), &json!({ "text": text }));
    assert_eq!(typed.status, 403, "{typed:?}");
    assert_eq!(server.stop(), 0);
}

/// A backup is made while the server works.
#[test]
fn it_is_backed_up_while_it_runs() {
    let world = World::new();
    let server = Running::start(&world);
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    let messages = format!("/api/sessions/{session}/messages");
    server.post(&messages, &json!({ "text": "hello" }));
    world.run("backup all.tar").done().says("1 session");
    server.post(&messages, &json!({ "text": "after the backup" }));
    assert_eq!(server.stop(), 0);
    let other = World::new();
    ran(other.command().arg("restore").arg(world.path("all.tar"))).done();
    let server = Running::start(&other);
    let reply = server.get(&messages).json();
    let texts: Vec<_> = reply["messages"]
        .as_array()
        .or_else(|| reply["items"].as_array())
        .unwrap()
        .iter()
        .map(|item| item["text"].clone())
        .collect();
    assert!(texts.contains(&json!("hello")), "{reply}");
    assert!(!texts.contains(&Value::from("after the backup")), "{reply}");
}
