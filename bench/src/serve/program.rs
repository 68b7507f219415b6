//! The real program, serving a store of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

pub(super) struct Program {
    child: Child,
    data: PathBuf,
    address: SocketAddr,
    token: String,
}

impl Program {
    pub(super) async fn start(program: &Path, data: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
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

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn store(&self) -> PathBuf {
        self.data.join("planwright.db")
    }

    /// The memory it has in use, in bytes.
    pub(super) fn memory(&self) -> anyhow::Result<u64> {
        let id = self.child.id().context("the server is gone")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
        let kilobytes: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
        Ok(kilobytes * 1024)
    }

    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}
