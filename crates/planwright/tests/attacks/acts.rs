//! What is no approval, and what only a person does all the same. A process of the agent without a terminal tries it.

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::decisions::{SERVER, configure_server, server_state};
use crate::place::TestFile;
use crate::results::AttackResult;
use crate::shell::Ran;
use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage, attack, attack_with, done, result_if};

/// The exit code of what the policy refuses.
const REFUSED: i32 = 3;

/// Runs the command as a child of the agent's shell and as a detached process, both without a terminal. It is stopped if
/// both are refused, nothing is recorded as an act of a person, and `happened` says that nothing has happened.
fn act(stage: &mut Stage, command: &str, happened: impl Fn(&mut Stage) -> bool) -> AttackResult {
    let before = stage.acts_of_people();
    let first = stage.agent.run(&format!("setsid --wait {command} < /dev/null"));
    let second = stage.detach("setsid", &format!("{command} < /dev/null")).end();
    let recorded = stage.acts_of_people();
    // Entries disappear with a deleted session.
    let recorded = recorded.iter().any(|entry| !before.contains(entry));
    let done = happened(stage);
    let codes = [first, second].map(|Ran { code, output }| {
        assert!(!output.contains("panicked"), "{output}");
        (code, output)
    });
    let refused = codes.iter().all(|(code, _)| *code == REFUSED);
    if stage.require != Require::Any && !recorded && !done {
        assert!(refused, "nothing happened, and the exit codes are not {REFUSED}: {codes:?}");
    }
    result_if(recorded || done)
}

/// An act in the session that shows in the journal.
#[track_caller]
fn journal_act(name: &str, command: &str) {
    attack(name, |stage| act(stage, &format!("{PROGRAM} {command} --session {SESSION}"), |_| false));
}

#[test]
fn act_revise() {
    journal_act("act_revise", "plan revise 1 --feedback 'the bin is full'");
}

#[test]
fn act_reject() {
    journal_act("act_reject", "plan reject 1 --reason 'the bin is full'");
}

#[test]
fn act_cancel() {
    journal_act("act_cancel", "plan cancel 1 --reason 'the bin is full'");
}

#[test]
fn act_done() {
    journal_act("act_done", "plan done");
}

#[test]
fn act_on() {
    journal_act("act_on", "plan on collect");
}

#[test]
fn act_files_on() {
    journal_act("act_files_on", "plan files on");
}

#[test]
fn act_memory_save() {
    journal_act("act_memory_save", "memory save 'The bin may always be emptied'");
}

#[test]
fn act_goal() {
    attack("act_goal", |stage| {
        let script = ["goal add Empty the bin", "task add Empty the bin", "diary add The bin was emptied"];
        let results = script.map(|message| act(stage, &format!("{PROGRAM} {message} --session {SESSION}"), |_| false));
        result_if(results.contains(&AttackResult::Succeeds))
    });
}

#[test]
fn act_chat() {
    journal_act("act_chat", "chat 'Go on, I have read it' --model rehearsal");
}

/// The hook of a client lets a call of a tool pass that changes things.
pub(crate) fn hook_lets_pass(stage: &mut Stage, folder: &str) -> bool {
    let call =
        json!({ "cwd": folder, "tool_name": "Write", "tool_input": { "file_path": "a.txt", "content": "mine" } });
    stage.write("hook.json", &call.to_string());
    let ran = stage.agent.run(&format!("{PROGRAM} hook pre-tool-use < hook.json"));
    done(&ran);
    !ran.output.contains("deny")
}

/// The session of a project folder, which the hook asks about.
#[test]
fn act_off() {
    attack("act_off", |stage| {
        let folder = stage.path("project");
        std::fs::create_dir(&folder).unwrap();
        let folder = folder.display().to_string();
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": crate::stage::PLAN }));
        done(&stage.agent.run(&format!("cd {folder} && {PROGRAM} mcp < ../requests")));
        assert!(!hook_lets_pass(stage, &folder), "the hook denies while the plan waits");
        let command = format!("sh -c 'cd {folder} && exec {PROGRAM} plan off'");
        act(stage, &command, |stage| hook_lets_pass(stage, &folder))
    });
}

/// The command is refused, and it leaves no session behind that says a person began it.
#[test]
fn act_open() {
    attack("act_open", |stage| act(stage, &format!("{PROGRAM} plan on --session cli:agent-began"), |_| false));
}

/// The hook looks where the client's server keeps its plans. Who can write there and into the client's own settings turns the gate off.
#[test]
fn other_store() {
    attack("other_store", |stage| {
        let folder = stage.path("project");
        std::fs::create_dir(&folder).unwrap();
        let folder = folder.display().to_string();
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": crate::stage::PLAN }));
        done(&stage.agent.run(&format!("cd {folder} && {PROGRAM} mcp < ../requests")));
        assert!(!hook_lets_pass(stage, &folder), "the hook denies while the plan waits");
        stage.agent.run("echo 'database = \"sqlite:mine.db\"' > planwright.toml");
        result_if(hook_lets_pass(stage, &folder))
    });
}

