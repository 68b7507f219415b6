//! Variables that ask for more in one place and for less everywhere else.

use planwright_core::approval::Require;

use crate::browser::{approves_with_link, dashboard};
use crate::place::compare;
use crate::results::AttackResult;
use crate::stage::{PASSPHRASE, PROGRAM, Stage, attack, configure, result_if};
use crate::surfaces::Server;

/// No cell of these rules is weaker than the policy in force, one is stricter, and at the top they ask for nothing.
fn rules(require: Require) -> String {
    let rules = match require {
        Require::Any | Require::Separate => {
            r#"[{channel="acp",risk="network",require="verified"},{require="separate"}]"#
        }
        Require::Verified => r#"[{channel="acp",risk="network",require="verified",people=2},{require="verified"}]"#,
    };
    format!("PLANWRIGHT_APPROVAL_REQUIRE=any PLANWRIGHT_APPROVAL_RULES='{rules}'")
}

#[test]
fn rules_variable_dashboard() {
    attack("rules_variable_dashboard", |stage| {
        let server = Server::start(stage);
        let rules = rules(stage.require);
        stage.agent.run(&format!("{rules} {PROGRAM} sessions"));
        let ran = stage.agent.run(&format!("{rules} {}", dashboard(&server)));
        approves_with_link(stage, &server, &ran.output)
    });
}

#[test]
fn rules_variable_policy() {
    attack("rules_variable_policy", |stage| {
        let approve = stage.approve_command();
        let rules = rules(stage.require);
        stage.agent.run(&format!("{rules} {PROGRAM} sessions"));
        configure(stage.folder(), Require::Any);
        stage.agent.run(&format!("{PROGRAM} approver policy --require any"));
        stage.agent.run(&approve);
        stage.result()
    });
}

const ANSWERS: [(&str, &str); 4] = [
    ("New passphrase for mallory", PASSPHRASE),
    ("The same again", PASSPHRASE),
    ("Passphrase of mallory", PASSPHRASE),
    ("Passphrase of ", "let me in"),
];

#[test]
fn rules_variable_enrolment() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::without_approver(require);
        let approve = format!("{} --approver mallory", stage.approve_command());
        let rules = rules(require);
        stage.agent.run(&format!("{rules} {PROGRAM} sessions"));
        stage.agent.run_answering(&format!("{rules} {PROGRAM} approver add mallory"), &ANSWERS);
        stage.agent.run_answering(&approve, &ANSWERS);
        stage.result()
    });
    compare("rules_variable_enrolment", results);
}

/// Nine approvers are asked for by a variable of one process of the agent. The person still approves.
#[test]
fn people_variable() {
    attack("people_variable", |stage| {
        let rules = r#"PLANWRIGHT_APPROVAL_RULES='[{require="verified",people=9}]'"#;
        stage.agent.run(&format!("{rules} {PROGRAM} sessions; {rules} {PROGRAM} plan list"));
        stage.write_requests("plan_get", &serde_json::json!({}));
        stage.agent.run(&format!("{rules} {PROGRAM} mcp --session {} < requests", crate::stage::SESSION));
        stage.person_approves();
        result_if(stage.result() == AttackResult::Stopped)
    });
}
