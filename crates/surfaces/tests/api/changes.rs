//! Projects over REST: the workspace of a session, what a plan changed, and putting it back.

use std::path::Path;

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{OTHER, World};

const KEY: &str = "project-session";

fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("till.py"), "def ring():\n    return 'ding'\n").unwrap();
    folder
}

fn real(folder: &Path) -> String {
    folder.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A session in the project with a plan of recorded calls that is carried out.
async fn carried_out(project: &Path) -> (World, String) {
    let edit = json!({ "path": "till.py", "edits": [{ "old": "'ding'", "new": "'dong'" }] });
    let calls =
        Reply::call("edit_file", edit).and_call("write_file", json!({ "path": "notes.md", "content": "It rings.\n" }));
    let model = ScriptedModel::new([calls, Reply::call("plan_finalize", json!({}))]);
    let world = World::set_up(model, |_| {}).await;
    let session = json!({ "sessionId": KEY, "workspace": project });
    let created = world.post("/api/sessions", session.clone()).await.with(201);
    assert_eq!(created["workspace"], real(project));
    assert_eq!(world.post("/api/sessions", session).await.with(200)["workspace"], real(project), "once more");
    world.post("/api/plans/enable", json!({ "sessionId": KEY, "style": "collect" })).await.with(200);
    let path = format!("/api/sessions/{KEY}/messages");
    let answer = world.post(&path, json!({ "text": "change it" })).await.with(200);
    let id = answer["planId"].as_str().unwrap().to_owned();
    let plan = world.get(&format!("/api/plans/{id}")).await.with(200);
    world.post(&format!("/api/plans/{id}/approve"), json!({ "digest": plan["digest"] })).await.with(200);
    world.wait_for(&id, "COMPLETED").await;
    (world, id)
}

fn paths(files: &Value) -> Vec<&str> {
    files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_a_plan_changed_is_shown_by_step_and_file_and_put_back() {
    let project = project();
    let (world, id) = carried_out(project.path()).await;
    let till = project.path().join("till.py");
    assert_eq!(std::fs::read_to_string(&till).unwrap(), "def ring():\n    return 'dong'\n");
    let changes = world.get(&format!("/api/plans/{id}/changes")).await.with(200);
    assert_eq!(paths(&changes["files"]), ["notes.md", "till.py"]);
    assert_eq!(changes["files"][1]["workspace"], real(project.path()));
    assert_eq!(
        changes["files"][1]["diff"],
        "diff --git a/till.py b/till.py\n--- a/till.py\n+++ b/till.py\n@@ -1,2 +1,2 @@\n def ring():\n-    return \
         'ding'\n+    return 'dong'\n"
    );
    let steps = changes["steps"].as_array().unwrap();
    assert_eq!(steps.iter().map(|step| &step["step"]).collect::<Vec<_>>(), [1, 2]);
    let second = world.get(&format!("/api/plans/{id}/changes?step=2")).await.with(200);
    assert_eq!(paths(&second["files"]), ["notes.md"]);
    for step in ["3", "99"] {
        world.get(&format!("/api/plans/{id}/changes?step={step}")).await.refused(404, "NOT_FOUND");
    }

    // A step is put back once, also if the request is sent again.
    let undo = format!("/api/plans/{id}/undo");
    let body = json!({ "step": 2 });
    let undone = world.post_with_key(&undo, "undo-once", body.clone()).await.with(200);
    assert_eq!(undone, json!({ "planId": id, "paths": ["notes.md"], "notUndone": [] }));
    assert!(!project.path().join("notes.md").exists());
    std::fs::write(project.path().join("notes.md"), "mine").unwrap();
    assert_eq!(world.post_with_key(&undo, "undo-once", body).await.with(200), undone);
    assert_eq!(std::fs::read_to_string(project.path().join("notes.md")).unwrap(), "mine");

    // What a person changed since is left.
    std::fs::write(&till, "mine").unwrap();
    let refused = world.post(&undo, json!({})).await.refused(409, "CONFLICT");
    assert!(refused["detail"].as_str().unwrap().contains("`till.py`: It was changed since"), "{refused}");
    std::fs::write(&till, "def ring():\n    return 'dong'\n").unwrap();
    assert_eq!(world.post(&undo, json!({})).await.with(200)["paths"], json!(["till.py"]));
    assert_eq!(std::fs::read_to_string(&till).unwrap(), "def ring():\n    return 'ding'\n");
    world.post(&undo, json!({})).await.refused(409, "WRONG_STATUS");
    let changes = world.get(&format!("/api/plans/{id}/changes")).await.with(200);
    assert_eq!((&changes["files"], changes["undone"].as_array().unwrap().len()), (&json!([]), 2));
    let names = world.event_names(KEY).await;
    assert_eq!(names.iter().filter(|name| *name == "changes_undone").count(), 2);
    assert_eq!(names.iter().filter(|name| *name == "files_changed").count(), 2);
}

#[tokio::test]
async fn a_folder_that_is_refused_leaves_no_session_behind() {
    let world = World::new([]).await;
    for (workspace, status, code) in [
        ("/no/such/folder", 404, "NOT_FOUND"),
        ("relative", 400, "INVALID_ARGUMENT"),
        ("/", 403, "POLICY_DENIED"),
        ("", 400, "INVALID_ARGUMENT"),
    ] {
        let body = json!({ "sessionId": KEY, "workspace": workspace });
        world.post("/api/sessions", body).await.refused(status, code);
    }
    world.get(&format!("/api/sessions/{KEY}")).await.refused(404, "NOT_FOUND");
    let other = world.get(&format!("/api/sessions/{OTHER}")).await.with(200);
    assert_eq!(other["workspace"], Value::Null);
}
