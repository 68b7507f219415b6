//! Diffs are those of `git diff`.

use std::fs;
use std::process::Command;

use planwright_core::workspace::FileChange;
use proptest::prelude::*;
use serde_json::json;

use super::Snapshot;

/// The diff by git, without its `index` line.
fn by_git(snapshot: &Snapshot, before: Option<&str>, after: Option<&str>) -> String {
    let repository = snapshot.folder.path().join("repository");
    for (side, text) in [("a", before), ("b", after)] {
        let _ = fs::remove_dir_all(repository.join(side));
        fs::create_dir_all(repository.join(side)).unwrap();
        if let Some(text) = text {
            fs::write(repository.join(side).join("file.rs"), text).unwrap();
        }
    }
    let path = |side: &str, text: Option<&str>| {
        if text.is_some() { format!("{side}/file.rs") } else { "/dev/null".to_owned() }
    };
    let output = Command::new("git")
        .args(["diff", "--no-index", "--no-prefix", "--no-ext-diff"])
        .args([path("a", before), path("b", after)])
        .current_dir(&repository)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("index "));
    // A file that is not there has another name on that side.
    let lines = lines.map(|line| match line.strip_prefix("diff --git ") {
        Some(_) => "diff --git a/file.rs b/file.rs\n",
        None => line,
    });
    lines.collect()
}

async fn ours(snapshot: &Snapshot, changes: &[FileChange]) -> String {
    let diffs = snapshot.files.diff(&snapshot.session, changes).await.unwrap();
    diffs.into_iter().map(|diff| diff.text).collect()
}

#[tokio::test]
async fn a_diff_is_that_of_git() {
    let long: String = (0..60).map(|number| format!("fn f{number}() {{\n    body({number});\n}}\n\n")).collect();
    for (before, after) in [
        (Some("a\nb\nc\n"), Some("a\nB\nc\n")),
        (Some("a\nb\nc"), Some("a\nb\nc\n")),
        (Some("a\nb\nc\n"), Some("a\nb\nc")),
        (Some("a"), Some("b")),
        (None, Some("a\nb\n")),
        (None, Some("a")),
        (Some("a\nb\n"), None),
        (Some(""), Some("a\n")),
        (Some("a\n"), Some("")),
        (Some("a\r\nb\r\n"), Some("a\r\nc\r\n")),
        (Some("a\rb\n"), Some("a\rc\n")),
        (Some("ä\n漢\n"), Some("ä\n字\n")),
        (Some(&long), Some(&long.replace("body(3)", "changed(3)").replace("body(40)", "changed(40)"))),
        (Some(&long), Some(&long.replace("fn f20() {\n    body(20);\n}\n\n", ""))),
        (Some(&long), Some(&long.replace("fn f20()", "fn new() {\n    more();\n}\n\nfn f20()"))),
        (Some(&long), Some(&format!("{long}fn last() {{\n}}\n"))),
        (Some("fn a() {\n}\n"), Some("fn a() {\n}\n\nfn b() {\n}\n")),
    ] {
        let snapshot = Snapshot::in_project();
        let changes = match (before, after) {
            (before, Some(after)) => {
                if let Some(before) = before {
                    snapshot.put("file.rs", before);
                }
                snapshot.change("write_file", json!({"path": "file.rs", "content": after})).await
            }
            (Some(before), None) => {
                snapshot.put("file.rs", before);
                snapshot.change("delete_file", json!({"path": "file.rs"})).await
            }
            (None, None) => continue,
        };
        assert_eq!(ours(&snapshot, &changes).await, by_git(&snapshot, before, after));
    }
}

#[tokio::test]
async fn changes_of_one_file_are_one_diff() {
    let snapshot = Snapshot::in_project();
    snapshot.put("a b.txt", "one\ntwo\n");
    snapshot.put("ü.bin", b"\0");
    let mut changes = snapshot.edit("a b.txt", "one", "1").await.unwrap().changes;
    changes.extend(snapshot.edit("a b.txt", "two", "2").await.unwrap().changes);
    changes.extend(snapshot.change("delete_file", json!({"path": "ü.bin"})).await);
    changes.extend(snapshot.change("write_file", json!({"path": "c", "content": "c"})).await);
    changes.extend(snapshot.change("delete_file", json!({"path": "c"})).await);
    let diffs = snapshot.files.diff(&snapshot.session, &changes).await.unwrap();
    let texts: Vec<_> = diffs.iter().map(|diff| diff.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "diff --git a/a b.txt b/a b.txt\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1,2 +1,2 @@\n-one\n-two\n+1\n+2\n",
            "diff --git \"a/\\303\\274.bin\" \"b/\\303\\274.bin\"\ndeleted file mode 100644\n\
             Binary files \"a/\\303\\274.bin\" and /dev/null differ\n",
        ]
    );
    assert_eq!((diffs[0].added_lines, diffs[0].removed_lines), (2, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Git reads the diff and makes the same file of it.
    #[test]
    fn git_applies_a_diff(
        before in prop::collection::vec(prop::sample::select(vec!["a", "b", "fn x() {", "}", "", "é\r"]), 0..40),
        after in prop::collection::vec(prop::sample::select(vec!["a", "b", "fn x() {", "}", "", "é\r"]), 0..40),
        ends in any::<(bool, bool)>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let snapshot = Snapshot::in_project();
        let text = |lines: Vec<&str>, end: bool| lines.join("\n") + if end { "\n" } else { "" };
        let (before, after) = (text(before, ends.0), text(after, ends.1));
        prop_assume!(before != after && !before.is_empty() && !after.is_empty());
        snapshot.put("file.rs", &before);
        let changes = runtime.block_on(snapshot.change("write_file", json!({"path": "file.rs", "content": after})));
        let diff = runtime.block_on(ours(&snapshot, &changes));
        let applied = snapshot.folder.path().join("applied");
        fs::create_dir(&applied).unwrap();
        fs::write(applied.join("file.rs"), &before).unwrap();
        fs::write(snapshot.folder.path().join("diff"), &diff).unwrap();
        let output = Command::new("git").args(["apply", "../diff"]).current_dir(&applied).output().unwrap();
        prop_assert!(output.status.success(), "{}\n{diff}", String::from_utf8_lossy(&output.stderr));
        prop_assert_eq!(fs::read_to_string(applied.join("file.rs")).unwrap(), after);
    }
}
