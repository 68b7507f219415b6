//! Commands on systems other than Linux. On macOS `sandbox-exec` restricts them; elsewhere only level `open` runs.
//!
//! A command is a process group. A process that leaves the group, or the death of this program, leaves it running.

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::SandboxError;
use crate::command::CommandEnd;
use crate::program::find_program;
use crate::sandbox::{CommandRequest, Executable};
use crate::support::{Support, SupportItem};

#[derive(Debug)]
pub(crate) struct Started {
    /// `None` without a pipe for standard input, and once it is taken.
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
    /// Closed when the shell has ended.
    status: PipeReader,
    ended: Arc<Mutex<Option<ExitStatus>>>,
    group: i32,
}

pub(crate) fn start(request: &CommandRequest<'_>) -> Result<Started, SandboxError> {
    let failed = |error: std::io::Error| SandboxError::Start(error.to_string());
    let (stdout, to_stdout) = std::io::pipe().map_err(failed)?;
    let (stderr, to_stderr) = std::io::pipe().map_err(failed)?;
    let (status, mut to_status) = std::io::pipe().map_err(failed)?;
    let input = request.has_input.then(std::io::pipe).transpose().map_err(failed)?;
    let mut command = executed(request)?;
    command
        .env_clear()
        .envs(request.variables.iter().map(|(name, value)| (name.clone(), private_value(request, name, value))))
        .current_dir(request.folder)
        .stdout(to_stdout)
        .stderr(to_stderr)
        .process_group(0);
    let stdin = match input {
        Some((from_stdin, stdin)) => {
            command.stdin(from_stdin);
            Some(stdin)
        }
        None => {
            command.stdin(Stdio::null());
            None
        }
    };
    let mut child = command.spawn().map_err(failed)?;
    drop(command);
    let group = i32::try_from(child.id()).unwrap_or(i32::MAX);
    let ended = Arc::new(Mutex::new(None));
    let shared = Arc::clone(&ended);
    std::thread::spawn(move || {
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = child.wait().ok();
        let _ = to_status.write_all(b".");
    });
    Ok(Started { stdin, stdout, stderr, status, ended, group })
}

/// The private folders stand for the home folder and for `/tmp`, which cannot be replaced here.
fn private_value(request: &CommandRequest<'_>, name: &OsString, value: &OsString) -> OsString {
    match (name.to_str(), request.scratch) {
        (Some("HOME"), Some(scratch)) if !request.has_own_home => scratch.home().into(),
        (Some("TMPDIR"), Some(scratch)) => scratch.temporary().into(),
        (_, _) => value.clone(),
    }
}

fn executed(request: &CommandRequest<'_>) -> Result<Command, SandboxError> {
    let (program, arguments): (PathBuf, Vec<&str>) = match request.executable {
        Executable::Shell(line) => ("/bin/sh".into(), vec!["-c", line]),
        Executable::Program { name, arguments } => {
            let path = find_program(name, request.folder, request.variables)?;
            (path, arguments.iter().map(String::as_str).collect())
        }
    };
    #[cfg(target_os = "macos")]
    if let Some(scratch) = request.scratch {
        let profile = crate::macos::profile(request.view, &scratch.temporary(), &scratch.home(), request.network);
        let mut command = Command::new("/usr/bin/sandbox-exec");
        command.arg("-p").arg(profile).arg(program).args(arguments);
        return Ok(command);
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

impl Started {
    pub(crate) fn report(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    pub(crate) fn take_report(&mut self) -> bool {
        let ended =
            !matches!(self.status.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::Interrupted);
        if ended {
            self.signal(libc::SIGKILL);
        }
        ended
    }

    pub(crate) fn terminate(&mut self) {
        self.signal(libc::SIGTERM);
    }

    pub(crate) fn kill(&mut self) {
        self.signal(libc::SIGKILL);
    }

    pub(crate) fn kill_supervisor(&mut self) {
        self.signal(libc::SIGKILL);
    }

    pub(crate) fn reap(&mut self) -> CommandEnd {
        let status = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        match status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => CommandEnd::Exited { code },
            Some((None, Some(signal))) => CommandEnd::Signalled { signal },
            Some((None, None)) | None => CommandEnd::Lost { reason: "its status is unknown".to_owned() },
        }
    }

    #[allow(unsafe_code, reason = "the standard library sends no signals to groups")]
    fn signal(&self, signal: i32) {
        // SAFETY: plain numbers; the kernel checks them.
        unsafe { libc::kill(-self.group, signal) };
    }
}

pub(crate) fn detect(trial: impl FnOnce() -> Result<(), SandboxError>) -> Support {
    let item = if cfg!(target_os = "macos") {
        match trial() {
            Ok(()) => SupportItem::available("sandbox-exec", "a profile restricts files and network".to_owned()),
            Err(error) => SupportItem::missing("sandbox-exec", error.to_string()),
        }
    } else {
        SupportItem::missing("sandbox", "there is none for this system".to_owned())
    };
    Support::of(vec![item.required()])
}
