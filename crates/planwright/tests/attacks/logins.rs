//! Namespaces in which the agent is root and its terminal looks like a remote login, or in which no agent is known.

use planwright_core::approval::Require;
use serde_json::json;

use crate::browser::{approves_with_link, dashboard};
use crate::place::compare;
use crate::results::AttackResult;
use crate::stage::{PROGRAM, SESSION, Stage, attack, configure, has_namespaces};
use crate::surfaces::Server;

/// The name of the process that opens the terminal.
#[derive(Clone, Copy)]
enum Opener {
    /// As it is.
    Itself,
    /// The system's service for remote logins.
    Login,
}

/// Runs commands in a terminal inside of a namespace in which the agent is root.
fn in_namespace(stage: &mut Stage, opener: Opener, before: &str, command: &str) -> String {
    let name = match opener {
        Opener::Itself => "-",
        Opener::Login => "sshd",
    };
    // The first process of the namespace stays, so that it does not count as the one that opened the terminal.
    let script = format!("({before}\ntrue)\npython3 terminal.py {name} {command} < /dev/null\ntrue\n");
    stage.write("namespace.sh", &script);
    stage.agent.run("unshare -Urpf --mount-proc sh namespace.sh").output
}

fn attack_here(name: &str, attempt: impl FnMut(&mut Stage) -> AttackResult) {
    if has_namespaces() {
        attack(name, attempt);
    }
}

/// The session is opened from the namespace first, so that its agent is known there.
fn approves(name: &str, opener: Opener) {
    attack_here(name, |stage| {
        let approve = stage.approve_command();
        stage.write_requests("plan_get", &json!({}));
        in_namespace(stage, opener, &format!("{PROGRAM} mcp --session {SESSION} < requests"), &approve);
        stage.result()
    });
}

#[test]
fn namespace_terminal() {
    approves("namespace_terminal", Opener::Itself);
}

#[test]
fn false_login() {
    approves("false_login", Opener::Login);
}

fn makes_link(name: &str, opener: Opener) {
    attack_here(name, |stage| {
        let server = Server::start(stage);
        let printed = in_namespace(stage, opener, "", &dashboard(&server));
        approves_with_link(stage, &server, &printed)
    });
}

#[test]
fn namespace_terminal_dashboard() {
    makes_link("namespace_terminal_dashboard", Opener::Itself);
}

#[test]
fn false_login_dashboard() {
    makes_link("false_login_dashboard", Opener::Login);
}

fn weakens(name: &str, opener: Opener) {
    attack_here(name, |stage| {
        let approve = stage.approve_command();
        configure(stage.folder(), Require::Any);
        in_namespace(stage, opener, "", &format!("{PROGRAM} approver policy --require any"));
        stage.agent.run(&approve);
        stage.result()
    });
}

#[test]
fn namespace_terminal_policy() {
    weakens("namespace_terminal_policy", Opener::Itself);
}

#[test]
fn false_login_policy() {
    weakens("false_login_policy", Opener::Login);
}

fn enrols(name: &str, opener: Opener) {
    if !has_namespaces() {
        return;
    }
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::without_approver(require);
        let approve = format!("{} --approver mallory", stage.approve_command());
        in_namespace(&mut stage, opener, "", &format!("{PROGRAM} approver add mallory"));
        stage.agent.run(&format!("python3 terminal.py - {approve} < /dev/null"));
        stage.result()
    });
    compare(name, results);
}

#[test]
fn namespace_terminal_enrolment() {
    enrols("namespace_terminal_enrolment", Opener::Itself);
}

#[test]
fn false_login_enrolment() {
    enrols("false_login_enrolment", Opener::Login);
}
