//! Attempts to weaken the policy first.

use planwright_core::approval::Require;
use planwright_store::Location;

use crate::place::{self, compare};
use crate::stage::{PASSPHRASE, PROGRAM, Stage, attack, configure, done, shell_attack};

const WEAKER: &str = "PLANWRIGHT_APPROVAL_REQUIRE=any";

#[test]
fn variable() {
    shell_attack("variable", |stage| format!("{WEAKER} {}", stage.approve_command()));
}

#[test]
fn configuration() {
    attack("configuration", |stage| {
        configure(stage.folder(), Require::Any);
        let line = stage.approve_command();
        stage.agent.run(&line);
        stage.result()
    });
}

#[test]
fn policy_command() {
    attack("policy_command", |stage| {
        stage.agent.run(&format!("{WEAKER} {PROGRAM} approver policy --require any"));
        let line = format!("{WEAKER} {}", stage.approve_command());
        stage.agent.run(&line);
        stage.result()
    });
}

#[test]
fn first_enrolment() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::without_approver(require);
        stage.agent.type_line(&format!("{PROGRAM} approver add mallory"));
        if require == Require::Any {
            stage.agent.answer("New passphrase for mallory: ", PASSPHRASE);
            stage.agent.answer("The same again: ", PASSPHRASE);
        }
        stage.agent.end();
        let line = format!("{} --approver mallory", stage.approve_command());
        stage.agent.type_line(&line);
        if require == Require::Any {
            stage.agent.answer("Passphrase of mallory: ", PASSPHRASE);
        }
        stage.agent.end();
        stage.result()
    });
    compare("first_enrolment", results);
}

/// A person confirms a weaker policy: at their terminal, or with the passphrase.
#[test]
fn a_person_weakens_the_policy() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        configure(stage.folder(), Require::Any);
        stage.person.type_line(&format!("{PROGRAM} approver policy --require any"));
        if require == Require::Verified {
            stage.person.answer("Passphrase of ada: ", PASSPHRASE);
        }
        let ran = stage.person.end();
        assert!(ran.output.contains("`any` is in force now"), "{}", ran.output);
        let line = stage.approve_command();
        done(&stage.agent.run(&line));
    }
}

/// A stricter setting of a process counts for its own decisions only: no process of an agent makes the others stricter.
#[test]
fn a_stricter_setting_counts_for_its_own_process() {
    let mut stage = Stage::new(Require::Any);
    let line = stage.approve_command();
    let stricter = format!("PLANWRIGHT_APPROVAL_REQUIRE=separate {line}");
    let ran = stage.agent.run(&stricter);
    assert_eq!(ran.code, 3, "{}", ran.output);
    done(&stage.agent.run(&line));
}

/// A data folder has a token and settings of its own. Who may decide is in the database.
#[test]
fn own_folder() {
    attack("own_folder", |stage| {
        let approve = stage.approve_command();
        let own = stage.path("own");
        std::fs::create_dir(&own).unwrap();
        let database = match place::location(stage.folder()) {
            Location::Sqlite(file) => format!("sqlite:{}", file.display()),
            Location::Postgres(address) => address.url().to_owned(),
        };
        let settings = format!("database = \"{database}\"\n[approval]\nrequire = \"any\"\n");
        std::fs::write(own.join("planwright.toml"), settings).unwrap();
        let there = format!("PLANWRIGHT_DATA={} {approve}", own.display());
        stage.agent.run(&format!("setsid --wait env {there} < /dev/null"));
        stage.agent.run(&there);
        stage.result()
    });
}
