//! The world around an attempt: secrets, sockets and processes that the attempt tries to reach.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use planwright_sandbox::{CommandLimits, Layers, Sandbox, SandboxLevel, SandboxOptions, ShellCommand};

use crate::attempts::{Attempt, Needs, SECRET};
use crate::calls::{SharedMemory, effective_user};

/// What an attempt led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Attempted {
    Escaped,
    /// The number of the error.
    Refused(i32),
    /// The kernel does not have what the attempt is about.
    Absent(String),
}

pub(crate) fn trial(attempt: &'static Attempt) -> Trial {
    Trial::test(attempt.name, move || check(attempt))
}

fn check(attempt: &Attempt) -> Result<(), Failed> {
    let open = match attempted(attempt, SandboxLevel::Open, Layers::default())? {
        Ok(attempted) => attempted,
        Err(detail) => return Err(format!("at level open: {detail}").into()),
    };
    match (&open, attempt.needs) {
        (Attempted::Escaped, _) => {}
        (Attempted::Refused(errno), Needs::Root) if effective_user() != 0 => {
            println!(
                "{}: without a sandbox only root can do it (error {errno}); only the refusal is tested",
                attempt.name
            );
        }
        (Attempted::Absent(detail), _) => {
            println!("{}: skipped, this kernel does not have it: {detail}", attempt.name);
            return Ok(());
        }
        (Attempted::Refused(errno), _) => {
            return Err(format!("without a sandbox it was refused with error {errno}: the attempt is broken").into());
        }
    }
    for level in [SandboxLevel::ReadOnly, SandboxLevel::Workspace] {
        if attempt.needs == Needs::ReadOnlyLevel && level == SandboxLevel::Workspace {
            continue;
        }
        match attempted(attempt, level, Layers::default())? {
            Ok(Attempted::Refused(_)) => {}
            Ok(other) => return Err(format!("at level {level}: {other:?}").into()),
            // The refusal of the level itself was checked for its words.
            Err(detail) => println!("{}: skipped at level {level}: {detail}", attempt.name),
        }
    }
    Ok(())
}

/// A sandbox that fails to start would skip every attempt. Another program says whether this system permits namespaces.
pub(crate) fn check_support() -> Result<(), Failed> {
    let permitted = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--pid", "--mount-proc", "--fork", "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let support = Sandbox::new(SandboxOptions::default()).support().clone();
    match support.refusal(SandboxLevel::Workspace) {
        Some(reason) if permitted => Err(format!("this system permits namespaces, and yet: {reason}").into()),
        Some(reason) => {
            println!("this system forbids namespaces: {reason}");
            Ok(())
        }
        None => Ok(()),
    }
}

