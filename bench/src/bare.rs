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

/// What a bare loop of group commits writes for each caller.
#[derive(Clone, Copy)]
pub(crate) enum Rows {
    /// One row, in a table without an index.
    One,
    /// The rows the ledger writes, in tables like its own: a journal entry with two indexes, and a plan.
    LikeTheLedger,
}

impl Rows {
    const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::LikeTheLedger => "like-the-ledger",
        }
    }

    fn write(self, connection: &Connection, caller: i64, seq: i64, body: &str) -> rusqlite::Result<()> {
        match self {
            Self::One => {
                let sql = "INSERT INTO entry (caller, body) VALUES (?1, ?2)";
                connection.prepare_cached(sql)?.execute(params![caller, body])?;
            }
            Self::LikeTheLedger => {
                let sql = "INSERT INTO journal (caller, seq, request, body) VALUES (?1, ?2, ?3, ?4)";
                connection.prepare_cached(sql)?.execute(params![caller, seq, format!("request-{seq:028}"), body])?;
                let sql =
                    "INSERT INTO plan (id, body) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body";
                connection.prepare_cached(sql)?.execute(params![format!("plan-{caller:031}"), body])?;
            }
        }
        Ok(())
    }
}

const TABLES: &str = "CREATE TABLE entry (id INTEGER PRIMARY KEY, caller INTEGER, body TEXT);
    CREATE TABLE journal (id INTEGER PRIMARY KEY, caller INTEGER, seq INTEGER, request TEXT, body TEXT);
    CREATE UNIQUE INDEX journal_order ON journal (caller, seq);
    CREATE UNIQUE INDEX journal_request ON journal (request);
    CREATE TABLE plan (row_id INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT);";

/// A bare loop of group commits: one transaction and one flush for all callers that wait, and no domain at all.
pub(crate) async fn group_commits(folder: &Path, rows: Rows, callers: usize, time: Duration) -> anyhow::Result<f64> {
    let connection = Connection::open(folder.join(format!("bare-{}-{callers}.db", rows.name())))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(TABLES)?;
    let (inbox, mut waiting) = mpsc::channel::<(usize, oneshot::Sender<()>)>(2_048);
    let writer = std::thread::spawn(move || -> rusqlite::Result<()> {
        let body = "x".repeat(BODY);
        let mut batch = Vec::new();
        let mut seq = 0;
        while waiting.blocking_recv_many(&mut batch, 512) > 0 {
            connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for (caller, _) in &batch {
                seq += 1;
                rows.write(&connection, *caller as i64, seq, &body)?;
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
    let clients = planwright_store::postgres_clients(url, callers.min(100)).await?;
    let clients: Vec<_> = clients.into_iter().map(Arc::new).collect();
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
