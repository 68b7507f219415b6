//! The files: a person's edits are taken in, and what a crash left is mended.

use std::fs;

use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::workbook::{DocumentKind, WriteOrigin};
use planwright_engine::workbook::Note;
use serde_json::json;

use super::names;
use crate::talk::Talk as _;
use crate::world::{World, person};

#[tokio::test]
async fn a_persons_edit_is_taken_in_before_anything_else() {
    let world = World::with_workbook().await;
    world.save(DocumentKind::TaskPlan, "# Mine\n\n## Goal\n\nmy own\n");
    let answer = world.call("update_plan", json!({ "which": "task_plan", "section": "Goal", "content": "ours" })).await;
    assert!(answer["notes"][0].as_str().unwrap().contains("The user edited task_plan.md"), "{answer}");
    assert_eq!(world.on_disk(DocumentKind::TaskPlan), "# Mine\n\n## Goal\n\nours\n");
    world.disk_agrees().await;
    let versions: Vec<_> = world
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event {
            Event::Workbook(WorkbookEvent::Written { version, why, content, .. }) => Some((version, why, content)),
            _ => None,
        })
        .collect();
    assert_eq!(versions[0], (2, WriteOrigin::User, "# Mine\n\n## Goal\n\nmy own\n".to_owned()));
    assert_eq!((versions[1].0, versions[1].1), (3, WriteOrigin::Tool));
    world.is_sound().await;
}

#[tokio::test]
async fn a_persons_edit_of_a_file_is_read_and_recorded_as_an_edit() {
    let world = World::with_workbook().await;
    world.save(DocumentKind::Findings, "found by hand");
    assert_eq!(world.call("read_plan", json!({ "which": "findings" })).await["text"], "found by hand");
    let document = world.engine().workbooks().document(&world.session, DocumentKind::Findings).await.unwrap();
    assert_eq!((document.by.name.as_str(), document.by.through.as_str()), ("an edit of the file", "disk"));
    assert_eq!(world.engine().workbooks().sync(&world.session).await.unwrap(), [], "once");
}

#[tokio::test]
async fn an_edit_of_an_older_version_keeps_both() {
    let world = World::with_workbook().await;
    let began = world.on_disk(DocumentKind::TaskPlan);
    // The ledger moves on where these files are not seen.
    let elsewhere = planwright_engine::Engine::new(world.ledger().await, world.setup.policy.clone());
    let edit = |_: &str| Ok("written elsewhere".to_owned());
    elsewhere
        .workbooks()
        .edit(&world.session, &super::agent(), DocumentKind::TaskPlan, WriteOrigin::Tool, edit)
        .await
        .unwrap();
    assert_eq!(world.on_disk(DocumentKind::TaskPlan), began);
    world.save(DocumentKind::TaskPlan, "written by hand");
    let answer = world.call("read_plan", json!({})).await;
    assert_eq!((&answer["text"], &answer["version"]), (&json!("written by hand"), &json!(3)));
    assert!(answer["notes"][0].as_str().unwrap().contains("task_plan.conflict-2.md"), "{answer}");
    assert_eq!(fs::read_to_string(world.plan_folder().join("task_plan.conflict-2.md")).unwrap(), "written elsewhere");
    let written = world.events().await;
    let kept = |text: &str| written.iter().any(|event| event.document(DocumentKind::TaskPlan) == Some(text));
    assert!(kept("written elsewhere") && kept("written by hand"));
    world.disk_agrees().await;
    world.is_sound().await;
}

#[tokio::test]
async fn a_file_that_a_crash_left_behind_is_rewritten_and_not_taken_for_an_edit() {
    let world = World::with_workbook().await;
    let elsewhere = planwright_engine::Engine::new(world.ledger().await, world.setup.policy.clone());
    for text in ["two", "three"] {
        let edit = |_: &str| Ok(text.to_owned());
        elsewhere
            .workbooks()
            .edit(&world.session, &super::agent(), DocumentKind::Progress, WriteOrigin::Tool, edit)
            .await
            .unwrap();
    }
    // The file was written, and the process ended before it was noted.
    world.save(DocumentKind::Progress, "two");
    assert_eq!(world.engine().workbooks().sync(&world.session).await.unwrap(), []);
    assert_eq!(world.on_disk(DocumentKind::Progress), "three");
    // Nothing was written.
    let edit = |_: &str| Ok("four".to_owned());
    elsewhere
        .workbooks()
        .edit(&world.session, &super::agent(), DocumentKind::Progress, WriteOrigin::Tool, edit)
        .await
        .unwrap();
    assert_eq!(world.engine().workbooks().sync(&world.session).await.unwrap(), []);
    assert_eq!(world.on_disk(DocumentKind::Progress), "four");
    assert_eq!(world.workbook().await.document(DocumentKind::Progress).version, 4);
}

