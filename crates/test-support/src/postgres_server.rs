//! A PostgreSQL of a test's own that is reached over the network, with or without TLS. Its certificates are made by `openssl`.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::stores::client;

/// Who may sign in how. `ada` may from everywhere, with a password, and `postgres` without one.
const HBA: &str = "local all all trust\n\
    local replication all trust\n\
    hostssl all tls_only all scram-sha-256\n\
    hostnossl all plain_only all scram-sha-256\n\
    hostssl all certified all cert\n\
    host all ada all scram-sha-256\n\
    host all postgres all trust\n";
const ROLES: &str = "CREATE ROLE ada SUPERUSER LOGIN PASSWORD 's3cret';
    CREATE ROLE tls_only SUPERUSER LOGIN PASSWORD 's3cret';
    CREATE ROLE plain_only SUPERUSER LOGIN PASSWORD 's3cret';
    CREATE ROLE certified SUPERUSER LOGIN;";
/// How often another port is tried, if another program took the first one.
const MAX_STARTS: usize = 5;

/// The certificate that the server shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTls {
    Off,
    /// For the name `localhost`, signed by the authority in `ca.crt`.
    Signed,
    /// For `localhost` as the common name and by no other name, signed by the authority.
    SignedCommonName,
    /// Signed by itself, and marked as an authority's, as `openssl req -x509` makes it.
    SelfSigned,
}

#[derive(Debug)]
pub struct PostgresServer {
    bin: PathBuf,
    owner: Option<(u32, u32)>,
    folder: TempDir,
    pub port: u16,
}

impl PostgresServer {
    /// With a database `plans` and the users of [`HBA`], whose password is `s3cret`.
    pub async fn start(tls: ServerTls) -> Self {
        let bin = find_programs().expect("initdb, pg_basebackup and pg_ctl are in PATH or below /usr/lib/postgresql");
        // A socket's path has room for about a hundred characters.
        let folder = tempfile::Builder::new().prefix("pw-pg.").tempdir_in("/tmp").unwrap();
        let mut server = Self { bin, owner: owner(), folder, port: 0 };
        make_certificates(server.folder.path());
        server.hand_over(server.folder.path());
        let data = server.path("data");
        let arguments =
            ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D", &data];
        server.run("initdb", &arguments).unwrap();
        std::fs::write(Path::new(&data).join("pg_hba.conf"), HBA).unwrap();
        let started = (0..MAX_STARTS).any(|_| {
            server.port = free_port();
            server.start_at_port(tls).is_ok()
        });
        assert!(
            started,
            "PostgreSQL did not start: {}",
            std::fs::read_to_string(server.path("log")).unwrap_or_default()
        );
        let admin = client(&server.socket_url("postgres")).await;
        admin.batch_execute(ROLES).await.unwrap();
        admin.batch_execute("CREATE DATABASE plans OWNER ada").await.unwrap();
        server
    }

    /// Another server that receives everything this one writes, and takes writes once it is promoted. From here on a commit waits
    /// for it.
    pub async fn standby(&self) -> Self {
        let folder = tempfile::Builder::new().prefix("pw-pg.").tempdir_in("/tmp").unwrap();
        let mut standby = Self { bin: self.bin.clone(), owner: self.owner, folder, port: 0 };
        standby.hand_over(standby.folder.path());
        let (from, port, data) =
            (self.folder.path().display().to_string(), self.port.to_string(), standby.path("data"));
        let copy =
            ["-h", &from, "-p", &port, "-U", "postgres", "-D", &data, "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        standby.run("pg_basebackup", &copy).unwrap();
        let started = (0..MAX_STARTS).any(|_| {
            standby.port = free_port();
            standby.start_at_port(ServerTls::Off).is_ok()
        });
        assert!(started, "{}", std::fs::read_to_string(standby.path("log")).unwrap_or_default());
        let admin = client(&self.socket_url("postgres")).await;
        admin.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
        admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let waits_for_it = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        while admin.query_one(waits_for_it, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::task::yield_now().await;
        }
        standby
    }

    /// Ends it at once, as a machine that loses its power.
    pub fn kill(&self) {
        self.run("pg_ctl", &["-D", &self.path("data"), "-m", "immediate", "-s", "stop"]).unwrap();
    }

    /// It answers nothing any more and keeps its connections, as a machine that froze. Until it is dropped.
    pub fn freeze(&self) {
        self.signal("STOP");
    }

    /// Sends a signal to all of its processes.
    fn signal(&self, signal: &str) {
        let pids = std::fs::read_to_string(Path::new(&self.path("data")).join("postmaster.pid")).unwrap_or_default();
        let Some(first) = pids.lines().next() else { return };
        let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap_or_default();
        let all = std::iter::once(first).chain(children.split_whitespace());
        let sent = Command::new("kill").arg(format!("-{signal}")).args(all).stderr(Stdio::null()).status();
        sent.expect("kill is installed");
    }

    /// Makes a standby the one that takes writes.
    pub fn promote(&self) {
        self.run("pg_ctl", &["-D", &self.path("data"), "-w", "-t", "60", "-s", "promote"]).unwrap();
    }

    /// Ends it, and starts it with another certificate at the same port.
    pub fn restart(&self, tls: ServerTls) {
        let data = self.path("data");
        self.run("pg_ctl", &["-D", &data, "-m", "fast", "-w", "-t", "60", "stop"]).unwrap();
        self.start_at_port(tls).unwrap();
    }

    /// A file in the server's folder: `ca.crt`, `other.crt` (an authority that signed nothing), `server.crt`, `client.crt` and
    /// `client.key` (of the user `certified`), and `other.key` (which belongs to no certificate).
    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A URL over TCP, with `parameters` after the question mark.
    pub fn url(&self, user: &str, host: &str, parameters: &str) -> String {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        format!("postgres://{user}@{host}:{}/plans?{parameters}", self.port)
    }

    /// The way past the network, where no password is asked for.
    pub fn socket_url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&port={}&user=postgres", self.folder.path().display(), self.port)
    }

