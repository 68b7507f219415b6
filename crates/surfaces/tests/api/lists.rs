//! Lists over sessions and plans: names, search, the plan that a session works on, plans that ended, earlier versions.

use planwright_llm::scripted::Reply;
use serde_json::{Value, json};

use crate::world::{MARKDOWN, OTHER, SESSION, World, carrying_out};

async fn keys(world: &World, query: &str) -> Vec<String> {
    let list = world.get(&format!("/api/sessions?{query}")).await.with(200);
    let sessions = list["sessions"].as_array().unwrap();
    sessions.iter().map(|session| session["sessionId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_session_is_named_listed_by_its_name_and_found_by_it() {
    let world = World::new([Reply::text("Hello.")]).await;
    let path = format!("/api/sessions/{SESSION}");
    let named = world.patch(&path, json!({ "title": " Übersiedlung of the blog " })).await.with(200);
    assert_eq!(named["title"], "Übersiedlung of the blog");
    assert_eq!(world.get(&path).await.with(200)["title"], named["title"]);
    world.say("good morning, garden").await.with(200);
    for (query, found) in [
        ("q=übersiedlung", vec![SESSION]),
        ("q=BLOG%20morning", vec![SESSION]),
        ("q=session-two", vec![OTHER]),
        ("q=web%20session", vec![SESSION, OTHER]),
        ("q=%20", vec![SESSION, OTHER]),
        ("q=nothing-like-it", vec![]),
    ] {
        assert_eq!(keys(&world, query).await, found, "{query}");
    }
    // The reset of the conversation leaves the name.
    world.say("/reset").await.with(200);
    assert_eq!(world.get(&path).await.with(200)["title"], named["title"]);
    assert_eq!(world.patch(&path, json!({ "title": " " })).await.with(200)["title"], json!(null));
    for body in
        [json!({}), json!({ "title": null }), json!({ "title": "a\nb" }), json!({ "title": 7 }), json!({ "name": "x" })]
    {
        world.patch(&path, body).await.refused(400, "INVALID_ARGUMENT");
    }
    world.patch(&path, json!({ "title": "x".repeat(201) })).await.refused(413, "LIMIT_EXCEEDED");
    world.patch("/api/sessions/nobodys-key", json!({ "title": "x" })).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_search_reads_page_after_page() {
    let world = World::new([]).await;
    for n in 0..30 {
        let key = format!("needle-{n:03}");
        world.post("/api/sessions", json!({ "sessionId": key })).await.with(201);
        world.post("/api/sessions", json!({ "sessionId": format!("hay-{n:06}") })).await.with(201);
    }
    let (mut found, mut after) = (Vec::new(), json!(null));
    loop {
        let from = after.as_u64().map_or(String::new(), |after| format!("&after={after}"));
        let page = world.get(&format!("/api/sessions?q=needle&limit=4{from}")).await.with(200);
        let sessions = page["sessions"].as_array().unwrap();
        assert!(sessions.len() <= 4, "{page}");
        found.extend(sessions.iter().map(|session| session["sessionId"].as_str().unwrap().to_owned()));
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    let expected: Vec<_> = (0..30).rev().map(|n| format!("needle-{n:03}")).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn the_list_says_how_far_the_plan_of_a_session_is() {
    let (world, plan) = World::with_plan(carrying_out()).await;
    let of = |list: Value| {
        let sessions = list["sessions"].as_array().unwrap();
        sessions.iter().map(|session| (session["sessionId"].clone(), session["activePlan"].clone())).collect::<Vec<_>>()
    };
    let listed = of(world.get("/api/sessions").await.with(200));
    let ready = json!({ "id": plan["id"], "number": 1, "title": "Move the blog", "status": "READY" });
    assert_eq!(listed, [(json!(SESSION), ready), (json!(OTHER), json!(null))]);
    let id = plan["id"].as_str().unwrap();
    let approve = json!({ "digest": plan["digest"] });
    world.post(&format!("/api/plans/{id}/approve"), approve).await.with(200);
    world.wait_for(id, "COMPLETED").await;
    let session = world.get(&format!("/api/sessions/{SESSION}")).await.with(200);
    assert_eq!(
        (&session["activePlan"]["status"], &session["activePlan"]["progress"]["done"]),
        (&json!("COMPLETED"), &json!(2))
    );
}

#[tokio::test]
async fn plans_that_ended_are_listed_over_all_sessions() {
    let (world, plan) = World::with_plan([]).await;
    assert_eq!(world.get("/api/plans/recent").await.with(200)["plans"], json!([]));
    let id = plan["id"].as_str().unwrap();
    world.post(&format!("/api/plans/{id}/reject"), json!({})).await.with(200);
    let recent = world.get("/api/plans/recent?limit=3").await.with(200);
    assert_eq!(recent["next"], json!(null));
    let [ended] = recent["plans"].as_array().unwrap().as_slice() else { panic!("{recent}") };
    assert_eq!(
        (&ended["id"], &ended["sessionId"], &ended["status"]),
        (&plan["id"], &json!(SESSION), &json!("REJECTED"))
    );
    world.get("/api/plans/recent?limit=0").await.refused(400, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn an_earlier_version_is_shown_as_it_was() {
    let second = "# Move the blog\n\n- [ ] copy all files\n";
    let write = Reply::call("plan_set_content", json!({ "plan_markdown": second }));
    let (world, plan) = World::with_plan([write, Reply::text("Changed.")]).await;
    world.say("shorter").await.with(200);
    let path = format!("/api/plans/{}", plan["id"].as_str().unwrap());
    let now = world.get(&path).await.with(200);
    assert_eq!((&now["version"], &now["markdown"]), (&json!(2), &json!(second)));
    assert_eq!(world.get(&format!("{path}?version=2")).await.with(200), now);
    let first = world.get(&format!("{path}?version=1")).await.with(200);
    assert_eq!((&first["version"], &first["markdown"]), (&json!(1), &json!(MARKDOWN)));
    assert_eq!((&first["digest"], &first["steps"]), (&plan["digest"], &plan["steps"]));
    for version in [0, 3] {
        world.get(&format!("{path}?version={version}")).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn calls_have_their_arguments_and_results_their_time() {
    let long = "x".repeat(5000);
    let calls = Reply::call("list_files", json!({})).and_call("write_file", json!({ "path": "a.md", "content": long }));
    let world = World::new([calls, Reply::text("Done.")]).await;
    world.say("write it").await.with(200);
    let page = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200);
    let messages = page["messages"].as_array().unwrap();
    let made = messages.iter().find(|message| message["calls"].is_array()).unwrap();
    assert_eq!(made["calls"][0]["arguments"], "{}");
    assert_eq!(made["calls"][0]["argumentsCut"], json!(null));
    assert_eq!(made["calls"][1]["arguments"].as_str().unwrap().len(), 4096);
    assert_eq!(made["calls"][1]["argumentsCut"], true);
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert!(results.len() == 2 && results.iter().all(|result| result["tookMs"].is_u64()), "{page}");
}