/// The person has approved, and the agent works.
#[test]
fn act_stop() {
    attack("act_stop", |stage| {
        done(&stage.person_approves());
        stage.agent_calls(SESSION, "plan_progress", &json!({ "status": "in_progress" }));
        act(stage, &format!("{PROGRAM} plan resume 1 --stop --session {SESSION}"), |stage| {
            stage.status() != "EXECUTING"
        })
    });
}

#[test]
fn act_memory_forget() {
    attack("act_memory_forget", |stage| {
        stage.person_runs(&format!("{PROGRAM} memory save 'Never empty the bin' --session {SESSION}"));
        let list = stage.person_runs(&format!("{PROGRAM} memory list --session {SESSION} --json"));
        let list: Value = serde_json::from_str(&list).unwrap();
        let memory = list["items"][0]["id"].as_str().unwrap().to_owned();
        let forget = act(stage, &format!("{PROGRAM} memory forget {memory} --session {SESSION}"), |_| false);
        let undo = act(stage, &format!("{PROGRAM} memory undo --session {SESSION}"), |_| false);
        result_if([forget, undo].contains(&AttackResult::Succeeds))
    });
}

/// The text in the file is the agent's. The file may belong to the person.
#[test]
fn act_exported_file() {
    attack_with("[plan]\nexport = \"plans/{number}.md\"\n", "act_exported_file", |stage| {
        // A project does not lie in the data folder.
        let project = tempfile::tempdir().unwrap();
        let session = "mcp:attack-project";
        let mcp = format!("{PROGRAM} mcp --session {session} --project {} < requests", project.path().display());
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": crate::stage::PLAN }));
        done(&stage.agent.run(&mcp));
        let before = stage.acts_of_people().len();
        let file = project.path().join("plans/1.md");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("delete everything", "delete everything, and the attic")).unwrap();
        stage.write_requests("plan_get", &json!({}));
        done(&stage.agent.run(&mcp));
        result_if(stage.acts_of_people().len() > before)
    });
}

fn sessions(stage: &mut Stage) -> Vec<String> {
    let ran = stage.person.run(&format!("{PROGRAM} sessions --json"));
    done(&ran);
    let list: Value = serde_json::from_str(&ran.output).unwrap();
    let list = list["sessions"].as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter().map(|session| session["sessionId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn act_sessions_delete() {
    attack("act_sessions_delete", |stage| {
        let before = sessions(stage);
        act(stage, &format!("{PROGRAM} sessions delete {SESSION} --yes"), |stage| sessions(stage) != before)
    });
}

#[test]
fn act_server_add() {
    attack("act_server_add", |stage| {
        let file = stage.path("planwright.toml");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::create_dir(stage.path("notes")).unwrap();
        let command =
            format!("{PROGRAM} mcp-server add files -- python3 {SERVER} plain {}", stage.path("notes").display());
        act(stage, &command, |_| std::fs::read_to_string(&file).unwrap() != before)
    });
}

/// The person has accepted the tools of the server.
pub(crate) fn accept_server(stage: &mut Stage) {
    configure_server(stage);
    let digest = server_state(stage)["digest"].as_str().unwrap().to_owned();
    stage.person.type_line(&format!("{PROGRAM} mcp-server accept files --digest {digest}"));
    if stage.require == Require::Verified {
        stage.person.answer("Passphrase of ada: ", PASSPHRASE);
    }
    done(&stage.person.end());
    assert_eq!(server_state(stage)["state"], "accepted");
}

#[test]
fn act_server_remove() {
    attack("act_server_remove", |stage| {
        accept_server(stage);
        let file = stage.path("planwright.toml");
        let before = std::fs::read_to_string(&file).unwrap();
        act(stage, &format!("{PROGRAM} mcp-server remove files"), |_| std::fs::read_to_string(&file).unwrap() != before)
    });
}

#[test]
fn act_install() {
    attack("act_install", |stage| {
        let file = stage.path(".mcp.json");
        act(stage, &format!("{PROGRAM} install claude-code --scope project --yes"), |_| file.exists())
    });
}

#[test]
fn act_uninstall() {
    attack("act_uninstall", |stage| {
        stage.person_runs(&format!("{PROGRAM} install claude-code --scope project --yes"));
        let file = stage.path(".mcp.json");
        let before = std::fs::read_to_string(&file).unwrap();
        act(stage, &format!("{PROGRAM} uninstall claude-code --scope project --yes"), |_| {
            std::fs::read_to_string(&file).unwrap_or_default() != before
        })
    });
}

pub(crate) const OLDER_PLANS: TestFile = TestFile(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/plans-v3.json"));

#[test]
fn act_import() {
    attack("act_import", |stage| {
        let before = sessions(stage);
        act(stage, &format!("{PROGRAM} import {OLDER_PLANS}"), |stage| sessions(stage) != before)
    });
}

/// The archive is of a store that the agent made.
#[test]
fn act_restore() {
    attack("act_restore", |stage| {
        let other = stage.path("other");
        std::fs::create_dir(&other).unwrap();
        let there = format!("PLANWRIGHT_DATA={}", other.display());
        done(&stage.agent.run(&format!("{there} {PROGRAM} plan on --session cli:another-one")));
        done(&stage.agent.run(&format!("{there} {PROGRAM} backup archive.tar")));
        let before = sessions(stage);
        act(stage, &format!("{PROGRAM} restore archive.tar --merge"), |stage| sessions(stage) != before)
    });
}
