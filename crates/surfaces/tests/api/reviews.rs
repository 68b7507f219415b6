//! Comments on a plan: kept as a draft, sent with a decision, and found again in the next version.

use planwright_llm::scripted::Reply;
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World, carrying_out};

const SHORTER: &str = "# Move the blog\n\n- [ ] copy all files\n";

fn path(plan: &Value, what: &str) -> String {
    format!("/api/plans/{}/{what}", plan["id"].as_str().unwrap())
}

fn quoted(id: &str, quote: &str, text: &str) -> Value {
    json!({ "id": id, "anchor": { "quote": quote, "prefix": "", "suffix": "" }, "kind": "comment", "text": text })
}

fn struck(id: &str, step: &str) -> Value {
    json!({ "id": id, "anchor": { "step": step }, "kind": "strike" })
}

async fn put(world: &World, plan: &Value, version: u32, comments: Value) -> Value {
    world.put(&path(plan, "review"), json!({ "version": version, "comments": comments })).await.with(200)
}

/// The id of each comment, and what became of it.
fn states(comments: &Value) -> Vec<(&str, &str)> {
    comments
        .as_array()
        .unwrap()
        .iter()
        .map(|comment| (comment["id"].as_str().unwrap(), comment["state"].as_str().unwrap_or("")))
        .collect()
}

fn rewriting() -> [Reply; 2] {
    [Reply::call("plan_set_content", json!({ "plan_markdown": SHORTER })), Reply::text("It is shorter.")]
}

#[tokio::test]
async fn a_draft_is_kept_until_it_is_replaced() {
    let (world, plan) = World::with_plan([]).await;
    let empty = world.get(&path(&plan, "review")).await.with(200);
    assert_eq!((&empty["version"], &empty["comments"], &empty["rounds"]), (&json!(1), &json!([]), &json!([])));
    let first = put(&world, &plan, 1, json!([quoted("c1", "copy the files", "Which?"), struck("c2", "s2")])).await;
    assert_eq!(states(&first["comments"]), [("c1", ""), ("c2", "")]);
    assert_eq!(first["comments"][1], json!({ "id": "c2", "anchor": { "step": "s2" }, "kind": "strike", "text": "" }));
    assert_eq!(world.get(&path(&plan, "review")).await.with(200), first);
    // The same draft leaves nothing in the journal.
    let before = world.event_names(SESSION).await;
    put(&world, &plan, 1, json!([quoted("c1", "copy the files", "Which?"), struck("c2", "s2")])).await;
    assert_eq!(world.event_names(SESSION).await, before);
    let second = put(&world, &plan, 1, json!([struck("c2", "s2")])).await;
    assert_eq!(states(&second["comments"]), [("c2", "")]);
    // Neither the plan nor the conversation knows of it.
    assert_eq!(world.get(&format!("/api/plans/{}", plan["id"].as_str().unwrap())).await.with(200), plan);
    let reply = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200);
    assert!(!reply.to_string().contains("Which?"));
}

async fn second_version(world: &World, id: &str) -> Value {
    let mut changes = world.ledger.changes();
    loop {
        let now = world.get(&format!("/api/plans/{id}")).await.with(200);
        if now["version"] == 2 {
            return now;
        }
        changes.recv().await.unwrap();
    }
}

