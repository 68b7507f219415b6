//! The settings that all commands of a process share, and the start of a command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};

use crate::capture::Capture;
use crate::command::MAX_LINE;
use crate::driver::Driver;
use crate::environment::{Environment, Secrets};
use crate::paths::{View, ViewRequest};
use crate::program::ProgramAccess;
use crate::repositories::Repositories;
use crate::running::RunningCommand;
use crate::scratch::{self, Scratch};
use crate::{CommandLimits, SandboxError, SandboxLevel, ShellCommand, Support, platform};

#[derive(Debug, Clone, Default)]
pub struct SandboxOptions {
    /// The person's home folder. Commands get an empty one in its place, with the tools that are in it.
    pub home: Option<PathBuf>,
    /// Further folders and files that commands may read.
    pub readable: Vec<PathBuf>,
    /// Folders and files that commands never see: the data folder, the token.
    pub hidden: Vec<PathBuf>,
    /// Names of further variables that are passed on.
    pub passed_variables: Vec<String>,
    /// Where the folder is made that the root folders of commands are put together in. `None` is the system's folder for temporary files.
    pub scratch: Option<PathBuf>,
    pub layers: Layers,
}

/// The mechanisms that restrict a command. Tests switch some off to show what each of them refuses; a product uses all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers {
    pub namespaces: bool,
    pub landlock: bool,
    pub seccomp: bool,
}

impl Default for Layers {
    fn default() -> Self {
        Self { namespaces: true, landlock: true, seccomp: true }
    }
}

/// Starts commands. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    options: SandboxOptions,
    support: OnceLock<Support>,
    scratch: Mutex<Option<Arc<Scratch>>>,
}

/// What the supervisor runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Executable<'a> {
    /// A line for `/bin/sh`.
    Shell(&'a str),
    /// A program as it is named in the settings, without a shell.
    Program { name: &'a str, arguments: &'a [String] },
}

/// A command or a program before its view and its environment are known.
#[derive(Debug)]
pub(crate) struct StartOptions<'a> {
    pub(crate) executable: Executable<'a>,
    pub(crate) workspace: &'a Path,
    /// Relative to the workspace.
    pub(crate) cwd: &'a Path,
    pub(crate) level: SandboxLevel,
    pub(crate) environment: &'a [(String, String)],
    pub(crate) secrets: Secrets,
    pub(crate) access: &'a ProgramAccess,
    pub(crate) limits: &'a CommandLimits,
}

/// A command as the platform starts it.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems have fewer limits and layers"))]
pub(crate) struct CommandRequest<'a> {
    pub(crate) executable: Executable<'a>,
    /// Whether standard input is a pipe. Without one it is empty.
    pub(crate) has_input: bool,
    pub(crate) level: SandboxLevel,
    pub(crate) layers: Layers,
    pub(crate) view: &'a View,
    /// A restricted command has one.
    pub(crate) scratch: Option<&'a Scratch>,
    pub(crate) folder: &'a Path,
    /// Whether it has the network of this machine.
    pub(crate) network: bool,
    /// Whether its home folder is one that stays.
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "the variable and the view say it"))]
    pub(crate) has_own_home: bool,
    pub(crate) variables: &'a [(OsString, OsString)],
    pub(crate) limits: &'a CommandLimits,
}

impl Sandbox {
    pub fn new(options: SandboxOptions) -> Self {
        Self { shared: Arc::new(Shared { options, support: OnceLock::new(), scratch: Mutex::new(None) }) }
    }

    /// What this system can enforce. The first call tries it and takes some milliseconds; call it where blocking is
    /// permitted.
    pub fn support(&self) -> &Support {
        self.shared.support.get_or_init(|| platform::detect(|| self.shared.try_out()))
    }

    /// The person's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.shared.options.home.as_deref()
    }

    /// Removes the folders of processes that were killed. Returns how many there were.
    pub fn remove_leftovers(&self) -> usize {
        scratch::remove_leftovers(&self.shared.scratch_parent())
    }

    /// Returns when the sandbox stands and the shell starts. Everything that can be refused is refused here.
    pub async fn start(&self, command: ShellCommand) -> Result<RunningCommand, SandboxError> {
        let (chunks, received) = mpsc::channel(256);
        let (finished, result) = watch::channel(None);
        let (answer, started) = oneshot::channel();
        let sandbox = self.clone();
        let run = move || match sandbox.prepare(&command, chunks) {
            Ok((driver, capture, wake)) => {
                let running = RunningCommand::new(capture, received, wake, result);
                // If the caller has gone, `running` is dropped, which stops the command.
                let _ = answer.send(Ok(running));
                let _ = finished.send(Some(driver.run()));
            }
            Err(error) => drop(answer.send(Err(error))),
        };
        let failed = |reason: &dyn std::fmt::Display| SandboxError::Start(format!("its thread failed: {reason}"));
        std::thread::Builder::new().name("command".to_owned()).spawn(run).map_err(|error| failed(&error))?;
        started.await.map_err(|error| failed(&error))?
    }

    fn prepare(
        &self,
        command: &ShellCommand,
        chunks: mpsc::Sender<crate::OutputChunk>,
    ) -> Result<(Driver, Arc<Mutex<Capture>>, std::io::PipeWriter), SandboxError> {
        check_line(&command.line)?;
        self.check_enforceable(command.level)?;
        let started = self.shared.launch(command)?;
        let output = |source| SandboxError::OutputFile { path: command.output_file.clone(), source };
        let capture = Capture::create(&command.output_file, &command.limits).map_err(output)?;
        let capture = Arc::new(Mutex::new(capture));
        let (wake, waker) = std::io::pipe().map_err(|error| SandboxError::Start(error.to_string()))?;
        let driver = Driver::new(started, Arc::clone(&capture), chunks, wake, command.limits.clone());
        Ok((driver, capture, waker))
    }
}

