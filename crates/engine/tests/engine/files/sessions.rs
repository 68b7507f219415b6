//! Sessions do not see each other.

use std::fs;
use std::os::unix::fs::symlink;

use planwright_core::session::SessionIdentity;
use serde_json::json;

use super::{Desk, SECRET, globbed};

fn session(text: &str) -> SessionIdentity {
    text.parse().unwrap()
}

#[tokio::test]
async fn each_session_has_its_own_files() {
    let mut desk = Desk::new();
    let sessions = ["cli:k3yk3y8x", "web:k3yk3y8x", "cli:K3yk3y8x", "cli:k3yk3y8X", "legacy:con"].map(session);
    for session in &sessions {
        desk.session = session.clone();
        assert!(globbed(&desk.call("glob_files", json!({"pattern": "**"})).await).is_empty());
        desk.write("mine.md", &session.to_string()).await;
    }
    for session in &sessions {
        desk.session = session.clone();
        assert_eq!(desk.read("mine.md").await, session.to_string());
        let found = desk.call("grep_files", json!({"pattern": "."})).await;
        assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    }
    // Also where capitals and small letters are the same.
    let names: std::collections::BTreeSet<_> = fs::read_dir(desk.folder.path().join("data/users"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_lowercase())
        .collect();
    assert_eq!(names.len(), sessions.len());
}

#[tokio::test]
async fn removing_a_session_removes_everything_of_it_and_nothing_else() {
    let mut desk = Desk::new();
    let (mine, theirs) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    for session in [&theirs, &mine] {
        desk.session = session.clone();
        desk.write("deep/a.md", "text").await;
    }
    let own = desk.inside().parent().unwrap().to_owned();
    fs::create_dir(own.join("plan")).unwrap();
    fs::write(own.join("plan/task_plan.md"), "").unwrap();
    symlink(desk.outside(), desk.inside().join("deep/out")).unwrap();
    symlink(desk.outside().join("secret.md"), desk.inside().join("out.md")).unwrap();

    desk.files.remove_all(&mine).await.unwrap();
    assert!(!own.exists());
    desk.check_outside();
    desk.files.remove_all(&mine).await.unwrap();
    assert!(globbed(&desk.call("glob_files", json!({"pattern": "**"})).await).is_empty());
    desk.session = theirs;
    assert_eq!(desk.read("deep/a.md").await, "text");
    assert_eq!(fs::read_to_string(desk.outside().join("secret.md")).unwrap(), SECRET);
}

#[tokio::test]
async fn the_root_may_be_a_link_of_the_persons_own() {
    let desk = Desk::new();
    let elsewhere = desk.folder.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir(desk.folder.path().join("data")).unwrap();
    symlink(&elsewhere, desk.folder.path().join("data/users")).unwrap();
    desk.write("a.md", "text").await;
    assert_eq!(desk.read("a.md").await, "text");
    assert!(elsewhere.join("cli-k3yk3y8x/files/a.md").exists());
}
