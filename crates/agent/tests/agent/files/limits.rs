//! What is too much is refused, and nothing is stored.

use std::fs;

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::refusal::RefusalCode;
use serde_json::json;

use super::{Snapshot, listed};

#[tokio::test]
async fn a_write_has_a_largest_size() {
    let snapshot = Snapshot::new();
    let largest = "x".repeat(1024 * 1024);
    let write = json!({"path": "a.md", "content": format!("{largest}x")});
    assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::LimitExceeded);
    assert!(!snapshot.folder.path().join("data").exists());
    snapshot.write("a.md", &largest).await;
    let answer = snapshot.call("read_file", json!({"path": "a.md", "numbers": false})).await;
    assert_eq!(answer["content"].as_str().unwrap().len(), 256 * 1024);
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read() {
    let snapshot = Snapshot::begun();
    let file = fs::File::create(snapshot.inside().join("huge")).unwrap();
    file.set_len(64 * 1024 * 1024 + 1).unwrap();
    assert_eq!(snapshot.refused("read_file", json!({"path": "huge"})).await, RefusalCode::LimitExceeded);
}

#[tokio::test]
async fn a_session_has_a_largest_number_of_files_and_folders() {
    let snapshot = Snapshot::with(FileLimits { session_entries: 4, ..FileLimits::default() });
    snapshot.write("a/b/one.md", "").await;
    let write = json!({"path": "a/c/two.md", "content": ""});
    assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::LimitExceeded);
    assert_eq!(listed(&snapshot.call("list_files", json!({"path": "a"})).await), ["a/b"]);
    snapshot.write("a/b/two.md", "").await;
    assert_eq!(snapshot.refused("write_file", json!({"path": "x", "content": ""})).await, RefusalCode::LimitExceeded);
    // Existing files can still be changed.
    snapshot.write("a/b/two.md", "changed").await;
    assert_eq!(snapshot.read("a/b/two.md").await, "changed");
}

#[tokio::test]
async fn a_session_has_a_largest_size() {
    let snapshot = Snapshot::with(FileLimits { session_bytes: 100, ..FileLimits::default() });
    snapshot.write("a.md", &"a".repeat(60)).await;
    let write = json!({"path": "b.md", "content": "b".repeat(41)});
    assert_eq!(snapshot.refused("write_file", write.clone()).await, RefusalCode::LimitExceeded);
    assert_eq!(listed(&snapshot.call("list_files", json!({})).await), ["a.md"]);
    snapshot.write("b.md", &"b".repeat(40)).await;
    assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::LimitExceeded);
    snapshot.write("a.md", &"c".repeat(59)).await;
    snapshot.write("b.md", &"b".repeat(41)).await;
}

#[tokio::test]
async fn a_folder_a_person_filled_can_be_made_smaller() {
    let snapshot = Snapshot::with(FileLimits { session_bytes: 100, session_entries: 3, ..FileLimits::default() });
    for name in ["a", "b", "c", "d", "e"] {
        snapshot.put(name, "x".repeat(50));
    }
    assert_eq!(snapshot.refused("write_file", json!({"path": "f", "content": ""})).await, RefusalCode::LimitExceeded);
    let write = json!({"path": "a", "content": "x".repeat(51)});
    assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::LimitExceeded);
    snapshot.write("a", "small").await;
    assert_eq!(snapshot.read("a").await, "small");
}

#[tokio::test]
async fn two_writers_do_not_both_find_the_last_room() {
    let snapshot = Snapshot::with(FileLimits { session_entries: 1, ..FileLimits::default() });
    let one = snapshot.try_call("write_file", json!({"path": "one", "content": ""}));
    let other = snapshot.try_call("write_file", json!({"path": "other", "content": ""}));
    let (one, other) = tokio::join!(one, other);
    assert!(one.is_ok() != other.is_ok());
    assert_eq!(fs::read_dir(snapshot.inside()).unwrap().count(), 1);
}
