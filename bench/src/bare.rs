//! The limits: what the disk and the databases do with no domain on top.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};

/// What an entry of the journal weighs, roughly.
const BODY: usize = 700;

/// Appends to a file, each followed by a flush to disk: how many a second.
pub(crate) fn flushes(folder: &Path, time: Duration) -> anyhow::Result<f64> {
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("flushes"))?;
    let block = [7_u8; 4096];
    let start = Instant::now();
    let mut count = 0_u32;
    while start.elapsed() < time {
        file.write_all(&block)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

/// A bare loop of group commits: one row for each caller, one flush for all that wait.
pub(crate) async fn group_commits(folder: &Path, callers: usize, time: Duration) -> anyhow::Result<f64> {
    let connection = Connection::open(folder.join(format!("bare-{callers}.db")))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.execute_batch("CREATE TABLE entry (id INTEGER PRIMARY KEY, caller INTEGER, body TEXT)")?;
    let (inbox, mut waiting) = mpsc::channel::<(usize, oneshot::Sender<()>)>(2_048);
    let writer = std::thread::spawn(move || -> rusqlite::Result<()> {
        let body = "x".repeat(BODY);
        let mut batch = Vec::new();
        while waiting.blocking_recv_many(&mut batch, 512) > 0 {
            connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for (caller, _) in &batch {
                connection
                    .prepare_cached("INSERT INTO entry (caller, body) VALUES (?1, ?2)")?
                    .execute(params![*caller as i64, body])?;
            }
            connection.prepare_cached("COMMIT")?.execute([])?;
            for (_, answer) in batch.drain(..) {
                let _ = answer.send(());
            }
        }
        Ok(())
    });
    let callers_inbox = inbox.clone();
    let rate = rate(callers, time, move |caller| {
        let inbox = callers_inbox.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            inbox.send((caller, answer)).await?;
            Ok(answered.await?)
        }
    })
    .await?;
    drop(inbox);
    writer.join().map_err(|_| anyhow::anyhow!("the bare writer failed"))??;
    Ok(rate)
}

/// Single-row commits on PostgreSQL, each caller on a connection of its own, as `pgbench` does it.
pub(crate) async fn postgres_rows(url: &str, callers: usize, time: Duration) -> anyhow::Result<f64> {
    // A server does not take 256 connections by default; past a hundred they only wait for each other.
    let mut clients = Vec::new();
    for _ in 0..callers.min(100) {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        clients.push(Arc::new(client));
    }
    clients[0]
        .batch_execute("CREATE TABLE IF NOT EXISTS bare_entry (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, caller bigint, body text)")
        .await?;
    let body = Arc::new("x".repeat(BODY));
    let mut prepared = Vec::new();
    for client in &clients {
        prepared.push(client.prepare("INSERT INTO bare_entry (caller, body) VALUES ($1, $2)").await?);
    }
    let (count, shared) = (clients.len(), clients.clone());
    let rate = rate(count, time, move |caller| {
        let (client, statement, body) = (Arc::clone(&shared[caller]), prepared[caller].clone(), Arc::clone(&body));
        async move {
            client.execute(&statement, &[&(caller as i64), body.as_ref()]).await?;
            Ok(())
        }
    })
    .await?;
    clients[0].batch_execute("DROP TABLE bare_entry").await?;
    Ok(rate)
}

/// How often a second `act` is done, by `callers` at once, each a task of its own that waits for its own.
pub(crate) async fn rate<F, A>(callers: usize, time: Duration, act: A) -> anyhow::Result<f64>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
    A: Fn(usize) -> F + Send + Sync + 'static,
{
    let act = Arc::new(act);
    let start = Instant::now();
    let work: Vec<_> = (0..callers)
        .map(|caller| {
            let act = Arc::clone(&act);
            tokio::spawn(async move {
                let mut done = 0_u64;
                while start.elapsed() < time {
                    act(caller).await?;
                    done += 1;
                }
                anyhow::Ok(done)
            })
        })
        .collect();
    let mut done = 0;
    for caller in work {
        done += caller.await??;
    }
    Ok(done as f64 / start.elapsed().as_secs_f64())
}
