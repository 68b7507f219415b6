//! The process between this one and the command. It is a copy of this process and runs nothing but this file: no
//! allocation, no lock, no unwinding.
//!
//! In namespaces it is their first process, so the kernel ends all others with it. Without namespaces it adopts every
//! process of the command that loses its parent, and ends them one by one.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::RawFd;

use seccompiler::BpfProgram;

use super::landlock::Rules;
use super::layout::LayoutStep;
use super::report::{Report, Step};
use super::sys::{self, Errno};
use super::user_map::Maps;

/// Written to the life pipe: ask the command to end.
pub(super) const TERMINATE: u8 = b'T';

/// Everything the supervisor needs, made before the process is copied.
#[derive(Debug)]
pub(super) struct Launch {
    /// The steps that build the root folder, if there are namespaces.
    pub(super) namespaces: Option<Namespaces>,
    pub(super) landlock: Option<Rules>,
    pub(super) seccomp: Option<&'static BpfProgram>,
    /// Whether programs with more rights than their caller get them.
    pub(super) no_new_privileges: bool,
    pub(super) folder: CString,
    /// The file to execute.
    pub(super) program: CString,
    pub(super) arguments: Vec<CString>,
    pub(super) environment: Vec<CString>,
    pub(super) processes: Option<u32>,
    /// A limit for the command as a whole if it has a group, else for the address space of each process.
    pub(super) memory: Option<u64>,
    pub(super) descriptors: Descriptors,
}

