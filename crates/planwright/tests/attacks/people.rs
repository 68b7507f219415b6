//! People who must not be locked out by what stops an agent.

use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::presence::{AgentClient, ProcessId, ProcessPlace};
use serde_json::{Value, json};

use crate::acts::OLDER_PLANS;
use crate::decisions::{SERVER, with_engine};
use crate::place::user;
use crate::records::PERSONS_SESSION;
use crate::shell::{Shell, until};
use crate::stage::{PASSPHRASE, PLAN, PROGRAM, SESSION, Stage, done, enrol, next_instant};
use crate::surfaces::Server;

/// The agent's program ends, and the person opens a terminal afterwards.
fn opened_after_the_agent(stage: &mut Stage) -> Shell {
    stage.end_agent();
    next_instant();
    Shell::start(stage.folder(), "later")
}

#[test]
fn a_terminal_opened_after_the_agent_has_ended_approves() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        let approve = stage.approve_command();
        let mut later = opened_after_the_agent(&mut stage);
        done(&later.run_answering(&approve, &[("Passphrase of ada", PASSPHRASE)]));
        assert_eq!(stage.status(), "APPROVED", "{require}");
    }
}

#[test]
fn a_person_enrols_after_the_agent_has_ended() {
    let mut stage = Stage::without_approver(Require::Separate);
    let mut later = opened_after_the_agent(&mut stage);
    enrol(&mut later);
    let approve = format!("{} --approver ada", stage.approve_command());
    done(&later.run_answering(&approve, &[("Passphrase of ada", PASSPHRASE)]));
    assert_eq!(stage.plan()["approval"]["presence"], "verified");
}

/// The agent's session asks for the passphrase from then on, until a person who knows it says otherwise.
#[test]
fn enrolling_makes_verified_the_default_for_agents_and_a_person_goes_back() {
    let answers = [("Passphrase of ada", PASSPHRASE)];
    let mut stage = Stage::without_approver(Require::Separate);
    enrol(&mut stage.person);
    let approve = stage.approve_command();
    let refused = stage.person.run_answering(&approve, &[("Passphrase of ada", "let me in")]);
    assert!(refused.code != 0 && stage.status() == "READY", "{}", refused.output);
    done(&stage.person.run_answering(&approve, &answers));
    assert_eq!(stage.plan()["approval"]["presence"], "verified");
    let mut stage = Stage::without_approver(Require::Separate);
    enrol(&mut stage.person);
    stage.person_runs(&format!("{PROGRAM} approver policy --channel mcp --require separate"));
    let approve = stage.approve_command();
    done(&stage.person.run(&approve));
    assert_eq!(stage.plan()["approval"]["presence"], "terminal");
}

/// The policy is the default, and an approver is enrolled: an agent with a program of its own does not choose a session in which less
/// is asked for.
#[test]
fn every_session_of_an_agent_program_takes_a_signature() {
    let mut stage = Stage::without_approver(Require::Separate);
    enrol(&mut stage.person);
    stage.agent_calls(PERSONS_SESSION, "plan_set_content", &json!({ "plan_markdown": PLAN }));
    let digest = stage.plan_of(PERSONS_SESSION, 1)["digest"].as_str().unwrap().to_owned();
    let approve = format!("{PROGRAM} plan approve 1 --session {PERSONS_SESSION} --digest {digest} --later");
    let guessed = stage.person.run(&approve);
    assert_ne!(guessed.code, 0, "{}", guessed.output);
    assert_eq!(stage.plan_of(PERSONS_SESSION, 1)["status"], "READY");
    stage.person_runs(&approve);
    assert_eq!(stage.plan_of(PERSONS_SESSION, 1)["approval"]["presence"], "verified");
    stage.agent_calls(PERSONS_SESSION, "plan_progress", &json!({ "status": "in_progress" }));
    assert_eq!(stage.plan_of(PERSONS_SESSION, 1)["status"], "EXECUTING");
}

/// What the person sees of the rules in the store, and the policy in force.
fn rules_and_policy(stage: &mut Stage) -> [Value; 2] {
    [("permissions list", "items"), ("approver policy", "require")].map(|(command, field)| {
        let text = stage.person_runs(&format!("{PROGRAM} {command} --json"));
        let shown: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        shown[field].clone()
    })
}

