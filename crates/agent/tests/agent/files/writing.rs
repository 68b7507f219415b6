//! Writing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use planwright_core::refusal::RefusalCode;
use serde_json::json;

use super::{SetOnDrop, Snapshot, globbed};

#[tokio::test]
async fn writing_twice_is_writing_once() {
    let snapshot = Snapshot::new();
    let answer = snapshot.write("notes/deep/a.md", "one\ntwo\n").await;
    assert_eq!(answer, json!({"path": "notes/deep/a.md", "bytes": 8, "lines": 2, "replaced": false}));
    let again = snapshot.write("notes/deep/a.md", "one\ntwo\n").await;
    assert_eq!(again["replaced"], true);
    assert_eq!(fs::read_to_string(snapshot.inside().join("notes/deep/a.md")).unwrap(), "one\ntwo\n");
    assert_eq!(globbed(&snapshot.call("glob_files", json!({"pattern": "**"})).await), ["notes/deep/a.md"]);
    snapshot.write("notes/deep/a.md", "").await;
    assert_eq!(snapshot.read("notes/deep/a.md").await, "");
}

#[tokio::test]
async fn the_folder_belongs_to_the_person_alone() {
    let snapshot = Snapshot::new();
    snapshot.write("notes/a.md", "").await;
    let mut folder = snapshot.inside().join("notes");
    while folder != snapshot.folder.path() {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700, "{}", folder.display());
        folder.pop();
    }
}

#[tokio::test]
async fn a_folder_is_not_overwritten_and_a_file_is_no_folder() {
    let snapshot = Snapshot::new();
    snapshot.write("notes/a.md", "text").await;
    for path in ["notes", "notes/", "notes/a.md/b", "notes/a.md/b/c"] {
        let write = json!({"path": path, "content": "x"});
        assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::InvalidArgument, "{path}");
    }
    assert_eq!(snapshot.read("notes/a.md").await, "text");
}

#[tokio::test]
async fn what_may_only_be_read_is_not_written_and_a_script_stays_one() {
    let snapshot = Snapshot::new();
    snapshot.write("fixed.md", "fixed").await;
    snapshot.write("run.sh", "echo one").await;
    let set = |name: &str, mode| {
        fs::set_permissions(snapshot.inside().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("fixed.md", 0o444);
    set("run.sh", 0o755);
    let write = json!({"path": "fixed.md", "content": "changed"});
    assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::PolicyDenied);
    assert_eq!(snapshot.read("fixed.md").await, "fixed");
    snapshot.write("run.sh", "echo two").await;
    assert_eq!(fs::metadata(snapshot.inside().join("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn what_a_crash_left_is_cleared_away_and_never_seen() {
    let snapshot = Snapshot::new();
    snapshot.write("a.md", "text").await;
    let unfinished = snapshot.inside().parent().unwrap().join("unfinished");
    assert_eq!(fs::read_dir(&unfinished).unwrap().count(), 0);
    let temporary = |number: u8| unfinished.join(format!("018f0000-0000-7000-8000-0000000000{number:02}"));
    let (old, new) = (temporary(1), temporary(2));
    fs::write(&old, "half").unwrap();
    fs::write(&new, "half").unwrap();
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    fs::File::options().write(true).open(&old).unwrap().set_modified(yesterday).unwrap();
    snapshot.write("b.md", "text").await;
    // The other may belong to a process that is writing now.
    assert!(!old.exists() && new.exists());
    assert_eq!(globbed(&snapshot.call("glob_files", json!({"pattern": "**"})).await), ["a.md", "b.md"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reader_sees_the_old_text_or_the_new_one() {
    let snapshot = Snapshot::new();
    let text = |round: usize| format!("{}\n", round % 10).repeat(20_000);
    snapshot.write("a.md", &text(0)).await;
    let path = snapshot.inside().join("a.md");
    let done = AtomicBool::new(false);
    let read = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut read = 0;
            while !done.load(Ordering::Relaxed) {
                let seen = fs::read(&path).unwrap();
                assert_eq!(seen.len(), 40_000);
                assert!(seen.chunks(2).all(|line| line == &seen[..2]), "torn");
                read += 1;
            }
            read
        });
        let ending = SetOnDrop(&done);
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for round in 0..100 {
                    snapshot.write("a.md", &text(round)).await;
                    assert_eq!(snapshot.read("a.md").await, text(round));
                }
            });
        });
        drop(ending);
        reader.join().unwrap()
    });
    assert!(read > 10, "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_of_one_file_leave_one_whole_text() {
    let snapshot = std::sync::Arc::new(Snapshot::new());
    let writers: Vec<_> = (0..32)
        .map(|number| {
            let snapshot = std::sync::Arc::clone(&snapshot);
            tokio::spawn(async move { snapshot.write("deep/down/a.md", &format!("{number}\n").repeat(5000)).await })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let text = snapshot.read("deep/down/a.md").await;
    let first = text.lines().next().unwrap();
    assert_eq!(text, format!("{first}\n").repeat(5000));
}
