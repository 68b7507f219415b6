//! The API with the token, which the agent can read: acts in the person's name in a session of the agent.

use std::collections::BTreeMap;

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::results::AttackResult;
use crate::servers::{OWN_SESSION, draft_by_own_agent};
use crate::stage::{PROGRAM, SESSION, Stage, attack, done, result_if, result_of};
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

/// Rows of the table whose things need more than a session: other attacks send them. A session over MCP has no workbook.
const SENT_ELSEWHERE: [&str; 10] = [
    "DELETE /api/memory/offers/{id}",
    "POST /api/approvers/{name}/passkeys",
    "POST /api/approvers/{name}/passkeys/{id}/remove",
    "POST /api/mcp-servers/{name}/accept",
    "POST /api/memory/offers/{id}/accept",
    "POST /api/permissions/{id}",
    "POST /api/plans/{id}/resume",
    "POST /api/questions/{id}",
    "POST /api/runs/{id}/resume",
    "PUT /api/workbook/{document}",
];

/// Makes things of each kind in the agent's session, as the person, and gives their ids.
fn things(stage: &mut Stage, server: &Server) -> BTreeMap<&'static str, String> {
    for line in [
        "goal add Tidy the kitchen",
        "task add Wash the cups",
        "memory save The cups are blue",
        "schedule add '0 9 * * *' Wash the cups",
        "schedule add '0 8 * * *' Wash the pots",
        "schedule pause 2",
        "plan files on",
    ] {
        done(&stage.person.run(&format!("{PROGRAM} {line} --session {SESSION}")));
    }
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let get = |path: &str| -> Value {
        let (_, body) = send(&server.address, "GET", path, &headers, &Value::Null);
        serde_json::from_str(&body).unwrap()
    };
    let id = |path: &str, index: usize| {
        let listed = get(&format!("{path}?sessionId=attack-one&channel=mcp"));
        let id = &listed["items"][index]["id"];
        id.as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
    };
    BTreeMap::from([
        ("plan", stage.plan()["id"].as_str().unwrap().to_owned()),
        ("goal", id("/api/goals", 0)),
        ("task", id("/api/tasks", 0)),
        ("memory", id("/api/memory", 0)),
        ("schedule", id("/api/schedules", 0)),
        ("paused", id("/api/schedules", 1)),
    ])
}

/// A request for each row of the table: the row, the name of the thing whose id stands in the path, and the body.
fn requests(digest: &str) -> Vec<(&'static str, &'static str, Value)> {
    let said = session_with;
    let mut scheduled = said("cron", "0 9 * * *");
    scheduled["title"] = "Empty the bin".into();
    vec![
        ("DELETE /api/memory/{id}", "memory", json!({})),
        ("DELETE /api/schedules/{id}", "schedule", json!({})),
        ("DELETE /api/sessions/{sessionId}", "session", json!({})),
        ("DELETE /api/clients/{id}", "client", json!({})),
        ("DELETE /api/push/{id}", "client", json!({})),
        ("PATCH /api/goals/{id}", "goal", json!({ "status": "cancelled" })),
        ("PATCH /api/sessions/{sessionId}", "session", json!({ "title": "Mine" })),
        ("PATCH /api/tasks/{id}", "task", json!({ "status": "skipped" })),
        ("POST /api/approvers/changes/seen", "", json!({ "until": "2100-01-01T00:00:00Z" })),
        ("POST /api/approvers", "", json!({ "name": "mallory", "passphrase": "correct horse battery" })),
        ("POST /api/goals", "", said("title", "Empty the bin")),
        ("POST /api/memory", "", said("content", "The bin may always be emptied")),
        ("POST /api/memory/{id}/promote", "memory", json!({})),
        ("POST /api/plans/disable", "", session()),
        ("POST /api/plans/done", "", session()),
        ("POST /api/plans/enable", "", said("style", "build")),
        ("POST /api/plans/{id}/approve", "plan", json!({ "digest": digest })),
        ("POST /api/plans/{id}/revise", "plan", json!({ "feedback": "the bin is full" })),
        ("POST /api/plans/{id}/undo", "plan", json!({})),
        (
            "POST /api/push",
            "",
            json!({ "endpoint": "https://push.example.org/send/1", "keys": {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg" } }),
        ),
        ("POST /api/runs", "", session()),
        ("POST /api/schedules", "", scheduled),
        ("POST /api/schedules/{id}/resume", "paused", json!({})),
        ("POST /api/sessions/{sessionId}/messages", "session", json!({ "text": "Go on" })),
        ("POST /api/sessions/{sessionId}/undo", "session", json!({})),
        ("POST /api/tasks", "", said("title", "Empty the bin")),
        ("POST /api/plans/{id}/review/resolve", "plan", json!({ "comment": "one", "resolved": true })),
        (
            "PUT /api/plans/{id}/review",
            "plan",
            json!({ "version": 1, "comments": [
            { "id": "one", "anchor": {}, "kind": "comment", "text": "The bin is full" }] }),
        ),
    ]
}

/// What `docs/door.md` calls `approval` or `person` is refused to who has the token alone, where the agent can read it.
#[test]
fn every_request_of_the_table_is_refused_with_the_token_alone() {
    let page = include_str!("../../../../docs/door.md");
    let table = page.split("\n## REST\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let asked = rows.filter(|(_, rest)| rest.starts_with("approval") || rest.starts_with("person"));
    let mut stage = Stage::new(Require::Separate);
    let server = Server::start(&stage);
    let mut things = things(&mut stage, &server);
    things.extend(
        [("session", "attack-one"), ("document", "findings"), ("client", "0000")]
            .map(|(name, id)| (name, id.to_owned())),
    );
    let requests = requests(&stage.digest());
    let mut passed = Vec::new();
    for (row, _) in asked.filter(|(row, _)| !SENT_ELSEWHERE.contains(row)) {
        let found = requests.iter().find(|(name, ..)| *name == row);
        let (_, thing, body) = found.unwrap_or_else(|| panic!("there is no request for {row}"));
        let (method, path) = row.split_once(' ').unwrap();
        let begin = path.split('{').next().unwrap();
        let end = path.split_once('}').map_or("", |(_, end)| end);
        let mut path = format!("{begin}{}{end}", things.get(thing).map_or("", String::as_str));
        if !thing.is_empty() {
            path.push_str("?channel=mcp");
        }
        if !["", "session", "client"].contains(thing) {
            path.push_str("&sessionId=attack-one");
        }
        let before = stage.acts_of_people();
        let headers = format!("authorization: Bearer {}\r\n", server.token);
        let (head, answer) = send(&server.address, method, &path, &headers, body);
        if !answer.contains("POLICY_DENIED") || stage.acts_of_people() != before {
            passed.push(format!("{row}: {} {answer}", head.lines().next().unwrap_or_default()));
        }
    }
    assert!(passed.is_empty(), "{passed:#?}");
}