/// At the terminal in which the agent runs an approver is known by the passphrase, and only by that.
#[test]
fn the_passphrase_changes_rules_and_the_policy_at_the_terminal_of_the_agent() {
    let mut stage = Stage::without_approver(Require::Separate);
    enrol(&mut stage.person);
    for command in [
        "permissions add '{ tool = \"run_command\", match = \"make\" }'",
        "permissions remove NUMBER --approver ada",
        "approver policy --require verified",
    ] {
        let before = rules_and_policy(&mut stage);
        let number = before[0][0]["number"].to_string();
        let line = format!("{PROGRAM} {}", command.replace("NUMBER", &number));
        let without_terminal = stage.agent.run(&format!("setsid --wait {line} < /dev/null"));
        assert_ne!(without_terminal.code, 0, "{command}: {}", without_terminal.output);
        let guessed = stage.agent.run(&line);
        assert!(
            guessed.code != 0 && guessed.output.contains("This is not the passphrase."),
            "{command}: {}",
            guessed.output
        );
        assert_eq!(rules_and_policy(&mut stage), before, "{command}");
        done(&stage.agent.run_answering(&line, &[("Passphrase of ada", PASSPHRASE)]));
        assert_ne!(rules_and_policy(&mut stage), before, "{command}");
    }
}

/// Clients start `planwright mcp` for every conversation, and some for every call.
#[test]
fn many_starts_of_one_agent_lock_nothing() {
    let mut stage = Stage::new(Require::Separate);
    stage.write_requests("plan_get", &json!({}));
    for _ in 0..7 {
        let start = format!("({PROGRAM} mcp --session {SESSION} < requests > /dev/null; true)");
        stage.agent.run(&format!("for i in $(seq 30); do {start}; done"));
    }
    let answer = stage.agent_calls(SESSION, "plan_get", &json!({}));
    assert!(!answer.contains("\"isError\":true"), "{answer}");
    done(&stage.person_approves());
    assert_eq!(stage.status(), "APPROVED");
}

/// The agent starts `planwright mcp` so that its program cannot be known: adopted by the system, as the first process of a namespace,
/// or in a time of its own.
#[test]
fn an_agent_that_cannot_be_known_locks_no_older_terminal() {
    let mut stage = Stage::new(Require::Separate);
    stage.write_requests("plan_get", &json!({}));
    let start = |session: &str| format!("{PROGRAM} mcp --session {session} < requests");
    stage.detach("setsid", &start("mcp:adopted-one")).end();
    if crate::stage::has_namespaces() {
        stage.write("first.sh", &format!("exec {}\n", start("mcp:first-process")));
        stage.agent.run("unshare -Urpf --mount-proc sh first.sh");
        stage.write("later.sh", &format!("exec {}\n", start("mcp:other-time")));
        stage.agent.run("unshare -UrTf --boottime 1000 sh later.sh");
    }
    done(&stage.person_approves());
    stage.person_runs(&format!("{PROGRAM} config set gateway.writes ask"));
    assert_eq!(stage.status(), "APPROVED");
}

#[test]
fn a_session_over_http_is_approved_at_an_older_terminal() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        let server = Server::start(&stage);
        stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
        done(&stage.agent.run(&server.http_client("http-session")));
        let session = "mcp:http-session";
        let digest = stage.plan_of(session, 1)["digest"].as_str().unwrap().to_owned();
        stage.person_runs(&format!("{PROGRAM} plan approve 1 --session {session} --digest {digest} --later"));
        assert_eq!(stage.plan_of(session, 1)["status"], "APPROVED", "{require}");
    }
}

/// Two machines share the store, or this one was restarted. The record of a program there counts for a minute after its last sign of
/// life; after that it keeps no person from deciding.
#[test]
fn a_program_of_another_machine_counts_for_a_minute() {
    let session = "mcp:on-two-machines";
    let mut stage = Stage::new(Require::Separate);
    let sign_of_life = |stage: &Stage, seconds_ago: i64| {
        with_engine(stage, async |engine, _| {
            let place = ProcessPlace { boot: "another machine".to_owned(), numbers: 1, users: 1, time: 1 };
            let client = AgentClient {
                machine: "another machine".to_owned(),
                name: "goose".to_owned(),
                processes: vec![ProcessId { pid: 40, started: 400 }],
                terminal: None,
                place: Some(place),
                session: None,
                group: None,
                since: None,
                beats: true,
            };
            let at = engine.now() - jiff::SignedDuration::from_secs(seconds_ago);
            engine.ledger().heartbeat(&client.heartbeat().unwrap(), at).await.unwrap();
            let (session, system) = (session.parse().unwrap(), Actor::system("mcp"));
            engine.sessions().see_client(&session, &system, client).await.unwrap();
        });
    };
    crate::servers::draft_by_own_agent(&stage, session);
    sign_of_life(&stage, 10);
    let digest = stage.plan_of(session, 1)["digest"].as_str().unwrap().to_owned();
    let approve = format!("{PROGRAM} plan approve 1 --session {session} --digest {digest} --later");
    let refused = stage.person.run(&approve);
    assert!(refused.code != 0 && refused.output.contains("`goose`"), "{}", refused.output);
    assert!(refused.output.contains("on another machine within the last minute"), "{}", refused.output);
    sign_of_life(&stage, 61);
    done(&stage.person.run(&approve));
    assert_eq!(stage.plan_of(session, 1)["status"], "APPROVED");
}

