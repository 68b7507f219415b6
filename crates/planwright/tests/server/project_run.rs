//! Work in a project over REST: a plan is drafted, approved and carried out, the project's tests fail and then pass, the changes are
//! shown and undone.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::provider::{Provider, Reply};
use crate::server_process::{Running, serve};
use crate::world::World;

fn call(tool: &'static str, arguments: Value) -> Reply {
    Reply::Call { preface: "", tool, arguments }
}

fn git(project: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(project).args(["-c", "user.name=ada", "-c", "user.email=ada@example.org"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in [
        ("till.py", "def ring():\n    return 'ding'\n"),
        ("test_till.py", "import till\n\nassert till.ring() == 'dong'\n"),
        (".gitignore", "__pycache__/\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "all"]);
    folder
}

/// Recorded calls: the first plan leaves the test failing, the second one repairs it.
fn replies() -> Vec<Reply> {
    let edit =
        |old: &str, new: &str| call("edit_file", json!({ "path": "till.py", "edits": [{ "old": old, "new": new }] }));
    let run = || call("run_command", json!({ "command": "python3 -B test_till.py" }));
    let finalize = || call("plan_finalize", json!({}));
    vec![edit("'ding'", "'dang'"), run(), finalize(), edit("'dang'", "'dong'"), run(), finalize()]
}

/// Drafts a plan, approves it, and waits until it is carried out.
fn carried_out(server: &Running, session: &str, text: &str) -> Value {
    let enabled = server.post("/api/plans/enable", &json!({ "sessionId": session, "style": "collect" }));
    assert_eq!(enabled.status, 200, "{enabled:?}");
    let answer = server.post(&format!("/api/sessions/{session}/messages"), &json!({ "text": text })).json();
    let path = format!("/api/plans/{}", answer["planId"].as_str().unwrap());
    let plan = server.get(&path).json();
    let approved = server.post(&format!("{path}/approve"), &json!({ "digest": plan["digest"] }));
    assert_eq!(approved.status, 200, "{approved:?}");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let plan = server.get(&path).json();
        if !["APPROVED", "EXECUTING"].contains(&plan["status"].as_str().unwrap()) {
            return plan;
        }
        assert!(std::time::Instant::now() < until, "{plan}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn over_rest_an_agent_runs_the_projects_tests_until_they_pass() {
    let (world, project) = (World::new(), project());
    if !world.has_sandbox() {
        return;
    }
    let root = project.path().canonicalize().unwrap();
    let provider = Provider::start(&replies());
    let mut command = serve(&world);
    command
        .arg("--json")
        .envs(provider.variables())
        .env("OPENAI_API_KEY", "sk-test")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("PLANWRIGHT_PROJECTS_ALLOW", root.parent().unwrap());
    let server = Running::started(&world, &mut command);
    let opened = server.post("/api/sessions", &json!({ "workspace": root }));
    assert_eq!(opened.status, 201, "{opened:?}");
    let session = opened.json()["sessionId"].as_str().unwrap().to_owned();
    let first = carried_out(&server, &session, "repair it");
    assert_eq!(first["status"], "PARTIALLY_COMPLETED", "{first}");
    let second = carried_out(&server, &session, "the test fails");
    assert_eq!(second["status"], "COMPLETED", "{second}");
    let changes = |plan: &Value| server.get(&format!("/api/plans/{}/changes", plan["id"].as_str().unwrap())).json();
    let shown = changes(&second);
    assert!(shown.to_string().contains("+    return 'dong'"), "{shown}");
    for plan in [&second, &first] {
        let undone = server.post(&format!("/api/plans/{}/undo", plan["id"].as_str().unwrap()), &json!({}));
        assert_eq!(undone.status, 200, "{undone:?}");
    }
    assert_eq!(git(&root, &["status", "--porcelain"]), "");
    assert_eq!(server.stop(), 0);
}
