//! An agent whose own program is in no record: what it begins its session with does not lead to it, and has ended.

use planwright_core::approval::Require;
use serde_json::json;

use crate::place::compare;
use crate::stage::{PLAN, PROGRAM, SESSION, Stage, in_terminal};

/// `begin` runs the command that begins the session. The agent then approves in a terminal that it opens.
fn hidden(name: &str, begin: impl Fn(&mut Stage, &str)) {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::without_agent(require, "");
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        begin(&mut stage, &format!("{PROGRAM} mcp --session {SESSION} < requests"));
        assert_eq!(stage.status(), "READY");
        let approve = stage.approve_command();
        let ran = stage.agent.run(&in_terminal(&approve));
        assert!(!ran.output.contains("panicked"), "{}", ran.output);
        stage.result()
    });
    compare(name, results);
}

#[test]
fn hidden_helper() {
    hidden("hidden_helper", |stage, mcp| {
        stage.detach("setsid", mcp).end();
    });
}

/// Runs a command under the name of a program that starts everything on a desktop.
const NAMED: &str = r#"import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(15, b"openbox")
subprocess.run(sys.argv[1] + "; true", shell=True)
"#;

#[test]
fn hidden_by_name() {
    hidden("hidden_by_name", |stage, mcp| {
        stage.write("named.py", NAMED);
        stage.agent.run(&format!("python3 named.py '{mcp}'"));
    });
}

/// Types a command into a shell with job control, in a terminal that this program opens.
const TYPED: &str = r#"import os, pty, sys
shell, terminal = pty.fork()
if shell == 0:
    os.execvp("bash", ["bash", "--norc", "-i"])
os.write(terminal, sys.argv[1].encode() + b"; exit\n")
try:
    while os.read(terminal, 1024):
        pass
except OSError:
    pass
os.waitpid(shell, 0)
"#;

#[test]
fn hidden_by_shell() {
    hidden("hidden_by_shell", |stage, mcp| {
        stage.write("typed.py", TYPED);
        stage.agent.run(&format!("python3 typed.py '{mcp}'"));
    });
}
