//! Plan work, and looks at plans.

use axum::body::Body;
use axum::http::Request;
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_llm::scripted::{Gate, Reply};
use serde_json::{Value, json};

use crate::world::{MARKDOWN, SESSION, TIMEOUT, World, came, sent};

#[tokio::test]
async fn plan_work_is_turned_on_and_off() {
    let world = World::new([]).await;
    let here = json!({ "sessionId": SESSION });
    let on = world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "collect" })).await.with(200);
    assert_eq!((&on["sessionId"], &on["planMode"]["enabled"]), (&json!(SESSION), &json!(true)));
    assert_eq!(on["planMode"]["style"], "collect");
    let listed = world.get(&format!("/api/plans?sessionId={SESSION}")).await.with(200);
    assert_eq!((&listed["planMode"], &listed["plans"][0]["id"]), (&on["planMode"], &on["planMode"]["activePlanId"]));
    let off = world.post("/api/plans/disable", here.clone()).await.with(200);
    assert_eq!((&off["planMode"]["enabled"], &off["planMode"]["activePlanId"]), (&json!(false), &Value::Null));
    world.post("/api/plans/enable", here.clone()).await.with(200);
    assert_eq!(world.post("/api/plans/done", here).await.with(200)["planMode"]["enabled"], false);
    let plans = world.get(&format!("/api/plans?sessionId={SESSION}")).await.with(200);
    assert_eq!(plans["plans"][0]["status"], "CANCELLED");
    for path in ["/api/plans/enable", "/api/plans/disable", "/api/plans/done"] {
        world.post(path, json!({ "sessionId": "no-such-session" })).await.refused(404, "NOT_FOUND");
        world.post(path, json!({})).await.refused(400, "INVALID_ARGUMENT");
    }
    world
        .post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "haiku" }))
        .await
        .refused(400, "INVALID_ARGUMENT");
}

/// A button is answered at once, however long the agent takes. What a person types waits for its turn.
#[tokio::test]
async fn plan_work_is_turned_on_and_off_beside_an_open_turn() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("At last.").behind(&gate)]).await;
    let here = json!({ "sessionId": SESSION });
    let requests = async {
        world.model.asked(1).await;
        let promptly = async |path: &str| {
            let sent = tokio::time::timeout(TIMEOUT, world.post(path, here.clone())).await;
            sent.unwrap_or_else(|_| panic!("{path} waits for the open turn")).with(200)["planMode"]["enabled"].clone()
        };
        assert_eq!(promptly("/api/plans/enable").await, true);
        assert_eq!(promptly("/api/plans/disable").await, false);
        gate.open();
    };
    let typed = async {
        world.model.asked(1).await;
        world.say("/plan on").await
    };
    let (reply, (), typed) = tokio::join!(world.say("take your time"), requests, typed);
    assert_eq!(reply.with(200)["reply"], "At last.");
    typed.with(200);
    let names = world.event_names(SESSION).await;
    let switches: Vec<_> = names.iter().filter(|name| name.starts_with("plan_mode") || *name == "turn_ended").collect();
    assert_eq!(switches, ["plan_mode_enabled", "plan_mode_disabled", "turn_ended", "plan_mode_enabled"], "{names:?}");
}

