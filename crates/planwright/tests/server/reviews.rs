//! Comments on a plan, through a crash of the server and to the end of their session.

use serde_json::{Value, json};

use crate::server_process::{Running, ask};
use crate::world::World;

fn put(server: &Running, path: &str, body: &Value) -> Value {
    let answer = ask(&server.address, "PUT", path, Some(&server.token), Some(body));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// A document that waits for a person, in a new session.
fn planned(server: &Running) -> (String, Value) {
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(server.post("/api/plans/enable", &json!({ "sessionId": session })).status, 200);
    let messages = format!("/api/sessions/{session}/messages");
    let answer = server.post(&messages, &json!({ "text": "move the blog to a new host" })).json();
    let plan = server.get(&format!("/api/plans/{}", answer["planId"].as_str().unwrap())).json();
    (session, plan)
}

#[test]
fn a_draft_survives_a_crash_is_sent_once_and_ends_with_its_session() {
    let world = World::new();
    let server = Running::start(&world);
    let (session, plan) = planned(&server);
    let path = format!("/api/plans/{}", plan["id"].as_str().unwrap());
    let step = plan["steps"][0]["id"].as_str().unwrap();
    let comment = json!({ "id": "c1", "anchor": { "step": step }, "kind": "comment", "text": "How exactly?" });
    let draft = put(&server, &format!("{path}/review"), &json!({ "version": 1, "comments": [comment] }));
    assert_eq!(draft["comments"], json!([comment]));
    server.signal("KILL");
    server.ended();

    let server = Running::start(&world);
    assert_eq!(server.get(&format!("{path}/review")).json(), draft);
    let asked = server.post(&format!("{path}/revise"), &json!({ "review": true }));
    assert_eq!(asked.status, 200, "{asked:?}");
    let review = server.get(&format!("{path}/review")).json();
    assert_eq!(review["comments"], json!([]));
    assert_eq!(review["rounds"][0]["comments"][0]["text"], "How exactly?");
    // The command line tells it, too.
    let told = world.run(&format!("plan history 1 --session web:{session}")).done();
    told.says("1 comment on version 1 sent");
    let deleted = ask(&server.address, "DELETE", &format!("/api/sessions/{session}"), Some(&server.token), None);
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert_eq!(server.get(&format!("{path}/review")).status, 404);
    assert_eq!(server.stop(), 0);
}

#[test]
fn the_server_says_what_it_is_and_where_it_is_reached() {
    let world = World::new();
    world.write("planwright.toml", "[server]\npublic_url = \"https://plans.example.org/\"\n");
    let server = Running::start(&world);
    let about = server.get("/api/server").json();
    assert_eq!(about["publicUrl"], "https://plans.example.org");
    assert_eq!((&about["model"]["name"], &about["model"]["isRehearsal"]), (&json!("rehearsal"), &json!(true)));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let commands = server.get("/api/commands").json();
    assert!(commands["commands"].as_array().unwrap().iter().any(|command| command["name"] == "/plan revise"));
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_session_keeps_its_name() {
    let world = World::new();
    let server = Running::start(&world);
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    let path = format!("/api/sessions/{session}");
    let named = ask(&server.address, "PATCH", &path, Some(&server.token), Some(&json!({ "title": "The blog" })));
    assert_eq!((named.status, &named.json()["title"]), (200, &json!("The blog")));
    server.signal("KILL");
    server.ended();
    let server = Running::start(&world);
    assert_eq!(server.get("/api/sessions?q=blog").json()["sessions"][0]["title"], "The blog");
    assert_eq!(server.get("/api/sessions?q=garden").json()["sessions"], json!([]));
    world.run("verify").done();
    assert_eq!(server.stop(), 0);
}
