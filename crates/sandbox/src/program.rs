//! A program without a shell, with pipes to its standard input and output. It runs until it is stopped.

use std::ffi::{OsStr, OsString};
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::unix::pipe;
use tokio::sync::{oneshot, watch};

use crate::command::CommandEnd;
use crate::driver::{KILL, STOP};
use crate::environment::{DEFAULT_PATH, Secrets};
use crate::platform::Started;
use crate::sandbox::{Executable, StartOptions};
use crate::{CommandLimits, Sandbox, SandboxError, SandboxLevel, wait};

/// How long a supervisor may take to end after it was told to.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(12);

/// A program that a person configured.
#[derive(Debug, Clone)]
pub struct PipedProgram {
    /// A path, or a name that is looked for in `PATH`.
    pub name: String,
    pub arguments: Vec<String>,
    /// An existing folder. The program starts in it; at level `workspace` it writes below it.
    pub folder: PathBuf,
    pub level: SandboxLevel,
    /// Variables that the person configured for it, keys included. Those of Planwright are left out.
    pub environment: Vec<(String, String)>,
    /// What it reaches beside its folder.
    pub access: ProgramAccess,
    /// How long it may take to end before it is killed.
    pub grace: Duration,
}

/// What a restricted program reaches beside its folder, the system and tools. Level `open` needs none of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramAccess {
    /// Folders and files that it reads.
    pub readable: Vec<PathBuf>,
    /// Folders that it writes below at level `workspace`, and reads at level `read_only`.
    pub writable: Vec<PathBuf>,
    /// Folders that paths with `..` lead through. Inside of the sandbox they are empty, unless they are seen for another reason.
    pub passages: Vec<PathBuf>,
    /// Whether it has the network of this machine, with the services that listen on it.
    pub network: bool,
    /// An existing folder that is its home folder at level `workspace` and stays. Without one its home folder is empty at first and
    /// gone with it.
    pub home: Option<PathBuf>,
}

/// The ends of the pipes to a program. Must be used in the runtime that started it.
#[derive(Debug)]
pub struct ProgramPipes {
    pub stdin: pipe::Sender,
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
}

/// Dropping it kills the program with everything that the program started.
#[derive(Debug)]
pub struct ProgramHandle {
    wake: Arc<PipeWriter>,
    end: watch::Receiver<Option<CommandEnd>>,
}

impl Sandbox {
    /// Returns when the sandbox stands and the program starts.
    pub async fn start_program(&self, program: PipedProgram) -> Result<(ProgramPipes, ProgramHandle), SandboxError> {
        let (answer, started) = oneshot::channel();
        let (finished, end) = watch::channel(None);
        let sandbox = self.clone();
        let run = move || match sandbox.prepare_program(&program) {
            Ok((mut started, wake, waker)) => {
                let pipes = take_pipes(&mut started);
                // If the caller has gone, the waker is dropped with the answer, which kills the program.
                let _ = answer.send(pipes.map(|pipes| (pipes, waker)));
                let _ = finished.send(Some(supervise(started, wake, program.grace)));
            }
            Err(error) => drop(answer.send(Err(error))),
        };
        let failed = |reason: &dyn std::fmt::Display| SandboxError::Start(format!("its thread failed: {reason}"));
        std::thread::Builder::new().name("program".to_owned()).spawn(run).map_err(|error| failed(&error))?;
        let ((stdin, stdout, stderr), waker) = started.await.map_err(|error| failed(&error))??;
        let failed = |error: std::io::Error| SandboxError::Start(format!("its pipes cannot be used: {error}"));
        let handle = ProgramHandle { wake: Arc::new(waker), end };
        let pipes = ProgramPipes {
            stdin: pipe::Sender::from_owned_fd(stdin).map_err(failed)?,
            stdout: pipe::Receiver::from_owned_fd(stdout).map_err(failed)?,
            stderr: pipe::Receiver::from_owned_fd(stderr).map_err(failed)?,
        };
        Ok((pipes, handle))
    }

    fn prepare_program(&self, program: &PipedProgram) -> Result<(Started, PipeReader, PipeWriter), SandboxError> {
        self.check_enforceable(program.level)?;
        let limits = CommandLimits { grace: program.grace, ..CommandLimits::default() };
        let (started, _) = self.shared.start(&StartOptions {
            executable: Executable::Program { name: &program.name, arguments: &program.arguments },
            workspace: &program.folder,
            cwd: Path::new(""),
            level: program.level,
            environment: &program.environment,
            secrets: Secrets::OfThePerson,
            access: &program.access,
            limits: &limits,
        })?;
        let (wake, waker) = std::io::pipe().map_err(|error| SandboxError::Start(error.to_string()))?;
        Ok((started, wake, waker))
    }
}

