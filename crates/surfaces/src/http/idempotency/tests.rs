//! What a process began before it ended, asked for again in another one.

use std::sync::Arc;

use axum::Router;
use planwright_agent::session::input::Input;
use planwright_core::session::SessionIdentity;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::*;
use crate::http::api;

struct World {
    folder: Arc<TempDir>,
    app: App,
    router: Router,
    session: SessionIdentity,
}

impl World {
    async fn new(model: ScriptedModel) -> Self {
        Self::in_folder(Arc::new(tempfile::tempdir().unwrap()), model).await
    }

    /// The next process on the same store.
    async fn next(&self, model: ScriptedModel) -> Self {
        Self::in_folder(Arc::clone(&self.folder), model).await
    }

    async fn in_folder(folder: Arc<TempDir>, model: ScriptedModel) -> Self {
        let setup = AgentSetup::new(folder.path());
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), model);
        let app = App::new(agent, ledger, CancellationToken::new(), None);
        let session = "web:session-one".parse().unwrap();
        app.engine().sessions().open(&session, &app.person()).await.unwrap();
        let router = api::router(&app).with_state(app.clone());
        Self { folder, app, router, session }
    }

    /// Another process claims the request, and ends before it answers. Gives what it called it.
    async fn claimed_before(&self, path: &str, body: &Value) -> RequestContext {
        let (parts, ()) = Request::post(path).body(()).unwrap().into_parts();
        let claimed = claimed_request(&parts, "key", &Bytes::from(body.to_string()));
        let now = self.app.engine().now();
        assert_eq!(self.app.ledger().claim(&claimed, now, RETENTION_TIME).await.unwrap(), Claim::New);
        RequestContext { id: Some(name(&claimed.key, now).unwrap()), ..RequestContext::default() }
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, HeaderMap, Value) {
        let request = Request::post(path).header("content-type", "application/json").header(KEY, "key");
        let response = self.router.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        (parts.status, parts.headers, serde_json::from_slice(&bytes).unwrap())
    }

    async fn seq(&self) -> u64 {
        self.app.feed().head(&self.session).await.unwrap()
    }
}

#[tokio::test]
async fn what_was_written_before_is_not_written_again() {
    let world = World::new(ScriptedModel::new([])).await;
    let body = json!({ "sessionId": "session-one" });
    let name = world.claimed_before("/api/plans/enable", &body).await;
    let person = world.app.person();
    let style = planwright_core::plan::PlanStyle::Document;
    let before = name.engine(&world.app).sessions().enable_plan_mode(&world.session, &person, style).await.unwrap();
    // Meanwhile the person worked on something else, so that doing it again would make another plan.
    let engine = world.app.engine();
    engine
        .sessions()
        .enable_plan_mode(&world.session, &person, planwright_core::plan::PlanStyle::Collect)
        .await
        .unwrap();
    let seq = world.seq().await;
    let (status, ..) = world.post("/api/plans/enable", &body).await;
    assert_eq!((status, world.seq().await), (StatusCode::OK, seq));
    assert_eq!(before.snapshot.session.unwrap().plans_made, 1);
}

/// The process ended between the commit and the answer, and the client sends the request again.
#[tokio::test]
async fn a_switch_that_was_written_before_is_answered_as_it_was_then() {
    let world = World::new(ScriptedModel::new([])).await;
    let (body, person) = (json!({ "sessionId": "session-one" }), world.app.person());
    let style = planwright_core::plan::PlanStyle::Document;
    world.app.engine().sessions().enable_plan_mode(&world.session, &person, style).await.unwrap();
    let name = world.claimed_before("/api/plans/disable", &body).await;
    name.engine(&world.app).sessions().disable_plan_mode(&world.session, &person).await.unwrap();
    world.app.engine().sessions().enable_plan_mode(&world.session, &person, style).await.unwrap();
    let seq = world.seq().await;
    let (status, _, answer) = world.post("/api/plans/disable", &body).await;
    assert_eq!((status, &answer["planMode"]["enabled"]), (StatusCode::OK, &json!(false)));
    assert_eq!(world.seq().await, seq);
}

#[tokio::test]
async fn what_was_not_written_before_is_written_now() {
    let world = World::new(ScriptedModel::new([])).await;
    let body = json!({ "sessionId": "session-one" });
    world.claimed_before("/api/plans/enable", &body).await;
    let (status, _, answer) = world.post("/api/plans/enable", &body).await;
    assert_eq!((status, &answer["planMode"]["enabled"]), (StatusCode::OK, &json!(true)));
    let (_, headers, again) = world.post("/api/plans/enable", &body).await;
    assert_eq!((headers.contains_key(REPLAYED), again), (true, answer));
}

