//! A thousand clients, each following a session of its own: how long an entry takes to reach its client once it is on disk,
//! and what they cost in memory.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures::{SinkExt as _, StreamExt as _};
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::core as planwright_core;
use planwright_store::Location;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::post;
use super::program::Program;
use super::wire::Wire;
use crate::figures::Kind::{Other, Time};
use crate::figures::{self, Table};
use crate::ledger;

const FOLLOWERS: usize = 1_000;
const WRITES: usize = 2_000;

/// An entry that reached its client.
struct Arrived {
    follower: usize,
    seq: u64,
    at: Instant,
}

/// On a server that has done nothing else, so that its memory is theirs.
pub(super) async fn run(program: &Path, data: &Path) -> anyhow::Result<()> {
    let server = Program::start(program, data).await?;
    let engine = ledger::open(&Location::Sqlite(server.store())).await?;
    measure(&server, &engine).await?;
    server.stop().await
}

async fn measure(server: &Program, engine: &Engine) -> anyhow::Result<()> {
    let sessions = ledger::sessions(engine, FOLLOWERS).await?;
    let before = server.memory()?;
    let (tell, mut arrived) = mpsc::unbounded_channel();
    for (follower, session) in sessions.iter().enumerate() {
        follow(server, follower, session, tell.clone()).await?;
    }
    let after = server.memory()?;
    let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    figures::remark(&format!(
        "\n{FOLLOWERS} clients, each following its own session; {WRITES} entries, one after another"
    ));

    let columns = &[("p50 ms", Time), ("p99 ms", Time), ("most ms", Time)];
    let table = Table::new("followers", "written by", columns);
    let mut wire = Wire::connect(server).await?;
    let mut written = HashMap::new();
    for n in 0..WRITES {
        let session = &sessions[n % FOLLOWERS];
        let switch = if (n / FOLLOWERS).is_multiple_of(2) { "disable" } else { "enable" };
        let body = json!({ "sessionId": session.conversation.as_str(), "channel": session.channel.as_str() });
        wire.ask(&post(&format!("/api/plans/{switch}"), &body.to_string())).await?.is_good()?;
        let seq = engine.ledger().session(session).await?.context("the session is gone")?.head.seq;
        written.insert((n % FOLLOWERS, seq), Instant::now());
    }
    table.row("the server itself", arrivals(written, &mut arrived).await?)?;

    let mut written = HashMap::new();
    for n in 0..WRITES {
        let (session, by) = (&sessions[n % FOLLOWERS], ledger::agent());
        let committed = if (n / FOLLOWERS).is_multiple_of(2) {
            engine.sessions().disable_plan_mode(session, &by).await?
        } else {
            engine.sessions().enable_plan_mode(session, &by, PlanStyle::Document).await?
        };
        written.insert((n % FOLLOWERS, committed.seq), Instant::now());
    }
    table.row("another process", arrivals(written, &mut arrived).await?)?;
    let table = Table::new("followers", "memory", &[("MiB", Other)]);
    for (when, bytes) in [("before", before), ("with them", after), ("afterwards", server.memory()?)] {
        table.row(when, [mib(bytes)])?;
    }
    Ok(())
}

async fn follow(
    server: &Program,
    follower: usize,
    session: &SessionIdentity,
    tell: mpsc::UnboundedSender<Arrived>,
) -> anyhow::Result<()> {
    let mut request = format!("ws://{}/ws", server.address()).into_client_request()?;
    request.headers_mut().insert("authorization", format!("Bearer {}", server.token()).parse()?);
    let small = WebSocketConfig::default().read_buffer_size(4 * 1024).write_buffer_size(0);
    let (mut socket, _) = tokio_tungstenite::connect_async_with_config(request, Some(small), true).await?;
    let subscribe = json!({
        "type": "subscribe", "sessionId": session.conversation.as_str(), "channel": session.channel.as_str(),
    });
    socket.send(Message::text(subscribe.to_string())).await?;
    let first = socket.next().await.context("the server hung up")??;
    anyhow::ensure!(first.to_text()?.contains("\"subscribed\""), "{first}");
    tokio::spawn(async move {
        while let Some(Ok(frame)) = socket.next().await {
            let at = Instant::now();
            let Ok(frame) = serde_json::from_str::<Value>(frame.to_text().unwrap_or_default()) else { continue };
            let seq = frame["seq"].as_u64().unwrap_or_default();
            if frame.get("event").is_some() && tell.send(Arrived { follower, seq, at }).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// How long the entries took from being acknowledged to their clients: half of them, 99 of 100, and all.
async fn arrivals(
    mut written: HashMap<(usize, u64), Instant>,
    arrived: &mut mpsc::UnboundedReceiver<Arrived>,
) -> anyhow::Result<[f64; 3]> {
    let mut took = Vec::with_capacity(written.len());
    let timeout = tokio::time::sleep(Duration::from_secs(10));
    tokio::pin!(timeout);
    while !written.is_empty() {
        tokio::select! {
            entry = arrived.recv() => {
                let Arrived { follower, seq, at } = entry.context("every follower has ended")?;
                if let Some(committed) = written.remove(&(follower, seq)) {
                    // It may be there before its writer has heard that it is on disk.
                    took.push(at.saturating_duration_since(committed).as_secs_f64() * 1e3);
                }
            }
            () = &mut timeout => anyhow::bail!("{} of {WRITES} entries did not arrive", written.len()),
        }
    }
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    Ok([at(0.5), at(0.99), at(1.0)])
}