    fn start_at_port(&self, tls: ServerTls) -> Result<(), String> {
        let folder = self.folder.path().display();
        let certificate = match tls {
            ServerTls::Off => None,
            ServerTls::Signed => Some("server"),
            ServerTls::SignedCommonName => Some("named"),
            ServerTls::SelfSigned => Some("self"),
        };
        let tls = certificate.map_or_else(String::new, |name| {
            format!(
                "-c ssl=on -c ssl_cert_file={folder}/{name}.crt -c ssl_key_file={folder}/{name}.key -c ssl_ca_file={folder}/ca.crt"
            )
        });
        let settings = format!(
            "-c listen_addresses=127.0.0.1,::1 -c port={} -c unix_socket_directories='{folder}' -c max_connections=60 \
             -c fsync=off -c password_encryption=scram-sha-256 {tls}",
            self.port
        );
        let (data, log) = (self.path("data"), self.path("log"));
        self.run("pg_ctl", &["-D", &data, "-l", &log, "-o", &settings, "-w", "-t", "60", "start"])
    }

    /// Gives a folder and what is in it to the user of the server.
    fn hand_over(&self, folder: &Path) {
        let Some((user, group)) = self.owner else { return };
        let chown = |path: &Path| std::os::unix::fs::chown(path, Some(user), Some(group)).unwrap();
        chown(folder);
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            // The client's key is the tester's.
            if !path.ends_with("client.key") && !path.ends_with("other.key") {
                chown(&path);
            }
        }
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

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.signal("CONT");
        let data = self.path("data");
        let _ = self.run("pg_ctl", &["-D", &data, "-m", "immediate", "-s", "stop"]);
    }
}

/// A port that nothing listens on now.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn make_certificates(folder: &Path) {
    authority(folder, "ca");
    authority(folder, "other");
    authority_like(folder, "self", "localhost");
    signed(folder, "server", "anything", "subjectAltName=DNS:localhost\n");
    signed(folder, "named", "localhost", "basicConstraints=CA:FALSE\n");
    signed(folder, "client", "certified", "basicConstraints=CA:FALSE\n");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "key") {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

const KEY: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

fn authority(folder: &Path, name: &str) {
    authority_like(folder, name, &format!("authority {name}"));
}

fn authority_like(folder: &Path, name: &str, common_name: &str) {
    let (key, certificate, subject) = (format!("{name}.key"), format!("{name}.crt"), format!("/CN={common_name}"));
    let rest = ["-keyout", &key, "-out", &certificate, "-subj", &subject, "-days", "30"];
    openssl(folder, &[&["req", "-x509"][..], &KEY, &rest].concat());
}

fn signed(folder: &Path, name: &str, common_name: &str, extensions: &str) {
    let [key, request, certificate, extra] = ["key", "csr", "crt", "ext"].map(|kind| format!("{name}.{kind}"));
    let subject = format!("/CN={common_name}");
    openssl(folder, &[&["req"][..], &KEY, &["-keyout", &key, "-out", &request, "-subj", &subject]].concat());
    std::fs::write(folder.join(&extra), extensions).unwrap();
    let by = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30"];
    let arguments = ["x509", "-req", "-in", &request, "-out", &certificate, "-extfile", &extra];
    openssl(folder, &[&arguments[..], &by].concat());
}

fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.expect("openssl is installed (Debian and Ubuntu: apt-get install openssl)");
    assert!(output.status.success(), "openssl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The folder with the server's programs: from PATH, else the newest that Debian keeps beside it.
fn find_programs() -> Option<PathBuf> {
    let complete =
        |folder: &Path| ["initdb", "pg_basebackup", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).exists());
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
fn owner() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let of = |name: &str| id(&["-u", name]).zip(id(&["-g", name]));
    Some(of("postgres").or_else(|| of("nobody")).expect("there is a user to run PostgreSQL as"))
}
