//! The seven tools, called as a model calls them.

use planwright_core::refusal::RefusalCode;
use planwright_core::workbook::DocumentKind;
use serde_json::{Value, json};

use super::names;
use crate::world::{World, person};

#[tokio::test]
async fn a_workbook_begins_with_three_documents_on_disk_and_in_the_ledger() {
    let world = World::with_planning_files().await;
    let answer = world.call("init_plan", json!({ "task_title": "Move the shop" })).await;
    assert_eq!((&answer["begun"], &answer["title"]), (&json!(true), &json!("Move the shop")));
    assert_eq!(names(world.plan_folder()), ["findings.md", "progress.md", "task_plan.md"]);
    assert!(world.on_disk(DocumentKind::TaskPlan).contains("Move the shop"));
    world.disk_agrees().await;
    assert!(!world.files().exists(), "the person's own files are not touched");
    world.is_sound().await;
}

#[tokio::test]
async fn a_workbook_that_is_being_worked_with_stays() {
    let world = World::with_workbook().await;
    let before = world.workbook().await;
    let answer = world.call("init_plan", json!({ "task_title": "Something else" })).await;
    assert_eq!((&answer["begun"], &answer["title"]), (&json!(false), &json!("Move the shop")));
    assert_eq!(world.workbook().await, before);
}

#[tokio::test]
async fn a_document_is_read_with_a_word_about_what_it_is() {
    let world = World::with_workbook().await;
    let answer = world.call("read_plan", json!({})).await;
    assert_eq!((&answer["which"], &answer["version"]), (&json!("task_plan"), &json!(1)));
    assert_eq!(answer["text"], world.on_disk(DocumentKind::TaskPlan));
    assert!(answer["note"].as_str().unwrap().contains("is data"), "{answer}");
    let answer = world.call("read_plan", json!({ "which": "findings" })).await;
    assert_eq!(answer["text"], world.on_disk(DocumentKind::Findings));
}

#[tokio::test]
async fn a_document_is_replaced_whole() {
    let world = World::with_workbook().await;
    let text = "# Findings\r\n\r\nNone, and no newline at the end";
    let answer = world.call("write_plan", json!({ "which": "findings", "content": text })).await;
    assert_eq!((&answer["version"], &answer["changed"]), (&json!(2), &json!(true)));
    assert_eq!(world.on_disk(DocumentKind::Findings), text);
    world.disk_agrees().await;
    let again = world.call("write_plan", json!({ "which": "findings", "content": text })).await;
    assert_eq!((&again["version"], &again["changed"]), (&json!(2), &json!(false)), "nothing to write, nothing written");
}

#[tokio::test]
async fn one_section_is_replaced_and_nothing_else() {
    let world = World::with_workbook().await;
    let text = "# Plan\n\n## Goal\n\nold\n\n### Below\n\nstays\n\n## Phases\n\n```\n## Goal\n```\n";
    world.call("write_plan", json!({ "which": "task_plan", "content": text })).await;
    let update =
        |own: bool| json!({ "which": "task_plan", "section": "## Goal", "content": "new", "own_text_only": own });
    world.call("update_plan", update(true)).await;
    assert_eq!(world.on_disk(DocumentKind::TaskPlan), text.replace("old", "new"));
    world.call("update_plan", update(false)).await;
    assert!(!world.on_disk(DocumentKind::TaskPlan).contains("### Below"), "sub-sections belong to it");
    assert!(world.on_disk(DocumentKind::TaskPlan).ends_with("## Phases\n\n```\n## Goal\n```\n"));
}

#[tokio::test]
async fn a_section_that_is_not_there_or_there_twice_is_refused_with_the_headings() {
    let world = World::with_workbook().await;
    let text = "# Plan\n\n## One\n\n### Notes\n\na\n\n## Two\n\n### Notes\n\nb\n";
    world.call("write_plan", json!({ "which": "task_plan", "content": text })).await;
    let update = |section: &str| json!({ "which": "task_plan", "section": section, "content": "new" });
    for section in ["Not", "On", "Goal", "Notes", "One > Two"] {
        let refusal = world.try_call("update_plan", update(section)).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{section}");
        let headings: Vec<_> = refusal.problems.iter().map(|problem| problem.message.as_str()).collect();
        assert!(headings.iter().any(|heading| heading.contains("One")), "{section}: {headings:?}");
    }
    assert_eq!(world.text(DocumentKind::TaskPlan).await, text);
    world.call("update_plan", update("Two > Notes")).await;
    assert_eq!(world.text(DocumentKind::TaskPlan).await, text.replace("\nb\n", "\nnew\n"));
}

#[tokio::test]
async fn clearing_takes_a_confirmation_and_leaves_archives_and_history() {
    let world = World::with_workbook().await;
    world.call("init_plan", json!({ "task_title": "Another", "force_new": true })).await;
    for unconfirmed in [json!({}), json!({ "confirm": false })] {
        let refusal = world.try_call("clear_plan", unconfirmed).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument);
    }
    world.disk_agrees().await;
    assert_eq!(world.call("clear_plan", json!({ "confirm": true })).await["cleared"], true);
    assert_eq!(names(world.plan_folder()), ["archive"]);
    assert_eq!(names(world.plan_folder().join("archive")).len(), 1);
    for tool in ["read_plan", "clear_plan"] {
        let refusal = world.try_call(tool, json!({ "confirm": true })).await.map(drop);
        let refusal = if tool == "read_plan" { world.try_call(tool, json!({})).await.map(drop) } else { refusal };
        assert_eq!(refusal.unwrap_err().code, RefusalCode::NotFound, "{tool}");
    }
    world.is_sound().await;
}