type OwnedPipes = (OwnedFd, OwnedFd, OwnedFd);

/// Takes the ends out, so that the supervising thread does not keep them open.
fn take_pipes(started: &mut Started) -> Result<OwnedPipes, SandboxError> {
    let failed = |error: std::io::Error| SandboxError::Start(error.to_string());
    let stdin = started.stdin.take().ok_or_else(|| SandboxError::Start("it has no standard input".to_owned()))?;
    let (closed_out, _) = std::io::pipe().map_err(failed)?;
    let (closed_err, _) = std::io::pipe().map_err(failed)?;
    let stdout = std::mem::replace(&mut started.stdout, closed_out);
    let stderr = std::mem::replace(&mut started.stderr, closed_err);
    Ok((stdin.into(), stdout.into(), stderr.into()))
}

/// Waits for the end of the program, and ends it when it is told to.
fn supervise(mut started: Started, mut wake: PipeReader, grace: Duration) -> CommandEnd {
    let (mut until, mut is_stopped, mut is_killed, mut waking) = (None, false, false, true);
    loop {
        let time = until.map(|until: Instant| until.saturating_duration_since(Instant::now()));
        let [reported, woken] = wait::readable_of([Some(started.report()), waking.then(|| wake.as_fd())], time);
        if reported && started.take_report() {
            break;
        }
        if woken {
            let mut byte = [0];
            is_stopped = true;
            match wake.read(&mut byte) {
                Ok(1) if byte == [STOP] => {
                    started.terminate();
                    until = Some(Instant::now() + grace);
                }
                // The handle was dropped, or asks to kill.
                Ok(_) | Err(_) => {
                    waking = false;
                    until = Some(Instant::now());
                }
            }
        }
        if until.is_some_and(|until| until <= Instant::now()) {
            if is_killed {
                started.kill_supervisor();
                break;
            }
            started.kill();
            is_killed = true;
            until = Some(Instant::now() + SHUTDOWN_TIMEOUT);
        }
    }
    let end = started.reap();
    if is_stopped { CommandEnd::Stopped } else { end }
}

impl ProgramHandle {
    /// Asks the program to end, and kills it after its grace time.
    pub fn stop(&self) {
        let _ = (&*self.wake).write_all(&[STOP]);
    }

    pub fn kill(&self) {
        let _ = (&*self.wake).write_all(&[KILL]);
    }

    /// Why it ended, if it has.
    pub fn end(&self) -> Option<CommandEnd> {
        self.end.borrow().clone()
    }

    /// Waits for the end. Dropping the future does not end the program.
    pub async fn wait(&self) -> CommandEnd {
        let mut end = self.end.clone();
        let ended = end.wait_for(Option::is_some).await.ok().and_then(|end| end.clone());
        ended.unwrap_or_else(|| CommandEnd::Lost { reason: "the thread of the program ended".to_owned() })
    }
}

impl Drop for ProgramHandle {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The file of a program as an absolute path, and the `PATH` that it was looked for in: the given one, that of this process or,
/// without any, the usual one. A relative path begins in the folder.
pub fn locate_program(name: &str, folder: &Path, path: Option<&str>) -> Result<(String, String), SandboxError> {
    let own = || std::env::var("PATH").ok();
    let path = path.map(str::to_owned).or_else(own).unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let file = find_program(name, folder, &[("PATH".into(), path.clone().into())])?;
    let file = file.into_os_string().into_string().map_err(|_| SandboxError::NoProgram(name.to_owned()))?;
    Ok((file, path))
}

/// The file of a program: a path as it is, a name in the folders of `PATH` that the program gets.
pub(crate) fn find_program(
    name: &str,
    folder: &Path,
    variables: &[(OsString, OsString)],
) -> Result<PathBuf, SandboxError> {
    let is_executable = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let missing = || SandboxError::NoProgram(name.to_owned());
    if name.contains('/') {
        let path = folder.join(name);
        return if is_executable(&path) { Ok(path) } else { Err(missing()) };
    }
    let paths = variables.iter().find(|(variable, _)| variable == OsStr::new("PATH")).map(|(_, value)| value);
    let found = paths.and_then(|paths| {
        std::env::split_paths(paths)
            .map(|folder| folder.join(name))
            .find(|path| path.is_absolute() && is_executable(path))
    });
    found.ok_or_else(missing)
}
