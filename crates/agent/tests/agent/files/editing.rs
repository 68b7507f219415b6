//! Editing: exact text, all edits or none.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::refusal::RefusalCode;
use planwright_core::workspace::ContentHash;
use serde_json::json;

use super::{SetOnDrop, Snapshot};

#[tokio::test]
async fn an_edit_answers_with_its_diff() {
    for snapshot in Snapshot::both() {
        snapshot.put("src/till.rs", "fn ring() {\n    bell();\n}\n");
        let answer = snapshot.edit("src/till.rs", "bell();", "bell();\n    drawer();").await.unwrap();
        assert_eq!(snapshot.on_disk("src/till.rs"), b"fn ring() {\n    bell();\n    drawer();\n}\n");
        let diff = "diff --git a/src/till.rs b/src/till.rs\n--- a/src/till.rs\n+++ b/src/till.rs\n\
                    @@ -1,3 +1,4 @@\n fn ring() {\n     bell();\n+    drawer();\n }\n";
        assert_eq!(answer.value, json!({"path": "src/till.rs", "replacements": 1, "bytes": 40, "diff": diff}));
        let [change] = &answer.changes[..] else { panic!("{:?}", answer.changes) };
        assert_eq!((&change.path[..], &change.workspace), ("src/till.rs", &snapshot.workspace));
        assert_eq!(change.before.unwrap().hash, ContentHash::of(b"fn ring() {\n    bell();\n}\n"));
        assert_eq!(change.after.unwrap().hash, ContentHash::of(&snapshot.on_disk("src/till.rs")));
    }
}

#[tokio::test]
async fn all_edits_are_made_or_none() {
    for snapshot in Snapshot::both() {
        snapshot.put("a.txt", "one\ntwo\ntwo\n");
        for (edits, text) in [
            (json!([{"old": "one", "new": "1"}, {"old": "three", "new": "3"}]), "Edit 2"),
            (json!([{"old": "one", "new": "1"}, {"old": "two", "new": "2"}]), "2 times (line 2, 3)"),
            (json!([{"old": "one", "new": "1"}, {"old": "1", "new": "one"}]), "as it is"),
        ] {
            let refusal = snapshot.answer("edit_file", json!({"path": "a.txt", "edits": edits})).await.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::InvalidArgument);
            assert!(refusal.message.contains(text), "{refusal}");
            assert_eq!(snapshot.on_disk("a.txt"), b"one\ntwo\ntwo\n");
        }
        let edits = json!([{"old": "one", "new": "1"}, {"old": "two", "new": "2", "all": true}]);
        let answer = snapshot.call("edit_file", json!({"path": "a.txt", "edits": edits})).await;
        assert_eq!(answer["replacements"], 3);
        assert_eq!(snapshot.on_disk("a.txt"), b"1\n2\n2\n");
    }
}

#[tokio::test]
async fn line_ends_marks_and_permissions_stay() {
    for snapshot in Snapshot::both() {
        for (before, old, new, after) in [
            ("a\r\nb\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\n"),
            ("a\r\nb\n", "b\n", "c\n", "a\r\nc\n"),
            ("\u{feff}a\n", "a", "b", "\u{feff}b\n"),
            ("no final newline", "final", "last", "no last newline"),
        ] {
            snapshot.put("run.sh", before);
            fs::set_permissions(snapshot.inside().join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
            snapshot.edit("run.sh", old, new).await.unwrap();
            assert_eq!(snapshot.on_disk("run.sh"), after.as_bytes());
            let mode = fs::metadata(snapshot.inside().join("run.sh")).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o750);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_edited_says_why() {
    let limits = FileLimits { edit_bytes: 100, write_bytes: 200, ..FileLimits::default() };
    let snapshot = Snapshot::in_project_with(limits);
    snapshot.put("nul", b"a\0b");
    snapshot.put("latin", b"caf\xe9 a\n");
    snapshot.put("utf16", b"\xff\xfea\0");
    snapshot.put("huge", "a".repeat(101));
    snapshot.put("grows", "a");
    snapshot.put("empty", "");
    snapshot.put("fixed", "a");
    snapshot.put("folder/file", "a");
    fs::set_permissions(snapshot.inside().join("fixed"), fs::Permissions::from_mode(0o444)).unwrap();
    for (path, new, code, text) in [
        ("nul", "b", RefusalCode::InvalidArgument, "is not text: it has NUL bytes. It was not changed."),
        ("latin", "b", RefusalCode::InvalidArgument, "is not UTF-8 (line 1)"),
        ("utf16", "b", RefusalCode::InvalidArgument, "UTF-16"),
        ("huge", "b", RefusalCode::LimitExceeded, "has 101 bytes; edit_file changes files of at most 100."),
        ("grows", &"b".repeat(150), RefusalCode::LimitExceeded, "would have 150 bytes"),
        ("grows", &"b".repeat(300), RefusalCode::LimitExceeded, "301 bytes together"),
        ("empty", "b", RefusalCode::InvalidArgument, "`old` is not in the file."),
        ("fixed", "b", RefusalCode::PolicyDenied, "may only be read"),
        ("folder", "b", RefusalCode::InvalidArgument, "is a folder"),
        ("none", "b", RefusalCode::NotFound, "write_file makes a new file"),
        ("none/none", "b", RefusalCode::NotFound, "There is no"),
        ("grows/file", "b", RefusalCode::InvalidArgument, "not a folder"),
    ] {
        let refusal = snapshot.edit(path, "a", new).await.unwrap_err();
        assert_eq!(refusal.code, code, "{path}: {refusal}");
        assert!(refusal.message.contains(text), "{path}: {refusal}");
    }
    assert_eq!(snapshot.on_disk("grows"), b"a");
    assert_eq!(fs::read_dir(snapshot.inside()).unwrap().count(), 8, "nothing half done is left");
}

/// Another program writes the file all the time. Whatever it writes, no edit replaces a text that it was not made for.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_changes_under_way_is_left_alone() {
    let snapshot = Snapshot::in_project();
    let path = snapshot.inside().join("a.txt");
    let foreign = |round: usize| format!("count {round} is {}\n", round * 7);
    fs::write(&path, foreign(0)).unwrap();
    let done = AtomicBool::new(false);
    let (mut edited, mut refused) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let beside = snapshot.inside().join("beside");
            for round in 1.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                fs::write(&beside, foreign(round)).unwrap();
                fs::rename(&beside, &path).unwrap();
            }
        });
        let _ending = SetOnDrop(&done);
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for _ in 0..200 {
                    match snapshot.edit("a.txt", "count", "sum").await {
                        Ok(answer) => {
                            // The text that was replaced is one that the other program wrote as a whole.
                            let diff = answer.value["diff"].as_str().unwrap();
                            let line = diff.lines().find(|line| line.starts_with("-count")).unwrap();
                            let text: Vec<_> = line[1..].split(' ').collect();
                            let round: usize = text[1].parse().unwrap();
                            assert_eq!(line[1..], *foreign(round).trim_end());
                            edited += 1;
                        }
                        Err(refusal) if refusal.code == RefusalCode::Conflict => {
                            assert!(refusal.message.contains("changed by another program"), "{refusal}");
                            refused += 1;
                        }
                        // It has the text of the edit before.
                        Err(refusal) => assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{refusal}"),
                    }
                }
            });
        });
    });
    assert!(edited + refused > 0, "nothing was tried");
}
