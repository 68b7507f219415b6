//! What else a person decides: permissions, tools of MCP servers, steps whose result is unknown, and what an archive brings.

use planwright_agent::tools::ExternalTools;
use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::ask::{AskSubject, CallToPermit};
use planwright_core::command::{Command, EndedStep, ExecutionCommand, TurnCommand};
use planwright_core::ids::StepId;
use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::{PermissionCounts, StepOutcome, StepStatus};
use planwright_core::policy::Policy;
use planwright_core::presence::Presence;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Purpose, TurnInput};
use planwright_core::workspace::CallChanges;
use planwright_engine::Engine;
use serde_json::{Value, json};

use crate::place::{TestFile, compare, location};
use crate::results::AttackResult;
use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage, attack, configure, done};
use crate::surfaces::Server;

/// Prepares something in the store, as Planwright's own agent does.
pub(crate) fn with_engine(stage: &Stage, prepare: impl AsyncFnOnce(Engine, SessionIdentity)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = planwright_store::open(&location(stage.folder())).await.unwrap();
        prepare(Engine::new(ledger, Policy::default()), SESSION.parse().unwrap()).await;
    });
}

/// A turn that asks for permission to write a file.
fn ask_permission(stage: &Stage) {
    with_engine(stage, async |engine, session| {
        let (person, agent) =
            (Actor::person("ada", "cli").recognised(Presence::Browser), Actor::agent("rehearsal", "cli"));
        let begin = TurnCommand::Begin { text: "Do it".to_owned(), tokens: 2, purpose: Purpose::Answer };
        let committed = engine.submit(&session, &person, Command::Turn(begin)).await.unwrap();
        let turn = committed.snapshot.open_turn().unwrap().id.clone();
        let arguments = json!({ "path": "a.txt", "content": "mine" });
        let call = ToolCall { name: "write_file".to_owned(), arguments: arguments.to_string(), signatures: Vec::new() };
        let reply = ModelReply { text: String::new(), calls: vec![call], usage: Usage::default(), cut_off: false };
        let inputs = vec![TurnInput::Replied { reply, tokens: 1 }];
        let record = TurnCommand::Record { turn: turn.clone(), inputs, ending: None };
        engine.submit(&session, &agent, Command::Turn(record)).await.unwrap();
        let call = CallToPermit {
            tool: "write_file".to_owned(),
            arguments,
            reason: "No rule covers it.".to_owned(),
            paths: Vec::new(),
            always: None,
        };
        let ask = TurnCommand::Ask { turn, call: 1, subject: AskSubject::Permission(call) };
        engine.submit(&session, &agent, Command::Turn(ask)).await.unwrap();
    });
}

/// What the inbox says about the ask, if it still waits.
fn asked(stage: &mut Stage) -> Option<Value> {
    let ran = stage.person.run(&format!("{PROGRAM} inbox --json"));
    done(&ran);
    let inbox: Value = serde_json::from_str(&ran.output).unwrap();
    inbox["items"].as_array().unwrap().iter().find(|item| item["kind"] == "permission").cloned()
}

fn stopped_while(waits: bool) -> AttackResult {
    if waits { AttackResult::Stopped } else { AttackResult::Succeeds }
}

#[test]
fn permission() {
    attack("permission", |stage| {
        ask_permission(stage);
        let item = asked(stage).unwrap();
        let (id, digest) = (item["id"].as_str().unwrap(), item["digest"].as_str().unwrap());
        let code = item["call"]["code"].as_str().unwrap();
        if stage.require == Require::Any {
            stage.agent.run(&format!("{PROGRAM} inbox answer {id} once --digest {digest}"));
            return stopped_while(asked(stage).is_some());
        }
        let command = format!("{PROGRAM} inbox answer {id} once --digest {digest}");
        stage.agent.run(&format!("{command}; sh guess.sh | script -qec '{command}' /dev/null"));
        stage.agent.run(&format!("printf '/allow {code}\\n' | {PROGRAM} chat --session {SESSION} --model rehearsal"));
        let server = Server::start(stage);
        let token = format!("authorization: Bearer {}\r\n", server.token);
        let body = json!({ "digest": digest, "grant": "once", "sessionId": "attack-one", "channel": "mcp" });
        let (head, body) = server.post(&format!("/api/permissions/{id}"), &token, &body);
        assert!(head.starts_with("HTTP/1.1 403"), "{head}\n{body}");
        let (_, body) = server.post(
            "/api/sessions/attack-one/messages?channel=mcp",
            &token,
            &json!({ "text": format!("/allow {code}") }),
        );
        assert!(body.contains("POLICY_DENIED"), "{body}");
        stopped_while(asked(stage).is_some())
    });
}

