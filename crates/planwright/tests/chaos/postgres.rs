//! A PostgreSQL of its own, with a standby: it is killed, started again and replaced by its standby.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct Postgres {
    bin: PathBuf,
    owner: Option<(u32, u32)>,
    folder: TempDir,
    primary: &'static str,
    standby: Option<&'static str>,
}

/// `fsync` is off: a killed process loses nothing that it handed to the kernel. Commits are acknowledged once they are
/// handed over, which is what the store relies on.
const SETTINGS: &str = "-c listen_addresses='' -c max_connections=200 -c fsync=off -c full_page_writes=off \
                        -c synchronous_commit=on -c wal_level=replica -c max_wal_senders=4 -c hot_standby=on \
                        -c wal_retrieve_retry_interval=200ms";

impl Postgres {
    /// A primary, and a standby that has every commit before the client is told of it.
    pub(crate) fn start() -> Result<Self, String> {
        let bin = find_programs().ok_or("initdb, pg_ctl, pg_basebackup and psql are not in one folder")?;
        // A socket's path has room for about a hundred characters.
        let folder = tempfile::Builder::new().prefix("pw-chaos-pg.").tempdir_in("/tmp").map_err(|e| e.to_string())?;
        let owner = owner()?;
        if let Some((user, group)) = owner {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).map_err(|error| error.to_string())?;
        }
        let postgres = Self { bin, owner, folder, primary: "a", standby: Some("b") };
        let data = postgres.data("a");
        let arguments = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"];
        postgres.run("initdb", &[&arguments[..], &[&data]].concat())?;
        postgres.start_node("a")?;
        let (socket, data) = (postgres.socket("a"), postgres.data("b"));
        let copy = ["-R", "-X", "stream", "-c", "fast", "--no-sync", "-U", "postgres", "-h", &socket, "-D", &data];
        postgres.run("pg_basebackup", &copy)?;
        postgres.start_node("b")?;
        // After the copy, so that the promoted standby does not wait for a standby.
        for sql in ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"] {
            postgres.run("psql", &["-q", "-U", "postgres", "-h", &socket, "-c", sql])?;
        }
        Ok(postgres)
    }

    /// Both addresses: the program looks for the one that takes writes.
    pub(crate) fn url(&self) -> String {
        let (a, b) = (self.socket("a"), self.socket("b"));
        format!("postgres:///postgres?host={a}&host={b}&user=postgres&target_session_attrs=read-write")
    }

    /// Ends the primary as SIGQUIT does: at once, with nothing written in an orderly way.
    pub(crate) fn kill(&self) {
        let data = self.data(self.primary);
        self.run("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "-t", "60", "stop"]).unwrap();
    }

    pub(crate) fn start_again(&self) {
        self.start_node(self.primary).unwrap();
    }

    /// The standby takes over from a primary that is gone. Without a standby the primary comes back.
    pub(crate) fn promote_or_start_again(&mut self) {
        let Some(standby) = self.standby.take() else { return self.start_again() };
        self.run("pg_ctl", &["-D", &self.data(standby), "-w", "-t", "60", "promote"]).unwrap();
        self.primary = standby;
    }

    fn data(&self, node: &str) -> String {
        self.folder.path().join(node).join("data").display().to_string()
    }

    fn socket(&self, node: &str) -> String {
        self.folder.path().join(node).display().to_string()
    }

    fn start_node(&self, node: &str) -> Result<(), String> {
        let (data, socket) = (self.data(node), self.socket(node));
        let settings = format!("{SETTINGS} -c unix_socket_directories='{socket}'");
        let log = format!("{socket}/log");
        self.run("pg_ctl", &["-D", &data, "-l", &log, "-o", &settings, "-w", "-t", "60", "start"])
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(self.bin.join(program));
        command.args(arguments).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // PostgreSQL refuses to run as root.
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            failed => Err(format!("{program} {arguments:?}: {failed:?}")),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        for node in ["a", "b"] {
            let _ = self.run("pg_ctl", &["-D", &self.data(node), "-m", "immediate", "-s", "stop"]);
        }
    }
}

/// The folder with the server's programs: from PATH, else the newest that Debian keeps beside it.
fn find_programs() -> Option<PathBuf> {
    let complete =
        |folder: &Path| ["initdb", "pg_ctl", "pg_basebackup", "psql"].iter().all(|name| folder.join(name).exists());
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = std::env::split_paths(&paths).find(|folder| complete(folder)) {
        return Some(folder);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let found = versions.map(|version| version.path().join("bin")).filter(|folder| complete(folder));
    found.max_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name).unwrap_or_default();
        version.to_string_lossy().parse::<u32>().unwrap_or_default()
    })
}

/// The user and group that the server runs as, if it may not run as the current one.
fn owner() -> Result<Option<(u32, u32)>, String> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok()
    };
    if id(&["-u"]) != Some(0) {
        return Ok(None);
    }
    let of = |name: &str| id(&["-u", name]).zip(id(&["-g", name]));
    of("postgres").or_else(|| of("nobody")).map(Some).ok_or_else(|| "no user to run PostgreSQL as".to_owned())
}
