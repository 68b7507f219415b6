//! What a store costs the server that has it, at several sizes. Nothing but the checks and the archive may grow with what is not
//! asked for.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use planwright_engine::ledger::{Ledger, RunsFilter};
use planwright_store::Location;
use tokio::process::Command;

use crate::figures::Kind::{Other, Time};
use crate::figures::{self, Table};
use crate::load;
use crate::serve::program::Program;
use crate::serve::wire::Wire;
use crate::times::Times;

const REQUESTS: usize = 40;
/// How long a server that has nothing to do is watched.
const IDLE: Duration = Duration::from_secs(5);
/// What the dashboard asks for on its first page.
const FIRST_PAGE: [&str; 3] = ["/api/inbox", "/api/sessions?limit=64", "/api/plans/recent?limit=16"];

/// Where the stores are: a folder, or a PostgreSQL database with a folder beside it for everything else.
pub(crate) struct Place {
    folder: PathBuf,
    database: Option<String>,
    /// Removed at the end, where only the database was named.
    _own: Option<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn new(text: &str) -> anyhow::Result<Self> {
        if text.starts_with("postgres:") || text.starts_with("postgresql:") {
            let own = tempfile::tempdir()?;
            return Ok(Self { folder: own.path().to_owned(), database: Some(text.to_owned()), _own: Some(own) });
        }
        Ok(Self { folder: PathBuf::from(text), database: None, _own: None })
    }

    pub(crate) fn location(&self) -> anyhow::Result<Location> {
        match &self.database {
            Some(database) => Ok(database.parse()?),
            None => Ok(Location::Sqlite(self.folder.join("planwright.db"))),
        }
    }

    async fn start(&self, program: &Path) -> anyhow::Result<Program> {
        Program::start_with(program, &self.folder, self.database.as_deref()).await
    }

    /// A command of the program on this store, and how long it took, in seconds.
    async fn timed(&self, program: &Path, arguments: &[&str]) -> anyhow::Result<f64> {
        let mut command = Command::new(program);
        if let Some(database) = &self.database {
            command.args(["--database", database]);
        }
        command.arg("--data").arg(&self.folder).args(arguments);
        timed(command).await
    }
}

async fn timed(mut command: Command) -> anyhow::Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let began = Instant::now();
    let output = command.spawn()?.wait_with_output().await?;
    anyhow::ensure!(output.status.success(), "{:?}: {}", command, String::from_utf8_lossy(&output.stderr));
    Ok(began.elapsed().as_secs_f64())
}

/// The sizes are loaded one after the other into one store, the smallest first.
pub(crate) async fn run(program: &Path, place: &Place, sizes: &[usize]) -> anyhow::Result<()> {
    for sessions in sizes {
        load::run(&place.location()?, *sessions).await?;
        let ledger = planwright_store::open(&place.location()?).await?;
        let present = ledger.count_sessions().await?;
        let take_over = take_over(ledger.as_ref()).await?;
        drop(ledger);
        measure_server(program, place, present, take_over).await?;
        measure_checks(program, place, present).await?;
    }
    Ok(())
}

/// What an idle server asks each second: work that no process does any more, and runs. In milliseconds.
async fn take_over(ledger: &dyn Ledger) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REQUESTS {
        let began = Instant::now();
        ledger.lease_owners(None, Duration::from_secs(60)).await?;
        ledger.unfinished(None, 256).await?;
        ledger.sessions_with_runs(RunsFilter::Running, None, 128).await?;
        times.push(began.elapsed());
    }
    Ok(Times::of(times).median)
}

async fn measure_server(program: &Path, place: &Place, present: u64, take_over: f64) -> anyhow::Result<()> {
    // Once without a look at it, so that the measured start makes nothing.
    place.start(program).await?.stop().await?;
    let began = Instant::now();
    let server = place.start(program).await?;
    let start = began.elapsed().as_secs_f64() * 1e3;
    let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    // What it does once at its start is over then.
    tokio::time::sleep(IDLE).await;
    let at_start = mib(server.own_memory()?);
    let used = server.processor()?;
    tokio::time::sleep(IDLE).await;
    let idle = (server.processor()? - used).as_secs_f64() * 1e3 / IDLE.as_secs_f64();
    let columns = &[
        ("start ms", Time),
        ("idle ms a second", Time),
        ("take-over ms", Time),
        ("memory, MiB", Other),
        ("afterwards, MiB", Other),
    ];
    let mut wire = Wire::connect(&server).await?;
    let lists: [(&str, &[&str]); 5] = [
        ("sessions ms", &["/api/sessions?limit=64"]),
        ("inbox ms", &["/api/inbox"]),
        ("search ms", &["/api/sessions?q=importer%20Jelgava"]),
        ("no hit ms", &["/api/sessions?q=zeppelin"]),
        ("first page ms", &FIRST_PAGE),
    ];
    let mut medians = Vec::new();
    for (what, paths) in lists {
        let times = ask(&mut wire, paths).await.with_context(|| what.to_owned())?;
        medians.push(times.median);
    }
    let afterwards = mib(server.own_memory()?);
    Table::new("scale", "sessions", columns).row(present, [start, idle, take_over, at_start, afterwards])?;
    let columns =
        &[("sessions ms", Time), ("inbox ms", Time), ("search ms", Time), ("no hit ms", Time), ("first page ms", Time)];
    Table::new("scale", "sessions", columns).row(present, medians)?;
    server.stop().await
}

/// Requests one after another, of which each `paths` is one.
async fn ask(wire: &mut Wire, paths: &[&str]) -> anyhow::Result<Times> {
    let mut times = Vec::new();
    let since = Instant::now();
    while times.len() < REQUESTS && (times.is_empty() || since.elapsed() < Duration::from_secs(60)) {
        let began = Instant::now();
        for path in paths {
            wire.ask(&format!("GET {path} HTTP/1.1\r\n")).await?.is_good()?;
        }
        times.push(began.elapsed());
    }
    Ok(Times::of(times))
}

async fn measure_checks(program: &Path, place: &Place, present: u64) -> anyhow::Result<()> {
    let verify = place.timed(program, &["verify"]).await?;
    let archive = place.folder.join("scale.tar.gz");
    let _ = std::fs::remove_file(&archive);
    let name = archive.to_str().context("the folder's name is no text")?;
    let backup = place.timed(program, &["backup", name]).await?;
    let size = std::fs::metadata(&archive)?.len() as f64 / f64::from(1 << 20);
    // Always into a file: a database of PostgreSQL has to be empty for it.
    let restored = tempfile::tempdir_in(&place.folder)?;
    let mut command = Command::new(program);
    command.arg("--data").arg(restored.path()).args(["restore", name]);
    let restore = match timed(command).await {
        Ok(seconds) => Some(seconds),
        Err(error) => {
            figures::left_out("restore", &error.to_string())?;
            None
        }
    };
    let columns = &[("verify s", Time), ("backup s", Time), ("archive, MiB", Other), ("restore s", Time)];
    let values = [Some(verify), Some(backup), Some(size), restore];
    Table::new("scale", "sessions", columns).row(present, values)?;
    std::fs::remove_file(&archive)?;
    Ok(())
}
