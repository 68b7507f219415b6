//! Programs that are older than the agent and open a terminal, or type into one, for everyone of the same user.

use planwright_core::approval::Require;
use planwright_test_support::prerequisites::{Prerequisite, skip};

use crate::here::has_tmux;
use crate::openssh::{OpenSsh, has_openssh};
use crate::place::{compare, user};
use crate::shell::until;
use crate::stage::{Stage, attack};

#[test]
fn older_multiplexer() {
    if !has_tmux() {
        return;
    }
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::with_tmux(require);
        let approve = stage.approve_command();
        // A question for the passphrase is not answered.
        stage.write("window.sh", &format!("timeout --foreground 10 {approve} > window.out 2>&1\ntouch window.done\n"));
        if stage.agent.run("tmux -S tmux.socket new-window -d 'sh window.sh'").code == 0 {
            until(|| stage.path("window.done").exists().then_some(())).expect("the window never ended");
        }
        stage.person.run("tmux -S tmux.socket kill-server");
        stage.result()
    });
    compare("older_multiplexer", results);
}

/// Takes the near end of a terminal from the program that shows it, and types a line into it. The numbers of these calls are the same on every
/// processor.
const BORROW: &str = r#"import ctypes, os, sys
PIDFD_OPEN, PIDFD_GETFD = 434, 438
call = ctypes.CDLL(None, use_errno=True).syscall
program, line = int(sys.argv[1]), sys.argv[2]
process = call(PIDFD_OPEN, program, 0)
for name in os.listdir(f"/proc/{program}/fd"):
    if "ptmx" in os.readlink(f"/proc/{program}/fd/{name}"):
        near_end = call(PIDFD_GETFD, process, int(name), 0)
        os.write(near_end, line.encode() + b"\n")
        print("typed")
        break
"#;

/// Whether a program may look into others of its user, as a debugger does. If not, the test is skipped.
fn may_trace() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let may = user() == 0 || matches!(scope.trim(), "" | "0");
    if !may {
        skip(Prerequisite::Debugger, "programs of one user may not trace each other here");
    }
    may
}

#[test]
fn borrowed_terminal() {
    if !may_trace() {
        return;
    }
    attack("borrowed_terminal", |stage| {
        let (approve, program) = (stage.approve_command(), stage.person.program());
        stage.write("borrow.py", BORROW);
        let ran = stage.agent.run(&format!("python3 borrow.py {program} '{approve}'"));
        if ran.output.contains("typed") {
            stage.person.end_of_typed();
        }
        stage.result()
    });
}

/// The agent's key is among those that may log in.
#[test]
fn ssh_without_a_password() {
    if !has_openssh() {
        return;
    }
    attack("ssh_without_a_password", |stage| {
        let service = OpenSsh::start(stage.folder()).expect("it started before");
        let approve = stage.approve_command();
        let folder = stage.folder().display().to_string();
        let login = service.login(&format!("cd {folder} && PLANWRIGHT_DATA={folder} {approve}"));
        stage.agent.run(&format!("timeout 20 {login}"));
        stage.result()
    });
}
