//! Somebody swaps folders and files for links, again and again, while the tools are at work.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::{Desk, SECRET};

const ROUNDS: usize = 120;

/// Exchanges two names in one step until `done` is set, and says how often it did.
fn swap(one: &Path, other: &Path, done: &AtomicBool) -> usize {
    let mut swaps = 0;
    while !done.load(Ordering::Relaxed) {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
        swaps += 1;
    }
    swaps
}

/// Runs every tool on `paths` while `swapped` and `other` change places, and looks for the secret in every answer.
async fn race(desk: &Desk, swapped: &Path, other: &Path, paths: &[&str]) {
    let done = AtomicBool::new(false);
    let (mut answered, mut refused) = (0, 0);
    let swaps = thread::scope(|scope| {
        let swapper = scope.spawn(|| swap(swapped, other, &done));
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            runtime.block_on(async {
                for round in 0..ROUNDS {
                    for path in paths {
                        for (tool, arguments) in [
                            ("read_file", json!({"path": path})),
                            ("write_file", json!({"path": path, "content": format!("mine {round}")})),
                            ("grep_files", json!({"pattern": "."})),
                            ("grep_files", json!({"pattern": ".", "path": path})),
                            ("list_files", json!({"path": "folder"})),
                            ("glob_files", json!({"pattern": "**"})),
                        ] {
                            match desk.try_call(tool, arguments).await {
                                Ok(answer) => {
                                    assert!(!answer.to_string().contains(SECRET), "{tool} {answer}");
                                    answered += 1;
                                }
                                Err(_) => refused += 1,
                            }
                        }
                    }
                }
            });
        });
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap()
    });
    desk.check_outside();
    // Otherwise nothing was tried.
    assert!(swaps > 100 && answered > 100 && refused > 0, "{swaps} swaps, {answered} answered, {refused} refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_folder_that_becomes_a_link_leads_nowhere() {
    let desk = Desk::begun();
    desk.put("folder/secret.md", "mine");
    let link = desk.folder.path().join("link");
    symlink(desk.outside(), &link).unwrap();
    race(&desk, &desk.inside().join("folder"), &link, &["folder/secret.md"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_becomes_a_link_leads_nowhere() {
    let desk = Desk::begun();
    desk.put("folder/secret.md", "mine");
    let link = desk.folder.path().join("link");
    symlink(desk.outside().join("secret.md"), &link).unwrap();
    race(&desk, &desk.inside().join("folder/secret.md"), &link, &["folder/secret.md"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_folder_that_becomes_a_link_leads_nowhere() {
    let desk = Desk::begun();
    desk.put("folder/secret.md", "mine");
    let link = desk.folder.path().join("link");
    symlink(desk.outside(), &link).unwrap();
    race(&desk, &desk.inside(), &link, &["secret.md", "folder/secret.md"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_becomes_a_pipe_keeps_nobody_waiting() {
    use rustix::fs::{FileType, Mode, mknodat};
    let desk = Desk::begun();
    desk.put("folder/secret.md", "mine");
    let pipe = desk.folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    race(&desk, &desk.inside().join("folder/secret.md"), &pipe, &["folder/secret.md"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removing_does_not_follow_what_becomes_a_link() {
    for _ in 0..30 {
        let desk = Desk::begun();
        for number in 0..20 {
            desk.put(&format!("folder/{number}.md"), "mine");
        }
        let folder = desk.inside().join("folder");
        let link = desk.folder.path().join("link");
        symlink(desk.outside(), &link).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                // Until it is gone.
                while renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).is_ok() {}
            });
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async {
                    // It may be told that something changed under its hands; then it is asked again.
                    while desk.files.remove_all(&desk.session).await.is_err() {}
                });
            });
        });
        assert!(!desk.inside().exists());
        assert_eq!(fs::read_to_string(desk.outside().join("secret.md")).unwrap(), SECRET);
    }
}
