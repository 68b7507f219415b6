//! What an execution and its steps cost, in the history of a plan.

use planwright_core::model::ModelRequest;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::world::{SESSION, World, carrying_out};

/// The specialist that a request is for; nothing for the conversation.
fn label(request: &ModelRequest) -> String {
    let name = request.system.split_once("# You are the ").and_then(|(_, rest)| rest.lines().next());
    name.unwrap_or_default().to_owned()
}

async fn approved(world: &World, id: &str) -> Value {
    let plan = world.get(&format!("/api/plans/{id}")).await.with(200);
    world.post(&format!("/api/plans/{id}/approve"), json!({ "digest": plan["digest"] })).await.with(200);
    world.wait_for(id, "COMPLETED").await;
    world.idle(SESSION).await;
    let history = world.get(&format!("/api/plans/{id}/history")).await.with(200);
    let [execution] = history["executions"].as_array().unwrap().as_slice() else { panic!("{history}") };
    execution.clone()
}

#[tokio::test]
async fn each_step_of_a_specialist_says_how_many_calls_and_tokens_it_took() {
    let add = |description: &str, agent: &str| json!({ "description": description, "agent": agent });
    let draft = Reply::call("plan_create_draft", json!({ "goal": "Open the shop", "title": "Shop" }));
    let metadata = json!({
        "assumptions": ["There is a till."], "risks": ["It may rain."], "verification": ["A sale is made."], "files": ["till.txt"],
    });
    let draft = draft.and_call("plan_set_metadata", metadata).with_usage(1_000, 100);
    let draft = draft.and_call("plan_add_step", add("Build the till", "coder"));
    let draft = draft.and_call("plan_add_step", add("Try the till", "tester"));
    let reported = || Reply::call("plan_progress", json!({ "status": "done", "note": "It works." }));
    let model = ScriptedModel::labelled(label)
        .script("", [draft, Reply::call("plan_submit", json!({}))])
        .script("coder", [Reply::call("list_files", json!({})).with_usage(50, 5), reported().with_usage(60, 6)])
        .script("tester", [reported().with_usage(7, 1)]);
    let world = World::set_up(model, |_| {}).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "build" })).await.with(200);
    world.say("plan the shop").await.with(200);
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let told = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200);
    assert_eq!(plan["status"], "READY", "{told}");
    let execution = approved(&world, plan["id"].as_str().unwrap()).await;
    let costs: Vec<_> =
        execution["steps"].as_array().unwrap().iter().map(|step| (&step["calls"], &step["spend"])).collect();
    assert_eq!(
        costs,
        [(&json!(2), &json!({ "turns": 1, "tokens": 121 })), (&json!(1), &json!({ "turns": 1, "tokens": 8 })),],
        "{execution}"
    );
    assert_eq!(execution["spend"], json!({ "turns": 2, "tokens": 129 }), "what the draft cost is not among it");
}

#[tokio::test]
async fn a_document_says_what_it_cost_as_a_whole() {
    let replies = carrying_out().map(|reply| reply.with_usage(10, 1));
    let (world, plan) = World::with_plan(replies).await;
    let execution = approved(&world, plan["id"].as_str().unwrap()).await;
    assert_eq!(execution["spend"], json!({ "turns": 1, "tokens": 33 }));
    let steps = execution["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step.get("spend").is_none() && step.get("calls").is_none()), "{execution}");
    // The plan itself does not look for it.
    let shown = world.get(&format!("/api/plans/{}", plan["id"].as_str().unwrap())).await.with(200);
    assert_eq!(shown["execution"].get("spend"), None);
}