/// A person permits the call: at their terminal, or with the passphrase.
#[test]
fn a_person_permits_a_call() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        ask_permission(&stage);
        let item = asked(&mut stage).unwrap();
        let (id, digest) = (item["id"].as_str().unwrap(), item["digest"].as_str().unwrap());
        stage.person.type_line(&format!("{PROGRAM} inbox answer {id} once --digest {digest}"));
        if require == Require::Verified {
            stage.person.answer("Passphrase of ada: ", PASSPHRASE);
        }
        done(&stage.person.end());
        assert!(asked(&mut stage).is_none(), "{require}");
    }
}

pub(crate) const SERVER: TestFile =
    TestFile(concat!(env!("CARGO_MANIFEST_DIR"), "/../upstream/tests/servers/hostile.py"));

/// An MCP server whose tools no person has accepted.
pub(crate) fn configure_server(stage: &Stage) {
    configure(stage.folder(), stage.require);
    let notes = stage.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    let file = stage.path("planwright.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let notes = notes.display();
    let server = format!("[mcp.servers.files]\ncommand = \"python3\"\nargs = [\"{SERVER}\", \"plain\", \"{notes}\"]\n");
    std::fs::write(&file, format!("{text}\n{server}")).unwrap();
}

pub(crate) fn server_state(stage: &mut Stage) -> Value {
    let ran = stage.person.run(&format!("{PROGRAM} mcp-server show files --json"));
    done(&ran);
    serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("{}", ran.output))
}

#[test]
fn accept_tools() {
    attack("accept_tools", |stage| {
        configure_server(stage);
        let offered = server_state(stage);
        let digest = offered["digest"].as_str().unwrap().to_owned();
        let command = format!("{PROGRAM} mcp-server accept files --digest {digest}");
        stage.agent.run(&format!("{command}; sh guess.sh | script -qec '{command}' /dev/null"));
        if stage.require != Require::Any {
            let code = &digest[..8];
            let line = format!("/tools accept files {code}");
            stage.agent.run(&format!("printf '{line}\\n' | {PROGRAM} chat --session {SESSION} --model rehearsal"));
            let server = Server::start(stage);
            let token = format!("authorization: Bearer {}\r\n", server.token);
            let (head, body) = server.post("/api/mcp-servers/files/accept", &token, &json!({ "digest": digest }));
            assert!(head.starts_with("HTTP/1.1 403"), "{head}\n{body}");
            let path = "/api/sessions/attack-one/messages?channel=mcp";
            let (_, body) = server.post(path, &token, &json!({ "text": line }));
            assert!(body.contains("POLICY_DENIED"), "{body}");
        }
        stopped_while(server_state(stage)["state"] == "not_accepted")
    });
}

/// A person accepts the tools: at their terminal, or with the passphrase.
#[test]
fn a_person_accepts_tools() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        configure_server(&stage);
        let digest = server_state(&mut stage)["digest"].as_str().unwrap().to_owned();
        stage.person.type_line(&format!("{PROGRAM} mcp-server accept files --digest {digest}"));
        if require == Require::Verified {
            stage.person.answer("Passphrase of ada: ", PASSPHRASE);
        }
        done(&stage.person.end());
        assert_eq!(server_state(&mut stage)["state"], "accepted", "{require}");
    }
}

/// The person has approved plan 2, and the result of its first step is unknown, as after a crash in the middle of it.
pub(crate) fn make_uncertain(stage: &mut Stage) {
    let agent = Actor::agent("agent", "mcp");
    with_engine(stage, async |engine, session| {
        let person = Actor::person("ada", "cli").recognised(Presence::Browser);
        engine.sessions().enable_plan_mode(&session, &person, PlanStyle::Collect).await.unwrap();
        for (tool, arguments) in
            [("plan_add_call", json!({ "tool": "send_mail", "arguments": {} })), ("plan_finalize", json!({}))]
        {
            let Value::Object(arguments) = arguments else { unreachable!("they are objects") };
            let answer = ExternalTools::new(&engine).call(&session, &agent, tool, arguments, &|_| false).await;
            answer.outcome.unwrap();
        }
    });
    let digest = plan_two(stage)["digest"].as_str().unwrap().to_owned();
    stage.person.type_line(&format!("{PROGRAM} plan approve 2 --session {SESSION} --digest {digest} --later"));
    if stage.require == Require::Verified {
        stage.person.answer("Passphrase of ada: ", PASSPHRASE);
    }
    done(&stage.person.end());
    with_engine(stage, async |engine, session| {
        let plan = engine.plans().active(&session).await.unwrap().id.clone();
        let run = async |command| engine.submit(&session, &agent, Command::Execution(command)).await.unwrap();
        run(ExecutionCommand::Start { plan: plan.clone() }).await;
        let started = engine.plans().get(&session, &plan).await.unwrap();
        let (execution, step) = (started.execution.as_ref().unwrap().id.clone(), StepId::new("s1").unwrap());
        let advance =
            |ended, begun| ExecutionCommand::Advance { plan: plan.clone(), execution: execution.clone(), ended, begun };
        run(advance(Vec::new(), vec![step.clone()])).await;
        let outcome = StepOutcome { status: StepStatus::Uncertain, note: None, evidence: None };
        let (changes, permissions) = (CallChanges::default(), PermissionCounts::default());
        run(advance(vec![EndedStep { step, outcome, changes, permissions }], Vec::new())).await;
    });
}