#[tokio::test]
async fn plans_are_listed_page_by_page() {
    let world = World::new([]).await;
    let style = |number: usize| ["document", "collect"][number % 2];
    for number in 0..5 {
        world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": style(number) })).await.with(200);
    }
    let (mut seen, mut path) = (Vec::new(), format!("/api/plans?sessionId={SESSION}&limit=2"));
    loop {
        let page = world.get(&path).await.with(200);
        seen.extend(page["plans"].as_array().unwrap().iter().map(|plan| plan["number"].as_u64().unwrap()));
        match page["next"].as_u64() {
            Some(next) => path = format!("/api/plans?sessionId={SESSION}&limit=2&before={next}"),
            None => break,
        }
    }
    assert_eq!(seen, [5, 4, 3, 2, 1]);
    world.get("/api/plans").await.refused(400, "INVALID_ARGUMENT");
    world.get("/api/plans?sessionId=no-such-session").await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_plan_is_named_by_its_id_its_number_or_a_piece() {
    let (world, plan) = World::with_plan([]).await;
    assert_eq!((&plan["markdown"], &plan["status"]), (&json!(MARKDOWN), &json!("READY")));
    assert_eq!(plan["steps"].as_array().unwrap().len(), 2);
    let id = plan["id"].as_str().unwrap();
    for name in [id, "1", &id[id.len() - 8..]] {
        assert_eq!(world.get(&format!("/api/plans/{name}?sessionId={SESSION}")).await.with(200), plan, "{name}");
    }
    world.get("/api/plans/1").await.refused(404, "NOT_FOUND");
    world.get(&format!("/api/plans/{id}?channel=cli")).await.refused(404, "NOT_FOUND");
    world.get("/api/plans/no%20plan").await.refused(400, "INVALID_ARGUMENT");
    let markdown = world.get(&format!("/api/plans/{id}/markdown")).await;
    assert_eq!(markdown.text, MARKDOWN);
    assert_eq!(markdown.headers["content-type"], "text/markdown; charset=utf-8");
}

/// Another parser of Markdown may find other lines than the ones that the approval covers.
#[tokio::test]
async fn a_document_names_the_shell_lines_that_its_approval_covers() {
    let text = "# Tidy\n\n- [ ] tidy with `$ make tidy`\n\n![`$ make picture`](a.png)\n\n[^x]: a\n\n    $ make note\n";
    let drafted = [Reply::call("plan_set_content", json!({ "plan_markdown": text })), Reply::text("Drafted.")];
    let world = World::new(drafted).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await.with(200);
    world.say("tidy up").await.with(200);
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    assert_eq!(plan["commands"], json!(["make tidy", "make picture", "make note"]));
    let (_, without) = World::with_plan([]).await;
    assert_eq!(without["commands"], Value::Null);
}

#[tokio::test]
async fn the_tag_of_a_plan_changes_whenever_the_answer_does() {
    let (world, plan) = World::with_plan([]).await;
    let path = format!("/api/plans/{}", plan["id"].as_str().unwrap());
    let first = world.get(&path).await;
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'));
    let ask = async |tags: &str| {
        world.call(Request::get(&path).header("if-none-match", tags).body(Body::empty()).unwrap()).await
    };
    for tags in [tag.as_str(), &format!("\"other\", W/{tag}"), "*"] {
        let known = ask(tags).await;
        assert_eq!((known.status.as_u16(), known.text.as_str()), (304, ""), "{tags}");
        assert_eq!(known.headers["etag"], tag.as_str());
    }
    assert_eq!(ask("\"other\"").await.status.as_u16(), 200);
    // The plan stays as it is, and an approval of it needs more.
    let stricter = ApprovalPolicy { require: Require::Verified, ..ApprovalPolicy::default() };
    let approvals = world.agent.engine().approvals();
    approvals.set_policy(&Actor::person("ada", "test"), &stricter, None).await.unwrap();
    let needs_more = ask(&tag).await;
    assert_eq!(needs_more.status.as_u16(), 200);
    assert_eq!(needs_more.json()["needs"]["require"], "verified");
    let tag = needs_more.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(ask(&tag).await.status.as_u16(), 304);
    // Another process changes the stored plan.
    let other = world.another_process("other").await;
    let rejecting = Request::post(format!("{path}/reject")).header("content-type", "application/json");
    let rejecting = rejecting.body(Body::from(json!({ "reason": "no" }).to_string())).unwrap();
    came(sent(other, rejecting).await).await.with(200);
    let changed = ask(&tag).await;
    assert_eq!(changed.status.as_u16(), 200);
    assert_eq!(changed.json()["status"], "REJECTED");
    assert_ne!(changed.headers["etag"], tag.as_str());
}

#[tokio::test]
async fn history_and_differences_are_told() {
    let again = "# Move the blog\n\n- [ ] copy the files\n- [ ] ask first\n";
    let more = [Reply::call("plan_set_content", json!({ "plan_markdown": again })), Reply::text("Changed.")];
    let (world, plan) = World::with_plan(more).await;
    let path = format!("/api/plans/{}", plan["id"].as_str().unwrap());
    world.say("ask first").await.with(200);
    let digest = world.get(&path).await.with(200)["digest"].clone();
    world.post(&format!("{path}/approve"), json!({ "digest": digest, "later": true })).await.with(200);
    let history = world.get(&format!("{path}/history")).await.with(200);
    let versions: Vec<_> = history["versions"].as_array().unwrap().iter().map(|version| &version["digest"]).collect();
    assert_eq!(versions, [&plan["digest"], &digest]);
    assert_eq!((&history["decisions"][0]["decision"], &history["planId"]), (&json!("approved"), &plan["id"]));
    let diff = world.get(&format!("{path}/diff")).await.with(200);
    assert!(!diff["changes"].as_array().unwrap().is_empty() && !diff["lines"].as_array().unwrap().is_empty());
    let same = world.get(&format!("{path}/diff?from=1&to=1")).await.with(200);
    assert_eq!(same, json!({ "changes": [], "lines": [] }));
    world.get(&format!("{path}/diff?to=9")).await.refused(404, "NOT_FOUND");
    world.get(&format!("{path}/diff?from=x")).await.refused(400, "INVALID_ARGUMENT");
}
