//! What the recorded calls of a plan would do to files.

use std::path::Path;

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{OTHER, World};

const KEY: &str = "project-session";

/// A plan of these calls that waits for a person; nothing of it is carried out.
async fn collected(project: &Path, calls: &[(&str, Value)]) -> (World, String) {
    let [(first, arguments), others @ ..] = calls else { panic!("there are no calls") };
    let reply = Reply::call(*first, arguments.clone());
    let reply = others.iter().fold(reply, |reply, (tool, arguments)| reply.and_call(*tool, arguments.clone()));
    let world = World::set_up(ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]), |_| {}).await;
    world.post("/api/sessions", json!({ "sessionId": KEY, "workspace": project })).await.with(201);
    world.post("/api/plans/enable", json!({ "sessionId": KEY, "style": "collect" })).await.with(200);
    let answer = world.post(&format!("/api/sessions/{KEY}/messages"), json!({ "text": "change it" })).await.with(200);
    (world, answer["planId"].as_str().unwrap().to_owned())
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "edits": [{ "old": old, "new": new }] }))
}

#[tokio::test]
async fn each_step_is_shown_against_the_files_as_they_are_and_as_earlier_steps_leave_them() {
    let project = TempDir::new().unwrap();
    let till = project.path().join("till.py");
    std::fs::write(&till, "ding\n").unwrap();
    std::fs::write(project.path().join("old.md"), "old\n").unwrap();
    std::fs::write(project.path().join("logo.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    std::fs::write(project.path().join("long.txt"), "x".repeat(300_000)).unwrap();
    let (world, id) = collected(
        project.path(),
        &[
            edit("till.py", "ding", "dong"),
            edit("till.py", "dong", "dang"),
            ("write_file", json!({ "path": "notes.md", "content": "It rings.\n" })),
            edit("notes.md", "rings", "rang"),
            ("move_file", json!({ "path": "old.md", "to": "archive/old.md" })),
            ("delete_file", json!({ "path": "archive/old.md" })),
            ("delete_file", json!({ "path": "logo.png" })),
            edit("till.py", "nothing", "x"),
            ("delete_file", json!({ "path": "gone.md" })),
            ("write_file", json!({ "path": "long.txt", "content": "short\n" })),
            ("move_file", json!({ "path": "till.py", "to": "notes.md" })),
        ],
    )
    .await;
    let shown = world.get(&format!("/api/plans/{id}/preview")).await.with(200);
    let plan = world.get(&format!("/api/plans/{id}")).await.with(200);
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 11, "{shown}");
    for (step, known) in steps.iter().zip(plan["steps"].as_array().unwrap()) {
        assert_eq!((&step["stepId"], &step["step"]), (&known["id"], &known["position"]));
    }
    let texts = |step: usize| (steps[step - 1]["before"].clone(), steps[step - 1]["after"].clone());
    let problem = |step: usize| steps[step - 1].get("problem").map(|text| text.as_str().unwrap().to_owned());
    for (step, before, after) in [
        (1, json!("ding\n"), json!("dong\n")),
        (2, json!("dong\n"), json!("dang\n")),
        (3, Value::Null, json!("It rings.\n")),
        (4, json!("It rings.\n"), json!("It rang.\n")),
        (5, json!("old\n"), json!("old\n")),
        (6, json!("old\n"), Value::Null),
    ] {
        assert_eq!((texts(step), problem(step)), ((before, after), None), "{step}");
    }
    assert_eq!((&steps[4]["path"], &steps[4]["to"]), (&json!("old.md"), &json!("archive/old.md")));
    assert_eq!((&steps[2]["existsBefore"], &steps[2]["existsAfter"]), (&json!(false), &json!(true)));
    assert_eq!((&steps[5]["existsBefore"], &steps[5]["existsAfter"]), (&json!(true), &json!(false)));
    // What is no text is said.
    assert_eq!((texts(7), &steps[6]["existsBefore"]), ((Value::Null, Value::Null), &json!(true)));
    assert!(problem(7).unwrap().contains("is not text"), "{:?}", problem(7));
    // A step that would fail says why, and changes nothing.
    assert_eq!(texts(8), (json!("dang\n"), json!("dang\n")));
    assert!(problem(8).unwrap().contains("`old` is not in the file"), "{:?}", problem(8));
    assert!(problem(9).unwrap().contains("There is no"), "{:?}", problem(9));
    assert_eq!(texts(10), (Value::Null, json!("short\n")));
    assert!(problem(10).unwrap().contains("300000 bytes"), "{:?}", problem(10));
    assert!(problem(11).unwrap().contains("exists already"), "{:?}", problem(11));

    // Nothing was changed, and the file as it is now counts.
    assert_eq!(std::fs::read_to_string(&till).unwrap(), "ding\n");
    assert!(!project.path().join("notes.md").exists());
    std::fs::write(&till, "ding dong\n").unwrap();
    let shown = world.get(&format!("/api/plans/{id}/preview?sessionId={KEY}")).await.with(200);
    assert_eq!(
        (&shown["steps"][0]["before"], &shown["steps"][0]["after"]),
        (&json!("ding dong\n"), &json!("dong dong\n"))
    );
    world.get(&format!("/api/plans/{id}/preview?sessionId={OTHER}")).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_plan_without_recorded_calls_has_nothing_to_preview() {
    let (world, plan) = World::with_plan([]).await;
    let shown = world.get(&format!("/api/plans/{}/preview", plan["id"].as_str().unwrap())).await.with(200);
    assert_eq!(shown, json!({ "steps": [] }));
}
