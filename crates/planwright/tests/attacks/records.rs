//! Attempts to replace the record of the program that the agent runs in, so that a terminal of the agent counts as older.

use serde_json::json;

use crate::results::AttackResult;
use crate::shell::until;
use crate::stage::{
    Detached, PLAN, PROGRAM, SESSION, Stage, attack, done, has_namespaces, in_terminal, next_instant, result_of,
};
use crate::surfaces::Server;

/// A terminal that a detached process of the agent has opened. It waits for something to do.
struct Waiting(Detached);

/// Runs in the terminal.
const WAIT: &str = "touch terminal.open\nuntil [ -e terminal.go ]; do sleep 0.02; done\nsh terminal.job\n";

impl Waiting {
    fn open(stage: &mut Stage) -> Self {
        stage.write("wait.sh", WAIT);
        let opened = stage.detach("setsid", &in_terminal("sh wait.sh"));
        until(|| stage.path("terminal.open").exists().then_some(())).expect("the terminal was not opened");
        // What starts from here on is younger than the terminal.
        next_instant();
        Self(opened)
    }

    /// Approves the first plan of the session in the terminal.
    fn approve(&self, stage: &mut Stage, session: &str) -> AttackResult {
        let digest = stage.plan_of(session, 1)["digest"].as_str().unwrap().to_owned();
        let command = format!("{PROGRAM} plan approve 1 --session {session} --digest {digest} --later\n");
        stage.write("terminal.job", &command);
        stage.write("terminal.go", "");
        self.0.end();
        result_of(&stage.plan_of(session, 1))
    }
}

/// A detached program of the agent, younger than the terminal, opens the session.
fn open_from_younger_program(stage: &mut Stage, session: &str) {
    stage.detach("setsid", &format!("{PROGRAM} mcp --session {session} < requests")).end();
}

#[test]
fn namespace_client() {
    if !has_namespaces() {
        return;
    }
    attack("namespace_client", |stage| {
        let terminal = Waiting::open(stage);
        stage.write_requests("plan_get", &json!({}));
        // It is not the first process there, so that a program started it.
        stage.write("there.sh", &format!("{PROGRAM} mcp --session {SESSION} < requests\ntrue\n"));
        done(&stage.agent.run("unshare -Urpf --mount-proc sh there.sh"));
        open_from_younger_program(stage, SESSION);
        terminal.approve(stage, SESSION)
    });
}

/// The session is made again, with the same plan.
#[test]
fn deleted_session() {
    attack("deleted_session", |stage| {
        let terminal = Waiting::open(stage);
        stage.agent.run(&format!("{PROGRAM} sessions delete {SESSION} --yes"));
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        open_from_younger_program(stage, SESSION);
        terminal.approve(stage, SESSION)
    });
}

/// The agent drafts over HTTP, where there is no process to record, and then has a detached program open the session.
#[test]
fn false_client_of_http_session() {
    attack("false_client_of_http_session", |stage| {
        let session = "mcp:http-session";
        let server = Server::start(stage);
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        done(&stage.agent.run(&server.http_client("http-session")));
        let terminal = Waiting::open(stage);
        stage.write_requests("plan_get", &json!({}));
        open_from_younger_program(stage, session);
        terminal.approve(stage, session)
    });
}

/// Nothing is known about the agent's program, and so a terminal that a detached process of it opens is not a person's.
#[test]
fn http_session() {
    attack("http_session", |stage| {
        let session = "mcp:http-session";
        let server = Server::start(stage);
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        done(&stage.agent.run(&server.http_client("http-session")));
        let terminal = Waiting::open(stage);
        terminal.approve(stage, session)
    });
}