impl Sandbox {
    /// Refuses a level that this system cannot enforce.
    pub(crate) fn check_enforceable(&self, level: SandboxLevel) -> Result<(), SandboxError> {
        if level.is_restricted()
            && self.shared.options.layers == Layers::default()
            && let Some(reason) = self.support().refusal(level)
        {
            return Err(SandboxError::NotEnforceable { level, reason });
        }
        Ok(())
    }
}

fn check_line(line: &str) -> Result<(), SandboxError> {
    if line.contains('\0') {
        return Err(SandboxError::NulByte);
    }
    if line.len() > MAX_LINE {
        return Err(SandboxError::TooLong { bytes: line.len(), limit: MAX_LINE });
    }
    Ok(())
}

impl Shared {
    fn scratch_parent(&self) -> PathBuf {
        self.options.scratch.clone().unwrap_or_else(std::env::temp_dir)
    }

    fn launch(&self, command: &ShellCommand) -> Result<(platform::Started, Option<Repositories>), SandboxError> {
        self.start(&StartOptions {
            executable: Executable::Shell(&command.line),
            workspace: &command.workspace,
            cwd: &command.cwd,
            level: command.level,
            environment: &command.environment,
            secrets: Secrets::Refused,
            access: &ProgramAccess::default(),
            limits: &command.limits,
        })
    }

    pub(crate) fn start(
        &self,
        command: &StartOptions<'_>,
    ) -> Result<(platform::Started, Option<Repositories>), SandboxError> {
        let own: Vec<_> = std::env::vars_os().collect();
        let (mut view, scratch) = match command.level {
            SandboxLevel::ReadOnly | SandboxLevel::Workspace => {
                let view = View::new(&ViewRequest {
                    level: command.level,
                    workspace: command.workspace,
                    home: self.options.home.as_deref(),
                    readable: &self.options.readable,
                    hidden: &self.options.hidden,
                    access: command.access,
                    variables: &own,
                })?;
                (view, Some(self.scratch()?))
            }
            SandboxLevel::Open => (View::unrestricted(command.workspace, self.options.home.as_deref())?, None),
        };
        let folder = working_folder(&view.workspace, command.cwd)?;
        let own_home = match (command.level, &command.access.home) {
            (SandboxLevel::Workspace, Some(home)) => home.canonicalize().ok(),
            (SandboxLevel::ReadOnly | SandboxLevel::Open, _) | (_, None) => None,
        };
        let environment = Environment {
            own: &own,
            passed: &self.options.passed_variables,
            configured: command.environment,
            secrets: command.secrets,
            home: own_home.as_deref().unwrap_or(&view.home),
            temporary: command.level.is_restricted().then_some(Path::new("/tmp")),
        };
        let repositories = view.repositories.take();
        let started = platform::start(&CommandRequest {
            executable: command.executable,
            has_input: matches!(command.executable, Executable::Program { .. }),
            level: command.level,
            layers: self.options.layers,
            view: &view,
            scratch: scratch.as_deref(),
            folder: &folder,
            network: command.access.network,
            has_own_home: own_home.is_some(),
            variables: &environment.variables(),
            limits: command.limits,
        })?;
        Ok((started, repositories))
    }

    /// Made by the first restricted command. A folder that something removed since is made again.
    fn scratch(&self) -> Result<Arc<Scratch>, SandboxError> {
        let mut made = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        match made.as_ref().filter(|scratch| scratch.exists()) {
            Some(scratch) => Ok(Arc::clone(scratch)),
            None => {
                let scratch = Arc::new(Scratch::new(&self.scratch_parent()).map_err(SandboxError::Scratch)?);
                *made = Some(Arc::clone(&scratch));
                Ok(scratch)
            }
        }
    }

    /// Starts and ends a command that does nothing, at the default level, in an empty workspace.
    fn try_out(&self) -> Result<(), SandboxError> {
        let workspace = tempfile::tempdir_in(self.scratch_parent()).map_err(SandboxError::Scratch)?;
        let command = ShellCommand {
            line: ":".to_owned(),
            workspace: workspace.path().to_owned(),
            cwd: PathBuf::new(),
            level: SandboxLevel::Workspace,
            environment: Vec::new(),
            output_file: PathBuf::new(),
            limits: CommandLimits::default(),
        };
        let (mut started, _) = self.launch(&command)?;
        started.kill();
        let _ = started.reap();
        Ok(())
    }
}

/// The folder that the command starts in. The kernel resolves it again, inside of the sandbox.
fn working_folder(workspace: &Path, cwd: &Path) -> Result<PathBuf, SandboxError> {
    let refused = || SandboxError::WorkingFolder { path: cwd.to_owned() };
    let folder = workspace.join(cwd).canonicalize().map_err(|_| refused())?;
    if folder.starts_with(workspace) && folder.is_dir() { Ok(folder) } else { Err(refused()) }
}
