//! Sessions do not see each other.

use std::fs;
use std::os::unix::fs::symlink;

use planwright_core::session::SessionIdentity;
use serde_json::json;

use super::{SECRET, Snapshot, globbed};

fn session(text: &str) -> SessionIdentity {
    text.parse().unwrap()
}

#[tokio::test]
async fn each_session_has_its_own_files() {
    let mut snapshot = Snapshot::new();
    let sessions = ["cli:k3yk3y8x", "web:k3yk3y8x", "cli:K3yk3y8x", "cli:k3yk3y8X", "legacy:con"].map(session);
    for session in &sessions {
        snapshot.session = session.clone();
        assert!(globbed(&snapshot.call("glob_files", json!({"pattern": "**"})).await).is_empty());
        snapshot.write("mine.md", &session.to_string()).await;
    }
    for session in &sessions {
        snapshot.session = session.clone();
        assert_eq!(snapshot.read("mine.md").await, session.to_string());
        let found = snapshot.call("grep_files", json!({"pattern": "."})).await;
        assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    }
    // Also where capitals and small letters are the same.
    let names: std::collections::BTreeSet<_> = fs::read_dir(snapshot.folder.path().join("data/users"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_lowercase())
        .collect();
    assert_eq!(names.len(), sessions.len());
}

#[tokio::test]
async fn removing_a_session_removes_everything_of_it_and_nothing_else() {
    let mut snapshot = Snapshot::new();
    let (mine, theirs) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    for session in [&theirs, &mine] {
        snapshot.session = session.clone();
        snapshot.write("deep/a.md", "text").await;
    }
    let own = snapshot.inside().parent().unwrap().to_owned();
    fs::create_dir(own.join("plan")).unwrap();
    fs::write(own.join("plan/task_plan.md"), "").unwrap();
    symlink(snapshot.outside(), snapshot.inside().join("deep/out")).unwrap();
    symlink(snapshot.outside().join("secret.md"), snapshot.inside().join("out.md")).unwrap();

    snapshot.files.remove_all(&mine).await.unwrap();
    assert!(!own.exists());
    snapshot.check_outside();
    snapshot.files.remove_all(&mine).await.unwrap();
    assert!(globbed(&snapshot.call("glob_files", json!({"pattern": "**"})).await).is_empty());
    snapshot.session = theirs;
    assert_eq!(snapshot.read("deep/a.md").await, "text");
    assert_eq!(fs::read_to_string(snapshot.outside().join("secret.md")).unwrap(), SECRET);
}

#[tokio::test]
async fn the_root_may_be_a_link_of_the_persons_own() {
    let snapshot = Snapshot::new();
    let elsewhere = snapshot.folder.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir(snapshot.folder.path().join("data")).unwrap();
    symlink(&elsewhere, snapshot.folder.path().join("data/users")).unwrap();
    snapshot.write("a.md", "text").await;
    assert_eq!(snapshot.read("a.md").await, "text");
    assert!(elsewhere.join("cli-k3yk3y8x/files/a.md").exists());
}
