//! Processes that keep one workbook, some of them killed while they write it. What was acknowledged is in the ledger, the
//! files are whole at every moment, and the next look brings them up to date.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::DocumentKind;
use planwright_engine::Engine;
use planwright_engine::workbook::WorkbookFolders;
use serde_json::{Value, json};

use crate::client::McpClient;
use crate::stores::Store;

const ROUNDS: u32 = 16;
const SENT: u32 = 20;
const KEY: &str = "kept-by-many";

async fn engine(store: &Store, data: &Path) -> Engine {
    let files = FileTools::new(data.join("users"), FileLimits::default());
    store.engine().await.with_workbook_folders(WorkbookFolders { files: Arc::new(files), templates: None })
}

async fn begun(store: &Store, data: &Path) -> (SessionIdentity, PathBuf) {
    let session: SessionIdentity = format!("mcp:{KEY}").parse().unwrap();
    let (engine, ada) = (engine(store, data).await, Actor::person("ada", "cli"));
    engine.sessions().open(&session, &ada).await.unwrap();
    engine.workbooks().switch_planning_files(&session, &ada, true).await.unwrap();
    let arguments = json!({ "task_title": "Work" }).as_object().unwrap().clone();
    PlanTools::new(&engine).call(&session, &ada, "init_plan", arguments).await.unwrap();
    let folder = data.join("users").join(session.folder_name()).join("plan");
    (session, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_writing_leaves_whole_files_and_every_acknowledged_version_on_sqlite() {
    rounds(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_writing_leaves_whole_files_and_every_acknowledged_version_on_postgres() {
    rounds(Store::postgres().await).await;
}

async fn rounds(store: Store) {
    let data = tempfile::tempdir().unwrap();
    let (session, folder) = begun(&store, data.path()).await;
    let mut acknowledged = Vec::new();
    let mut cut_off = 0;
    for round in 0..ROUNDS {
        let before = acknowledged.len();
        acknowledged.extend(one_round(&store, data.path(), round));
        cut_off += usize::from(acknowledged.len() - before < SENT as usize);
        let found = std::fs::read_to_string(folder.join("findings.md")).unwrap();
        assert!(found.ends_with("the end.\n") || round == 0, "a part of a file: {:?}", found.lines().last());

        let engine = engine(&store, data.path()).await;
        let notes = engine.workbooks().sync(&session).await.unwrap();
        assert_eq!(notes, [], "round {round}: what a kill left is not taken for an edit");
        for which in DocumentKind::ALL {
            let text = engine.workbooks().document(&session, which).await.unwrap().text;
            assert_eq!(std::fs::read_to_string(folder.join(which.file_name())).unwrap(), text, "round {round}");
        }
        let history = texts(&engine, &session).await;
        for text in &acknowledged {
            assert_eq!(history.iter().filter(|known| *known == text).count(), 1, "round {round}: acknowledged, once");
        }
        let report = engine.verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "round {round}: {report:?}");
    }
    assert!(cut_off > ROUNDS as usize / 3, "only {cut_off} of {ROUNDS} kills came in the middle of the work");
}

/// Sends many writes at once, kills the process a little later in every round, and gives the texts whose
/// acknowledgement arrived.
fn one_round(store: &Store, data: &Path, round: u32) -> Vec<String> {
    let mut client = McpClient::start_with_data(&store.location(), KEY, "off", data);
    let text = |n: u32| format!("# Round {round}, text {n}\n\n{}the end.\n", "filler, ".repeat(2_000));
    let mut ids = Vec::new();
    for n in 0..SENT {
        let sent = client.post("write_plan", &json!({ "which": "findings", "content": text(n) })).unwrap();
        ids.push((sent, text(n)));
    }
    let mut answers: Vec<_> = (0..round).filter_map(|_| client.receive()).collect();
    let moment = Instant::now();
    while moment.elapsed() < Duration::from_micros(u64::from(round) * 1_371 % 9_000) {
        std::hint::spin_loop();
    }
    client.kill();
    answers.extend(client.drain());
    let is_done = |id: u64| answers.iter().any(|(answered, result)| *answered == id && result["isError"] != true);
    ids.into_iter().filter(|(id, _)| is_done(*id)).map(|(_, text)| text).collect()
}

async fn texts(engine: &Engine, session: &SessionIdentity) -> Vec<String> {
    let entries = engine.ledger().journal(session, 0, 100_000).await.unwrap();
    let content = |body: &str| {
        let entry: Value = serde_json::from_str(body).unwrap();
        entry["event"]["content"].as_str().map(str::to_owned)
    };
    entries.iter().filter_map(|entry| content(&entry.body)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_workbook_lose_nothing_and_a_third_on_another_is_not_in_their_way() {
    const EACH: usize = 25;
    let (store, data) = (Store::sqlite(), tempfile::tempdir().unwrap());
    let (session, folder) = begun(&store, data.path()).await;
    let location = store.location();
    // Each process has a section of its own in the one document.
    let sections = ["one", "two", "three"];
    let template = "# Work\n\n## one\n\n0\n\n## two\n\n0\n\n## three\n\n0\n";
    let mut first = McpClient::start_with_data(&location, KEY, "off", data.path());
    first.call("write_plan", &json!({ "which": "progress", "content": template }));
    first.close();
    let writers = sections.map(|section| {
        let (location, data) = (location.clone(), data.path().to_owned());
        std::thread::spawn(move || {
            let mut client = McpClient::start_with_data(&location, KEY, "off", &data);
            for n in 1..=EACH {
                let arguments = json!({ "which": "progress", "section": section, "content": format!("{section} {n}") });
                client.call("update_plan", &arguments);
            }
            client.close();
        })
    });
    let other = {
        let (location, data) = (location.clone(), data.path().to_owned());
        let engine = store.engine().await;
        let ada = Actor::person("ada", "cli");
        let another: SessionIdentity = "mcp:another-one".parse().unwrap();
        engine.sessions().open(&another, &ada).await.unwrap();
        engine.workbooks().switch_planning_files(&another, &ada, true).await.unwrap();
        std::thread::spawn(move || {
            let mut client = McpClient::start_with_data(&location, "another-one", "off", &data);
            client.call("init_plan", &json!({ "task_title": "Another" }));
            for n in 1..=EACH {
                client.call("write_plan", &json!({ "which": "progress", "content": format!("another {n}") }));
            }
            client.close();
        })
    };
    for writer in writers.into_iter().chain([other]) {
        writer.join().unwrap();
    }
    let engine = engine(&store, data.path()).await;
    let text = engine.workbooks().document(&session, DocumentKind::Progress).await.unwrap().text;
    let expected = sections.map(|section| format!("## {section}\n\n{section} {EACH}\n")).join("\n");
    assert_eq!(text, format!("# Work\n\n{expected}"));
    assert_eq!(std::fs::read_to_string(folder.join("progress.md")).unwrap(), text);
    let document = engine.workbooks().document(&session, DocumentKind::Progress).await.unwrap();
    assert_eq!(document.version as usize, 2 + sections.len() * EACH, "every write was made, and made once");
    let another = data.path().join("users/mcp-another-one/plan/progress.md");
    assert_eq!(std::fs::read_to_string(another).unwrap(), format!("another {EACH}"));
}
