//! A hostile process swaps folders and files for links, again and again, while the tools work.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::{Value, json};

use super::{SECRET, SetOnDrop, Snapshot};

const ROUNDS: usize = 120;

fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

fn reading(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("grep_files", json!({"pattern": "."})),
        ("grep_files", json!({"pattern": ".", "path": path})),
        ("list_files", json!({"path": "folder"})),
        ("glob_files", json!({"pattern": "**", "hidden": true, "no_ignore": true})),
    ]
}

fn reading_and_writing(path: &str) -> Vec<(&'static str, Value)> {
    let writing = vec![
        ("write_file", json!({"path": path, "content": "mine"})),
        ("edit_file", json!({"path": path, "edits": [{"old": "mine", "new": "mine too"}]})),
        ("edit_file", json!({"path": path, "edits": [{"old": "secret", "new": "stolen"}]})),
    ];
    [reading(path), writing].concat()
}

/// Makes calls while `swap` runs again and again, and looks for the secret in every answer.
async fn race(snapshot: &Snapshot, calls: &[(&str, Value)], swap: impl Fn() + Sync) {
    let done = AtomicBool::new(false);
    let (mut answered, mut refused) = (0, 0);
    let swaps = thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            while !done.load(Ordering::Relaxed) {
                swap();
                swaps += 1;
            }
            swaps
        });
        let ending = SetOnDrop(&done);
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for (tool, arguments) in std::iter::repeat_n(calls, ROUNDS).flatten() {
                    match snapshot.try_call(tool, arguments.clone()).await {
                        Ok(answer) => {
                            assert!(!answer.to_string().contains(SECRET), "{tool} {answer}");
                            answered += 1;
                        }
                        Err(_) => refused += 1,
                    }
                }
            });
        });
        drop(ending);
        swapper.join().unwrap()
    });
    snapshot.check_outside();
    // Otherwise nothing was tried.
    assert!(swaps > 100 && answered > 100 && refused > 0, "{swaps} swaps, {answered} answered, {refused} refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_folder_that_becomes_a_link_leads_nowhere() {
    for snapshot in Snapshot::both() {
        snapshot.put("folder/secret.md", "mine");
        let (folder, link) = (snapshot.inside().join("folder"), snapshot.folder.path().join("link"));
        symlink(snapshot.outside(), &link).unwrap();
        let moving = vec![
            ("move_file", json!({"path": "folder/secret.md", "to": "folder/moved.md"})),
            ("move_file", json!({"path": "folder/moved.md", "to": "folder/secret.md"})),
            ("delete_file", json!({"path": "folder/secret.md"})),
        ];
        let calls = [reading_and_writing("folder/secret.md"), moving].concat();
        race(&snapshot, &calls, || exchange(&folder, &link)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_becomes_a_link_leads_nowhere() {
    for snapshot in Snapshot::both() {
        snapshot.put("folder/secret.md", "mine");
        let (file, link) = (snapshot.inside().join("folder/secret.md"), snapshot.folder.path().join("link"));
        symlink(snapshot.outside().join("secret.md"), &link).unwrap();
        race(&snapshot, &reading("folder/secret.md"), || exchange(&file, &link)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_becomes_a_link_is_not_written_through() {
    for snapshot in Snapshot::both() {
        snapshot.put("folder/secret.md", "mine");
        let (file, link) = (snapshot.inside().join("folder/secret.md"), snapshot.folder.path().join("link"));
        let swap = || {
            // Who writes at the right moment puts a file in the place of the link, so it is put there anew.
            if !link.is_symlink() {
                let _ = fs::remove_file(&link);
                symlink(snapshot.outside().join("secret.md"), &link).unwrap();
            }
            exchange(&file, &link);
            exchange(&file, &link);
        };
        race(&snapshot, &reading_and_writing("folder/secret.md"), swap).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_folder_that_becomes_a_link_leads_nowhere() {
    let snapshot = Snapshot::begun();
    snapshot.put("folder/secret.md", "mine");
    let link = snapshot.folder.path().join("link");
    symlink(snapshot.outside(), &link).unwrap();
    let calls = [reading_and_writing("secret.md"), reading_and_writing("folder/secret.md")].concat();
    race(&snapshot, &calls, || exchange(&snapshot.inside(), &link)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_becomes_a_pipe_does_not_block_the_call() {
    for snapshot in Snapshot::both() {
        snapshot.put("folder/secret.md", "mine");
        let (file, pipe) = (snapshot.inside().join("folder/secret.md"), snapshot.folder.path().join("pipe"));
        let swap = || {
            if !fs::symlink_metadata(&pipe).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
                let _ = fs::remove_file(&pipe);
                mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            }
            exchange(&file, &pipe);
            exchange(&file, &pipe);
        };
        race(&snapshot, &reading_and_writing("folder/secret.md"), swap).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removing_does_not_follow_what_becomes_a_link() {
    for _ in 0..30 {
        let snapshot = Snapshot::begun();
        for number in 0..20 {
            snapshot.put(&format!("folder/{number}.md"), "mine");
        }
        let folder = snapshot.inside().join("folder");
        let link = snapshot.folder.path().join("link");
        symlink(snapshot.outside(), &link).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                // Until it is gone.
                while renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).is_ok() {}
            });
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async {
                    // It may be told that something changed under its hands; then it is asked again.
                    while snapshot.files.remove_all(&snapshot.session).await.is_err() {}
                });
            });
        });
        assert!(!snapshot.inside().exists());
        assert_eq!(fs::read_to_string(snapshot.outside().join("secret.md")).unwrap(), SECRET);
    }
}
