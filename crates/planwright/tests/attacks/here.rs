//! "How do I approve here" in `docs/approval.md`: the ways of a person that can be tried on this machine, while the agent runs.

use planwright_core::approval::Require;
use planwright_test_support::prerequisites::{Prerequisite, skip};

use crate::openssh::{OpenSsh, has_openssh};
use crate::place::user;
use crate::shell::until;
use crate::stage::{Stage, done, in_terminal_of};

/// If there is none, the test is skipped.
pub(crate) fn has_tmux() -> bool {
    let works = std::process::Command::new("tmux").arg("-V").output().is_ok_and(|told| told.status.success());
    if !works {
        skip(Prerequisite::Tmux, "`tmux -V` does not work here");
    }
    works
}

/// A pane that is opened after the agent, in a `tmux` that was there before.
#[test]
fn a_pane_of_an_older_tmux_approves() {
    if !has_tmux() {
        return;
    }
    let mut stage = Stage::with_tmux(Require::Separate);
    let approve = stage.approve_command();
    stage.write("pane.sh", &format!("{approve} > pane.out 2>&1\necho $? > pane.tmp\nmv pane.tmp pane.code\n"));
    done(&stage.person.run("tmux -S tmux.socket new-window -d 'sh pane.sh'"));
    let code = until(|| std::fs::read_to_string(stage.path("pane.code")).ok()).expect("the pane never ended");
    let told = std::fs::read_to_string(stage.path("pane.out")).unwrap();
    stage.person.run("tmux -S tmux.socket kill-server");
    assert_eq!((code.trim(), stage.status().as_str()), ("0", "APPROVED"), "{told}");
}

/// The system's service for logins is root's. What an ordinary user names so opens a terminal like any other.
#[test]
fn a_remote_login_approves() {
    let mut stage = Stage::new(Require::Separate);
    let approve = stage.approve_command();
    let told = stage.service.run(&in_terminal_of("sshd", &approve));
    let expected = if user() == 0 { "APPROVED" } else { "READY" };
    assert_eq!(stage.status(), expected, "{told}");
}

/// With OpenSSH itself: a login that the person begins while the agent runs. A command that they send without a terminal is no login.
#[test]
fn a_login_through_openssh_approves() {
    if !has_openssh() {
        return;
    }
    let mut stage = Stage::new(Require::Separate);
    let service = OpenSsh::start(stage.folder()).expect("it started before");
    let (approve, folder) = (stage.approve_command(), stage.folder().display().to_string());
    let login = service.login(&format!("cd {folder} && PLANWRIGHT_DATA={folder} {approve}"));
    for (line, expected) in [(login.replace(" -tt ", " -T "), "READY"), (login, "APPROVED")] {
        let ran =
            std::process::Command::new("sh").args(["-c", &line]).stdin(std::process::Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        assert_eq!(stage.status(), expected, "{told}");
    }
}
