//! A terminal of its own for the person and for the agent's program. The process that works in it is left to the system, so that it has
//! no process of Planwright above it: Planwright takes what its own processes start for commands of an agent.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fd::OwnedFd;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::stage::{failed, own_program};
use crate::cli::DemoArgs;
use crate::failure::{ExitResult, Failure};

/// Runs each script whose number is typed, and keeps its output and its exit code in files.
const LOOP: &str = r#"echo $$ > "$1.tmp"; mv "$1.tmp" "$1.pid"
while IFS= read -r n; do
  sh "./$n.sh" > "$n.out" 2> "$n.err"
  echo $? > "$n.tmp"
  mv "$n.tmp" "$n.code"
done"#;

/// Ends what works in it when it is dropped: a terminal that is gone ends its first process.
#[derive(Debug)]
pub(super) struct DemoTerminal {
    /// The end at which a person would type. `None` once it is closed.
    typed: Option<OwnedFd>,
    first: Option<u32>,
}

impl DemoTerminal {
    /// Opens the terminal. `program` is the shell in it, under the name that other processes see; `name` names its files.
    pub(super) fn open(
        folder: &Path,
        program: &Path,
        name: &str,
        environment: &[(&str, String)],
    ) -> Result<Self, Failure> {
        let typed = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map_err(no_terminal)?;
        // A process that kept this end open would keep the terminal.
        fcntl_setfd(&typed, FdFlags::CLOEXEC).map_err(no_terminal)?;
        grantpt(&typed).map_err(no_terminal)?;
        unlockpt(&typed).map_err(no_terminal)?;
        let device = ptsname(&typed, Vec::new()).map_err(no_terminal)?;
        let device = device.into_string().map_err(|error| Failure::unexpected(error.to_string()))?;
        let mut command = Command::new(own_program()?);
        command.args(["demo", "--terminal", &device, "--name", name, "--program"]).arg(program);
        command.env_clear().envs(environment.iter().map(|(name, value)| (*name, value.as_str()))).current_dir(folder);
        let status =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(failed)?;
        if !status.success() {
            return Err(Failure::unavailable(format!("a terminal for the demonstration cannot be opened ({status})")));
        }
        Ok(Self { typed: Some(typed), first: None })
    }

    pub(super) fn type_in(&self, text: &str) -> Result<(), Failure> {
        let Some(typed) = &self.typed else { return Err(Failure::unexpected("the terminal is closed")) };
        rustix::io::write(typed, text.as_bytes()).map_err(no_terminal)?;
        Ok(())
    }

    /// Notes the number of its first process.
    pub(super) fn has_begun(&mut self, first: u32) {
        self.first = Some(first);
    }

    /// Whether the first process has ended. One that its parent has not looked at yet is still listed, in the state `Z`.
    fn is_gone(first: u32) -> bool {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{first}/stat")) else { return true };
        stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with('Z'))
    }
}

impl Drop for DemoTerminal {
    fn drop(&mut self) {
        drop(self.typed.take());
        let Some(first) = self.first else { return };
        for _ in 0..200 {
            if Self::is_gone(first) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        if let Some(pid) = i32::try_from(first).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Becomes the first process of a terminal, in two steps: the first starts the second and ends, which leaves it to the system.
pub(super) fn become_first(device: &Path, arguments: &DemoArgs) -> ExitResult {
    let usage = || Failure::usage("these options are for the demonstration itself");
    let (program, name) = (arguments.program.as_ref().ok_or_else(usage)?, arguments.name.as_ref().ok_or_else(usage)?);
    if !arguments.left {
        let mut command = Command::new(own_program()?);
        command.args(["demo", "--left", "--name", name, "--terminal"]).arg(device).arg("--program").arg(program);
        command.stdin(Stdio::null()).spawn().map_err(failed)?;
        return Ok(crate::failure::Exit::Done);
    }
    setsid().map_err(no_terminal)?;
    // The first terminal that the first process of a session opens becomes that of the session.
    let terminal = OpenOptions::new().read(true).write(true).open(device).map_err(failed)?;
    dup2_stdin(&terminal).map_err(no_terminal)?;
    dup2_stdout(&terminal).map_err(no_terminal)?;
    dup2_stderr(&terminal).map_err(no_terminal)?;
    Err(failed(Command::new(program).arg0("sh").args(["-c", LOOP, "sh", name]).exec()))
}

/// Starts the demonstration again below a shell. Where this program is the first process of the system, as in a container, processes are
/// left to it, and then they have a process of Planwright above them.
pub(super) fn begin_below_shell() -> ExitResult {
    let program = own_program()?;
    Err(failed(Command::new("/bin/sh").args(["-c", "\"$0\" demo; exit $?"]).arg(program).exec()))
}

fn no_terminal(error: rustix::io::Errno) -> Failure {
    Failure::unavailable(format!("a terminal for the demonstration cannot be used: {error}"))
}
