//! `planwright serve` as processes that can be killed, frozen and started again.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::http;
use crate::provider::Provider;

/// Turns a run that hangs into one that fails. Nothing takes that long.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const SERVERS: usize = 2;
/// A frozen server loses its sessions to the other one after this time.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
pub(crate) const NUDGES: u32 = 1;

/// Where a server's log goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    File,
    /// A pipe that is closed at the other end.
    Closed,
    /// A device that is always full.
    Full,
    /// A pipe that is full, and that no process reads.
    Stalled,
}

/// What all servers share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) database: String,
    pub(crate) data: PathBuf,
    /// Each server has a folder of its own below that one, and they share the files of sessions in the database.
    pub(crate) shares_files: bool,
    pub(crate) logs: PathBuf,
    pub(crate) provider: Provider,
    /// The servers' files can be limited in size, and a write beyond it fails instead of ending the process.
    pub(crate) limited_files: bool,
}

#[derive(Debug)]
pub(crate) struct Server {
    index: usize,
    starts: u32,
    settings: Settings,
    addresses: Addresses,
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    /// Kept open, because writing to a closed pipe ends a process.
    _output: BufReader<ChildStdout>,
    /// The other end of a stalled log.
    _unread: Option<std::io::PipeReader>,
}

/// Where each server listens now. Clients look here before each attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses(Arc<Mutex<[Option<SocketAddr>; SERVERS]>>);

impl Addresses {
    pub(crate) fn of(&self, server: usize) -> Option<SocketAddr> {
        self.0.lock().unwrap()[server]
    }

    fn set(&self, server: usize, address: Option<SocketAddr>) {
        self.0.lock().unwrap()[server] = address;
    }
}

impl Settings {
    /// The data folder of a server.
    pub(crate) fn data_of(&self, server: usize) -> PathBuf {
        if self.shares_files { self.data.join(format!("server-{server}")) } else { self.data.clone() }
    }

    /// The program with these settings and nothing of the tester's own environment.
    pub(crate) fn planwright(&self) -> Command {
        let program = env!("CARGO_BIN_EXE_planwright");
        let mut command = Command::new(if self.limited_files { "sh" } else { program });
        if self.limited_files {
            command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", program]);
        }
        command.env_clear().env("USER", "ada").env("PLANWRIGHT_DATABASE", &self.database);
        command.env("PLANWRIGHT_DATA", self.data_of(0)).env("PLANWRIGHT_TOKEN", http::TOKEN);
        if self.shares_files {
            command.env("PLANWRIGHT_FILES_STORE", "database");
        }
        command.env("PLANWRIGHT_PLAN_NUDGES", NUDGES.to_string()).env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }
}

impl Server {
    pub(crate) fn new(index: usize, settings: Settings, addresses: Addresses) -> Self {
        Self { index, starts: 0, settings, addresses, process: None }
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The name of the current process in the provider's notes.
    pub(crate) fn process_name(&self) -> String {
        format!("{}-{}", self.index, self.starts)
    }

    /// Starts it again and again until it listens: its store may be away.
    pub(crate) async fn start(&mut self) {
        let begin = tokio::time::Instant::now();
        while let Err(reason) = self.try_start(Log::File).await {
            assert!(begin.elapsed() < TIMEOUT, "server {} does not start: {reason}", self.index);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits until it says that it is ready.
    pub(crate) async fn try_start(&mut self, log: Log) -> Result<(), String> {
        self.starts += 1;
        let (stderr, unread) = self.log(log);
        let mut command = self.settings.planwright();
        command.env("PLANWRIGHT_DATA", self.settings.data_of(self.index));
        command.env("PLANWRIGHT_MODEL", "openai:test").env("OPENAI_API_KEY", "a-key");
        command.env("OPENAI_BASE_URL", self.settings.provider.address_for(&self.process_name()));
        command.env("PLANWRIGHT_SERVER_LEASE_SECONDS", LEASE.as_secs().to_string());
        command.env("PLANWRIGHT_SERVER_GRACE_SECONDS", "5");
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let ready = tokio::time::timeout(Duration::from_secs(30), output.read_line(&mut line)).await;
        let ready: Option<Value> = ready.ok().and_then(|_| serde_json::from_str(&line).ok());
        let address = ready.as_ref().and_then(|ready| ready["address"].as_str()?.strip_prefix("http://")?.parse().ok());
        let Some(address) = address else {
            let _ = child.kill().await;
            let path = self.log_file();
            return Err(format!("it said {line:?} and logged {:?}", std::fs::read_to_string(path)));
        };
        self.process = Some(Process { child, _output: output, _unread: unread });
        self.addresses.set(self.index, Some(address));
        Ok(())
    }

    fn log_file(&self) -> PathBuf {
        self.settings.logs.join(format!("server-{}.log", self.process_name()))
    }

    fn log(&self, log: Log) -> (Stdio, Option<std::io::PipeReader>) {
        match log {
            Log::File => (std::fs::File::create(self.log_file()).unwrap().into(), None),
            Log::Closed => {
                let (_, writer) = std::io::pipe().unwrap();
                (writer.into(), None)
            }
            Log::Full => (std::fs::File::options().write(true).open("/dev/full").unwrap().into(), None),
            Log::Stalled => {
                let (reader, mut writer) = std::io::pipe().unwrap();
                // As much as a pipe holds on Linux.
                writer.write_all(&[b'\n'; 65_536]).unwrap();
                (writer.into(), Some(reader))
            }
        }
    }

    pub(crate) async fn signal(&self, name: &str) {
        let Some(id) = self.process.as_ref().and_then(|process| process.child.id()) else { return };
        let sent = Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).status().await;
        assert!(sent.is_ok_and(|status| status.success()), "kill -{name} of server {}", self.index);
    }

    /// Limits the size of the files it writes, which is a full disk for this one process.
    pub(crate) async fn limit_files(&self, limit: &str) {
        let Some(id) = self.process.as_ref().and_then(|process| process.child.id()) else { return };
        let _ = Command::new("prlimit").args(["--pid", &id.to_string(), &format!("--fsize={limit}")]).status().await;
    }

    pub(crate) async fn kill(&mut self) {
        self.addresses.set(self.index, None);
        if let Some(mut process) = self.process.take() {
            let _ = process.child.kill().await;
        }
    }

    /// Asks it to stop and returns its exit code; `None` if it does not end, or is ended by a signal.
    pub(crate) async fn terminate(&mut self) -> Option<i32> {
        self.signal("TERM").await;
        self.addresses.set(self.index, None);
        let mut process = self.process.take()?;
        match tokio::time::timeout(Duration::from_secs(30), process.child.wait()).await {
            Ok(status) => status.ok()?.code(),
            Err(_) => {
                let _ = process.child.kill().await;
                None
            }
        }
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.addresses.of(self.index)
    }
}