#[tokio::test]
async fn comments_go_to_the_agent_with_the_request_for_changes_and_are_found_in_the_next_version() {
    let (world, plan) = World::with_plan(rewriting()).await;
    let id = plan["id"].as_str().unwrap();
    let comments = json!([
        quoted("c1", "copy the files", "All of them?"),
        struck("c2", "s2"),
        { "id": "c3", "anchor": {}, "kind": "comment", "text": "Too long." },
        quoted("c4", "Move the blog", "Why?"),
    ]);
    put(&world, &plan, 1, comments).await;
    let asked = world.post(&path(&plan, "revise"), json!({ "review": true })).await.with(200);
    let feedback = asked["feedback"].as_str().unwrap();
    assert!(
        feedback.contains("1. On \"copy the files\": All of them?\n2. Strike step 2 (change the name)."),
        "{feedback}"
    );
    let now = second_version(&world, id).await;
    assert_eq!(now["feedback"], json!(null));
    // The agent was told in words.
    let told = world.model.requests().iter().any(|request| format!("{request:?}").contains("All of them?"));
    assert!(told);
    let review = world.get(&path(&plan, "review")).await.with(200);
    assert_eq!((&review["version"], &review["comments"]), (&json!(2), &json!([])));
    let round = &review["rounds"][0];
    assert_eq!((&round["version"], &round["sentWith"], &round["by"]), (&json!(1), &json!("revise"), &json!("person")));
    let expected = [("c1", "orphaned"), ("c2", "addressed"), ("c3", "addressed"), ("c4", "open")];
    assert_eq!(states(&round["comments"]), expected);
    let names = world.event_names(SESSION).await;
    let at = names.iter().position(|name| name == "revision_requested").unwrap();
    assert!(names[at..].contains(&"review_sent".to_owned()), "{names:?}");
    // A draft on the old version is followed, too.
    let late = put(&world, &plan, 1, json!([struck("c5", "s2")])).await;
    assert_eq!((&late["version"], states(&late["comments"])), (&json!(1), vec![("c5", "addressed")]));
    assert_eq!(late["rounds"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_agent_answers_comments_with_the_new_version_and_the_person_resolves_them() {
    let write =
        |answers: Value| Reply::call("plan_set_content", json!({ "plan_markdown": SHORTER, "answers": answers }));
    let wrong = write(json!([{ "comment": 3, "answer": "There is none." }]));
    let right = write(json!([{ "comment": 2, "answer": "It is struck." }, { "comment": 1, "answer": "All of them." }]));
    let (world, plan) = World::with_plan([wrong, right, Reply::text("It is shorter.")]).await;
    put(&world, &plan, 1, json!([quoted("c1", "copy the files", "All of them?"), struck("c2", "s2")])).await;
    world.post(&path(&plan, "revise"), json!({ "review": true })).await.with(200);
    second_version(&world, plan["id"].as_str().unwrap()).await;
    world.idle(SESSION).await;
    let told =
        world.model.requests().iter().any(|request| format!("{request:?}").contains("has no comment 3; it has 2"));
    assert!(told, "the agent hears of a number that does not exist");
    let review = world.get(&path(&plan, "review")).await.with(200);
    // The wrong call changed nothing: the new version is the second one.
    assert_eq!(review["version"], 2);
    let comments = |review: &Value| review["rounds"][0]["comments"].clone();
    let answers: Vec<_> =
        comments(&review).as_array().unwrap().iter().map(|comment| comment["answer"].clone()).collect();
    assert_eq!(answers, [json!("All of them."), json!("It is struck.")]);

    let resolve = async |resolved: bool| {
        world.post(&path(&plan, "review/resolve"), json!({ "comment": "c1", "resolved": resolved })).await.with(200)
    };
    let resolved = resolve(true).await;
    assert_eq!((&comments(&resolved)[0]["resolved"], comments(&resolved)[1].get("resolved")), (&json!(true), None));
    let names = world.event_names(SESSION).await;
    assert_eq!(resolve(true).await, resolved);
    assert_eq!(world.event_names(SESSION).await, names, "the same again leaves nothing in the journal");
    assert_eq!(comments(&resolve(false).await)[0].get("resolved"), None);
    // A draft is no comment that was sent, and neither is one of nobody.
    put(&world, &plan, 2, json!([struck("c7", "s1")])).await;
    let names = world.event_names(SESSION).await;
    for unknown in ["c7", "c9"] {
        let body = json!({ "comment": unknown, "resolved": true });
        let refused = world.post(&path(&plan, "review/resolve"), body).await.with(404);
        assert_eq!(refused["code"], "NOT_FOUND", "{refused}");
    }
    assert_eq!(world.event_names(SESSION).await, names);
}

#[tokio::test]
async fn comments_are_notes_of_an_approval() {
    let (world, plan) = World::with_plan(carrying_out()).await;
    put(&world, &plan, 1, json!([quoted("c1", "copy the files", "Carefully.")])).await;
    // Without `review` they stay where they are.
    let body = json!({ "digest": plan["digest"], "note": "go", "review": true });
    let approved = world.post_with_key(&path(&plan, "approve"), "once", body.clone()).await.with(200);
    let note = "go\n\nComments on version 1:\n\n1. On \"copy the files\": Carefully.";
    assert_eq!(approved["approval"]["note"], note);
    let again = world.post_with_key(&path(&plan, "approve"), "once", body).await.with(200);
    assert_eq!(again["approval"], approved["approval"]);
    let review = world.get(&path(&plan, "review")).await.with(200);
    assert_eq!((&review["comments"], &review["rounds"][0]["sentWith"]), (&json!([]), &json!("approve")));
    assert_eq!(states(&review["rounds"][0]["comments"]), [("c1", "")]);
    world.wait_for(plan["id"].as_str().unwrap(), "COMPLETED").await;
}

#[tokio::test]
async fn a_decision_without_the_review_leaves_the_draft() {
    let (world, plan) = World::with_plan(rewriting()).await;
    put(&world, &plan, 1, json!([struck("c1", "s2")])).await;
    world.post(&path(&plan, "revise"), json!({ "feedback": "shorter" })).await.with(200);
    let review = world.get(&path(&plan, "review")).await.with(200);
    assert_eq!(review["comments"][0]["id"], "c1");
    assert_eq!(review["rounds"], json!([]));
}

#[tokio::test]
async fn nothing_to_say_is_no_request_for_changes() {
    let (world, plan) = World::with_plan([]).await;
    for body in [json!({}), json!({ "review": true }), json!({ "feedback": " ", "review": true })] {
        world.post(&path(&plan, "revise"), body).await.refused(400, "INVALID_ARGUMENT");
    }
}

#[tokio::test]
async fn what_is_no_review_is_refused() {
    let (world, plan) = World::with_plan([]).await;
    let before = world.event_names(SESSION).await;
    let one = |comment: Value| json!({ "version": 1, "comments": [comment] });
    for body in [
        json!({}),
        json!({ "version": 1 }),
        json!({ "version": -1, "comments": [] }),
        json!({ "version": 1, "comments": [], "state": "open" }),
        one(json!({ "id": "c1", "anchor": { "step": "s1", "quote": "x" }, "kind": "strike" })),
        one(json!({ "id": "c1", "anchor": {}, "kind": "praise", "text": "x" })),
        one(json!({ "id": "c 1", "anchor": {}, "kind": "comment", "text": "x" })),
        one(json!({ "id": "c1", "anchor": {}, "kind": "comment", "text": " " })),
        one(json!(["c1", {}, "comment", "x"])),
    ] {
        world.put(&path(&plan, "review"), body).await.refused(400, "INVALID_ARGUMENT");
    }
    world.put(&path(&plan, "review"), json!({ "version": 2, "comments": [] })).await.refused(404, "NOT_FOUND");
    let long = one(json!({ "id": "c1", "anchor": {}, "kind": "comment", "text": "x".repeat(16 * 1024 + 1) }));
    world.put(&path(&plan, "review"), long).await.refused(413, "LIMIT_EXCEEDED");
    let many: Vec<_> = (0..201).map(|n| struck(&format!("c{n}"), "s1")).collect();
    world.put(&path(&plan, "review"), json!({ "version": 1, "comments": many })).await.refused(413, "LIMIT_EXCEEDED");
    assert_eq!(world.event_names(SESSION).await, before);
}

#[tokio::test]
async fn a_review_belongs_to_its_session() {
    let (world, plan) = World::with_plan([]).await;
    put(&world, &plan, 1, json!([struck("c1", "s1")])).await;
    let other = format!("{}?sessionId={OTHER}", path(&plan, "review"));
    world.get(&other).await.refused(404, "NOT_FOUND");
    world.put(&other, json!({ "version": 1, "comments": [] })).await.refused(404, "NOT_FOUND");
    world.get(&format!("/api/plans/1/review?sessionId={SESSION}")).await.with(200);
    assert_eq!(world.delete(&format!("/api/sessions/{SESSION}")).await.status, 204);
    world.get(&path(&plan, "review")).await.refused(404, "NOT_FOUND");
}
