//! The real program, serving a store of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

pub(crate) struct Program {
    child: Child,
    data: PathBuf,
    address: SocketAddr,
    token: String,
}

impl Program {
    pub(crate) async fn start(program: &Path, data: &Path) -> anyhow::Result<Self> {
        Self::start_with(program, data, None).await
    }

    /// On another database than the file in its folder.
    pub(crate) async fn start_with(program: &Path, data: &Path, database: Option<&str>) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        if let Some(database) = database {
            command.args(["--database", database]);
        }
        let mut child = command
            .args(["--json", "--data"])
            .arg(data)
            .args(["serve", "--listen", "127.0.0.1:0"])
            // What it may take from one client is not what is measured.
            .env("PLANWRIGHT_SERVER_REQUESTS_PER_SECOND", "1000000")
            .env("PLANWRIGHT_SERVER_BURST", "1000000")
            .env("PLANWRIGHT_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take().context("the server has no output")?;
        let line = BufReader::new(output).lines().next_line().await?.context("the server did not start")?;
        let ready: Value = serde_json::from_str(&line)?;
        let address = ready["address"].as_str().context("the server does not say where it listens")?;
        let address = address.trim_start_matches("http://").trim_end_matches('/').parse()?;
        let token = std::fs::read_to_string(data.join("token"))?.trim().to_owned();
        Ok(Self { child, data: data.to_owned(), address, token })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.data.join("planwright.db")
    }

    /// The memory it has in use, in bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        self.status("VmRSS:")
    }

    /// The memory in use that is not a part of a file, in bytes.
    pub(crate) fn own_memory(&self) -> anyhow::Result<u64> {
        self.status("RssAnon:")
    }

    fn status(&self, name: &str) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find(|line| line.starts_with(name)).with_context(|| format!("no {name}"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
        Ok(kilobytes * 1024)
    }

    /// The processor time that it has used.
    pub(crate) fn processor(&self) -> anyhow::Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id()?))?;
        // The name before it may have spaces in it. Times are in hundredths of a second.
        let (_, fields) = stat.rsplit_once(')').context("no name")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
    }

    fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("the server is gone")
    }

    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}
