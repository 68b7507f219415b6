//! A process is frozen right before it puts a file in its place. Another process takes its session over and writes the
//! same file. When the first one wakes up, the newer file stays.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use planwright_core::session::SessionIdentity;

use crate::client::planwright;
use crate::provider::Provider;
use crate::stores::Store;

const SESSION: &str = "cli:frozen-holder";
/// Nothing takes that long; it turns a hanging test into a failing one.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_frozen_in_the_middle_of_a_tool_does_not_overwrite_a_newer_file() {
    let (store, data, provider) = (Store::sqlite(), tempfile::tempdir().unwrap(), Provider::start());
    let session: SessionIdentity = SESSION.parse().unwrap();
    let folder = data.path().join("users").join(session.folder_name());
    provider.hold_second_call();
    let mut frozen = chat(&store, data.path(), &provider, "do 1000");
    provider.wait_for(2);
    // A writer holds this lock while it renames a file, so the process waits with the complete file.
    let lock = File::options().read(true).write(true).open(folder.join("lease")).unwrap();
    lock.lock().unwrap();
    provider.release_second_call();
    until("the file is written", || fs::read_dir(folder.join("unfinished")).unwrap().count() == 1);
    signal(&frozen, "STOP");
    lock.unlock().unwrap();

    // The next one waits until the lease has run out, resumes the turn, and is given something newer to write.
    let other = chat(&store, data.path(), &provider, "do 1001");
    let said = output(other);
    assert!(said.contains("done 1000") && said.contains("done 1001"), "{said}");
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
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    said
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn until(what: &str, is_so: impl FnMut() -> bool) {
    let (since, mut is_so) = (Instant::now(), is_so);
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
