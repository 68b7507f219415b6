//! Goals, tasks, runs and schedules, over REST and by session.

use std::time::Duration;

use planwright_core::model::ModelMessage;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, TIMEOUT, World};

/// A model that ends each task at once.
fn diligent() -> ScriptedModel {
    ScriptedModel::answering(|request| {
        let done = matches!(request.messages.last(), Some(ModelMessage::ToolResult { .. }));
        if done { Reply::text("Done.") } else { Reply::call("task_update", json!({ "status": "done" })) }
    })
}

async fn items(world: &World, path: &str, session: &str) -> Vec<Value> {
    let page = world.get(&format!("{path}?sessionId={session}")).await.with(200);
    page["items"].as_array().unwrap().clone()
}

/// The run once it is over.
async fn ended(world: &World, run: &Value) -> Value {
    let path = format!("/api/runs/{}?sessionId={SESSION}", run["id"].as_str().unwrap());
    let looking = async {
        loop {
            let run = world.get(&path).await.with(200);
            if run["state"] != "running" {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), looking).await.expect("the run ends")
}

#[tokio::test]
async fn everything_belongs_to_its_session_and_is_not_found_in_another() {
    let world = World::set_up(diligent(), |_| {}).await;
    let add = async |path: &str, body: Value| world.post(path, body).await.with(201);
    let goal = add("/api/goals", json!({ "sessionId": SESSION, "title": "No warnings" })).await;
    let task = add("/api/tasks", json!({ "sessionId": SESSION, "title": "Tidy up", "goalId": goal["id"] })).await;
    assert_eq!((&task["goalId"], &task["status"], &task["number"]), (&goal["id"], &json!("open"), &json!(1)));
    let schedule = json!({ "sessionId": SESSION, "title": "Read the news", "cron": "0 9 * * 1" });
    let schedule = add("/api/schedules", schedule).await;
    let run = add("/api/runs", json!({ "sessionId": SESSION, "goalId": "1" })).await;
    assert_eq!((&run["runKind"], &run["taskId"]), (&json!("GOAL_RUN"), &task["id"]));
    let over = ended(&world, &run).await;
    assert_eq!(over["state"], "completed", "{over}");
    for (path, one) in [("/api/goals", &goal), ("/api/tasks", &task), ("/api/runs", &run)] {
        let own = format!("{path}/{}", one["id"].as_str().unwrap());
        assert_eq!(world.get(&format!("{own}?sessionId={SESSION}")).await.with(200)["id"], one["id"]);
        world.get(&format!("{own}?sessionId={OTHER}")).await.refused(404, "NOT_FOUND");
        assert!(items(&world, path, OTHER).await.is_empty(), "{path}");
        world.get(&format!("{path}?sessionId=no-such-session")).await.refused(404, "NOT_FOUND");
    }
    assert!(items(&world, "/api/schedules", OTHER).await.is_empty());
    let schedule = format!("/api/schedules/{}", schedule["id"].as_str().unwrap());
    world.post(&format!("{schedule}/pause?sessionId={OTHER}"), Value::Null).await.refused(404, "NOT_FOUND");
    world.delete(&format!("{schedule}?sessionId={OTHER}")).await.refused(404, "NOT_FOUND");
    world.post(&format!("{schedule}/pause?sessionId={SESSION}"), Value::Null).await.with(200);
    let elsewhere = json!({ "sessionId": OTHER, "goalId": goal["id"] });
    world.post("/api/runs", elsewhere).await.refused(404, "NOT_FOUND");
    let elsewhere = json!({ "sessionId": OTHER, "title": "Here too", "goalId": goal["id"] });
    world.post("/api/tasks", elsewhere).await.refused(404, "NOT_FOUND");
}

/// Each answer names the run that its own request started, also where several are started at once.
#[tokio::test]
async fn a_run_is_found_by_the_request_that_started_it() {
    let world = World::set_up(ScriptedModel::answering(|_| Reply::text("Still at it.")), |_| {}).await;
    let mut tasks = Vec::new();
    for n in 1..=3 {
        let body = json!({ "sessionId": SESSION, "title": format!("task {n}") });
        tasks.push(world.post("/api/tasks", body).await.with(201)["id"].clone());
    }
    let start = |task: &Value| world.post("/api/runs", json!({ "sessionId": SESSION, "taskId": task }));
    let (one, two) = tokio::join!(start(&tasks[1]), start(&tasks[0]));
    assert_eq!((&one.with(201)["taskId"], &two.with(201)["taskId"]), (&tasks[1], &tasks[0]));
    let body = json!({ "sessionId": SESSION, "taskId": tasks[2] });
    let first = world.post_with_key("/api/runs", "the third", body.clone()).await.with(201);
    let again = world.post_with_key("/api/runs", "the third", body).await.with(201);
    assert_eq!((&first["id"], &first["taskId"]), (&again["id"], &tasks[2]));
    assert_eq!(items(&world, "/api/runs", SESSION).await.len(), 3);
    for run in items(&world, "/api/runs", SESSION).await {
        let path = format!("/api/runs/{}/stop?sessionId={SESSION}", run["id"].as_str().unwrap());
        assert_eq!(world.post(&path, Value::Null).await.with(200)["state"], "stopped");
    }
}

/// The answer comes while the turn of a person is open. The first turn of the run comes after it.
#[tokio::test]
async fn a_run_is_started_and_continued_beside_an_open_turn_and_works_after_it() {
    let gate = Gate::closed();
    let slow = gate.clone();
    let model = ScriptedModel::answering(move |request| match request.messages.last() {
        Some(ModelMessage::User { text }) if text == "take your time" => Reply::text("At last.").behind(&slow),
        Some(ModelMessage::User { .. }) => Reply::call("task_update", json!({ "status": "done" })),
        _ => Reply::text("Done."),
    });
    let world = World::set_up(model, |_| {}).await;
    world.post("/api/tasks", json!({ "sessionId": SESSION, "title": "Tidy up" })).await.with(201);
    let requests = async {
        world.model.asked(1).await;
        let promptly = async |what: &str, path: &str, body: Value| {
            let sent = tokio::time::timeout(TIMEOUT, world.post(path, body)).await;
            sent.unwrap_or_else(|_| panic!("{what} waits for the open turn"))
        };
        let run = promptly("a start", "/api/runs", json!({ "sessionId": SESSION })).await.with(201);
        assert_eq!(run["state"], "running", "{run}");
        let path = format!("/api/runs/{}/resume?sessionId={SESSION}", run["id"].as_str().unwrap());
        promptly("a resume", &path, Value::Null).await.refused(409, "WRONG_STATUS");
        // The session's one turn is still the person's.
        assert_eq!(world.model.requests().len(), 1);
        let begun = world.event_names(SESSION).await.iter().filter(|name| *name == "turn_begun").count();
        assert_eq!(begun, 1);
        gate.open();
        run
    };
    let (reply, run) = tokio::join!(world.say("take your time"), requests);
    assert_eq!(reply.with(200)["reply"], "At last.");
    assert_eq!(ended(&world, &run).await["state"], "completed");
    let names = world.event_names(SESSION).await;
    let place = |name: &str| names.iter().position(|one| one == name).unwrap();
    assert!(place("run_started") < place("turn_ended"), "{names:?}");
    let turns: Vec<_> =
        names.iter().filter(|name| name.starts_with("turn_begun") || name.starts_with("turn_ended")).collect();
    assert_eq!(turns, ["turn_begun", "turn_ended", "turn_begun", "turn_ended"]);
}

#[tokio::test]
async fn what_rules_offer_is_listed_accepted_and_declined() {
    let world = World::new([
        Reply::call("diary_write", json!({ "text": "The till is called Hedwig." }))
            .and_call("diary_write", json!({ "text": "It rained." })),
        Reply::text("Noted."),
    ])
    .await;
    world.say("What is new?").await.with(200);
    let offers = items(&world, "/api/memory/offers", SESSION).await;
    assert_eq!(offers.len(), 2, "{offers:?}");
    let offer = |content: &str| offers.iter().find(|offer| offer["content"] == content).unwrap()["id"].clone();
    let (till, rain) = (offer("The till is called Hedwig."), offer("It rained."));
    assert_eq!((&offers[0]["source"], &offers[0]["kind"]), (&json!({ "from": "diary" }), &json!("result")));
    assert!(items(&world, "/api/memory", SESSION).await.is_empty(), "nothing is remembered yet");
    assert!(items(&world, "/api/memory/offers", OTHER).await.is_empty());
    let path = |offer: &Value| format!("/api/memory/offers/{}", offer.as_str().unwrap());
    let accept = format!("{}/accept", path(&till));
    world.post(&format!("{accept}?sessionId={OTHER}"), Value::Null).await.refused(404, "NOT_FOUND");
    let item = world.post(&format!("{accept}?sessionId={SESSION}"), Value::Null).await.with(201);
    assert_eq!((&item["id"], &item["trust"], &item["source"]["from"]), (&till, &json!("person"), &json!("diary")));
    assert_eq!(world.delete(&format!("{}?sessionId={SESSION}", path(&rain))).await.status.as_u16(), 204);
    assert!(items(&world, "/api/memory/offers", SESSION).await.is_empty());
    assert_eq!(items(&world, "/api/memory", SESSION).await.len(), 1);
    world.post(&format!("{accept}?sessionId={SESSION}"), Value::Null).await.refused(404, "NOT_FOUND");
}

/// No other run and no conversation is given what was said in a run.
#[tokio::test]
async fn the_messages_of_a_run_are_read_by_its_id_and_the_conversation_has_its_result() {
    let world = World::set_up(diligent(), |_| {}).await;
    world.post("/api/tasks", json!({ "sessionId": SESSION, "title": "Tidy up" })).await.with(201);
    let run = world.post("/api/runs", json!({ "sessionId": SESSION })).await.with(201);
    ended(&world, &run).await;
    world.idle(SESSION).await;
    let messages = async |query: &str| {
        let page = world.get(&format!("/api/sessions/{SESSION}/messages{query}")).await.with(200);
        page["messages"].as_array().unwrap().clone()
    };
    let id = run["id"].as_str().unwrap();
    let (own, conversation) = (messages(&format!("?runId={id}")).await, messages("").await);
    assert!(own.len() > 1 && own.iter().all(|message| message["runId"] == id), "{own:?}");
    assert!(conversation.len() == 1 && conversation[0]["runId"] == id, "{conversation:?}");
    let unknown = format!("/api/sessions/{SESSION}/messages?runId=another");
    world.get(&unknown).await.refused(404, "NOT_FOUND");
}
