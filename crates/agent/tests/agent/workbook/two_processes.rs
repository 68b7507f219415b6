//! Several at once on one workbook, and on several.

use std::sync::Arc;

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::tools::PlanTools;
use planwright_core::workbook::{DocumentKind, WriteOrigin};
use planwright_engine::Engine;
use planwright_engine::workbook::WorkbookFolders;
use serde_json::json;
use tokio::task::JoinSet;

use super::{agent, call};
use crate::world::{World, person, session};

/// Another process on the same store and the same files.
async fn another(world: &World) -> Engine {
    let files = FileTools::new(world.folder.path().join("users"), FileLimits::default());
    let folders = WorkbookFolders { files: Arc::new(files), templates: None };
    Engine::new(world.ledger().await, world.setup.policy.clone()).with_workbook_folders(folders)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_line_of_any_process_is_lost() {
    const EACH: usize = 12;
    let world = World::with_workbook().await;
    let (world_session, mut writers) = (world.session.clone(), JoinSet::new());
    for writer in 0..4 {
        let engine = if writer % 2 == 0 {
            another(&world).await
        } else {
            // One that does not see the files.
            Engine::new(world.ledger().await, world.setup.policy.clone())
        };
        let session = world_session.clone();
        writers.spawn(async move {
            for line in 0..EACH {
                let add = |text: &str| Ok(format!("{text}\n- line {writer}.{line}."));
                engine
                    .workbooks()
                    .edit(&session, &agent(), DocumentKind::Progress, WriteOrigin::Tool, add)
                    .await
                    .unwrap();
            }
        });
    }
    writers.join_all().await;
    world.engine().workbooks().sync(&world.session).await.unwrap();
    let text = world.text(DocumentKind::Progress).await;
    for writer in 0..4 {
        for line in 0..EACH {
            assert_eq!(text.matches(&format!("- line {writer}.{line}.")).count(), 1, "{writer}.{line}");
        }
    }
    assert_eq!(world.workbook().await.document(DocumentKind::Progress).version, 1 + 4 * EACH as u32);
    world.disk_agrees().await;
    world.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_that_begin_a_workbook_begin_one() {
    let world = World::with_planning_files().await;
    let world = Arc::new(world);
    let mut beginners = JoinSet::new();
    for number in 0..4 {
        let (world, engine) = (Arc::clone(&world), another(&world).await);
        beginners.spawn(async move {
            call(&engine, &world, "init_plan", json!({ "task_title": format!("By {number}") })).await.unwrap()
        });
    }
    let answers = beginners.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer["begun"] == true).count(), 1, "{answers:?}");
    let title = world.workbook().await.title;
    assert!(answers.iter().all(|answer| answer["title"] == title), "{answers:?}");
    world.disk_agrees().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn archives_of_several_processes_have_names_of_their_own() {
    const EACH: usize = 4;
    let world = Arc::new(World::with_workbook().await);
    let mut beginners = JoinSet::new();
    for _ in 0..3 {
        let (world, engine) = (Arc::clone(&world), another(&world).await);
        beginners.spawn(async move {
            for _ in 0..EACH {
                let arguments = json!({ "task_title": "Another", "force_new": true });
                call(&engine, &world, "init_plan", arguments).await.unwrap();
            }
        });
    }
    beginners.join_all().await;
    let state = world.engine().sessions().get(&world.session).await.unwrap().workbook.unwrap();
    let mut names: Vec<_> = state.archives.iter().map(|archive| archive.name.clone()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3 * EACH);
    assert_eq!(super::names(world.plan_folder().join("archive")), names);
}

#[tokio::test]
async fn sessions_have_workbooks_of_their_own_even_where_names_look_alike() {
    let world = World::with_workbook().await;
    let mut folders = Vec::new();
    for key in ["session-One", "session-ONE", "session_one"] {
        let other = session(key);
        let engine = world.engine();
        engine.sessions().open(&other, &person()).await.unwrap();
        engine.workbooks().switch_planning_files(&other, &person(), true).await.unwrap();
        let arguments = json!({ "task_title": format!("Of {key}") });
        PlanTools::new(engine)
            .call(&other, &agent(), "init_plan", arguments.as_object().unwrap().clone())
            .await
            .unwrap();
        let folder = world.folder.path().join("users").join(other.folder_name()).join("plan/task_plan.md");
        folders.push((folder, key));
    }
    for (file, key) in folders {
        assert!(std::fs::read_to_string(file).unwrap().contains(&format!("Of {key}")));
    }
    assert!(world.on_disk(DocumentKind::TaskPlan).contains("Move the shop"));
    world.disk_agrees().await;
}

/// A person saves again and again while others write. Every text of theirs is in the history.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_a_person_saves_is_lost() {
    let world = Arc::new(World::with_workbook().await);
    let writer = {
        let (world, engine) = (Arc::clone(&world), another(&world).await);
        tokio::spawn(async move {
            for line in 0..40 {
                let add = |text: &str| Ok(format!("{text}\n- written {line}"));
                engine
                    .workbooks()
                    .edit(&world.session, &agent(), DocumentKind::Findings, WriteOrigin::Middleware, add)
                    .await
                    .unwrap();
            }
        })
    };
    let file = world.plan_folder().join("findings.md");
    let draft = world.folder.path().join("draft.md");
    let mut saved = Vec::new();
    for number in 0..20 {
        // As editors do: a new file in the place of the old one, and the next save only after this one was seen.
        let text = format!("# Saved {number}\n");
        std::fs::write(&draft, &text).unwrap();
        std::fs::rename(&draft, &file).unwrap();
        world.engine().workbooks().sync(&world.session).await.unwrap();
        saved.push(text);
    }
    writer.await.unwrap();
    world.engine().workbooks().sync(&world.session).await.unwrap();
    let events = world.events().await;
    for text in saved {
        assert!(events.iter().any(|event| event.document(DocumentKind::Findings) == Some(&text)), "{text}");
    }
    for line in 0..40 {
        let written = format!("- written {line}");
        let kept = |event: &planwright_core::event::Event| {
            event.document(DocumentKind::Findings).is_some_and(|text| text.ends_with(&written))
        };
        assert!(events.iter().any(kept), "{written}");
    }
    world.disk_agrees().await;
    world.is_sound().await;
}
