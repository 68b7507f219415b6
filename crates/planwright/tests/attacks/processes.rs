//! Processes of the agent that pass themselves off as a person at a terminal.

use planwright_core::approval::Require;

use crate::results::AttackResult;
use crate::stage::{PROGRAM, SESSION, Stage, attack, done, shell_attack};

#[test]
fn a_person_approves_under_every_policy() {
    for require in Require::ALL {
        let mut stage = Stage::new(require);
        let ran = stage.person_approves();
        done(&ran);
        let plan = stage.plan();
        assert_eq!(plan["status"], "APPROVED", "{require}: {plan}");
        let presence = if require == Require::Verified { "verified" } else { "terminal" };
        assert_eq!(plan["approval"]["presence"], presence);
        assert_eq!(plan["approval"]["signedBy"].is_array(), require == Require::Verified);
        done(&stage.verify(""));
    }
}

#[test]
fn shell() {
    shell_attack("shell", Stage::approve_command);
}

#[test]
fn the_agent_is_told_what_a_person_has_to_do() {
    let mut stage = Stage::new(Require::Separate);
    let line = stage.approve_command();
    let ran = stage.agent.run(&line);
    assert_eq!(ran.code, 3, "{}", ran.output);
    for message in ["started by `sh`", "open before the agent started", "planwright approver add"] {
        assert!(ran.output.contains(message), "{message}: {}", ran.output);
    }
}

/// Both with the digest and with a yes to the question.
#[test]
fn script() {
    shell_attack("script", |stage| {
        let command = stage.approve_command();
        format!(
            "sh guess.sh | script -qec '{command}' /dev/null; \
             (echo y; sh guess.sh) | script -qec '{PROGRAM} plan approve 1 --session {SESSION} --later' /dev/null"
        )
    });
}

#[test]
fn pty_driver() {
    shell_attack("pty_driver", |_| {
        format!(
            "mkfifo keys; script -qfec '{PROGRAM} plan approve 1 --session {SESSION} --later' seen < keys > /dev/null & \
             exec 3> keys; until grep -q 'Approve plan' seen 2>/dev/null; do kill -0 $! 2>/dev/null || break; done; \
             echo y >&3; sh guess.sh >&3; wait"
        )
    });
}

const EXPECT: &str = r#"set timeout 60
spawn {*}$argv
expect {
    "Approve plan" { send "y\r"; exp_continue }
    "Passphrase of" { send "let me in\r"; exp_continue }
    eof {}
}
"#;

const PYTHON: &str = r#"import os, pty, sys
answers = {b"Approve plan": b"y\n", b"Passphrase of": b"let me in\n"}
def read(fd):
    data = os.read(fd, 1024)
    for question, answer in answers.items():
        if question in data:
            os.write(fd, answer)
    return data
pty.spawn(sys.argv[1:], read, lambda fd: b"")
"#;

#[test]
fn expect() {
    shell_attack("expect", |stage| {
        std::fs::write(stage.path("answer.exp"), EXPECT).unwrap();
        std::fs::write(stage.path("answer.py"), PYTHON).unwrap();
        let command = format!("{PROGRAM} plan approve 1 --session {SESSION} --later");
        format!(
            "if command -v expect > /dev/null; then expect answer.exp {command}; else python3 answer.py {command} < /dev/null; fi"
        )
    });
}

#[test]
fn setsid() {
    shell_attack("setsid", |stage| {
        let command = stage.approve_command();
        format!("setsid --wait {command}; sh guess.sh | setsid --wait script -qec '{command}' /dev/null")
    });
}

#[test]
fn nohup() {
    shell_attack("nohup", |stage| format!("nohup {} & wait", stage.approve_command()));
}

/// A process whose parent has ended, so that the system has adopted it.
fn orphaned(stage: &mut Stage, setsid: &str, command: &str) -> AttackResult {
    let orphan = stage.detach(setsid, command);
    // A question on the agent's own terminal is answered there.
    stage.agent.run(&format!("until [ -e {} ]; do sleep 0.02; done", orphan.ended().display()));
    stage.result()
}

#[test]
fn orphan() {
    attack("orphan", |stage| {
        let command = stage.approve_command();
        orphaned(stage, "setsid", &command)
    });
}

#[test]
fn orphan_in_terminal() {
    attack("orphan_in_terminal", |stage| {
        let command = stage.approve_command();
        orphaned(stage, "", &command)
    });
}

#[test]
fn orphan_in_script() {
    attack("orphan_in_script", |stage| {
        let command = stage.approve_command();
        orphaned(stage, "setsid", &format!("sh guess.sh | script -qec '{command}' /dev/null"))
    });
}

#[test]
fn job_runner() {
    attack("job_runner", |stage| {
        let command = stage.approve_command();
        stage.service.run(&command);
        stage.result()
    });
}

#[test]
fn job_runner_in_script() {
    attack("job_runner_in_script", |stage| {
        let command = stage.approve_command();
        stage.service.run(&format!("sh guess.sh | script -qec '{command}' /dev/null"));
        stage.result()
    });
}

#[test]
fn piped_chat() {
    shell_attack("piped_chat", |_| {
        format!("printf '/plan show 1\\n/plan approve 1\\n' | {PROGRAM} chat --session {SESSION} --model rehearsal")
    });
}

/// What `tmux send-keys` does: the agent types into the terminal of the person.
#[test]
fn older_terminal() {
    attack("older_terminal", |stage| {
        let command = stage.approve_command();
        // The agent can type, and does not know the passphrase.
        stage.person.run(&command);
        stage.result()
    });
}
