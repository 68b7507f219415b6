//! Dropping the future cancels the work.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::refusal::RefusalCode;
use serde_json::json;

use super::Snapshot;

/// Lets a call begin and then drops it.
fn begin_and_drop(call: impl Future) {
    let _ = pin!(call).poll(&mut Context::from_waker(Waker::noop()));
}

#[test]
fn a_search_that_is_dropped_ends() {
    let hour = Duration::from_secs(3600);
    let snapshot = Snapshot::with(FileLimits { time: hour, scanned_bytes: u64::MAX, ..FileLimits::default() });
    snapshot.put("0000", format!("{}\n", "ab".repeat(500)).repeat(1000));
    for number in 1..5000 {
        fs::hard_link(snapshot.inside().join("0000"), snapshot.inside().join(format!("{number:04}"))).unwrap();
    }
    // Five gigabytes to look through with a slow pattern: many minutes.
    let search = || snapshot.try_call("grep_files", json!({"pattern": "[ab]{1,800}z"}));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let begun = Instant::now();
    runtime.block_on(async {
        assert!(tokio::time::timeout(Duration::from_millis(100), search()).await.is_err(), "it is not slow enough");
    });
    // A runtime does not end before its work does.
    drop(runtime);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_dropped_write_never_overtakes_a_later_one() {
    let snapshot = Snapshot::new();
    for round in 0..100 {
        begin_and_drop(snapshot.try_call("write_file", json!({"path": "a.md", "content": "dropped"})));
        let kept = format!("kept {round}");
        snapshot.write("a.md", &kept).await;
        assert_eq!(snapshot.read("a.md").await, kept);
    }
    let unfinished = snapshot.inside().parent().unwrap().join("unfinished");
    assert_eq!(fs::read_dir(unfinished).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_dropped_write_does_not_bring_back_what_is_removed() {
    let snapshot = Snapshot::new();
    for _ in 0..100 {
        begin_and_drop(snapshot.try_call("write_file", json!({"path": "a.md", "content": "dropped"})));
        snapshot.files.remove_all(&snapshot.session).await.unwrap();
        assert!(!snapshot.inside().exists());
    }
}

#[tokio::test]
async fn a_write_without_time_stores_nothing() {
    let snapshot = Snapshot::with(FileLimits { time: Duration::ZERO, ..FileLimits::default() });
    snapshot.put("a.md", "old");
    for path in ["a.md", "b.md"] {
        let write = json!({"path": path, "content": "new"});
        assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::LimitExceeded);
    }
    assert_eq!(fs::read_to_string(snapshot.inside().join("a.md")).unwrap(), "old");
    assert!(!snapshot.inside().join("b.md").exists());
    assert_eq!(snapshot.refused("read_file", json!({"path": "a.md"})).await, RefusalCode::LimitExceeded);
}
