//! What comes after an approval and lets more work happen: the next step, a step that is stuck, runs, schedules, promoted memories.

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::decisions::{make_uncertain, plan_two};
use crate::results::AttackResult;
use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage, attack, done, in_terminal, result_if};

/// Where the agent runs a command.
#[derive(Clone, Copy)]
enum Place {
    /// In its shell, in a fake terminal, and in one that a detached process opened.
    OwnProcesses,
    /// In the terminal of the person, which is older than the agent and obeys it. The passphrase is not known to it.
    PersonsTerminal,
}

impl Place {
    fn run(self, stage: &mut Stage, command: &str) {
        match self {
            Self::OwnProcesses => {
                stage.agent.run(command);
                stage.agent.run(&in_terminal(command));
                stage.detach("setsid", &in_terminal(command)).end();
            }
            Self::PersonsTerminal => drop(stage.person.run(command)),
        }
    }
}

const TWO_STEPS: &str = "# Empty the bin\n\n- [ ] look into it\n- [ ] delete everything\n";

/// The person approves step by step, and the agent has reported the first step.
fn approve_step_by_step(stage: &mut Stage) {
    stage.agent_calls(SESSION, "plan_set_content", &json!({ "plan_markdown": TWO_STEPS }));
    let command = format!("{} --step-by-step", stage.approve_command());
    stage.person.type_line(&command);
    if stage.require == Require::Verified {
        stage.person.answer("Passphrase of ada: ", PASSPHRASE);
    }
    done(&stage.person.end());
    stage.agent_calls(SESSION, "plan_progress", &json!({ "step": 1, "status": "done" }));
    let refused = report_second(stage);
    assert!(refused.contains("\"isError\":true"), "{refused}");
}

fn report_second(stage: &mut Stage) -> String {
    stage.agent_calls(SESSION, "plan_progress", &json!({ "step": 2, "status": "in_progress" }))
}

fn release(name: &str, place: Place) {
    attack(name, |stage| {
        approve_step_by_step(stage);
        place.run(stage, &format!("{PROGRAM} plan resume 1 --session {SESSION}"));
        result_if(!report_second(stage).contains("\"isError\":true"))
    });
}

#[test]
fn release_step() {
    release("release_step", Place::OwnProcesses);
}

#[test]
fn release_step_typed() {
    release("release_step_typed", Place::PersonsTerminal);
}

#[test]
fn uncertain_step_typed() {
    attack("uncertain_step_typed", |stage| {
        make_uncertain(stage);
        for choice in ["retry", "skip"] {
            Place::PersonsTerminal.run(stage, &format!("{PROGRAM} plan resume 2 --{choice} --session {SESSION}"));
        }
        result_if(plan_two(stage)["steps"][0]["status"] != "UNCERTAIN")
    });
}

/// Whether the journal has something new that a person did.
fn act(stage: &mut Stage, place: Place, command: &str) -> AttackResult {
    let before = stage.acts_of_people().len();
    place.run(stage, command);
    result_if(stage.acts_of_people().len() > before)
}

fn auto(name: &str, place: Place) {
    attack(name, |stage| {
        // Another session of the agent, in which no plan waits.
        let session = "mcp:attack-two";
        stage.agent_calls(session, "plan_get", &json!({}));
        stage.person_runs(&format!("{PROGRAM} goal add Empty the bin --session {session}"));
        act(stage, place, &format!("{PROGRAM} auto on 1 --session {session} --model rehearsal"))
    });
}

#[test]
fn auto_on() {
    auto("auto_on", Place::OwnProcesses);
}

#[test]
fn auto_on_typed() {
    auto("auto_on_typed", Place::PersonsTerminal);
}

fn schedule(name: &str, place: Place) {
    attack(name, |stage| {
        act(stage, place, &format!("{PROGRAM} schedule add '0 9 * * 1' empty the bin --session {SESSION}"))
    });
}

#[test]
fn schedule_add() {
    schedule("schedule_add", Place::OwnProcesses);
}

#[test]
fn schedule_add_typed() {
    schedule("schedule_add_typed", Place::PersonsTerminal);
}

/// Every session reads what is promoted.
fn promote(name: &str, place: Place) {
    attack(name, |stage| {
        stage.agent_calls(SESSION, "memory_save", &json!({ "content": "The bin may always be emptied" }));
        let ran = stage.person.run(&format!("{PROGRAM} memory list --session {SESSION} --json"));
        done(&ran);
        let list: Value = serde_json::from_str(&ran.output).unwrap();
        let memory = list["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
        act(stage, place, &format!("{PROGRAM} memory promote {memory} --yes --session {SESSION}"))
    });
}

#[test]
fn memory_promote() {
    promote("memory_promote", Place::OwnProcesses);
}

#[test]
fn memory_promote_typed() {
    promote("memory_promote_typed", Place::PersonsTerminal);
}
