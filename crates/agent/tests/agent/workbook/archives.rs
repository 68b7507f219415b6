//! Workbooks that are complete, and those that are put away before.

use std::fs;
use std::time::Duration;

use planwright_core::workbook::{DocumentKind, WriteOrigin};
use planwright_llm::scripted::ScriptedModel;
use planwright_test_support::clock::TestClock;
use serde_json::json;

use super::names;
use crate::world::{World, person};

async fn with_clock() -> (World, TestClock) {
    let clock = TestClock::stopped();
    let world = World::with(ScriptedModel::new([]), |setup| {
        setup.policy.planning_files.enabled = true;
        setup.clock = Some(clock.clone());
    })
    .await;
    (world, clock)
}

#[tokio::test]
async fn a_complete_workbook_is_archived_and_a_fresh_one_begun() {
    let (world, _) = with_clock().await;
    world.call("init_plan", json!({ "task_title": "One" })).await;
    world.call("write_plan", json!({ "which": "findings", "content": "what was found" })).await;
    world
        .call(
            "write_plan",
            json!({ "which": "task_plan", "content": "# One\n\nStatus: complete\n\n## Goal\n\ndone\n" }),
        )
        .await;
    let answer = world.call("init_plan", json!({ "task_title": "Two" })).await;
    assert_eq!((&answer["begun"], &answer["archived"]), (&json!(true), &json!("plan-20300101-1200.md")));
    let archive = fs::read_to_string(world.plan_folder().join("archive/plan-20300101-1200.md")).unwrap();
    assert!(archive.contains("Status: complete") && archive.contains("what was found"), "{archive}");
    assert!(world.on_disk(DocumentKind::TaskPlan).contains("Two"));
    world.disk_agrees().await;
    world.is_sound().await;
}

#[tokio::test]
async fn prose_completes_nothing() {
    let (world, _) = with_clock().await;
    world.call("init_plan", json!({ "task_title": "One" })).await;
    let quoted = "# One\n\n## Goal\n\nWe write `Status: complete` when\n\n> Status: complete\n\nis true.\n";
    world.call("write_plan", json!({ "which": "task_plan", "content": quoted })).await;
    assert_eq!(world.call("init_plan", json!({ "task_title": "Two" })).await["begun"], false);
}

#[tokio::test]
async fn names_of_archives_never_collide() {
    let (world, clock) = with_clock().await;
    for title in ["1", "2", "3"] {
        world.call("init_plan", json!({ "task_title": title, "force_new": true })).await;
    }
    // A person has a file of that name too.
    fs::write(world.plan_folder().join("archive/plan-20300101-1200-3.md"), "the person's").unwrap();
    world.call("init_plan", json!({ "task_title": "4", "force_new": true })).await;
    clock.advance(Duration::from_secs(60));
    world.call("init_plan", json!({ "task_title": "5", "force_new": true })).await;
    let archive = world.plan_folder().join("archive");
    let text = |name: &str| fs::read_to_string(archive.join(name)).unwrap();
    assert_eq!(
        names(archive.clone()),
        [
            "plan-20300101-1200-2.md",
            "plan-20300101-1200-3.md",
            "plan-20300101-1200-4.md",
            "plan-20300101-1200.md",
            "plan-20300101-1201.md"
        ]
    );
    for (name, title) in [("1200", "“1”"), ("1200-2", "“2”"), ("1200-4", "“3”"), ("1201", "“4”")] {
        assert!(text(&format!("plan-20300101-{name}.md")).contains(title), "{name}");
    }
    assert_eq!(text("plan-20300101-1200-3.md"), "the person's");
}

#[tokio::test]
async fn a_persons_edit_is_in_the_archive() {
    let (world, _) = with_clock().await;
    world.call("init_plan", json!({ "task_title": "One" })).await;
    world.save(DocumentKind::Progress, "edited just before");
    let answer = world.call("init_plan", json!({ "task_title": "Two", "force_new": true })).await;
    let archive = world.plan_folder().join("archive").join(answer["archived"].as_str().unwrap());
    assert!(fs::read_to_string(archive).unwrap().contains("edited just before"));
}

#[tokio::test]
async fn an_archive_that_a_crash_kept_from_disk_is_written_later_and_one_that_was_removed_is_not() {
    let (world, _) = with_clock().await;
    world.call("init_plan", json!({ "task_title": "One" })).await;
    let elsewhere = planwright_engine::Engine::new(world.ledger().await, world.setup.policy.clone());
    let beginning = planwright_engine::workbook::NewWorkbook { title: "Two".to_owned(), force_new: true };
    let begun = elsewhere.workbooks().init(&world.session, &person(), &beginning).await.unwrap();
    let archive = world.plan_folder().join("archive").join(begun.archived.unwrap());
    assert!(!archive.exists());
    world.engine().workbooks().sync(&world.session).await.unwrap();
    assert!(fs::read_to_string(&archive).unwrap().contains("“One”"));
    world.disk_agrees().await;
    fs::remove_file(&archive).unwrap();
    world.call("write_plan", json!({ "which": "progress", "content": "more" })).await;
    assert!(!archive.exists(), "the person removed it");
}

#[tokio::test]
async fn a_version_of_an_archived_workbook_is_not_taken_for_one_of_the_next() {
    let (world, _) = with_clock().await;
    world.call("init_plan", json!({ "task_title": "One" })).await;
    let mut asked = 0;
    let (engine, session) = (world.engine().clone(), world.session.clone());
    let elsewhere = planwright_engine::Engine::new(world.ledger().await, world.setup.policy.clone());
    let handle = tokio::runtime::Handle::current();
    let edit = |text: &str| {
        asked += 1;
        if asked == 1 {
            let beginning = planwright_engine::workbook::NewWorkbook { title: "Two".to_owned(), force_new: true };
            let by = person();
            let workbooks = elsewhere.workbooks();
            let began = workbooks.init(&session, &by, &beginning);
            std::thread::scope(|scope| scope.spawn(|| handle.block_on(began).unwrap()).join().unwrap());
        }
        Ok(format!("{text}\none more line\n"))
    };
    engine.workbooks().edit(&session, &super::agent(), DocumentKind::TaskPlan, WriteOrigin::Tool, edit).await.unwrap();
    assert_eq!(asked, 2, "the change was made again, from the newer text");
    assert!(world.text(DocumentKind::TaskPlan).await.contains("Two"));
}
