//! Everything that the checker looks at, collected once the faults are over.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use crate::checker;
use crate::history::{Attempt, History};
use crate::http;
use crate::provider::ModelCall;
use crate::server::{Addresses, SERVERS, Settings, TIMEOUT};

/// The entries of each session's journal, as the API shows them.
pub(crate) type Journals = BTreeMap<String, Vec<Value>>;

#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) history: History,
    pub(crate) journals: Journals,
    pub(crate) model_calls: Vec<ModelCall>,
    /// Model calls that came after everything was settled.
    pub(crate) late_model_calls: usize,
    /// What is on the disk, by session and path.
    pub(crate) files: BTreeMap<(String, String), String>,
    pub(crate) verified: Verified,
    /// How many faults may have cost a session an answer of the model.
    pub(crate) interruptions: usize,
    /// The processes that were frozen at some time.
    pub(crate) frozen: Vec<String>,
    pub(crate) nudges: u32,
}

/// What `planwright verify` said.
#[derive(Debug, Clone)]
pub(crate) struct Verified {
    pub(crate) exit: Option<i32>,
    pub(crate) sessions: Vec<String>,
    pub(crate) expected: String,
}

/// Reads the journals until every session is settled, or until its time is up.
pub(crate) async fn settle(addresses: &Addresses, sessions: &[String]) -> Journals {
    let begin = tokio::time::Instant::now();
    let mut journals = Journals::new();
    loop {
        for session in sessions {
            let known = journals.entry(session.clone()).or_default();
            read_journal(addresses, session, known).await;
        }
        let settled = journals.values().all(|entries| checker::is_settled(entries));
        if settled || begin.elapsed() > TIMEOUT {
            return journals;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Adds what is new in a journal. What cannot be read now is read the next time.
pub(crate) async fn read_journal(addresses: &Addresses, session: &str, known: &mut Vec<Value>) {
    for address in (0..SERVERS).filter_map(|server| addresses.of(server)) {
        if read_at(address, session, known).await.is_some() {
            return;
        }
    }
}

async fn read_at(address: SocketAddr, session: &str, known: &mut Vec<Value>) -> Option<()> {
    loop {
        let after = known.last().and_then(|entry| entry["seq"].as_u64()).unwrap_or(0);
        let path = format!("/api/sessions/{session}/journal?after={after}&limit=200");
        let Attempt::Answered { status: 200, body } = http::get(address, &path).await else { return None };
        known.extend(body["entries"].as_array()?.iter().cloned());
        if body["next"].is_null() {
            return Some(());
        }
    }
}

pub(crate) async fn verify(settings: &Settings) -> Verified {
    let output = settings.planwright().args(["verify", "--json"]).output().await.unwrap();
    let view: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let sessions = view["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    Verified {
        exit: output.status.code(),
        sessions: sessions.iter().filter_map(|session| Some(session["sessionId"].as_str()?.to_owned())).collect(),
        expected: format!("{view} {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The files that the sessions' tools wrote. Where servers share them, a backup brings all of them into one folder.
pub(crate) async fn files(settings: &Settings, sessions: &[String]) -> BTreeMap<(String, String), String> {
    if settings.shares_files {
        let archive = settings.logs.join("archive.tar");
        let output = settings.planwright().arg("backup").arg(archive).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let data = settings.data_of(0);
    let mut files = BTreeMap::new();
    for session in sessions {
        let Ok(folder) = std::fs::read_dir(data.join("users").join(format!("web-{session}")).join("files")) else {
            continue;
        };
        for file in folder.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let content = std::fs::read_to_string(file.path()).unwrap_or_else(|error| format!("({error})"));
            files.insert((session.clone(), name), content);
        }
    }
    files
}
