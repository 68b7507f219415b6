//! A call that waits for a person's permission, and the server that asked is gone: a person answers at another server, on another data
//! folder, and the call runs there once.

use serde_json::{Value, json};

use crate::journal::verify;
use crate::program::{Address, Program};
use crate::provider::Provider;
use crate::stores::Store;

const LEASE: (&str, &str) = ("PLANWRIGHT_SERVER_LEASE_SECONDS", "4");
const KEY: &str = "parked-one";

async fn waiting(at: Address) -> Vec<Value> {
    let inbox = at.get("/api/inbox").await.with(200);
    let items = inbox["items"].as_array().cloned().unwrap_or_default();
    items.into_iter().filter(|item| item["kind"] == "permission").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_is_answered_at_another_server_after_the_one_that_asked_is_killed() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let projects = tempfile::tempdir().unwrap();
    let root = projects.path().canonicalize().unwrap();
    let project = root.join("project");
    std::fs::create_dir(&project).unwrap();
    let allow = ("PLANWRIGHT_PROJECTS_ALLOW", root.to_str().unwrap());
    let mut servers: Vec<_> = (0..2).map(|_| Program::asking(&store, &provider, &[LEASE, allow])).collect();
    let at: Vec<Address> = servers.iter().map(Program::at).collect();
    at[0].post("/api/sessions", json!({ "sessionId": KEY, "workspace": project })).await.with(201);
    let parked = at[0].say(KEY, "write it", "parked").await.unwrap().with(200);
    assert!(!project.join("made.txt").exists(), "{parked}");
    let asked = waiting(at[0]).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    servers[0].kill();

    // The other server shows the same call, and no time passes for an answer.
    let elsewhere = waiting(at[1]).await;
    assert_eq!((&elsewhere[0]["id"], &elsewhere[0]["digest"]), (&asked[0]["id"], &asked[0]["digest"]));
    let path = format!("/api/permissions/{}", asked[0]["id"].as_str().unwrap());
    let wrong = json!({ "sessionId": KEY, "digest": "0".repeat(64), "grant": "once" });
    assert_ne!(at[1].post(&path, wrong).await.status, 200, "another call is not permitted by it");
    assert!(!project.join("made.txt").exists());
    let answer = json!({ "sessionId": KEY, "digest": asked[0]["digest"], "grant": "once" });
    at[1].post(&path, answer.clone()).await.with(200);
    provider.wait_for(1, |asked| asked.phrase.starts_with("write") && asked.results == 1).await;
    assert_eq!(std::fs::read_to_string(project.join("made.txt")).unwrap(), "made");
    assert!(waiting(at[1]).await.is_empty());
    std::fs::remove_file(project.join("made.txt")).unwrap();
    at[1].post(&path, answer).await;
    assert!(!project.join("made.txt").exists(), "an answer permits one call once");
    let writes =
        provider.asked().iter().filter(|asked| asked.phrase.starts_with("write") && asked.results == 0).count();
    assert_eq!(writes, 1, "the model is not asked again for a call that waited");
    verify(&store);
}
