//! The server: a plan read and written over HTTP beside an empty handler of the same server and the bare ledger, and many
//! clients that each follow a session of their own.

mod followers;
pub(crate) mod program;
pub(crate) mod wire;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planwright_core::command::{Command, DraftCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::core as planwright_core;
use planwright_store::Location;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::bare::rate;
use crate::figures::Kind::{Other, Rate};
use crate::figures::{self, Kind, Table};
use crate::ledger;
use program::Program;
use wire::Wire;

const TIME: Duration = Duration::from_secs(3);
const CALLERS: [usize; 3] = [1, 16, 64];
const COLUMNS: [(&str, Kind); 7] = [
    ("empty/s", Rate),
    ("read/s", Rate),
    ("304/s", Rate),
    ("write/s", Rate),
    ("ledger/s", Rate),
    ("read / empty", Other),
    ("write / ledger", Other),
];

pub(crate) async fn run(program: &Path, folder: &TempDir) -> anyhow::Result<()> {
    let server = Program::start(program, &folder.path().join("served")).await?;
    let engine = ledger::open(&Location::Sqlite(server.store())).await?;
    let what = "read: GET /api/plans/ID, write: POST /api/plans/enable and disable in turn";
    figures::remark(&format!("{} s each; {what}", TIME.as_secs()));
    let table = Table::new("serve", "callers", &COLUMNS);
    for callers in CALLERS {
        let sessions = ledger::sessions(&engine, callers).await?;
        let plans = plans(&engine, &sessions).await?;
        let empty = ask(&server, callers, |_| get("/healthz", &[])).await?;
        let paths = Arc::clone(&plans);
        let read = ask(&server, callers, move |caller| get(&paths[caller], &[])).await?;
        let tags = tags(&server, &plans).await?;
        let unchanged =
            ask(&server, callers, move |caller| get(&plans[caller], &[("If-None-Match", &tags[caller])])).await?;
        let write = written(&server, &sessions).await?;
        let bare = ledger::open(&Location::Sqlite(folder.path().join(format!("bare-ledger-{callers}.db")))).await?;
        let bare = switched(&bare, callers).await?;
        table.row(callers, [empty, read, unchanged, write, bare, read / empty, write / bare])?;
    }
    server.stop().await?;
    followers::run(program, &folder.path().join("followed")).await
}

/// The addresses of the active plans, each with a small text.
async fn plans(engine: &Engine, sessions: &[SessionIdentity]) -> anyhow::Result<Arc<Vec<String>>> {
    let mut paths = Vec::with_capacity(sessions.len());
    for session in sessions {
        engine.sessions().ensure_plan_mode(session, &ledger::agent(), Some(PlanStyle::Document)).await?;
        let draft = DraftCommand::SetContent { markdown: ledger::another_text(), title: None };
        engine.submit(session, &ledger::agent(), Command::Draft(draft)).await?;
        let plan = engine.plans().active(session).await?;
        let (key, channel) = (&session.conversation, session.channel);
        paths.push(format!("/api/plans/{}?sessionId={key}&channel={channel}", plan.id));
    }
    Ok(Arc::new(paths))
}

async fn tags(server: &Program, paths: &[String]) -> anyhow::Result<Vec<String>> {
    let mut wire = Wire::connect(server).await?;
    let mut tags = Vec::with_capacity(paths.len());
    for path in paths {
        let answer = wire.ask(&get(path, &[])).await?;
        tags.push(answer.tag.ok_or_else(|| anyhow::anyhow!("{path} has no ETag"))?);
    }
    Ok(tags)
}

fn get(path: &str, headers: &[(&str, &str)]) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("GET {path} HTTP/1.1\r\n{headers}")
}

/// Answers a second, each caller on a connection of its own.
async fn ask(
    server: &Program,
    callers: usize,
    request: impl Fn(usize) -> String + Send + Sync + 'static,
) -> anyhow::Result<f64> {
    let wires = wires(server, callers).await?;
    rate(callers, TIME, move |caller| {
        let (wire, request) = (Arc::clone(&wires[caller]), request(caller));
        async move { wire.lock().await.ask(&request).await?.is_good() }
    })
    .await
}

async fn written(server: &Program, sessions: &Arc<Vec<SessionIdentity>>) -> anyhow::Result<f64> {
    let wires = wires(server, sessions.len()).await?;
    let sessions = Arc::clone(sessions);
    let each = rate(sessions.len(), TIME, move |caller| {
        let (wire, session) = (Arc::clone(&wires[caller]), sessions[caller].clone());
        async move {
            let mut wire = wire.lock().await;
            for switch in ["disable", "enable"] {
                let body = json!({ "sessionId": session.conversation.as_str(), "channel": session.channel.as_str() });
                wire.ask(&post(&format!("/api/plans/{switch}"), &body.to_string())).await?.is_good()?;
            }
            Ok(())
        }
    })
    .await?;
    Ok(2.0 * each)
}

fn post(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\n{body}", body.len())
}

/// Measures the same requests without a server: the engine is called directly.
async fn switched(engine: &Engine, callers: usize) -> anyhow::Result<f64> {
    let sessions = ledger::sessions(engine, callers).await?;
    let engine = engine.clone();
    let each = rate(callers, TIME, move |caller| {
        let (engine, sessions) = (engine.clone(), Arc::clone(&sessions));
        async move {
            engine.sessions().disable_plan_mode(&sessions[caller], &ledger::agent()).await?;
            engine.sessions().enable_plan_mode(&sessions[caller], &ledger::agent(), PlanStyle::Document).await?;
            Ok(())
        }
    })
    .await?;
    Ok(2.0 * each)
}

async fn wires(server: &Program, count: usize) -> anyhow::Result<Arc<Vec<Arc<Mutex<Wire>>>>> {
    let mut wires = Vec::with_capacity(count);
    for _ in 0..count {
        wires.push(Arc::new(Mutex::new(Wire::connect(server).await?)));
    }
    Ok(Arc::new(wires))
}