#[tokio::test]
async fn the_workbooks_are_listed() {
    let world = World::with_planning_files().await;
    assert_eq!(world.call("list_plans", json!({})).await["current"], Value::Null);
    world.call("init_plan", json!({ "task_title": "One" })).await;
    world.call("init_plan", json!({ "task_title": "Two", "force_new": true })).await;
    let answer = world.call("list_plans", json!({})).await;
    assert_eq!((&answer["current"]["title"], &answer["current"]["complete"]), (&json!("Two"), &json!(false)));
    assert_eq!((&answer["archived"][0]["title"], &answer["archived_in_all"]), (&json!("One"), &json!(1)));
}

#[tokio::test]
async fn an_export_is_a_copy_that_replaces_nothing() {
    let world = World::with_workbook().await;
    let copied =
        |answer: &Value| std::fs::read_to_string(world.files().join(answer["path"].as_str().unwrap())).unwrap();
    let one = world.call("export_plan", json!({ "which": "task_plan" })).await;
    assert_eq!((&one["path"], copied(&one)), (&json!("task_plan.md"), world.on_disk(DocumentKind::TaskPlan)));
    std::fs::write(world.files().join("task_plan.md"), "the person's own").unwrap();
    let two = world.call("export_plan", json!({ "which": "task_plan" })).await;
    assert_eq!(two["path"], "task_plan-2.md");
    let refusal = world.try_call("export_plan", json!({ "path": "task_plan.md" })).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Conflict);
    assert_eq!(std::fs::read_to_string(world.files().join("task_plan.md")).unwrap(), "the person's own");
    let all = world.call("export_plan", json!({ "path": "notes/all.md" })).await;
    for which in DocumentKind::ALL {
        assert!(copied(&all).contains(world.on_disk(which).trim_end()), "{which}");
    }
    for path in ["../plan/task_plan.md", "/etc/plan.md", ""] {
        let refusal = world.try_call("export_plan", json!({ "path": path })).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{path:?}");
    }
    world.disk_agrees().await;
}

#[tokio::test]
async fn an_export_in_a_project_names_where_the_copy_is() {
    let world = World::with_workbook().await;
    let project = tempfile::tempdir().unwrap();
    assert!(!world.send(&format!("/project {}", project.path().display())).await.refused());
    let exported = world.call("export_plan", json!({ "which": "task_plan", "path": "notes/plan.md" })).await;
    let copy = std::path::Path::new(exported["path"].as_str().unwrap());
    assert_eq!(copy, world.files().join("notes/plan.md"));
    assert_eq!(std::fs::read_to_string(copy).unwrap(), world.on_disk(DocumentKind::TaskPlan));
    assert!(std::fs::read_dir(project.path()).unwrap().next().is_none(), "nothing is put into the project");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_and_change_nothing() {
    let world = World::with_workbook().await;
    let before = world.events().await.len();
    for (tool, arguments) in [
        ("init_plan", json!({})),
        ("init_plan", json!({ "task_title": "  ", "force_new": true })),
        ("init_plan", json!({ "task_title": "x", "more": 1 })),
        ("read_plan", json!({ "which": "../../secret" })),
        ("read_plan", json!({ "which": "task_plan.md" })),
        ("read_plan", json!({ "path": "x" })),
        ("write_plan", json!({ "which": "findings" })),
        ("write_plan", json!({ "which": "archive", "content": "x" })),
        ("write_plan", json!({ "which": "findings", "content": " \n" })),
        ("update_plan", json!({ "which": "findings", "section": "x" })),
        ("clear_plan", json!({ "confirm": "yes" })),
        ("list_plans", json!({ "all": true })),
        ("export_plan", json!({ "which": "all" })),
    ] {
        let refusal = world.try_call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{tool} {arguments}: {refusal}");
    }
    let long = "x".repeat(256 * 1024 + 1);
    let refusal = world.try_call("write_plan", json!({ "which": "findings", "content": long })).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::LimitExceeded);
    assert_eq!(world.events().await.len(), before);
    world.disk_agrees().await;
}

#[tokio::test]
async fn reading_makes_no_folders() {
    let world = World::with_planning_files().await;
    for (tool, arguments) in [
        ("read_plan", json!({})),
        ("list_plans", json!({})),
        ("update_plan", json!({ "which": "task_plan", "section": "x", "content": "x" })),
        ("write_plan", json!({ "which": "task_plan", "content": "x" })),
        ("clear_plan", json!({ "confirm": true })),
        ("export_plan", json!({})),
    ] {
        let answer = world.try_call(tool, arguments).await;
        assert!(tool == "list_plans" || answer.unwrap_err().code == RefusalCode::NotFound, "{tool}");
    }
    world.engine().workbooks().sync(&world.session).await.unwrap();
    assert!(!world.folder.path().join("users").exists());
}

#[tokio::test]
async fn who_wrote_a_version_stands_in_the_journal() {
    let world = World::with_workbook().await;
    world.call("write_plan", json!({ "which": "progress", "content": "by the agent" })).await;
    assert_eq!(
        world.engine().workbooks().document(&world.session, DocumentKind::Progress).await.unwrap().by,
        super::agent()
    );
    let edit = |text: &str| Ok(format!("{text}, and by the person"));
    let why = planwright_core::workbook::WriteOrigin::User;
    world.engine().workbooks().edit(&world.session, &person(), DocumentKind::Progress, why, edit).await.unwrap();
    let document = world.engine().workbooks().document(&world.session, DocumentKind::Progress).await.unwrap();
    assert_eq!((document.by, document.text.as_str()), (person(), "by the agent, and by the person"));
}
