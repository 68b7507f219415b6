//! Commands on Linux.

mod landlock;
mod layout;
mod memory;
mod report;
mod seccomp;
mod supervisor;
mod sys;
mod user_map;

use std::ffi::{CString, OsString, c_char};
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use crate::command::CommandEnd;
use crate::program::find_program;
use crate::sandbox::{CommandRequest, Executable};
use crate::support::{Support, SupportItem};
use crate::{SandboxError, wait};
use layout::LayoutFolders;
use memory::MemoryGroup;
use report::{MESSAGE_BYTES, Report, Step};
use supervisor::{Descriptors, Launch, Namespaces};

/// Without the one for the network, which a program that has the network of this machine does not get.
const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// How long the supervisor may take to put everything in place. A network folder that does not answer takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A command with its supervisor.
#[derive(Debug)]
pub(crate) struct Started {
    /// `None` without a pipe for standard input, and once it is taken.
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
    status: PipeReader,
    /// Closing it ends the command with everything it started.
    life: Option<PipeWriter>,
    supervisor: OwnedFd,
    pid: i32,
    in_namespaces: bool,
    /// Removed after the end of the command.
    group: Option<MemoryGroup>,
    ended: Option<CommandEnd>,
}

pub(crate) fn start(request: &CommandRequest<'_>) -> Result<Started, SandboxError> {
    let failed = |reason: String| SandboxError::Start(reason);
    let layers = request.layers;
    let restricted = request.level.is_restricted();
    let null = File::options().read(true).write(true).open("/dev/null").map_err(|error| failed(error.to_string()))?;
    let [(stdout, to_stdout), (stderr, to_stderr), (from_life, life), (status, to_status)] = pipes()?;
    let input = request.has_input.then(std::io::pipe).transpose().map_err(|error| failed(error.to_string()))?;
    let (program, arguments) = command_of(request)?;
    let landlock = (restricted && layers.landlock && sys::landlock_abi().is_ok())
        .then(|| landlock::Rules::new(request.view))
        .transpose()
        .map_err(failed)?;
    let seccomp = (restricted && layers.seccomp).then(seccomp::program).transpose().map_err(failed)?;
    let namespaces = request.scratch.filter(|_| restricted && layers.namespaces).map(|scratch| {
        let (user, group) = sys::user();
        let map = |id: u32| CString::new(format!("{id} {id} 1")).unwrap_or_default();
        let places = LayoutFolders {
            root: &scratch.root(),
            empty_folder: &scratch.empty_folder(),
            empty_file: &scratch.empty_file(),
        };
        let layout = layout::steps(request.view, &places, request.limits);
        Namespaces { user_map: map(user), group_map: map(group), own_network: !request.network, layout }
    });
    let in_namespaces = namespaces.is_some();
    let group = request.limits.memory.and_then(MemoryGroup::new);
    let launch = Launch {
        no_new_privileges: restricted,
        folder: layout::text(request.folder),
        program,
        arguments,
        environment: request.variables.iter().filter_map(variable).collect(),
        processes: in_namespaces.then_some(request.limits.processes),
        memory: request.limits.memory,
        descriptors: Descriptors {
            null: null.as_raw_fd(),
            stdin: input.as_ref().map_or(null.as_raw_fd(), |(from_stdin, _)| from_stdin.as_raw_fd()),
            stdout: to_stdout.as_raw_fd(),
            stderr: to_stderr.as_raw_fd(),
            life: from_life.as_raw_fd(),
            status: to_status.as_raw_fd(),
            ruleset: landlock.as_ref().map_or(-1, |rules| rules.ruleset.as_raw_fd()),
            group: group.as_ref().map_or(-1, MemoryGroup::descriptor),
        },
        namespaces,
        landlock,
        seccomp,
    };
    let (supervisor, pid) = copy_process(&launch).map_err(|sys::Errno(errno)| {
        let tried =
            if in_namespaces { "making user, mount, process and network namespaces" } else { "copying a process" };
        failed(format!("{tried} failed: {}", std::io::Error::from_raw_os_error(errno)))
    })?;
    drop((to_stdout, to_stderr, from_life, to_status));
    let stdin = input.map(|(_, stdin)| stdin);
    let mut started =
        Started { stdin, stdout, stderr, status, life: Some(life), supervisor, pid, in_namespaces, group, ended: None };
    started.await_ready(&launch)?;
    Ok(started)
}

fn pipes() -> Result<[(PipeReader, PipeWriter); 4], SandboxError> {
    let pipe = || std::io::pipe().map_err(|error| SandboxError::Start(format!("making a pipe failed: {error}")));
    Ok([pipe()?, pipe()?, pipe()?, pipe()?])
}

/// The file that is executed, and its arguments from the first one, which is the name of the program.
fn command_of(request: &CommandRequest<'_>) -> Result<(CString, Vec<CString>), SandboxError> {
    match request.executable {
        Executable::Shell(line) => Ok((c"/bin/sh".to_owned(), vec![c"sh".to_owned(), c"-c".to_owned(), text(line)?])),
        Executable::Program { name, arguments } => {
            let path = find_program(name, request.folder, request.variables)?;
            let arguments = std::iter::once(name).chain(arguments.iter().map(String::as_str)).map(text);
            Ok((layout::text(&path), arguments.collect::<Result<_, _>>()?))
        }
    }
}

fn text(text: &str) -> Result<CString, SandboxError> {
    CString::new(text).map_err(|_| SandboxError::NulByte)
}

fn variable((name, value): &(OsString, OsString)) -> Option<CString> {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
}