#[derive(Debug)]
pub(super) struct Namespaces {
    pub(super) user_map: CString,
    pub(super) group_map: CString,
    /// Whether the network is one of its own, with nothing but a loopback.
    pub(super) own_network: bool,
    pub(super) layout: Vec<LayoutStep>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Descriptors {
    pub(super) null: RawFd,
    /// Equal to `null` for a command without input.
    pub(super) stdin: RawFd,
    pub(super) stdout: RawFd,
    pub(super) stderr: RawFd,
    /// Readable when this process wants something, closed when it is gone.
    pub(super) life: RawFd,
    pub(super) status: RawFd,
    /// -1 without Landlock.
    pub(super) ruleset: RawFd,
    /// The list of processes of a control group; -1 without one.
    pub(super) group: RawFd,
}

/// The larger, the earlier the process is ended where memory runs out.
const OOM_SCORE: &CStr = c"/proc/self/oom_score_adj";

struct Failure(Step, Errno);

trait At<T> {
    fn at(self, step: Step) -> Result<T, Failure>;
}

impl<T> At<T> for sys::Result<T> {
    fn at(self, step: Step) -> Result<T, Failure> {
        self.map_err(|errno| Failure(step, errno))
    }
}

/// Runs in the copy of the process and ends it.
pub(super) fn run(launch: &Launch, arguments: &[*const c_char], environment: &[*const c_char]) -> ! {
    let status = launch.descriptors.status;
    let fail = |Failure(step, Errno(errno))| -> ! {
        Report::Failed { step, errno }.send(status);
        sys::exit(1)
    };
    if let Err(failure) = prepare(launch) {
        fail(failure);
    }
    match sys::clone_process(0).at(Step::Fork) {
        Ok(None) => {
            let Err(failure) = become_command(launch, arguments, environment);
            fail(failure)
        }
        Ok(Some((_, command))) => {
            let descriptors = &launch.descriptors;
            for standard in 0..3 {
                let _ = sys::duplicate_to(descriptors.null, standard);
            }
            if descriptors.stdin != descriptors.null {
                sys::close(descriptors.stdin);
            }
            sys::close(descriptors.stdout);
            sys::close(descriptors.stderr);
            supervise(launch, command);
            sys::exit(0)
        }
        Err(failure) => fail(failure),
    }
}

fn prepare(launch: &Launch) -> Result<(), Failure> {
    sys::new_session();
    sys::reset_signals(Some(libc::SIGCHLD));
    keep_only(&launch.descriptors);
    // If memory runs out, the command is ended before this program. A process that others may not trace cannot say so.
    let _ = sys::write_file(OOM_SCORE, b"300");
    match &launch.namespaces {
        Some(namespaces) => enter(namespaces, launch.descriptors.null)?,
        None => {
            let _ = sys::set_process_option(libc::PR_SET_CHILD_SUBREAPER, 1);
            let _ = sys::change_folder(c"/");
        }
    }
    // No other process may read the copied memory. A program that has taken a passphrase has closed its own before, and this copy was never
    // open. Until here the copy of any other program is as open as that program itself, and has nothing that cannot be read there.
    let _ = sys::set_process_option(libc::PR_SET_DUMPABLE, 0);
    sys::set_limit(libc::RLIMIT_CORE, 0);
    if launch.no_new_privileges {
        sys::drop_capabilities().at(Step::Capabilities)?;
        sys::set_process_option(libc::PR_SET_NO_NEW_PRIVS, 1).at(Step::NoNewPrivileges)?;
    }
    Ok(())
}

fn enter(namespaces: &Namespaces, null: RawFd) -> Result<(), Failure> {
    let maps = Maps { user: &namespaces.user_map, group: &namespaces.group_map };
    maps.write(null).at(Step::UserMap)?;
    if namespaces.own_network {
        sys::loopback_up().at(Step::Loopback)?;
    }
    for (step, index) in namespaces.layout.iter().zip(0..) {
        step.take().at(Step::Layout(index))?;
    }
    Ok(())
}

/// Closes every descriptor but the given ones.
fn keep_only(descriptors: &Descriptors) {
    let Descriptors { null, stdin, stdout, stderr, life, status, ruleset, group } = *descriptors;
    let mut kept = [null, stdin, stdout, stderr, life, status, ruleset, group];
    kept.sort_unstable();
    for standard in 0..3 {
        let _ = sys::duplicate_to(null, standard);
    }
    let mut from = 3;
    for descriptor in kept {
        let Ok(descriptor) = u32::try_from(descriptor) else { continue };
        if descriptor >= from {
            if descriptor > from {
                sys::close_range(from, descriptor - 1);
            }
            from = descriptor + 1;
        }
    }
    sys::close_range(from, u32::MAX);
}

fn become_command(
    launch: &Launch,
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Result<std::convert::Infallible, Failure> {
    let descriptors = &launch.descriptors;
    sys::close(descriptors.life);
    sys::new_session();
    sys::reset_signals(None);
    for (from, to) in [(descriptors.stdin, 0), (descriptors.stdout, 1), (descriptors.stderr, 2)] {
        let _ = sys::duplicate_to(from, to);
    }
    if let Some(processes) = launch.processes {
        sys::set_limit(libc::RLIMIT_NPROC, u64::from(processes));
    }
    // A system may let a group be made and not be entered.
    let in_group = descriptors.group >= 0 && sys::write(descriptors.group, b"0").is_ok();
    if let Some(bytes) = launch.memory.filter(|_| !in_group) {
        sys::set_limit(libc::RLIMIT_AS, bytes);
    }
    if let Some(rules) = &launch.landlock {
        rules.enforce(launch.namespaces.is_some()).at(Step::Landlock)?;
    }
    sys::change_folder(&launch.folder).at(Step::WorkingFolder)?;
    if let Some(program) = &launch.seccomp {
        sys::seccomp_apply(program).at(Step::Seccomp)?;
    }
    Report::Ready.send(descriptors.status);
    Err(Failure(Step::Execute, sys::execute(&launch.program, arguments, environment)))
}

/// Until the command ends or the life pipe is closed.
fn supervise(launch: &Launch, command: i32) {
    let Descriptors { life, status, .. } = launch.descriptors;
    let Ok(signals) = sys::signal_descriptor(libc::SIGCHLD) else { return };
    let in_namespaces = launch.namespaces.is_some();
    loop {
        let [wanted, child] = sys::poll([life, signals], -1);
        if child {
            let _ = sys::read(signals, &mut [0; 1024]);
            while let Ok(Some((pid, ended))) = sys::wait_any() {
                if pid == command {
                    Report::Ended { status: ended }.send(status);
                    return finish(in_namespaces, None, signals);
                }
            }
        }
        if wanted {
            let mut byte = [0];
            match sys::read(life, &mut byte) {
                // In namespaces -1 is every process but this one.
                Ok(1) if byte == [TERMINATE] => {
                    sys::send_signal(if in_namespaces { -1 } else { -command }, libc::SIGTERM)
                }
                Err(Errno(libc::EINTR)) => {}
                Ok(_) | Err(_) => return finish(in_namespaces, Some(command), signals),
            }
        }
    }
}

fn finish(in_namespaces: bool, command: Option<i32>, signals: RawFd) {
    if in_namespaces {
        return;
    }
    if let Some(command) = command {
        sys::send_signal(-command, libc::SIGKILL);
    }
    // Each round ends the children; their children become ours. A round that finds none is the last.
    for _ in 0..ROUNDS {
        kill_children();
        loop {
            match sys::wait_any() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        sys::poll([signals], 10);
        let _ = sys::read(signals, &mut [0; 1024]);
    }
}

/// Ten seconds, at ten milliseconds each.
const ROUNDS: usize = 1000;

fn kill_children() {
    let Ok(list) = sys::open(c"/proc/thread-self/children", libc::O_RDONLY) else { return };
    let mut buffer = [0; 4096];
    let mut pid: i32 = 0;
    while let Ok(count @ 1..) = sys::read(list, &mut buffer) {
        for byte in &buffer[..count] {
            match byte {
                b'0'..=b'9' => pid = pid.wrapping_mul(10).wrapping_add(i32::from(byte - b'0')),
                _ => {
                    if pid > 1 {
                        sys::send_signal(pid, libc::SIGKILL);
                    }
                    pid = 0;
                }
            }
        }
    }
    sys::close(list);
}
