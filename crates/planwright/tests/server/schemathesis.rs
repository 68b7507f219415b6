//! The description is true: schemathesis makes up requests from it, good and bad ones, and looks whether the answers are as
//! described. `scripts/with-schemathesis` brings it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::server_process::{Running, logged, serve};
use crate::world::World;

/// The rehearsal asks nothing and changes no file, so no answer can be valid and nothing can be undone. No MCP server is
/// configured, no approver has a passkey, no browser signs in, no comment was sent, and the ids of memories and of offers cannot be
/// guessed. Whether a run still works when it is stopped is a matter of time.
const NEVER_POSSIBLE: [&str; 21] = [
    "/api/runs/{id}/stop",
    "/api/runs/{id}/resume",
    "/api/permissions/{id}",
    "/api/questions/{id}",
    "/api/plans/{id}/review/resolve",
    "/api/plans/{id}/undo",
    "/api/sessions/{sessionId}/undo",
    "/api/mcp-servers/{name}",
    "/api/mcp-servers/{name}/accept",
    "/api/memory/{id}",
    "/api/memory/{id}/promote",
    "/api/memory/offers/{id}",
    "/api/memory/offers/{id}/accept",
    "/api/acts/challenge",
    "/api/approvers/changes/seen",
    "/api/approvers/{name}/passkeys",
    "/api/approvers/{name}/passkeys/{id}/remove",
    "/api/plans/{id}/approve/challenge",
    "/api/clients/{id}",
    // Only a browser with a cookie gets pushes.
    "/api/push",
    "/api/push/{id}",
];

/// Makes every run send identical requests.
const SEED: &str = "20261115";

#[test]
fn answers_are_as_described() {
    let world = World::new();
    let server = fast_server(&world);
    let plans = plans(&server);
    work(&server);
    workbook(&server);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/schemathesis");
    let ran = Command::new(program())
        .current_dir(world.path(""))
        .env("SCHEMATHESIS_HOOKS", folder.join("hooks.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PLANWRIGHT_TEST_PLANS", json!(plans).to_string())
        .arg("--config-file")
        .arg(folder.join("schemathesis.toml"))
        .args(["run", &format!("http://{}/api/openapi.json", server.address)])
        .args(["--header", &format!("Authorization: Bearer {}", server.token), "--seed", SEED])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}{}", String::from_utf8_lossy(&ran.stderr), logged(&world));
    // A run that reached nothing would be green as well.
    for phase in ["Examples", "Coverage", "Fuzzing", "Stateful"] {
        assert!(told.contains(&format!("✅ {phase}")), "{phase} did not run\n{told}");
    }
    every_call_succeeded_once(&server);
    assert_eq!(server.stop(), 0);
}

fn every_call_succeeded_once(server: &Running) {
    let document = server.get("/api/openapi.json").json();
    let counts = server.get("/metrics").body;
    let counts: Vec<_> = counts.lines().filter(|line| line.starts_with("http_requests_total{")).collect();
    let answered = |method: &str, route: &str| {
        counts.iter().any(|line| {
            let is = |label: &str| line.contains(label);
            is(&format!("method=\"{method}\"")) && is(&format!("route=\"{route}\"")) && is("status=\"20")
        })
    };
    let possible = |route: &&String| !NEVER_POSSIBLE.contains(&route.as_str());
    for (route, calls) in document["paths"].as_object().unwrap().iter().filter(|(route, _)| possible(route)) {
        for method in calls.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            assert!(answered(&method, route), "{method} {route} never succeeded\n{}", counts.join("\n"));
        }
    }
}

fn program() -> PathBuf {
    let text = "the API is tested with schemathesis: use `make test`, or run this with `scripts/with-schemathesis`";
    std::env::var_os("PLANWRIGHT_TEST_SCHEMATHESIS").expect(text).into()
}

/// What one client may ask is not what is tried here.
fn fast_server(world: &World) -> Running {
    let mut command = serve(world);
    command.arg("--json").env("PLANWRIGHT_LOG", "warn");
    for limit in ["REQUESTS_PER_SECOND", "BURST", "WRONG_TOKENS_PER_MINUTE"] {
        command.env(format!("PLANWRIGHT_SERVER_{limit}"), "1000000");
    }
    Running::started(world, &mut command)
}

/// Plans of each style. Every decision has some of its own, so that what one ends is still open for the others.
fn plans(server: &Running) -> Vec<Value> {
    let seeds = [
        ("approve", "document"),
        ("approve", "document"),
        ("cancel", "document"),
        ("cancel", "collect"),
        ("reject", "document"),
        ("resume", "document"),
        ("revise", "document"),
        ("revise", "build"),
    ];
    seeds.into_iter().enumerate().map(|(n, (decision, style))| plan(server, n, decision, style)).collect()
}

/// A session with a goal, a task, a schedule and a run. No plan waits in it.
fn work(server: &Running) {
    let session = "session-work";
    for (path, body) in [
        ("/api/sessions", json!({ "sessionId": session })),
        ("/api/goals", json!({ "sessionId": session, "title": "a tidy house" })),
        ("/api/tasks", json!({ "sessionId": session, "title": "wash the dishes" })),
        ("/api/schedules", json!({ "sessionId": session, "title": "make tea", "cron": "0 9 * * 1" })),
        ("/api/runs", json!({ "sessionId": session, "taskId": "1" })),
    ] {
        let answer = server.post(path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
    }
}

/// A session with a workbook.
fn workbook(server: &Running) {
    let session = "session-workbook";
    for (path, body) in [
        ("/api/sessions", json!({ "sessionId": session })),
        (&format!("/api/sessions/{session}/messages"), json!({ "text": "/plan move the blog to a new host" })),
    ] {
        let answer = server.post(path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
    }
}

fn plan(server: &Running, n: usize, decision: &str, style: &str) -> Value {
    let done = |path: &str, body: Value| {
        let answer = server.post(path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
        answer.json()
    };
    let session = format!("session-{n}");
    done("/api/sessions", json!({ "sessionId": session }));
    done(&format!("/api/sessions/{session}/files?name=note.txt"), json!("a note"));
    let enabled = done("/api/plans/enable", json!({ "sessionId": session, "style": style }));
    let path = format!("/api/plans/{}", enabled["planMode"]["activePlanId"].as_str().unwrap());
    done(&format!("/api/sessions/{session}/messages"), json!({ "text": "move the blog to a new host" }));
    let plan = server.get(&path).json();
    if decision == "resume" {
        done(&format!("{path}/approve"), json!({ "digest": plan["digest"], "later": true }));
    }
    json!({ "sessionId": session, "id": plan["id"], "digest": plan["digest"], "decision": decision })
}
