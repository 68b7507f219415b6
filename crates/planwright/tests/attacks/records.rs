//! Attempts to replace the record of the program that the agent runs in, so that a terminal of the agent counts as older.

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::place::compare;
use crate::results::AttackResult;
use crate::servers::draft_by_own_agent;
use crate::shell::until;
use crate::stage::{
    Detached, PLAN, PROGRAM, SESSION, Stage, attack, configure, done, has_namespaces, in_terminal, next_instant,
    result_if, result_of,
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

/// The session is new: a detached program of the agent, younger than the terminal, is the first to open it. The agent's own
/// program is known from another session.
#[test]
fn fresh_session() {
    attack("fresh_session", |stage| {
        let session = "mcp:attack-fresh";
        let terminal = Waiting::open(stage);
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        open_from_younger_program(stage, session);
        terminal.approve(stage, session)
    });
}

/// Planwright's own agent drafts in a session of the command line, and another agent approves in a fake terminal.
#[test]
fn other_session() {
    attack("other_session", |stage| {
        let session = "cli:own-agent-waits";
        draft_by_own_agent(stage, session);
        let digest = stage.plan_of(session, 1)["digest"].as_str().unwrap().to_owned();
        let approve = format!("{PROGRAM} plan approve 1 --session {session} --digest {digest} --later");
        stage.agent.run(&in_terminal(&approve));
        result_of(&stage.plan_of(session, 1))
    });
}

/// The session is one of the person's, who has begun it on the command line.
pub(crate) const PERSONS_SESSION: &str = "cli:first-session";

#[test]
fn joined_session() {
    attack("joined_session", |stage| {
        let terminal = Waiting::open(stage);
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        open_from_younger_program(stage, PERSONS_SESSION);
        terminal.approve(stage, PERSONS_SESSION)
    });
}

#[test]
fn approved_before_joining() {
    attack("approved_before_joining", |stage| {
        let session = "cli:own-agent-waits";
        draft_by_own_agent(stage, session);
        let digest = stage.plan_of(session, 1)["digest"].as_str().unwrap().to_owned();
        let approve = format!("{PROGRAM} plan approve 1 --session {session} --digest {digest} --later");
        stage.agent.run(&in_terminal(&approve));
        stage.agent_calls(session, "plan_progress", &json!({ "status": "in_progress" }));
        result_if(stage.plan_of(session, 1)["status"] == "EXECUTING")
    });
}

/// The agent answers by the inbox, in its own session.
#[test]
fn inbox_answer() {
    attack("inbox_answer", |stage| {
        let ran = stage.person.run(&format!("{PROGRAM} inbox --json"));
        done(&ran);
        let inbox: Value = serde_json::from_str(&ran.output).unwrap();
        let (id, digest) = (inbox["items"][0]["id"].as_str().unwrap(), stage.digest());
        let answer = format!("{PROGRAM} inbox answer {id} approve --digest {digest}");
        stage.agent.run(&answer);
        stage.agent.run(&in_terminal(&answer));
        stage.detach("setsid", &in_terminal(&answer)).end();
        stage.result()
    });
}

/// A process of the agent that survives the end of its program, and then opens a terminal.
fn survivor(name: &str, how: &str) {
    attack(name, |stage| {
        let approve = stage.approve_command();
        stage.write("survivor.sh", &format!("trap '' HUP\n{WAIT}touch survivor.done\n"));
        stage.write("terminal.job", &format!("{}\n", in_terminal(&approve)));
        stage.detach(how, "exec sh survivor.sh");
        until(|| stage.path("terminal.open").exists().then_some(())).expect("it did not start");
        stage.end_agent();
        next_instant();
        stage.write("terminal.go", "");
        until(|| stage.path("survivor.done").exists().then_some(())).expect("it never ended");
        stage.result()
    });
}

/// It still has the session and the terminal of the program.
#[test]
fn survivor_in_session() {
    survivor("survivor_in_session", "");
}

/// It has left both.
#[test]
fn survivor_elsewhere() {
    survivor("survivor_elsewhere", "setsid");
}

/// No agent has ever been seen in the store: any terminal enrols the first approver.
#[test]
fn enrolment_before_the_first_session() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::without_approver(require);
        let other = stage.path("other");
        std::fs::create_dir(&other).unwrap();
        configure(&other, require);
        let there = format!("PLANWRIGHT_DATA={}", other.display());
        stage.agent.run(&format!("{there} {}", in_terminal(&format!("{PROGRAM} approver add mallory"))));
        stage.agent.run(&format!("{there} {PROGRAM} mcp --session {SESSION} < requests"));
        let ran = stage.person.run(&format!("{there} {PROGRAM} plan show 1 --session {SESSION} --json"));
        done(&ran);
        let plan: Value = serde_json::from_str(&ran.output).unwrap();
        let digest = plan["digest"].as_str().unwrap();
        let approve =
            format!("{PROGRAM} plan approve 1 --session {SESSION} --digest {digest} --later --approver mallory");
        stage.agent.run(&format!("{there} {}", in_terminal(&approve)));
        let ran = stage.person.run(&format!("{there} {PROGRAM} plan show 1 --session {SESSION} --json"));
        result_of(&serde_json::from_str(&ran.output).unwrap())
    });
    compare("enrolment_before_the_first_session", results);
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