/// `planwright mcp` gives its first sign of life before its record is written.
#[test]
fn the_program_of_an_agent_gives_signs_of_life() {
    let stage = Stage::new(Require::Separate);
    with_engine(&stage, async |engine, session| {
        let clients = engine.sessions().get(&session).await.unwrap().clients;
        let name = clients[0].heartbeat().unwrap();
        let alive_at = engine.ledger().alive_at(&name).await.unwrap().unwrap();
        assert!(engine.now().duration_since(alive_at) < jiff::SignedDuration::from_secs(60));
    });
}

/// At their terminal, and with the passphrase where it is asked for.
#[test]
fn a_person_does_what_an_agent_may_not() {
    for require in [Require::Separate, Require::Verified] {
        let mut stage = Stage::new(require);
        let notes = stage.path("notes");
        std::fs::create_dir(&notes).unwrap();
        let other = stage.path("other");
        std::fs::create_dir(&other).unwrap();
        for command in [
            "memory save 'Never empty the bin' --session mcp:attack-one",
            "goal add 'A full bin' --session mcp:attack-one",
            "plan files on --session mcp:attack-one",
            "plan revise 1 --feedback 'keep the attic' --session mcp:attack-one",
            "plan cancel 1 --session mcp:attack-one",
            "plan on collect --session mcp:attack-one",
            "plan done --session mcp:attack-one",
            "plan off --session cli:first-session",
            "install claude-code --scope project --yes",
            "uninstall claude-code --scope project --yes",
            "sessions delete mcp:attack-one --yes",
            &format!("import {OLDER_PLANS}"),
            "backup archive.tar",
            &format!("--data {} restore archive.tar", other.display()),
        ] {
            let ran = stage.person.run_answering(&format!("{PROGRAM} {command}"), &[("Passphrase of ada", PASSPHRASE)]);
            assert_eq!(ran.code, 0, "{require}: {command}: {}", ran.output);
        }
        let add = format!("{PROGRAM} mcp-server add files -- python3 {SERVER} plain {}", notes.display());
        // Without a terminal as its output the command does not ask, and says how to accept.
        stage.person.run_answering(&add, &[("Passphrase of ada", PASSPHRASE)]);
        let settings = std::fs::read_to_string(stage.path("planwright.toml")).unwrap();
        assert!(settings.contains("[mcp.servers.files]"), "{settings}");
        stage.person_runs(&format!("{PROGRAM} mcp-server remove files"));
        stage.person_runs(&format!("{PROGRAM} verify"));
    }
}

/// Provisioning, CI and containers: no agent has been there, and there is no terminal.
#[test]
fn a_store_without_an_agent_takes_a_process_without_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    crate::stage::configure(folder.path(), Require::Separate);
    for command in [
        "plan on --session cli:first-session",
        "memory save words --session cli:first-session",
        "approver policy --require any",
        "plan off --session cli:first-session",
        "sessions delete cli:first-session --yes",
    ] {
        let mut run = std::process::Command::new("setsid");
        run.arg("--wait").arg(PROGRAM.path()).args(command.split(' ')).env("PLANWRIGHT_DATA", folder.path());
        if command.starts_with("approver policy") {
            // The setting is weakened where the policy is.
            run.env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
        }
        run.stdin(std::process::Stdio::null());
        let output = run.output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Other programs of the same user cannot read the passphrase or the key from the chat that has it.
#[test]
fn the_memory_of_a_chat_that_has_a_key_is_closed() {
    // Root reads every memory.
    if user() == 0 {
        return;
    }
    let mut stage = Stage::new(Require::Verified);
    let chat = format!("{PROGRAM} chat --session {SESSION} --model rehearsal");
    stage.person.type_line(&format!("sh -c 'echo $$ > chat.pid; exec {chat}'"));
    let file = stage.path("chat.pid");
    let pid = until(|| std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'))).unwrap();
    let maps = format!("cat /proc/{}/maps", pid.trim());
    done(&stage.agent.run(&maps));
    stage.person.type_line("/schedule add 0 9 * * * Wash the cups");
    stage.person.answer("Passphrase of ada: ", PASSPHRASE);
    let is_signed = |stage: &Stage| {
        let mut acts = stage.acts_of_people().into_iter();
        acts.any(|entry| entry["by"]["presence"]["signed"]["act"]["kind"] == "add_schedule")
    };
    assert!(until(|| is_signed(&stage).then_some(())).is_some(), "the schedule was not added");
    for line in [maps, format!("head -c 1 /proc/{}/environ", pid.trim()), format!("ls /proc/{}/fd", pid.trim())] {
        let ran = stage.agent.run(&line);
        assert!(ran.code != 0 && ran.output.contains("ermission denied"), "{line}: {}", ran.output);
    }
}
