//! "How do I approve here" in `docs/approval.md`: the ways of a person that can be tried on this machine, while the agent runs.

use planwright_core::approval::Require;
use planwright_test_support::prerequisites::{Prerequisite, skip};

use crate::place::user;
use crate::shell::until;
use crate::stage::{Stage, done, in_terminal_of};

/// A pane that is opened after the agent, in a `tmux` that was there before.
#[test]
fn a_pane_of_an_older_tmux_approves() {
    if !std::process::Command::new("tmux").arg("-V").output().is_ok_and(|told| told.status.success()) {
        return skip(Prerequisite::Tmux, "`tmux -V` does not work here");
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