pub(crate) fn plan_two(stage: &mut Stage) -> Value {
    let ran = stage.person.run(&format!("{PROGRAM} plan show 2 --session {SESSION} --json"));
    done(&ran);
    serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("{}", ran.output))
}

/// What the journal has about plan 2.
fn history(stage: &mut Stage) -> String {
    let ran = stage.person.run(&format!("{PROGRAM} plan history 2 --session {SESSION} --json"));
    done(&ran);
    ran.output
}

#[test]
fn uncertain_step() {
    attack("uncertain_step", |stage| {
        make_uncertain(stage);
        let before = history(stage);
        let plan = plan_two(stage);
        assert_eq!(plan["steps"][0]["status"], "UNCERTAIN", "{plan}");
        for choice in ["retry", "skip"] {
            let command = format!("{PROGRAM} plan resume 2 --{choice} --session {SESSION}");
            stage.agent.run(&format!("{command}; sh guess.sh | script -qec '{command}' /dev/null"));
            let line = format!("/plan resume 2 {choice}");
            stage.agent.run(&format!("printf '{line}\\n' | {PROGRAM} chat --session {SESSION} --model rehearsal"));
        }
        if stage.require != Require::Any {
            let server = Server::start(stage);
            let token = format!("authorization: Bearer {}\r\n", server.token);
            for choice in ["retry", "skip"] {
                let path = format!("/api/plans/{}/resume", plan["id"].as_str().unwrap());
                let body = json!({ "choice": choice, "sessionId": "attack-one", "channel": "mcp" });
                let (head, body) = server.post(&path, &token, &body);
                assert!(head.starts_with("HTTP/1.1 403") && body.contains("POLICY_DENIED"), "{head}\n{body}");
                let text = json!({ "text": format!("/plan resume 2 {choice}") });
                let (_, body) = server.post("/api/sessions/attack-one/messages?channel=mcp", &token, &text);
                assert!(body.contains("POLICY_DENIED"), "{body}");
            }
            assert_eq!(history(stage), before, "the journal has something new about the plan");
        }
        stopped_while(plan_two(stage)["steps"][0]["status"] == "UNCERTAIN")
    });
}

/// A person says at their terminal what becomes of the step.
#[test]
fn a_person_settles_an_uncertain_step() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        make_uncertain(&mut stage);
        let command = format!("{PROGRAM} plan resume 2 --skip --session {SESSION}");
        let ran = stage.person.run_answering(&command, &[("Passphrase of ada", PASSPHRASE)]);
        assert_eq!(plan_two(&mut stage)["steps"][0]["status"], "SKIPPED", "{require}: {}", ran.output);
    }
}

/// The approval in the archive is history: the agent cannot work on the plan.
#[test]
fn restored_archive() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::new(require);
        done(&stage.person_approves());
        done(&stage.person.run(&format!("{PROGRAM} backup archive.tar")));
        let other = stage.path("other");
        std::fs::create_dir(&other).unwrap();
        configure(&other, require);
        let there = format!("PLANWRIGHT_DATA={}", other.display());
        done(&stage.agent.run(&format!("{there} {PROGRAM} restore archive.tar")));
        let requests = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
                "capabilities": {}, "clientInfo": { "name": "agent", "version": "1" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": { "name": "plan_progress", "arguments": { "status": "in_progress" } } }),
        ];
        let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
        std::fs::write(stage.path("work"), lines).unwrap();
        stage.agent.run(&format!("{there} {PROGRAM} mcp --session {SESSION} < work"));
        let ran = stage.person.run(&format!("{there} {PROGRAM} plan show 1 --session {SESSION} --json"));
        done(&ran);
        let plan: Value = serde_json::from_str(&ran.output).unwrap();
        stopped_while(plan["status"] == "APPROVED")
    });
    compare("restored_archive", results);
}
