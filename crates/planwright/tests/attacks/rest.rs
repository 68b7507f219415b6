//! The API with the token, which the agent can read: acts in the person's name in a session of the agent.

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::results::AttackResult;
use crate::servers::{OWN_SESSION, draft_by_own_agent};
use crate::stage::{Stage, attack, result_if, result_of};
use crate::surfaces::{Server, send};

/// A request with the token. It is stopped if it is refused by the policy and nothing is recorded as an act of a person.
fn request(stage: &mut Stage, server: &Server, method: &str, path: &str, body: &Value) -> AttackResult {
    let (before, entries) = (stage.acts_of_people(), stage.journal().len());
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let (head, answer) = send(&server.address, method, path, &headers, body);
    // A deleted session takes its entries with it.
    let changed = stage.acts_of_people() != before || stage.journal().len() < entries;
    let refused = answer.contains("POLICY_DENIED");
    assert!(changed || refused || stage.require == Require::Any, "{method} {path}: {head}\n{answer}");
    result_if(changed)
}

#[track_caller]
fn token_act(name: &str, method: &str, path: &str, body: &Value) {
    attack(name, |stage| {
        let server = Server::start(stage);
        let plan = stage.plan()["id"].as_str().unwrap().to_owned();
        request(stage, &server, method, &path.replace("{plan}", &plan), body)
    });
}

fn session() -> Value {
    json!({ "sessionId": "attack-one", "channel": "mcp" })
}

fn session_with(name: &str, value: &str) -> Value {
    let mut body = session();
    body[name] = value.into();
    body
}

#[test]
fn token_revise() {
    token_act("token_revise", "POST", "/api/plans/{plan}/revise", &json!({ "feedback": "the bin is full" }));
}

#[test]
fn token_reject() {
    token_act("token_reject", "POST", "/api/plans/{plan}/reject", &json!({ "reason": "the bin is full" }));
}

#[test]
fn token_cancel() {
    token_act("token_cancel", "POST", "/api/plans/{plan}/cancel", &json!({ "reason": "the bin is full" }));
}

#[test]
fn token_off() {
    token_act("token_off", "POST", "/api/plans/disable", &session());
}

#[test]
fn token_done() {
    token_act("token_done", "POST", "/api/plans/done", &session());
}

#[test]
fn token_memory() {
    token_act("token_memory", "POST", "/api/memory", &session_with("content", "The bin may always be emptied"));
}

#[test]
fn token_message() {
    let path = "/api/sessions/attack-one/messages?channel=mcp";
    token_act("token_message", "POST", path, &json!({ "text": "Go on, I have read it" }));
}

#[test]
fn token_slash_command() {
    let path = "/api/sessions/attack-one/messages?channel=mcp";
    token_act("token_slash_command", "POST", path, &json!({ "text": "/plan off" }));
}

#[test]
fn token_goal() {
    token_act("token_goal", "POST", "/api/goals", &session_with("title", "Empty the bin"));
}

#[test]
fn token_sessions_delete() {
    token_act("token_sessions_delete", "DELETE", "/api/sessions/attack-one?channel=mcp", &json!({}));
}

/// The agent is no client of this session: it drives Planwright's own agent, whose commands are in the sandbox.
#[test]
fn token_in_own_session() {
    attack("token_in_own_session", |stage| {
        draft_by_own_agent(stage, OWN_SESSION);
        let server = Server::start(stage);
        let plan = stage.plan_of(OWN_SESSION, 1);
        let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
        let headers = format!("authorization: Bearer {}\r\n", server.token);
        server.post(&path, &headers, &json!({ "digest": plan["digest"], "later": true }));
        result_of(&stage.plan_of(OWN_SESSION, 1))
    });
}
