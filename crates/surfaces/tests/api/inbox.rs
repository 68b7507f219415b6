//! What waits for a person, over all sessions.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, EndedStep, ExecutionCommand, StepOutcome};
use planwright_core::ids::StepId;
use planwright_core::plan::execution::StepStatus;
use planwright_llm::scripted::Reply;
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World, drafting};

#[tokio::test]
async fn plans_to_be_approved_are_listed_over_all_sessions() {
    let (world, plan) = World::with_plan(drafting()).await;
    world.post("/api/plans/enable", json!({ "sessionId": OTHER })).await.with(200);
    world.post(&format!("/api/sessions/{OTHER}/messages"), json!({ "text": "move it" })).await.with(200);
    let inbox = world.get("/api/inbox").await.with(200);
    let items = inbox["items"].as_array().unwrap();
    assert_eq!(items.iter().map(|item| item["sessionId"].as_str().unwrap()).collect::<Vec<_>>(), [OTHER, SESSION]);
    let mut mine = items[1].clone();
    let since = mine["since"].take();
    assert_eq!(since, plan["updatedAt"]);
    assert_eq!(
        mine,
        json!({
            "id": plan["id"], "kind": "plan", "situation": "It waits for your decision.", "choices": ["approve", "revise", "reject"], "actions": plan["actions"], "require": "any", "sessionId": SESSION, "channel": "web", "planId": plan["id"], "number": 1,
            "title": plan["title"], "status": "READY", "digest": plan["digest"], "since": null, "active": true,
        })
    );
    let first = world.get("/api/inbox?limit=1").await.with(200);
    let next = first["next"].as_u64().unwrap();
    let second = world.get(&format!("/api/inbox?limit=1&after={next}")).await.with(200);
    assert_eq!(json!([first["items"][0], second["items"][0]]), inbox["items"]);

    world.post(&format!("/api/plans/{}/reject", plan["id"].as_str().unwrap()), json!({})).await.with(200);
    assert_eq!(world.get("/api/inbox").await.with(200)["items"].as_array().unwrap().len(), 1);
    world.get("/api/inbox?limit=65").await.refused(400, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn a_damaged_plan_is_named_beside_the_others() {
    let (world, plan) = World::with_plan(drafting()).await;
    world.post("/api/plans/enable", json!({ "sessionId": OTHER })).await.with(200);
    world.post(&format!("/api/sessions/{OTHER}/messages"), json!({ "text": "move it" })).await.with(200);
    let store = rusqlite::Connection::open(world.store()).unwrap();
    let id = plan["id"].as_str().unwrap();
    assert_eq!(store.execute("UPDATE plan SET body = substr(body, 1, 40) WHERE id = ?1", [id]).unwrap(), 1);
    let inbox = world.get("/api/inbox").await.with(200);
    let waiting: Vec<_> = inbox["items"].as_array().unwrap().iter().map(|item| &item["sessionId"]).collect();
    assert_eq!(waiting, [OTHER]);
    assert_eq!(inbox["damaged"][0]["what"], format!("plan 1 of web:{SESSION}"));
}

#[tokio::test]
async fn a_step_with_an_unknown_result_waits_for_a_person() {
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let calls = Reply::call("write_file", write("a.md")).and_call("write_file", write("b.md"));
    let world = World::new([calls, Reply::call("plan_finalize", json!({}))]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "collect" })).await.with(200);
    world.say("write it").await.with(200);
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let path = format!("/api/plans/{}", plan["id"].as_str().unwrap());
    world.post(&format!("{path}/approve"), json!({ "digest": plan["digest"], "later": true })).await.with(200);
    assert_eq!(world.get("/api/inbox").await.with(200)["items"], json!([]));

    // Another process began the step, and ended in the middle of it: its result is unknown.
    let engine = world.agent.engine();
    let session = "web:session-one".parse().unwrap();
    let found = engine.plans().find(&session, Some(&"1".parse().unwrap())).await.unwrap();
    let ada = Actor::person("ada", "cli");
    let running = engine.plans().resume(&session, &ada, &found.id).await.unwrap();
    let execution = running.execution.as_ref().unwrap();
    let (id, steps) = (execution.id.clone(), [0, 1].map(|index| execution.steps[index].step.clone()));
    let advance = async |ended: Vec<EndedStep>, begun: Vec<StepId>| {
        let advance = ExecutionCommand::Advance { plan: found.id.clone(), execution: id.clone(), ended, begun };
        engine.submit(&session, &Actor::system("web"), Command::Execution(advance)).await.unwrap();
    };
    let ended = |index: usize, status, note: Option<&str>| {
        let outcome = StepOutcome { status, note: note.map(str::to_owned), evidence: None };
        vec![EndedStep {
            step: steps[index].clone(),
            outcome,
            changes: planwright_core::workspace::CallChanges::default(),
            permissions: planwright_core::plan::execution::PermissionCounts::default(),
        }]
    };
    advance(vec![], steps.to_vec()).await;
    advance(ended(0, StepStatus::Uncertain, Some("the process ended")), vec![]).await;
    assert_eq!(world.get("/api/inbox").await.with(200)["items"], json!([]), "a process works on the other step");
    advance(ended(1, StepStatus::Completed, None), vec![]).await;

    let inbox = world.get("/api/inbox").await.with(200);
    let item = &inbox["items"][0];
    assert_eq!((&item["kind"], &item["step"]["position"]), (&json!("uncertain"), &json!(1)), "{inbox}");
    assert_eq!((&item["step"]["note"], &item["status"]), (&json!("the process ended"), &json!("EXECUTING")));
    let skipped = world.post(&format!("{path}/resume"), json!({ "choice": "stop" })).await.with(200);
    assert_eq!(skipped["status"], "PARTIALLY_COMPLETED");
    assert_eq!(world.get("/api/inbox").await.with(200)["items"], Value::Array(Vec::new()));
}