#[tokio::test]
async fn an_old_text_that_a_person_puts_back_is_an_edit() {
    let world = World::with_workbook().await;
    for text in ["two", "three"] {
        world.call("write_plan", json!({ "which": "progress", "content": text })).await;
    }
    world.save(DocumentKind::Progress, "two");
    let notes = world.engine().workbooks().sync(&world.session).await.unwrap();
    assert_eq!(notes, [Note::TakenIn { which: DocumentKind::Progress, version: 4 }]);
    assert_eq!(world.text(DocumentKind::Progress).await, "two");
}

#[tokio::test]
async fn files_that_are_gone_or_blank_are_written_again() {
    let world = World::with_workbook().await;
    let before = world.workbook().await;
    fs::remove_file(world.plan_folder().join("findings.md")).unwrap();
    world.save(DocumentKind::Progress, " \n");
    world.engine().workbooks().sync(&world.session).await.unwrap();
    world.disk_agrees().await;
    fs::remove_dir_all(world.plan_folder()).unwrap();
    world.engine().workbooks().sync(&world.session).await.unwrap();
    world.disk_agrees().await;
    assert_eq!(world.workbook().await, before);
}

#[tokio::test]
async fn without_the_note_of_what_was_written_nothing_is_lost() {
    let world = World::with_workbook().await;
    world.call("write_plan", json!({ "which": "progress", "content": "two" })).await;
    let note = world.plan_folder().parent().unwrap().join("plan.json");
    for broken in [None, Some("{"), Some("[]")] {
        match broken {
            None => fs::remove_file(&note).unwrap(),
            Some(text) => fs::write(&note, text).unwrap(),
        }
        world.save(DocumentKind::Findings, &format!("edited {broken:?}"));
        let notes = world.engine().workbooks().sync(&world.session).await.unwrap();
        assert!(matches!(&notes[..], [Note::Conflict { which: DocumentKind::Findings, .. }]), "{notes:?}");
        assert_eq!(world.text(DocumentKind::Findings).await, format!("edited {broken:?}"));
        world.disk_agrees().await;
    }
}

#[tokio::test]
async fn what_is_no_document_is_moved_out_of_the_way() {
    let world = World::with_workbook().await;
    let before = world.text(DocumentKind::Findings).await;
    for (odd, reason) in [(vec![0xff, 0xfe], "UTF-8"), (vec![b'x'; 256 * 1024 + 1], "too large")] {
        fs::write(world.plan_folder().join("findings.md"), &odd).unwrap();
        let notes = world.engine().workbooks().sync(&world.session).await.unwrap();
        let [Note::SetAside { kept_as, reason: reply, .. }] = &notes[..] else { panic!("{notes:?}") };
        assert!(reply.contains(reason), "{reply}");
        assert_eq!(fs::read(world.plan_folder().join(kept_as)).unwrap(), odd, "not a byte is lost");
        assert_eq!(world.on_disk(DocumentKind::Findings), before);
    }
    fs::remove_file(world.plan_folder().join("findings.md")).unwrap();
    fs::create_dir(world.plan_folder().join("findings.md")).unwrap();
    world.engine().workbooks().sync(&world.session).await.unwrap();
    world.disk_agrees().await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told_and_fails_nothing() {
    let world = World::with_workbook().await;
    fs::remove_dir_all(world.plan_folder()).unwrap();
    fs::write(world.plan_folder(), "a file in the place of the folder").unwrap();
    let answer = world.call("write_plan", json!({ "which": "progress", "content": "still written" })).await;
    assert_eq!((&answer["version"], answer["notes"].as_array().unwrap().is_empty()), (&json!(2), false));
    assert_eq!(world.text(DocumentKind::Progress).await, "still written");
    fs::remove_file(world.plan_folder()).unwrap();
    world.engine().workbooks().sync(&world.session).await.unwrap();
    world.disk_agrees().await;
}

#[tokio::test]
async fn an_edit_while_the_workbook_is_cleared_stays() {
    let world = World::with_workbook().await;
    let elsewhere = planwright_engine::Engine::new(world.ledger().await, world.setup.policy.clone());
    elsewhere.workbooks().clear(&world.session, &person()).await.unwrap();
    world.save(DocumentKind::TaskPlan, "saved too late");
    let notes = world.engine().workbooks().sync(&world.session).await.unwrap();
    assert!(matches!(&notes[..], [Note::SetAside { which: DocumentKind::TaskPlan, .. }]), "{notes:?}");
    let left = names(world.plan_folder());
    assert_eq!(left, ["task_plan.conflict-1.md"]);
    assert_eq!(fs::read_to_string(world.plan_folder().join(&left[0])).unwrap(), "saved too late");
}

#[tokio::test]
async fn nothing_is_left_in_the_middle_of_a_write() {
    let world = World::with_workbook().await;
    world.call("init_plan", json!({ "task_title": "Another", "force_new": true })).await;
    let unfinished = world.plan_folder().parent().unwrap().join("unfinished");
    assert_eq!(names(unfinished), Vec::<String>::new());
}

#[tokio::test]
async fn a_session_that_is_deleted_takes_its_workbook_with_it() {
    let world = World::with_workbook().await;
    assert!(world.plan_folder().exists());
    world.agent.delete(&world.session, &person()).await.unwrap();
    assert!(!world.plan_folder().parent().unwrap().exists());
}
