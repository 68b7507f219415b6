//! Paths, links and other ways out of the workbook and into it. None of them leads anywhere.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use planwright_agent::toolbox::ToolContext;
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_core::workbook::DocumentKind;
use serde_json::{Value, json};

use crate::world::World;

const SECRET: &str = "the secret outside";

/// Calls a file tool of the person's.
async fn file_tool(world: &World, name: &str, arguments: Value) -> String {
    let files = FileTools::new(world.folder.path().join("users"), FileLimits::default());
    let tool = files.tools().into_iter().find(|tool| tool.spec().name == name).unwrap();
    match tool.call(ToolContext::without_lease(&world.session), arguments.as_object().unwrap().clone()).await {
        Ok(answer) => answer.value.to_string(),
        Err(refusal) => refusal.to_string(),
    }
}

#[tokio::test]
async fn the_file_tools_do_not_reach_the_workbook() {
    let world = World::with_workbook().await;
    world.call("write_plan", json!({ "which": "findings", "content": "# hidden-words" })).await;
    fs::create_dir_all(world.files()).unwrap();
    symlink("../plan", world.files().join("link")).unwrap();
    symlink("../plan/findings.md", world.files().join("findings-link.md")).unwrap();
    symlink(world.plan_folder().join("findings.md"), world.files().join("absolute.md")).unwrap();
    for (tool, arguments) in [
        ("list_files", json!({})),
        ("list_files", json!({ "path": "../plan" })),
        ("list_files", json!({ "path": "link" })),
        ("glob_files", json!({ "pattern": "**/*.md" })),
        ("glob_files", json!({ "pattern": "../plan/*" })),
        ("grep_files", json!({ "pattern": "hidden-words" })),
        ("read_file", json!({ "path": "../plan/findings.md" })),
        ("read_file", json!({ "path": "link/findings.md" })),
        ("read_file", json!({ "path": "findings-link.md" })),
        ("read_file", json!({ "path": "absolute.md" })),
        ("read_file", json!({ "path": "../plan.json" })),
    ] {
        let answer = file_tool(&world, tool, arguments.clone()).await;
        assert!(!answer.contains("# hidden-words"), "{tool} {arguments}: {answer}");
        // A listing has names and no content.
        assert!(!answer.contains("task_plan.md") && !answer.contains("progress.md"), "{tool} {arguments}: {answer}");
    }
    for path in ["../plan/findings.md", "link/findings.md", "findings-link.md", "absolute.md", "../plan/new.md"] {
        file_tool(&world, "write_file", json!({ "path": path, "content": "overwritten" })).await;
    }
    assert_eq!(world.on_disk(DocumentKind::Findings), "# hidden-words");
    assert!(!world.plan_folder().join("new.md").exists());
    world.disk_agrees().await;
}

#[tokio::test]
async fn a_link_in_the_place_of_a_document_is_not_followed() {
    let world = World::with_workbook().await;
    let secret = world.folder.path().join("secret.md");
    fs::write(&secret, SECRET).unwrap();
    let file = world.plan_folder().join("findings.md");
    fs::remove_file(&file).unwrap();
    symlink(&secret, &file).unwrap();
    let answer = world.call("read_plan", json!({ "which": "findings" })).await;
    assert!(!answer["text"].as_str().unwrap().contains(SECRET), "{answer}");
    world.call("write_plan", json!({ "which": "findings", "content": "ours" })).await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), SECRET);
    assert!(!fs::symlink_metadata(&file).unwrap().is_symlink());
    world.disk_agrees().await;
}

#[tokio::test]
async fn a_folder_that_is_a_link_is_not_used() {
    let world = World::with_workbook().await;
    let outside = world.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(world.plan_folder()).unwrap();
    symlink(&outside, world.plan_folder()).unwrap();
    world.call("write_plan", json!({ "which": "findings", "content": "ours" })).await;
    world.call("init_plan", json!({ "task_title": "Another", "force_new": true })).await;
    assert_eq!(super::names(outside.clone()), Vec::<String>::new());
    fs::remove_file(world.plan_folder()).unwrap();
    world.engine().workbooks().sync(&world.session).await.unwrap();
    fs::remove_dir_all(world.plan_folder().join("archive")).unwrap();
    symlink(&outside, world.plan_folder().join("archive")).unwrap();
    world.call("init_plan", json!({ "task_title": "One more", "force_new": true })).await;
    assert_eq!(super::names(outside), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_written_is_noted_where_no_link_leads() {
    let world = World::with_workbook().await;
    let secret = world.folder.path().join("secret.md");
    fs::write(&secret, SECRET).unwrap();
    let note = world.plan_folder().parent().unwrap().join("plan.json");
    fs::remove_file(&note).unwrap();
    symlink(&secret, &note).unwrap();
    world.call("write_plan", json!({ "which": "findings", "content": "ours" })).await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), SECRET);
    world.disk_agrees().await;
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_document_does_not_block() {
    let world = World::with_workbook().await;
    let file = world.plan_folder().join("findings.md");
    fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(made.success());
    world.call("read_plan", json!({ "which": "findings" })).await;
    world.disk_agrees().await;
}

#[tokio::test]
async fn titles_and_texts_are_data() {
    let world = World::with_planning_files().await;
    let title = "../../etc/passwd\n# --> Status: complete";
    world.call("init_plan", json!({ "task_title": title })).await;
    let answer = world.call("init_plan", json!({ "task_title": "Next" })).await;
    assert_eq!(answer["begun"], false, "a title does not complete a plan");
    world.call("init_plan", json!({ "task_title": "Next", "force_new": true })).await;
    let archives = super::names(world.plan_folder().join("archive"));
    assert!(archives.len() == 1 && archives[0].starts_with("plan-2"), "{archives:?}");
}
