//! Two servers with a folder of their own each: the files of a session follow it, and a project folder does not.

use serde_json::json;

use crate::journal::{entries, resumed, verify_with};
use crate::program::{Address, Program, until_logged};
use crate::provider::Provider;
use crate::stores::Store;

const KEY: &str = "session-one";
const LEASE: (&str, &str) = ("PLANWRIGHT_SERVER_LEASE_SECONDS", "4");
const SHARED: (&str, &str) = ("PLANWRIGHT_FILES_STORE", "database");

async fn content(server: Address, path: &str) -> (u16, String) {
    let answer = server.get(&format!("/api/sessions/{KEY}/files/content?path={path}")).await;
    (answer.status, answer.body.as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_taken_over_has_its_files_and_an_undo_works_there() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let mut first = Program::asking(&store, &provider, &[LEASE, SHARED]);
    let second = Program::asking(&store, &provider, &[LEASE, SHARED]);
    first.at().open(KEY).await;
    first.at().say(KEY, "write it", "write").await.unwrap().with(200);
    assert_eq!(content(second.at(), "made.txt").await, (200, "made".to_owned()));

    // The first server dies in the middle of a turn, and the second one goes on with the files.
    provider.hold();
    let asking = first.at();
    let waiting = tokio::spawn(async move { asking.say(KEY, "look around", "look").await });
    provider.wait_for(1, |asked| asked.phrase == "look around").await;
    first.kill();
    provider.release();
    assert!(waiting.await.unwrap().is_none(), "no server answers there");
    let again = second.at().say(KEY, "look around", "look").await.unwrap().with(200);
    assert_eq!(again["reply"], "done: look around");
    assert_eq!(resumed(&entries(&store.engine().await, KEY).await), 1);
    assert_eq!(content(second.at(), "made.txt").await, (200, "made".to_owned()));

    let undone = second.at().say(KEY, "/undo chat", "undo").await.unwrap().with(200);
    assert!(undone["reply"].as_str().unwrap().contains("made.txt"), "{undone}");
    assert_eq!(content(second.at(), "made.txt").await.0, 404);
    // A third one has what is left of it.
    let third = Program::asking(&store, &provider, &[LEASE, SHARED]);
    assert_eq!(content(third.at(), "made.txt").await.0, 404);
    third.at().say(KEY, "write again", "write again").await.unwrap().with(200);
    assert_eq!(content(second.at(), "made.txt").await, (200, "made".to_owned()));
    verify_with(&store, &[SHARED]);
}

/// Without a place for them the files are elsewhere, and an undo says so.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_not_shared_are_said_to_be_elsewhere() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let (first, second) = (Program::asking(&store, &provider, &[]), Program::asking(&store, &provider, &[]));
    first.at().open(KEY).await;
    first.at().say(KEY, "write it", "write").await.unwrap().with(200);
    assert_eq!(content(second.at(), "made.txt").await.0, 404);
    let undone = second.at().say(KEY, "/undo chat", "undo").await.unwrap();
    assert!(undone.body.to_string().contains("are elsewhere"), "{undone:?}");
}

/// A project folder is on one machine. Work in it waits for a server that has it, and a person is told so elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn work_in_a_project_waits_for_a_server_that_has_the_folder() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let project = tempfile::tempdir().unwrap();
    let folder = project.path().canonicalize().unwrap().display().to_string();
    let allow = ("PLANWRIGHT_PROJECTS_ALLOW", folder.as_str());
    let (desk, rack) = (("PLANWRIGHT_PROJECTS_ID", "desk"), ("PLANWRIGHT_PROJECTS_ID", "rack"));
    let mut first = Program::asking(&store, &provider, &[LEASE, allow, desk]);
    let elsewhere = Program::asking(&store, &provider, &[LEASE, allow, rack]);
    first.at().post("/api/sessions", json!({ "sessionId": KEY, "workspace": folder })).await.with(201);
    provider.hold();
    let asking = first.at();
    let waiting = tokio::spawn(async move { asking.say(KEY, "look around", "look").await });
    provider.wait_for(1, |asked| asked.phrase == "look around").await;
    first.kill();
    provider.release();
    assert!(waiting.await.unwrap().is_none());
    until_logged(&[&elsewhere], "waits_for_project").await;
    let refused = elsewhere.at().say(KEY, "and now?", "now").await.unwrap().with(409);
    let message = refused["detail"].as_str().unwrap_or_default();
    assert!(message.contains("desk") && message.contains("rack"), "{refused}");
    assert_eq!(resumed(&entries(&store.engine().await, KEY).await), 0);

    // One that has the folder goes on at once.
    let back = Program::asking(&store, &provider, &[LEASE, allow, desk]);
    let again = back.at().say(KEY, "look around", "look").await.unwrap().with(200);
    assert_eq!(again["reply"], "done: look around");
    assert_eq!(resumed(&entries(&store.engine().await, KEY).await), 1);
}
