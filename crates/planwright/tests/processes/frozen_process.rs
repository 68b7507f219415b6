//! A process is frozen right before it puts a file in its place. Another process takes its session over and writes the
//! same file, or deletes the session and begins it again. When the first one wakes up, the newer files stay.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use planwright_core::journal::SealedEntry;
use planwright_core::session::SessionIdentity;

use crate::client::planwright;
use crate::provider::Provider;
use crate::stores::Store;

const SESSION: &str = "cli:frozen-holder";
/// Nothing takes that long; it turns a hanging test into a failing one.
const TIMEOUT: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_frozen_in_the_middle_of_a_tool_does_not_overwrite_a_newer_file() {
    let (store, data, provider) = (Store::sqlite(), tempfile::tempdir().unwrap(), Provider::start());
    let folder = folder(data.path());
    let mut frozen = freeze(&store, data.path(), &provider);

    // The next one waits until the lease has run out, resumes the turn, and is given something newer to write.
    let other = chat(&store, data.path(), &provider, "do 1001");
    let reply = output(other);
    assert!(reply.contains("done 1000") && reply.contains("done 1001"), "{reply}");
    let file = folder.join("files/shared.txt");
    assert_eq!(fs::read_to_string(&file).unwrap(), "1001");

    let asked = provider.asked().len();
    signal(&frozen, "CONT");
    until("the frozen process has ended", || frozen.try_wait().unwrap().is_some());
    assert_eq!(fs::read_to_string(&file).unwrap(), "1001", "the file fell back");
    assert_eq!(provider.asked().len(), asked, "a process that lost its lease asks no model");
    let report = store.engine().await.verifier().verify_all(|_| {}).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_process_writes_nothing_into_a_session_that_was_deleted_and_begun_again() {
    for newer in [None, Some("do 1001")] {
        let (store, data, provider) = (Store::sqlite(), tempfile::tempdir().unwrap(), Provider::start());
        let mut frozen = freeze(&store, data.path(), &provider);
        let delete = ["sessions", "delete", SESSION, "--yes"];
        let deleted = planwright(&store.location()).arg("--data").arg(data.path()).args(delete).status().unwrap();
        assert!(deleted.success());
        assert!(!folder(data.path()).exists());
        // The new session has written a file, or none yet.
        let reply = output(chat(&store, data.path(), &provider, newer.unwrap_or("/status")));
        let before = (files(data.path()), journal(&store).await);
        assert_eq!(before.0.contains(&("files/shared.txt".to_owned(), "1001".to_owned())), newer.is_some(), "{reply}");

        let asked = provider.asked().len();
        signal(&frozen, "CONT");
        until("the frozen process has ended", || frozen.try_wait().unwrap().is_some());
        assert_eq!((files(data.path()), journal(&store).await), before, "it wrote into the new session");
        assert_eq!(provider.asked().len(), asked, "a process that lost its session asks no model");
        let report = store.engine().await.verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
}

fn folder(data: &Path) -> PathBuf {
    let session: SessionIdentity = SESSION.parse().unwrap();
    data.join("users").join(session.folder_name())
}

/// Every file of the session with its content, except the name of the lease.
fn files(data: &Path) -> Vec<(String, String)> {
    let (own, mut found) = (folder(data), Vec::new());
    let mut folders = vec![own.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&own).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name != "lease" {
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

async fn journal(store: &Store) -> Vec<SealedEntry> {
    store.engine().await.ledger().journal(&SESSION.parse().unwrap(), 0, 10_000).await.unwrap()
}

/// A process that is frozen with a file in its hands.
fn freeze(store: &Store, data: &Path, provider: &Provider) -> Child {
    provider.hold_second_call();
    let frozen = chat(store, data, provider, "do 1000");
    provider.wait_for(2, 0);
    // A process that puts a file in its place holds this lock, so this one waits for it.
    let lock = File::options().read(true).write(true).open(folder(data).join("lease")).unwrap();
    lock.lock().unwrap();
    provider.release_second_call();
    until("the file is written", || fs::read_dir(folder(data).join("unfinished")).unwrap().count() == 1);
    signal(&frozen, "STOP");
    lock.unlock().unwrap();
    frozen
}

fn chat(store: &Store, data: &Path, provider: &Provider, message: &str) -> Child {
    let mut child = planwright(&store.location())
        .arg("--data")
        .arg(data)
        .args(["--json", "chat", "--session", SESSION, "--model", "openai:test"])
        .env("OPENAI_BASE_URL", provider.address())
        .env("OPENAI_API_KEY", "a-key")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    child
}

fn output(mut child: Child) -> String {
    let mut reply = String::new();
    child.stdout.take().unwrap().read_to_string(&mut reply).unwrap();
    assert!(child.wait().unwrap().success(), "{reply}");
    reply
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn until(what: &str, is_so: impl FnMut() -> bool) {
    let (since, mut is_so) = (Instant::now(), is_so);
    while !is_so() {
        assert!(since.elapsed() < TIMEOUT, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
