//! Plans that are approved step by step, and what a conversation changed outside of any plan, over REST.

use planwright_llm::scripted::Reply;
use serde_json::{Value, json};

use crate::world::{SESSION, World};

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": content }))
}

/// The plan, as soon as it waits for a look.
async fn paused(world: &World, plan: &str) -> Value {
    let mut changes = world.ledger.changes();
    loop {
        let now = world.get(&format!("/api/plans/{plan}")).await.with(200);
        let inbox = world.get("/api/inbox").await.with(200);
        if now["execution"]["pausedFor"] == "step" && inbox["items"][0]["kind"] == "step" {
            return now;
        }
        changes.recv().await.unwrap();
    }
}

#[tokio::test]
async fn each_step_is_released_by_a_request_that_names_the_step_before() {
    let calls = write("a.md", "a").and_call("write_file", json!({ "path": "b.md", "content": "b" }));
    let world = World::new([calls, Reply::call("plan_finalize", json!({}))]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "collect" })).await.with(200);
    world.say("write it").await.with(200);
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let id = plan["id"].as_str().unwrap();
    let path = format!("/api/plans/{id}");
    let approved =
        world.post(&format!("{path}/approve"), json!({ "digest": plan["digest"], "stepByStep": true })).await.with(200);
    assert_eq!((&approved["approval"]["stepByStep"], &approved["digest"]), (&json!(true), &plan["digest"]));
    let waits = paused(&world, id).await;
    assert_eq!((&waits["status"], &waits["activity"]), (&json!("EXECUTING"), &json!("paused")));
    assert_eq!(waits["execution"]["afterStep"], 1);
    assert_eq!(waits["execution"]["permissions"], json!({ "covered": 1, "asked": 0, "refused": 0 }));
    assert!(waits["execution"]["pausedSince"].is_string(), "{waits}");
    let [item] = world.get("/api/inbox").await.with(200)["items"].as_array().unwrap().clone().try_into().unwrap();
    assert_eq!((&item["id"], &item["planId"]), (&json!(format!("{id}:1")), &json!(id)));
    assert_eq!((&item["choices"], &item["step"]["status"]), (&json!(["next", "revise", "stop"]), &json!("COMPLETED")));

    world.post(&format!("{path}/resume"), json!({ "afterStep": 2 })).await.refused(409, "STALE_APPROVAL");
    world.post(&format!("{path}/resume"), json!({ "afterStep": 0 })).await.refused(409, "STALE_APPROVAL");
    // In JSON 2.0 is the same number as 2.
    world.post(&format!("{path}/resume"), json!({ "afterStep": 2.0 })).await.refused(409, "STALE_APPROVAL");
    world.post(&format!("{path}/resume"), json!({ "afterStep": 1.5 })).await.refused(400, "INVALID_ARGUMENT");
    world.post(&format!("{path}/resume"), json!({ "afterStep": 1 })).await.with(200);
    let ended = world.wait_for(id, "COMPLETED").await;
    assert_eq!(ended["execution"]["permissions"]["covered"], 2);
    world.post(&format!("{path}/resume"), json!({ "afterStep": 1 })).await.refused(409, "STALE_APPROVAL");
    let history = world.get(&format!("{path}/history")).await.with(200);
    assert_eq!(history["executions"][0]["permissions"]["covered"], 2, "{history}");
}

#[tokio::test]
async fn the_execution_ends_instead() {
    let calls = write("a.md", "a").and_call("write_file", json!({ "path": "b.md", "content": "b" }));
    let world = World::new([calls, Reply::call("plan_finalize", json!({}))]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "collect" })).await.with(200);
    world.say("write it").await.with(200);
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let id = plan["id"].as_str().unwrap();
    let body = json!({ "digest": plan["digest"], "stepByStep": true });
    world.post(&format!("/api/plans/{id}/approve"), body).await.with(200);
    paused(&world, id).await;
    let ended = world.post(&format!("/api/plans/{id}/resume"), json!({ "choice": "stop" })).await.with(200);
    assert_eq!(ended["status"], "PARTIALLY_COMPLETED");
    assert_eq!(ended["execution"].get("pausedFor"), None);
    assert_eq!(world.get("/api/inbox").await.with(200)["items"], json!([]));
}

#[tokio::test]
async fn what_a_conversation_changed_is_shown_and_its_last_turn_undone() {
    let world = World::new([write("a.md", "a\n"), Reply::text("1"), write("b.md", "b\n"), Reply::text("2")]).await;
    world.say("write a").await.with(200);
    world.say("write b").await.with(200);
    let path = format!("/api/sessions/{SESSION}");
    let changes = world.get(&format!("{path}/changes")).await.with(200);
    let paths = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&changes["files"]), ["a.md", "b.md"]);
    assert_eq!(
        (&changes["turns"][1]["text"], paths(&changes["turns"][1]["files"])),
        (&json!("write b"), vec!["b.md".to_owned()])
    );
    let undone = world.post(&format!("{path}/undo"), json!({})).await.with(200);
    assert_eq!(undone, json!({ "paths": ["b.md"], "notUndone": [] }));
    let left = world.get(&format!("{path}/changes")).await.with(200);
    assert_eq!((paths(&left["files"]), left["undone"].as_array().unwrap().len()), (vec!["a.md".to_owned()], 1));
    world.post(&format!("{path}/undo"), json!({})).await.with(200);
    world.post(&format!("{path}/undo"), json!({})).await.refused(409, "WRONG_STATUS");
    world.get("/api/sessions/no-such-session/changes").await.refused(404, "NOT_FOUND");
    world.post("/api/sessions/no-such-session/undo", json!({})).await.refused(404, "NOT_FOUND");
}
