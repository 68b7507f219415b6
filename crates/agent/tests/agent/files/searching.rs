//! Finding files by name and by what is in them.

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::refusal::RefusalCode;
use serde_json::{Value, json};

use super::{Snapshot, globbed};

fn found(answer: &Value) -> Vec<String> {
    let shown = |found: &Value| format!("{}:{}", found["path"].as_str().unwrap(), found["line"]);
    answer["matches"].as_array().unwrap().iter().map(shown).collect()
}

fn snapshot() -> Snapshot {
    let snapshot = Snapshot::begun();
    snapshot.put("todo.md", "Buy milk\nCall Żaneta\n");
    snapshot.put("notes/a.md", "nothing\r\nmilk and honey\r\n");
    snapshot.put("notes/deep/b.txt", "MILK");
    snapshot.put("notes-old/c.md", "no dairy");
    snapshot
}

#[tokio::test]
async fn files_are_found_by_pattern_in_order() {
    let snapshot = snapshot();
    for (pattern, paths) in [
        ("*.md", &["notes/a.md", "notes-old/c.md", "todo.md"][..]),
        ("**/*.md", &["notes/a.md", "notes-old/c.md", "todo.md"]),
        ("notes/**", &["notes/a.md", "notes/deep/b.txt"]),
        ("*/*.md", &["notes/a.md", "notes-old/c.md"]),
        ("*.{txt,rs}", &["notes/deep/b.txt"]),
        ("deep", &[]),
    ] {
        assert_eq!(globbed(&snapshot.call("glob_files", json!({"pattern": pattern})).await), paths, "{pattern}");
    }
}

#[tokio::test]
async fn lines_are_found_by_regular_expression() {
    let snapshot = snapshot();
    for (arguments, lines) in [
        (json!({"pattern": "milk"}), &["notes/a.md:2", "todo.md:1"][..]),
        (json!({"pattern": "milk", "case_insensitive": true}), &["notes/a.md:2", "notes/deep/b.txt:1", "todo.md:1"]),
        (json!({"pattern": "milk", "path": "notes"}), &["notes/a.md:2"]),
        (json!({"pattern": "milk", "path": "todo.md"}), &["todo.md:1"]),
        (json!({"pattern": "(?i)milk", "glob": "*.txt"}), &["notes/deep/b.txt:1"]),
        (json!({"pattern": "milk", "glob": "notes/*"}), &["notes/a.md:2"]),
        (json!({"pattern": "honey$"}), &["notes/a.md:2"]),
        (json!({"pattern": "^Call Ż\\w+$"}), &["todo.md:2"]),
        (json!({"pattern": "bread"}), &[]),
    ] {
        assert_eq!(found(&snapshot.call("grep_files", arguments.clone()).await), lines, "{arguments}");
    }
    let answer = snapshot.call("grep_files", json!({"pattern": "honey"})).await;
    let expected = json!([{"path": "notes/a.md", "line": 2, "text": "milk and honey"}]);
    assert_eq!(answer, json!({"matches": expected, "files_searched": 4}));
}

#[tokio::test]
async fn a_bad_pattern_is_explained() {
    let snapshot = snapshot();
    let refusal = snapshot.try_call("grep_files", json!({"pattern": "milk("})).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::InvalidArgument);
    assert!(refusal.message.contains("unclosed group"), "{refusal}");
    for huge in [r"(\w{1000}){1000}".to_owned(), "(".repeat(100_000), "a{1000}{1000}{1000}".to_owned()] {
        assert_eq!(snapshot.refused("grep_files", json!({"pattern": huge})).await, RefusalCode::InvalidArgument);
    }
    let refusal = snapshot.try_call("glob_files", json!({"pattern": "a[b"})).await.unwrap_err();
    assert!(refusal.message.contains("unclosed character class"), "{refusal}");
}

#[tokio::test]
async fn what_is_not_text_is_skipped_and_counted() {
    let snapshot = snapshot();
    snapshot.put("picture", b"milk\0milk");
    // It looks like text for long.
    snapshot.put("late", [b"milk\n".to_vec(), b"bread\n".repeat(20_000), vec![0]].concat());
    let answer = snapshot.call("grep_files", json!({"pattern": "milk"})).await;
    assert_eq!(found(&answer), ["notes/a.md:2", "todo.md:1"]);
    assert_eq!((&answer["binary_files_skipped"], &answer["files_searched"]), (&json!(2), &json!(6)));
    // Text in another encoding is searched all the same.
    snapshot.put("latin", b"caf\xe9 with milk\n");
    snapshot.put("utf16", b"\xff\xfem\0i\0l\0k\0");
    let answer = snapshot.call("grep_files", json!({"pattern": "milk"})).await;
    assert_eq!(found(&answer), ["latin:1", "notes/a.md:2", "todo.md:1", "utf16:1"]);
    assert_eq!(answer["matches"][0]["text"], "caf\u{fffd} with milk");
}

#[tokio::test]
async fn every_limit_of_a_search_is_said() {
    let small = |limits: FileLimits| async move {
        let snapshot = Snapshot::with(limits);
        for number in 0..30 {
            snapshot.put(&format!("{number:02}.md"), "milk\nmilk\n");
        }
        snapshot.call("grep_files", json!({"pattern": "milk"})).await
    };
    let limits = FileLimits::default;
    let answer = small(FileLimits { matches: 5, ..limits() }).await;
    assert_eq!(found(&answer), ["00.md:1", "00.md:2", "01.md:1", "01.md:2", "02.md:1"]);
    assert_eq!(answer["truncated"], true);
    for (stopped, matches) in [
        (FileLimits { scanned_files: 4, ..limits() }, 8),
        (FileLimits { scanned_bytes: 25, ..limits() }, 5),
        (FileLimits { answer_bytes: 81, ..limits() }, 9),
        (FileLimits { time: std::time::Duration::ZERO, ..limits() }, 0),
    ] {
        let answer = small(stopped).await;
        assert_eq!(found(&answer).len(), matches, "{answer}");
        assert!(answer["truncated"] == true && answer["why"].is_string(), "{answer}");
    }
    let answer = small(FileLimits { matches: 60, scanned_files: 30, scanned_bytes: 300, ..limits() }).await;
    assert_eq!(found(&answer).len(), 60);
    assert_eq!(answer.get("truncated"), None);
    let answer = small(FileLimits { walked_entries: 10, ..limits() }).await;
    assert!(answer["truncated"] == true && found(&answer).len() == 20, "{answer}");
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match() {
    let snapshot = Snapshot::begun();
    snapshot.put("a.js", format!("{}needle{}", "ä".repeat(5000), "ö".repeat(500_000)));
    let answer = snapshot.call("grep_files", json!({"pattern": "needle"})).await;
    let text = answer["matches"][0]["text"].as_str().unwrap();
    assert!(text.contains("needle") && text.chars().count() <= 402, "{text}");
}

#[tokio::test]
async fn folders_that_are_too_deep_are_passed_by() {
    let snapshot = Snapshot::begun();
    snapshot.put(&format!("{}/a.md", ["d"; 63].join("/")), "milk");
    snapshot.put(&format!("{}/a.md", ["e"; 90].join("/")), "milk");
    let answer = snapshot.call("grep_files", json!({"pattern": "milk"})).await;
    assert_eq!(found(&answer).len(), 1);
    assert_eq!(answer["not_readable"], 1);
}
