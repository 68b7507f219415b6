//! What belongs to one session is not reached by naming another: it is not there, the same as what does not exist.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World};

/// Every call about a plan, from the description, so that a new one is walked as well.
fn calls() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(planwright_surfaces::http::description()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let about_plans = paths.iter().filter(|(path, _)| path.starts_with("/api/plans/{id}"));
    let calls = about_plans.flat_map(|(path, calls)| {
        calls.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
    });
    calls.collect()
}

#[tokio::test]
async fn a_plan_of_another_session_is_not_there() {
    let (world, plan) = World::with_plan([]).await;
    let id = plan["id"].as_str().unwrap();
    let missing = "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11";
    let before = world.event_names(SESSION).await;
    assert!(calls().len() >= 9, "{:?}", calls());
    for (method, path) in calls() {
        let body = json!({ "digest": plan["digest"], "feedback": "x" });
        let body = match path.rsplit('/').next() {
            Some("approve" | "challenge") => json!({ "digest": body["digest"] }),
            Some("review") => json!({ "version": 0, "comments": [] }),
            Some("resolve") => json!({ "comment": "one", "resolved": true }),
            Some("revise") => json!({ "feedback": "x" }),
            _ => json!({}),
        };
        let ask = async |id: &str, query: &str| {
            let request =
                Request::builder().method(method.as_str()).uri(format!("{}?{query}", path.replace("{id}", id)));
            let request = request.header("content-type", "application/json");
            let sent = if method == "GET" { Body::empty() } else { Body::from(body.to_string()) };
            let came = world.call(request.body(sent).unwrap()).await;
            came.clone().refused(404, "NOT_FOUND");
            came
        };
        for query in [
            format!("sessionId={OTHER}"),
            format!("sessionId={SESSION}&channel=cli"),
            "sessionId=nobodys-key".to_owned(),
        ] {
            let theirs = ask(id, &query).await;
            let missing_answer = ask(missing, &query).await;
            assert_eq!(theirs.text.replace(id, missing), missing_answer.text, "{method} {path}?{query}");
            assert_eq!(theirs.headers, missing_answer.headers, "{method} {path}?{query}");
        }
        // A piece of the id names it only in its own session.
        ask(&id[id.len() - 12..], &format!("sessionId={OTHER}")).await;
        // The body of `resolve` names a comment and no session.
        if method == "POST" && !path.ends_with("/resolve") {
            let mut body = body.clone();
            body["sessionId"] = json!(OTHER);
            world.post(&path.replace("{id}", id), body.clone()).await.refused(404, "NOT_FOUND");
            let differing = format!("{}?sessionId={SESSION}", path.replace("{id}", id));
            world.post(&differing, body).await.refused(400, "INVALID_ARGUMENT");
        }
    }
    assert_eq!(world.event_names(SESSION).await, before);
    assert_eq!(world.event_names(OTHER).await, ["session_opened"]);
}

#[tokio::test]
async fn nothing_of_one_session_is_told_in_another() {
    let (world, plan) = World::with_plan([]).await;
    let id = plan["id"].as_str().unwrap();
    for path in [
        format!("/api/sessions/{OTHER}"),
        format!("/api/sessions/{OTHER}/messages"),
        format!("/api/sessions/{OTHER}/journal"),
        format!("/api/plans?sessionId={OTHER}"),
    ] {
        let came = world.get(&path).await;
        assert_eq!(came.status.as_u16(), 200);
        assert!(
            !came.text.contains(id) && !came.text.contains("blog") && !came.text.contains(SESSION),
            "{path}: {}",
            came.text
        );
    }
    // The same key in another channel is another session.
    world.post("/api/sessions", json!({ "sessionId": SESSION, "channel": "cli" })).await.with(201);
    let there = world.get(&format!("/api/plans?sessionId={SESSION}&channel=cli")).await.with(200);
    assert_eq!(there["plans"], json!([]));
}
