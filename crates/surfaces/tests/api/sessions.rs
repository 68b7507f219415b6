//! Sessions that come and go.

use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use crate::world::{OTHER, SESSION, World};

#[tokio::test]
async fn a_session_begins_once() {
    let world = World::empty(ScriptedModel::new([])).await;
    let made = world.post("/api/sessions", json!({})).await.with(201);
    assert_eq!(made["channel"], "web");
    let key = made["sessionId"].as_str().unwrap();
    assert_eq!(world.get(&format!("/api/sessions/{key}")).await.with(200), made);

    let own = json!({ "sessionId": "my-project", "channel": "cli" });
    let made = world.post("/api/sessions", own.clone()).await.with(201);
    assert_eq!((&made["sessionId"], &made["channel"]), (&json!("my-project"), &json!("cli")));
    assert_eq!(world.post("/api/sessions", own).await.with(200), made);
    world.get("/api/sessions/my-project").await.refused(404, "NOT_FOUND");
    world.get("/api/sessions/my-project?channel=cli").await.with(200);
}

#[tokio::test]
async fn what_cannot_be_a_session_is_refused() {
    let world = World::empty(ScriptedModel::new([])).await;
    for body in [
        json!({ "sessionId": "short" }),
        json!({ "sessionId": "has a space in it" }),
        json!({ "sessionId": 12345678 }),
        json!({ "channel": "pigeon" }),
        json!({ "channel": "legacy" }),
        json!({ "channel": "acp" }),
        json!({ "sessionid": "misspelt-field" }),
        json!([]),
        json!([null, null]),
    ] {
        world.post("/api/sessions", body).await.refused(400, "INVALID_ARGUMENT");
    }
    for path in ["/api/sessions/no%20key", "/api/sessions/somebody?channel=pigeon", "/api/sessions?limit=0"] {
        world.get(path).await.refused(400, "INVALID_ARGUMENT");
    }
    for path in ["/api/sessions?limit=65", "/api/sessions?after=x", "/api/sessions?after=9007199254740992"] {
        world.get(path).await.refused(400, "INVALID_ARGUMENT");
    }
    assert_eq!(world.get("/api/sessions").await.with(200), json!({ "sessions": [], "next": null }));
}

#[tokio::test]
async fn sessions_are_listed_page_by_page() {
    let world = World::empty(ScriptedModel::new([])).await;
    for number in 0..5 {
        world.post("/api/sessions", json!({ "sessionId": format!("session-{number}") })).await.with(201);
    }
    let (mut seen, mut path) = (Vec::new(), "/api/sessions?limit=2".to_owned());
    loop {
        let page = world.get(&path).await.with(200);
        let sessions = page["sessions"].as_array().unwrap();
        assert!(sessions.len() <= 2);
        seen.extend(sessions.iter().map(|session| session["sessionId"].as_str().unwrap().to_owned()));
        match page["next"].as_u64() {
            Some(next) => path = format!("/api/sessions?limit=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["session-4", "session-3", "session-2", "session-1", "session-0"]);
}

#[tokio::test]
async fn a_deleted_session_is_gone_with_everything_in_it() {
    let (world, plan) = World::with_plan([]).await;
    let path = format!("/api/sessions/{SESSION}");
    let came = world.delete(&path).await;
    assert_eq!((came.status.as_u16(), came.text.as_str()), (204, ""));
    for gone in [path.clone(), format!("{path}/messages"), format!("{path}/journal")] {
        world.get(&gone).await.refused(404, "NOT_FOUND");
    }
    world.get(&format!("/api/plans/{}", plan["id"].as_str().unwrap())).await.refused(404, "NOT_FOUND");
    world.delete(&path).await.refused(404, "NOT_FOUND");
    world.get(&format!("/api/sessions/{OTHER}")).await.with(200);
}

#[tokio::test]
async fn a_turn_is_stopped() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("too late").behind(&gate)]).await;
    let path = format!("/api/sessions/{SESSION}/stop");
    assert_eq!(world.post(&path, json!({})).await.with(200)["stopped"], false);
    let saying = world.say("take your time");
    let stopping = async {
        world.model.asked(1).await;
        world.post(&path, json!({})).await.with(200)
    };
    let (answer, stopped) = tokio::join!(saying, stopping);
    assert_eq!(stopped, json!({ "sessionId": SESSION, "channel": "web", "stopped": true }));
    assert_eq!(answer.with(200)["outcome"], "stopped");
    world.post("/api/sessions/no-such-session/stop", json!({})).await.refused(404, "NOT_FOUND");
}
