//! Planwright's own agent at the sandbox level `open`: a command of it leaves the processes that it is known by, and approves.

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::plan::PlanStyle;
use planwright_core::presence::Presence;
use planwright_core::session::SessionIdentity;
use serde_json::json;

use crate::browser::sign_in_person;
use crate::decisions::with_engine;
use crate::place::compare;
use crate::results::AttackResult;
use crate::servers::draft_by_own_agent;
use crate::shell::until;
use crate::stage::{PASSPHRASE, PROGRAM, Stage, attack_with, has_namespaces, result_of};
use crate::surfaces::Server;

const OPEN: &str = "[sandbox]\nlevel = \"open\"\n";
const WORKING: &str = "cli:own-agent-works";
const WAITING: &str = "cli:own-agent-waits";

/// A plan of Planwright's own agent with one command in it.
fn draft_command(stage: &Stage, line: &str) {
    with_engine(stage, async |engine, _| {
        let session: SessionIdentity = WORKING.parse().unwrap();
        let (person, agent) =
            (Actor::person("ada", "cli").recognised(Presence::Browser), Actor::agent("rehearsal", "cli"));
        engine.sessions().open(&session, &person).await.unwrap();
        engine.sessions().enable_plan_mode(&session, &person, PlanStyle::Collect).await.unwrap();
        for (tool, arguments) in [("run_command", json!({ "command": line })), ("plan_finalize", json!({}))] {
            let arguments = arguments.as_object().cloned().unwrap();
            PlanTools::new(&engine).call(&session, &agent, tool, arguments).await.unwrap();
        }
    });
}

/// The person approves the command, which a server carries out. The command then does what `script` says with the command
/// that approves another plan.
fn command_approves(stage: &mut Stage, script: impl FnOnce(&str) -> String) -> AttackResult {
    draft_by_own_agent(stage, WAITING);
    let digest = stage.plan_of(WAITING, 1)["digest"].as_str().unwrap().to_owned();
    let folder = stage.folder().display().to_string();
    let approve = format!("{PROGRAM} plan approve 1 --session {WAITING} --digest {digest} --later");
    // No variable of Planwright reaches a command.
    let prepare = format!("cd {folder}\nexport PLANWRIGHT_DATA={folder} TERM=xterm SHELL=/bin/sh USER=ada\n");
    stage.write("command.sh", &format!("{prepare}{}\n", script(&approve)));
    draft_command(stage, &format!("sh {folder}/command.sh"));
    let server = Server::start(stage);
    let browser = sign_in_person(stage, &server);
    let plan = stage.plan_of(WORKING, 1);
    let mut body = json!({ "digest": plan["digest"] });
    if stage.require == Require::Verified {
        body["passphrase"] = PASSPHRASE.into();
    }
    let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
    let (head, answer) = server.post(&path, &browser, &body);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{answer}");
    until(|| stage.path("command.done").exists().then_some(())).expect("the command never ended");
    result_of(&stage.plan_of(WAITING, 1))
}

fn own_agent(name: &str, script: impl Fn(&str) -> String) {
    attack_with(OPEN, name, |stage| command_approves(stage, &script));
}

#[test]
fn own_command() {
    own_agent("own_command", |approve| {
        format!("python3 terminal.py - {approve} < /dev/null > command.out 2>&1\ntouch command.done")
    });
}

#[test]
fn own_command_in_namespace() {
    if !has_namespaces() {
        return;
    }
    own_agent("own_command_in_namespace", |approve| {
        format!(
            "echo 'python3 terminal.py - {approve} < /dev/null; true' > inner.sh\n\
             unshare -Urpf --mount-proc sh inner.sh > command.out 2>&1\ntouch command.done"
        )
    });
}

/// The process that looks after the command is killed, so that the system adopts what it has started.
fn without_supervisor(approve: &str) -> String {
    // The first process of the command has a session of its own, and the supervisor is its parent.
    let find = "first=$(cut -d' ' -f6 /proc/$$/stat)\nsupervisor=$(cut -d' ' -f4 /proc/$first/stat)";
    let wait = "while [ \"$(cut -d' ' -f4 /proc/$first/stat)\" = $supervisor ]; do sleep 0.02; done";
    format!(
        "{find}\nkill -9 $supervisor\n{wait}\n\
         setsid --wait python3 terminal.py - {approve} < /dev/null > command.out 2>&1\ntouch command.done"
    )
}

#[test]
fn own_command_without_supervisor() {
    own_agent("own_command_without_supervisor", without_supervisor);
}

/// No other agent was ever in the store, whose record would stop this one, too.
#[test]
fn own_command_without_another_agent() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::without_agent(require, OPEN);
        command_approves(&mut stage, without_supervisor)
    });
    compare("own_command_without_another_agent", results);
}
