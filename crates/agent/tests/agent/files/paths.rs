//! Whatever a path says, it stays inside.

use std::fs;

use planwright_core::refusal::RefusalCode;
use proptest::prelude::*;
use serde_json::json;

use super::{SECRET, Snapshot, globbed};

#[tokio::test]
async fn paths_that_lead_out_are_refused_by_every_tool() {
    let snapshot = Snapshot::begun();
    let plan = snapshot.inside().parent().unwrap().join("plan");
    fs::create_dir(&plan).unwrap();
    fs::write(plan.join("task_plan.md"), SECRET).unwrap();
    let absolute = snapshot.outside().join("secret.md").display().to_string();
    let long = "x".repeat(256);
    let deep = ["d"; 65].join("/");
    let far = ["name"; 300].join("/");
    for path in [
        &absolute,
        "/etc/passwd",
        "..",
        "../plan/task_plan.md",
        "a/../../plan/task_plan.md",
        "./../plan",
        "..\\plan\\task_plan.md",
        "a\\b",
        "C:\\Windows",
        "C:/Windows",
        "c:secret",
        "a\0b",
        "secret.md\0.txt",
        "a\nb",
        "\u{1b}[2J",
        &long,
        &deep,
        &far,
    ] {
        for (tool, arguments) in [
            ("list_files", json!({"path": path})),
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("grep_files", json!({"pattern": ".", "path": path})),
        ] {
            let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{tool} {path:?}: {refusal}");
        }
    }
    for pattern in ["/etc/*", "../plan/*", "a/../../plan/*"] {
        assert_eq!(snapshot.refused("glob_files", json!({"pattern": pattern})).await, RefusalCode::InvalidArgument);
    }
    assert_eq!(fs::read_dir(snapshot.inside()).unwrap().count(), 0);
    snapshot.check_outside();
}

#[tokio::test]
async fn a_refused_path_is_explained() {
    let refusal = Snapshot::new().try_call("read_file", json!({"path": "../plan/task_plan.md"})).await.unwrap_err();
    assert!(refusal.message.contains("Paths are relative to the workspace"), "{refusal}");
    assert!(refusal.message.ends_with("lead out of it."), "{refusal}");
}

#[tokio::test]
async fn what_lies_beside_the_files_is_not_there() {
    let snapshot = Snapshot::new();
    snapshot.write("mine.md", "mine").await;
    let own = snapshot.inside().parent().unwrap().to_owned();
    fs::create_dir(own.join("plan")).unwrap();
    fs::write(own.join("plan/task_plan.md"), SECRET).unwrap();
    assert_eq!(snapshot.call("glob_files", json!({"pattern": "**"})).await["paths"], json!(["mine.md"]));
    assert_eq!(snapshot.call("grep_files", json!({"pattern": "secret"})).await["matches"], json!([]));
    assert_eq!(snapshot.refused("read_file", json!({"path": "plan/task_plan.md"})).await, RefusalCode::NotFound);
}

#[tokio::test]
async fn names_in_any_language_are_names() {
    let snapshot = Snapshot::new();
    for path in ["żółć/漢字 – 12.md", "🦀.md", ".hidden", "a b", "...", "~", "-rf", "CON", "e\u{301}.md"] {
        snapshot.write(path, path).await;
        assert_eq!(snapshot.read(path).await, path);
    }
    assert_eq!(snapshot.call("glob_files", json!({"pattern": "żółć/*"})).await["paths"], json!(["żółć/漢字 – 12.md"]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_reaches_anything_outside(path in r"(\.|\.\.|/|\\|a|b|link|C:|plan|files|outside|secret\.md|\x00|ü){0,12}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let snapshot = Snapshot::begun();
            std::os::unix::fs::symlink(snapshot.outside(), snapshot.inside().join("link")).unwrap();
            let outcome = snapshot.try_call("write_file", json!({"path": path, "content": "mine"})).await;
            snapshot.check_outside();
            // What was written is found under the same name, and nowhere but inside.
            if outcome.is_ok() {
                assert_eq!(snapshot.read(&path).await, "mine");
                assert_eq!(globbed(&snapshot.call("glob_files", json!({"pattern": "**"})).await).len(), 1);
            } else if let Ok(answer) = snapshot.try_call("read_file", json!({"path": path})).await {
                panic!("{path:?} was read: {answer}");
            }
        });
    }
}