/// Signals stay blocked in the copy until it has reset their handlers, which belong to this program.
fn copy_process(launch: &Launch) -> sys::Result<(OwnedFd, i32)> {
    let pointers = |texts: &[CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(&launch.arguments), pointers(&launch.environment));
    let flags = match &launch.namespaces {
        Some(Namespaces { own_network: true, .. }) => NAMESPACES | libc::CLONE_NEWNET,
        Some(Namespaces { own_network: false, .. }) => NAMESPACES,
        None => 0,
    };
    let before = sys::block_signals();
    let copied = sys::clone_process(flags);
    match copied {
        Ok(None) => supervisor::run(launch, &arguments, &environment),
        Ok(Some(supervisor)) => {
            sys::unblock_signals(&before);
            Ok(supervisor)
        }
        Err(errno) => {
            sys::unblock_signals(&before);
            Err(errno)
        }
    }
}

impl Started {
    fn await_ready(&mut self, launch: &Launch) -> Result<(), SandboxError> {
        if wait::readable([self.status.as_fd()], Some(START_TIMEOUT)) != [true] {
            self.kill();
            return Err(SandboxError::Start(format!(
                "the sandbox was not ready after {} seconds",
                START_TIMEOUT.as_secs()
            )));
        }
        let failure = match self.read_report() {
            Some(Report::Ready) => return Ok(()),
            Some(Report::Failed { step, errno }) => {
                let detail = match (step, &launch.namespaces) {
                    (Step::Layout(index), Some(namespaces)) => {
                        namespaces.layout.get(usize::from(index)).map_or(step.describe(), |step| step.detail.as_str())
                    }
                    (_, _) => step.describe(),
                };
                format!("{detail} failed: {}", std::io::Error::from_raw_os_error(errno))
            }
            Some(Report::Ended { .. }) | None => "its supervisor ended".to_owned(),
        };
        self.kill();
        let _ = sys::wait_blocking(self.pid);
        Err(SandboxError::Start(failure))
    }

    fn read_report(&mut self) -> Option<Report> {
        let mut message = [0; MESSAGE_BYTES];
        self.status.read_exact(&mut message).ok()?;
        Report::parse(message)
    }

    /// Readable when [`take_report`](Self::take_report) has something to do.
    pub(crate) fn report(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    /// Whether the supervisor has nothing more to say.
    pub(crate) fn take_report(&mut self) -> bool {
        match self.read_report() {
            Some(Report::Ended { status }) => {
                self.ended = Some(if libc::WIFSIGNALED(status) {
                    CommandEnd::Signalled { signal: libc::WTERMSIG(status) }
                } else {
                    CommandEnd::Exited { code: libc::WEXITSTATUS(status) }
                });
                false
            }
            Some(Report::Failed { step, errno }) => {
                let reason = format!("{} failed: {}", step.describe(), std::io::Error::from_raw_os_error(errno));
                self.ended = Some(CommandEnd::Lost { reason });
                false
            }
            Some(Report::Ready) => false,
            None => true,
        }
    }

    /// Asks the command to end.
    pub(crate) fn terminate(&mut self) {
        if let Some(life) = &mut self.life {
            let _ = life.write_all(&[supervisor::TERMINATE]);
        }
    }

    /// Ends everything the command started. Without namespaces the supervisor does it.
    pub(crate) fn kill(&mut self) {
        self.life = None;
        if self.in_namespaces {
            sys::kill_by_descriptor(self.supervisor.as_raw_fd());
        }
    }

    /// For a supervisor that does not end: something stopped it.
    pub(crate) fn kill_supervisor(&mut self) {
        self.life = None;
        sys::kill_by_descriptor(self.supervisor.as_raw_fd());
    }

    /// The result, after the supervisor has nothing more to say.
    pub(crate) fn reap(&mut self) -> CommandEnd {
        let _ = sys::wait_blocking(self.pid);
        drop(self.group.take());
        let lost = || CommandEnd::Lost { reason: "the supervisor of the command was killed".to_owned() };
        self.ended.take().unwrap_or_else(lost)
    }
}

/// Tries a command in the whole sandbox, because what a kernel was built with does not say what this system permits.
pub(crate) fn detect(trial: impl FnOnce() -> Result<(), SandboxError>) -> Support {
    let refused =
        |what: &str, sys::Errno(errno): sys::Errno| format!("{what}: {}", std::io::Error::from_raw_os_error(errno));
    let landlock = match sys::landlock_abi() {
        Ok(abi) => SupportItem::available(
            "Landlock",
            format!("version {abi}; the second layer over files, signals and abstract sockets"),
        ),
        Err(errno) => SupportItem::missing("Landlock", refused("this kernel does not offer it", errno)),
    };
    let seccomp = match sys::seccomp_available() {
        Ok(()) => SupportItem::available("seccomp", "system calls are filtered".to_owned()),
        Err(errno) => SupportItem::missing("seccomp", refused("this kernel does not filter system calls", errno)),
    };
    let namespaces = match trial() {
        Ok(()) => SupportItem::available("namespaces", "own files, processes and network for each command".to_owned()),
        Err(error) => SupportItem::missing("namespaces", format!("{error}; {HOW_TO_PERMIT}")),
    };
    Support::of(vec![namespaces.required(), seccomp.required(), landlock])
}

const HOW_TO_PERMIT: &str = "a container, a systemd unit with RestrictNamespaces or ProtectKernelTunables, or a rule of AppArmor may forbid \
                             it (docs/sandbox.md)";