#[tokio::test]
async fn a_session_that_was_begun_is_the_same_one() {
    let world = World::new(ScriptedModel::new([])).await;
    let engine = world.claimed_before("/api/sessions", &json!({})).await.engine(&world.app);
    let begun = engine.sessions().new_identity(planwright_core::session::Channel::Web);
    engine.sessions().open(&begun, &world.app.person()).await.unwrap();
    let (_, _, answer) = world.post("/api/sessions", &json!({})).await;
    assert_eq!(answer["sessionId"], begun.conversation.as_str());
}

#[tokio::test]
async fn a_message_that_was_heard_is_not_heard_again() {
    let model = ScriptedModel::new([Reply::text("Hello!")]);
    let world = World::new(model.clone()).await;
    let (path, body) = ("/api/sessions/session-one/messages", json!({ "text": "hi" }));
    let name = world.claimed_before(path, &body).await;
    world.app.submit(&world.session, Input::typed("hi"), &name).outcome().await.unwrap();
    let (status, _, answer) = world.post(path, &body).await;
    assert_eq!((status, &answer["reply"]), (StatusCode::OK, &json!("Hello!")));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_message_that_a_stopping_process_left_goes_on_in_the_next_one() {
    let model = ScriptedModel::new([Reply::hang()]);
    let world = World::new(model.clone()).await;
    let (path, body) = ("/api/sessions/session-one/messages", json!({ "text": "hi" }));
    let leaving = async {
        model.asked(1).await;
        world.app.agent().drain(Duration::ZERO).await;
    };
    let ((status, _, problem), ()) = tokio::join!(world.post(path, &body), leaving);
    assert_eq!((status, &problem["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("UNAVAILABLE")));
    let next = world.next(ScriptedModel::new([Reply::text("Hello!")])).await;
    let (status, _, answer) = next.post(path, &body).await;
    assert_eq!((status, &answer["reply"]), (StatusCode::OK, &json!("Hello!")));
    let entries = next.app.ledger().conversation(&next.session, 0, 100).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.event.name() == "turn_begun").count(), 1);
}

#[tokio::test]
async fn a_command_that_was_carried_out_is_found_again() {
    for text in ["/plan on", "/plan on build", "/plan files on", "/reset", "/new"] {
        let world = World::new(ScriptedModel::new([])).await;
        let (path, body) = ("/api/sessions/session-one/messages", json!({ "text": text }));
        let name = world.claimed_before(path, &body).await;
        let first = world.app.submit(&world.session, Input::typed(text), &name).outcome().await.unwrap();
        let seq = world.seq().await;
        let (status, _, answer) = world.post(path, &body).await;
        let first = first.answer().unwrap();
        assert_eq!((status, &answer["reply"]), (StatusCode::OK, &json!(first.reply)), "{text}");
        assert_eq!(answer["sessionId"], first.session.conversation.as_str(), "{text}");
        assert_eq!(world.seq().await, seq, "{text}");
    }
}

#[tokio::test]
async fn plan_work_that_was_asked_for_with_a_text_is_found_again() {
    let model = ScriptedModel::new([Reply::text("Which host?")]);
    let world = World::new(model.clone()).await;
    let text = "/plan move the blog";
    let (path, body) = ("/api/sessions/session-one/messages", json!({ "text": text }));
    let name = world.claimed_before(path, &body).await;
    world.app.submit(&world.session, Input::typed(text), &name).outcome().await.unwrap();
    // Meanwhile plan work was ended, so that doing it again would make another plan.
    let person = world.app.person();
    world.app.engine().sessions().finish_plan_work(&world.session, &person).await.unwrap();
    let seq = world.seq().await;
    let (status, _, answer) = world.post(path, &body).await;
    assert_eq!((status, &answer["reply"]), (StatusCode::OK, &json!("Which host?")));
    assert_eq!((world.seq().await, model.requests().len()), (seq, 1));
}

#[test]
fn only_decisions_are_kept() {
    let kept = |status: u16| matches!(retention(status), Retention::Kept);
    for status in [200, 201, 204, 400, 403, 404, 409, 413, 422] {
        assert!(kept(status), "{status}");
    }
    for status in [401, 408, 415, 421, 429, 500, 503] {
        assert!(!kept(status), "{status}");
    }
}

#[test]
fn parts_do_not_run_into_each_other() {
    assert_ne!(hashed([b"ab".as_slice(), b"c"]), hashed([b"a".as_slice(), b"bc"]));
}