/// `Err` inside if this system does not enforce the level.
pub(crate) fn attempted(
    attempt: &Attempt,
    level: SandboxLevel,
    layers: Layers,
) -> Result<Result<Attempted, String>, Failed> {
    let stage = Stage::new(attempt);
    let before = stage.state();
    let sandbox = stage.sandbox(layers);
    if layers == Layers::default()
        && let Some(reason) = sandbox.support().refusal(level)
    {
        return Ok(Err(reason));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let command = stage.command(attempt, level);
    let result = runtime.block_on(async { Ok::<_, Failed>(sandbox.start(command).await?.wait().await) })?;
    let text = result.output.text();
    let attempted = match text.lines().last().and_then(|line| line.split_once(' ')) {
        Some(("ESCAPED", _)) => Attempted::Escaped,
        Some(("REFUSED", errno)) => Attempted::Refused(errno.parse().map_err(|_| format!("no error number: {text}"))?),
        Some(("ABSENT", detail)) => Attempted::Absent(detail.to_owned()),
        Some(_) | None => return Err(format!("{level}: no result: {:?} {text}", result.end).into()),
    };
    let changed = match (&attempted, attempt.changes) {
        (Attempted::Escaped, true) => changes_soon(|| stage.state() != before),
        _ => stage.state() != before,
    };
    match (&attempted, attempt.changes) {
        (Attempted::Escaped, true) if !changed => Err(format!("{level}: nothing changed outside: {text}").into()),
        (Attempted::Refused(_), _) if changed => Err(format!("{level}: refused, but the outside changed").into()),
        _ => Ok(Ok(attempted)),
    }
}

/// A process that was signalled and a server that was sent something take a moment.
fn changes_soon(changed: impl Fn() -> bool) -> bool {
    (0..1000).any(|_| {
        changed() || {
            std::thread::sleep(Duration::from_millis(5));
            false
        }
    })
}

struct Stage {
    folder: tempfile::TempDir,
    victim: Child,
    tcp: u16,
    udp: u16,
    memory: SharedMemory,
    shared_file: tempfile::NamedTempFile,
}

impl Stage {
    fn new(attempt: &Attempt) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["workspace/inner", "workspace/.git/hooks", "outside/folder", "home/.ssh", "data", "scratch"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for file in ["outside/secret", "home/.ssh/id_ed25519", "data/token"] {
            fs::write(root.join(file), SECRET).unwrap();
        }
        fs::write(root.join("workspace/own"), "mine").unwrap();
        symlink(root.join("outside/secret"), root.join("outside/link")).unwrap();
        serve_stream(UnixListener::bind(root.join("outside/stream")).unwrap());
        serve_stream(UnixListener::bind_addr(&SocketAddr::from_abstract_name(abstract_name(&root)).unwrap()).unwrap());
        let datagrams = UnixDatagram::bind(root.join("outside/datagram")).unwrap();
        let received = root.join("outside/received");
        std::thread::spawn(move || {
            let mut buffer = [0; 16];
            let count = datagrams.recv(&mut buffer).unwrap_or(0);
            fs::write(received, &buffer[..count])
        });
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let ports = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        std::thread::spawn(move || tcp.accept().and_then(|(mut stream, _)| stream.write_all(SECRET.as_bytes())));
        std::thread::spawn(move || {
            let mut buffer = [0; 16];
            let (_, from) = udp.recv_from(&mut buffer)?;
            udp.send_to(SECRET.as_bytes(), from)
        });
        if effective_user() == 0 && attempt.name == "setuid_program" {
            let other = root.join("workspace/other-user");
            fs::copy(helper(), &other).unwrap();
            std::os::unix::fs::chown(&other, Some(65534), Some(65534)).unwrap();
            fs::set_permissions(&other, fs::Permissions::from_mode(0o4755)).unwrap();
        }
        let victim = Command::new("/bin/sleep")
            .arg("600")
            .env("VICTIM_SECRET", SECRET)
            .current_dir(root.join("outside"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut shared_file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        shared_file.write_all(SECRET.as_bytes()).unwrap();
        Self { folder, victim, tcp: ports.0, udp: ports.1, memory: SharedMemory::new(b"secret"), shared_file }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn sandbox(&self, layers: Layers) -> Sandbox {
        Sandbox::new(SandboxOptions {
            home: Some(self.root().join("home")),
            readable: vec![helper().parent().unwrap().to_owned()],
            hidden: vec![self.root().join("data")],
            scratch: Some(self.root().join("scratch")),
            layers,
            ..SandboxOptions::default()
        })
    }

    fn command(&self, attempt: &Attempt, level: SandboxLevel) -> ShellCommand {
        let variables = [
            ("STAGE", self.root().display().to_string()),
            ("VICTIM", self.victim.id().to_string()),
            ("PLANWRIGHT", std::process::id().to_string()),
            ("TCP_PORT", self.tcp.to_string()),
            ("UDP_PORT", self.udp.to_string()),
            ("MEMORY_KEY", self.memory.key.to_string()),
            ("SHARED_FILE", self.shared_file.path().display().to_string()),
            ("HELPER", helper().display().to_string()),
        ];
        // PLANWRIGHT_… is never passed; this name is another.
        let environment = variables.map(|(name, value)| (format!("ESCAPE_{name}"), value)).into();
        ShellCommand {
            line: format!("{} attempt {}", helper().display(), attempt.name),
            workspace: self.root().join("workspace"),
            cwd: PathBuf::new(),
            level,
            environment,
            output_file: self.root().join("output"),
            limits: CommandLimits { timeout: Some(Duration::from_secs(60)), ..CommandLimits::default() },
        }
    }

    /// Everything an attempt could change: files with content, rights and times, and whether the victim lives.
    fn state(&self) -> (BTreeMap<PathBuf, String>, bool) {
        let mut found = BTreeMap::new();
        for folder in ["outside", "home", "data", "workspace/.git"] {
            collect(&self.root().join(folder), &mut found);
        }
        let status = fs::read_to_string(format!("/proc/{}/status", self.victim.id())).unwrap_or_default();
        let alive = status.lines().any(|line| line.starts_with("State:") && !line.contains("zombie"));
        let score = fs::read_to_string(format!("/proc/{}/oom_score_adj", self.victim.id())).unwrap_or_default();
        found.insert("victim".into(), score);
        (found, alive)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        // Each server waits for one client; one that had none gets it here, so that its thread ends.
        let root = self.root();
        let _ = TcpStream::connect(("127.0.0.1", self.tcp));
        let _ = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", ("127.0.0.1", self.udp)));
        let _ = UnixStream::connect(root.join("outside/stream"));
        let _ = SocketAddr::from_abstract_name(abstract_name(&root)).and_then(|name| UnixStream::connect_addr(&name));
        let _ = UnixDatagram::unbound().and_then(|socket| socket.send_to(b"x", root.join("outside/datagram")));
    }
}

/// The name of the abstract socket, unique to the stage.
pub(crate) fn abstract_name(root: &Path) -> String {
    format!("planwright-{}", root.file_name().unwrap().display())
}

fn serve_stream(listener: UnixListener) {
    std::thread::spawn(move || listener.accept().and_then(|(mut stream, _)| stream.write_all(SECRET.as_bytes())));
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    // The time of `received` says when a datagram came; its content is what counts.
    let mut detail = format!("{:o} {} {}", metadata.mode(), metadata.uid(), metadata.nlink());
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            collect(&entry.path(), found);
        }
    } else if metadata.is_file() {
        let mut content = String::new();
        fs::File::open(path).unwrap().read_to_string(&mut content).unwrap();
        detail.push_str(&format!(" {} {content} {}", metadata.mtime(), attributes(path)));
    }
    found.insert(path.to_owned(), detail);
}

fn attributes(path: &Path) -> usize {
    let name = crate::calls::text(path);
    crate::calls::call(libc::SYS_listxattr, &[name.as_ptr() as u64, 0, 0]).unwrap_or(0) as usize
}

/// A copy of this program in a folder that commands may read.
pub(crate) fn helper() -> &'static Path {
    static HELPER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = HELPER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().canonicalize().unwrap().join("helper");
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        (folder, path)
    });
    path
}
