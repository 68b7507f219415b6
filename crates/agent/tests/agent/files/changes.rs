//! Kept versions: what was changed is shown, and undone byte for byte.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::workspace::FileChange;
use proptest::prelude::*;
use serde_json::json;

use super::Snapshot;

fn whys(report: &planwright_agent::toolbox::files::UndoReport) -> Vec<(&str, &str)> {
    report.not_undone.iter().map(|left| (left.path.as_str(), left.why.as_str())).collect()
}

#[tokio::test]
async fn files_are_put_back_byte_for_byte() {
    for snapshot in Snapshot::both() {
        let odd = [&b"\xff\0binary\r\n"[..], b"no newline"].concat();
        snapshot.put("odd", &odd);
        snapshot.put("run.sh", "echo one\r\n");
        fs::set_permissions(snapshot.inside().join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
        let mut changes = Vec::new();
        changes.extend(snapshot.change("delete_file", json!({"path": "odd"})).await);
        changes.extend(snapshot.edit("run.sh", "one", "two").await.unwrap().changes);
        changes.extend(snapshot.change("move_file", json!({"path": "run.sh", "to": "bin/run"})).await);
        changes.extend(snapshot.edit("bin/run", "two", "three").await.unwrap().changes);
        changes.extend(snapshot.change("write_file", json!({"path": "new", "content": "new"})).await);
        let report = snapshot.files.undo(snapshot.context(), &changes).await.unwrap();
        assert_eq!(report.not_undone, []);
        assert_eq!((snapshot.on_disk("odd"), snapshot.on_disk("run.sh")), (odd, b"echo one\r\n".to_vec()));
        let mode = fs::metadata(snapshot.inside().join("run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o751);
        assert!(!snapshot.inside().join("bin/run").exists() && !snapshot.inside().join("new").exists());
        // An undo is undone like any other change.
        let again = snapshot.files.undo(snapshot.context(), &report.changes).await.unwrap();
        assert_eq!(again.not_undone, []);
        assert_eq!(
            (snapshot.on_disk("bin/run"), snapshot.on_disk("new")),
            (b"echo three\r\n".to_vec(), b"new".to_vec())
        );
        assert!(!snapshot.inside().join("odd").exists());
    }
}

#[tokio::test]
async fn what_something_else_changed_is_left_and_named() {
    let snapshot = Snapshot::in_project();
    for name in ["changed", "deleted", "undone", "between", "recreated"] {
        snapshot.put(name, "before");
    }
    let mut changes = Vec::new();
    for name in ["changed", "deleted", "undone", "between"] {
        changes.extend(snapshot.edit(name, "before", "after").await.unwrap().changes);
    }
    changes.extend(snapshot.change("delete_file", json!({"path": "recreated"})).await);
    changes.extend(snapshot.change("write_file", json!({"path": "made", "content": "made"})).await);
    snapshot.put("changed", "foreign");
    snapshot.put("recreated", "foreign");
    snapshot.put("made", "foreign");
    fs::remove_file(snapshot.inside().join("deleted")).unwrap();
    snapshot.put("between", "foreign");
    changes.extend(snapshot.edit("between", "foreign", "mine").await.unwrap().changes);
    let report = snapshot.files.undo(snapshot.context(), &changes).await.unwrap();
    assert_eq!(
        whys(&report),
        [
            ("changed", "It was changed since, so it was left as it is."),
            ("deleted", "It was deleted since, so it was left as it is."),
            ("between", "Something else changed it between two of these changes, so it was left as it is."),
            ("recreated", "A new file stands in its place, so it was left as it is."),
            ("made", "It was changed since, so it was left as it is."),
        ]
    );
    assert_eq!(report.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["undone"]);
    assert_eq!(snapshot.on_disk("undone"), b"before");
    for name in ["changed", "recreated", "made"] {
        assert_eq!(snapshot.on_disk(name), b"foreign", "{name}");
    }
    assert_eq!(snapshot.on_disk("between"), b"mine");
}

#[tokio::test]
async fn versions_that_are_no_longer_kept_are_said_to_be_gone() {
    let limits = FileLimits { kept_bytes: 40, ..FileLimits::default() };
    let snapshot = Snapshot::in_project_with(limits);
    snapshot.put("a", "first version");
    let first = snapshot.edit("a", "first", "second").await.unwrap().changes;
    let kept = snapshot.files.folder(&snapshot.session).parent().unwrap().join("kept");
    assert!(kept.exists());
    for number in 0..10 {
        snapshot.write("b", &format!("another text {number}")).await;
    }
    let report = snapshot.files.undo(snapshot.context(), &first).await.unwrap();
    assert_eq!(whys(&report), [("a", "Its content from before is no longer kept, so it was left as it is.")]);
    let diffs = snapshot.files.diff(&snapshot.session, &first).await.unwrap();
    assert_eq!(diffs[0].text, "diff --git a/a b/a\nThe content is no longer kept.\n");
    snapshot.files.remove_all(&snapshot.session).await.unwrap();
    assert!(!kept.exists(), "they go with the session");
}

#[tokio::test]
async fn a_file_that_was_changed_elsewhere_does_not_count_as_put_back() {
    let (there, here) = (Snapshot::in_project(), Snapshot::in_project());
    here.change("write_file", json!({"path": "other", "content": "other"})).await;
    let mut made = there.change("write_file", json!({"path": "made", "content": "made"})).await;
    for change in &mut made {
        change.workspace = here.context().workspace.clone();
    }
    let report = here.files.undo(here.context(), &made).await.unwrap();
    assert_eq!((report.changes.len(), report.not_undone.len()), (0, 1));
    assert!(report.not_undone[0].why.contains("on another machine"), "{report:?}");
}

#[tokio::test]
async fn a_call_that_is_made_again_under_its_name_is_not_done_twice() {
    for snapshot in Snapshot::both() {
        snapshot.put("a", "a");
        snapshot.put("gone", "x");
        let call = async |name: &str, tool: &str, arguments: serde_json::Value| {
            let context = snapshot.context().named(name);
            snapshot.tool(tool).call(context, arguments.as_object().unwrap().clone()).await.unwrap()
        };
        for (tool, arguments) in [
            ("edit_file", json!({"path": "a", "edits": [{"old": "a", "new": "aa", "all": true}]})),
            ("write_file", json!({"path": "a", "content": "written"})),
            ("move_file", json!({"path": "a", "to": "b"})),
            ("delete_file", json!({"path": "gone"})),
        ] {
            let first = call(tool, tool, arguments.clone()).await;
            let again = call(tool, tool, arguments).await;
            assert_eq!(again.changes, first.changes, "the first time's original is still known");
            assert!(again.value["done_before"].is_string(), "{}", again.value);
        }
        assert_eq!(snapshot.on_disk("b"), b"written");
        // Under another name it is another call.
        snapshot.put("a", "a");
        let edit = json!({"path": "a", "edits": [{"old": "a", "new": "aa", "all": true}]});
        call("one", "edit_file", edit.clone()).await;
        call("two", "edit_file", edit).await;
        assert_eq!(snapshot.on_disk("a"), b"aaaa");
    }
}

#[derive(Debug, Clone)]
enum Act {
    Write(u8, Vec<u8>),
    Edit(u8, u8, u8),
    Delete(u8),
    Move(u8, u8),
}

fn act() -> impl Strategy<Value = Act> {
    let file = 0..5_u8;
    let text = prop::collection::vec(prop::sample::select(b"ab\r\n\xc3\xa9 ".to_vec()), 0..30);
    prop_oneof![
        (file.clone(), text).prop_map(|(file, text)| Act::Write(file, text)),
        (file.clone(), 0..3_u8, 0..3_u8).prop_map(|(file, old, new)| Act::Edit(file, old, new)),
        file.clone().prop_map(Act::Delete),
        (file.clone(), file).prop_map(|(from, to)| Act::Move(from, to)),
    ]
}

fn name(file: u8) -> String {
    if file < 3 { format!("{file}") } else { format!("folder/{file}") }
}

fn contents(snapshot: &Snapshot) -> Vec<Option<Vec<u8>>> {
    (0..5).map(|file| fs::read(snapshot.inside().join(name(file))).ok()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whatever tools do to whatever files, undo restores every byte, all at once or call by call.
    #[test]
    fn undo_restores_every_byte(
        first in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..40)), 5),
        acts in prop::collection::vec(act(), 1..12),
        at_once in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let snapshot = Snapshot::in_project();
        for (file, content) in first.iter().enumerate() {
            if let Some(content) = content {
                snapshot.put(&name(u8::try_from(file).unwrap()), content);
            }
        }
        let before = contents(&snapshot);
        let mut changes: Vec<Vec<FileChange>> = Vec::new();
        for act in acts {
            let (tool, arguments) = match act {
                Act::Write(file, text) => {
                    ("write_file", json!({"path": name(file), "content": String::from_utf8_lossy(&text)}))
                }
                Act::Edit(file, old, new) => {
                    let text = |index: u8| ["a", "b\n", "é"][usize::from(index)];
                    let edit = json!({"old": text(old), "new": text(new), "all": true});
                    ("edit_file", json!({"path": name(file), "edits": [edit]}))
                }
                Act::Delete(file) => ("delete_file", json!({"path": name(file)})),
                Act::Move(from, to) => ("move_file", json!({"path": name(from), "to": name(to)})),
            };
            // What is refused has changed nothing.
            let was = contents(&snapshot);
            match runtime.block_on(snapshot.answer(tool, arguments)) {
                Ok(answer) => changes.push(answer.changes),
                Err(_) => prop_assert_eq!(contents(&snapshot), was),
            }
        }
        if at_once {
            let report = runtime.block_on(snapshot.files.undo(snapshot.context(), &changes.concat())).unwrap();
            prop_assert_eq!(report.not_undone, []);
        } else {
            for changes in changes.iter().rev() {
                let report = runtime.block_on(snapshot.files.undo(snapshot.context(), changes)).unwrap();
                prop_assert_eq!(report.not_undone, []);
            }
        }
        prop_assert_eq!(contents(&snapshot), before);
    }
}
