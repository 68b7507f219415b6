//! What keeps people from deciding. The agent succeeds if the person cannot.

use planwright_core::approval::Require;
use serde_json::json;

use crate::place::compare;
use crate::results::AttackResult;
use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage, attack, result_if};
use crate::surfaces::{Server, send};

/// Runs commands of the agent, after which the person approves.
fn deny(require: Require, commands: &[&str]) -> AttackResult {
    let mut stage = Stage::new(require);
    for command in commands {
        stage.agent.run(command);
    }
    let command = stage.approve_command();
    stage.person.run_answering(&command, &[("Passphrase of ada", PASSPHRASE)]);
    result_if(stage.result() == AttackResult::Stopped)
}

#[test]
fn strict_variable() {
    let command = format!("PLANWRIGHT_APPROVAL_REQUIRE=verified {PROGRAM} sessions");
    let results = Require::ALL.map(|require| deny(require, &[&command]));
    compare("strict_variable", results);
}

#[test]
fn strict_command() {
    let command = format!("{PROGRAM} approver policy --require verified");
    let results = Require::ALL.map(|require| deny(require, &[&command]));
    compare("strict_command", results);
}

/// The approval has ended before the work begins.
#[test]
fn valid_for_variable() {
    attack("valid_for_variable", |stage| {
        stage.agent.run(&format!("PLANWRIGHT_APPROVAL_VALID_FOR=1 {PROGRAM} sessions"));
        stage.person_approves();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        stage.agent_calls(SESSION, "plan_progress", &json!({ "status": "in_progress" }));
        result_if(stage.status() != "EXECUTING")
    });
}

#[test]
fn passphrase_lockout() {
    attack("passphrase_lockout", |stage| {
        let server = Server::start(stage);
        let plan = stage.plan();
        let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
        let token = format!("authorization: Bearer {}\r\n", server.token);
        let body = json!({ "digest": plan["digest"], "later": true, "passphrase": "let me in", "approver": "ada" });
        for _ in 0..6 {
            send(&server.address, "POST", &path, &token, &body);
        }
        let command = stage.approve_command();
        stage.person.run_answering(&command, &[("Passphrase of ada", PASSPHRASE)]);
        result_if(stage.result() == AttackResult::Stopped)
    });
}

/// Every browser that the person signed in is signed out.
#[test]
fn token_rotate() {
    attack("token_rotate", |stage| {
        let token = |stage: &Stage| std::fs::read_to_string(stage.path("token")).unwrap();
        drop(Server::start(stage));
        let before = token(stage);
        stage.agent.run(&format!("setsid --wait {PROGRAM} token rotate < /dev/null"));
        result_if(token(stage) != before)
    });
}
