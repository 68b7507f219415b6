//! What a person feels: with a passphrase an approval takes one prompt more, and none while it is remembered.
#![cfg(target_os = "linux")]

use crate::terminal::{QUESTION, Terminal};
use crate::world::{SESSION, World, ran};

const PASSPHRASE: &str = "correct horse battery";
const ASKED: &str = "Passphrase of ada: ";
const VERIFIED: [(&str, &str); 2] =
    [("PLANWRIGHT_APPROVAL_REQUIRE", "verified"), ("PLANWRIGHT_APPROVAL_REMEMBER", "5")];

fn start(world: &World, line: &str) -> Terminal {
    Terminal::start_with(world, &format!("exec {} {line}", env!("CARGO_BIN_EXE_planwright")), &VERIFIED)
}

/// What is on the screen afterwards.
fn enrol(world: &World) -> String {
    let mut terminal = start(world, "init --approver ada");
    terminal.wait_for("New passphrase for ada: ");
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    terminal.wait_for("The same again: ");
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains(PASSPHRASE), "it is on the screen: {seen}");
    seen
}

/// Types what each question asks for. The command has to work.
fn answered(world: &World, line: &str, answers: &[(&str, &str)]) -> String {
    let mut terminal = start(world, line);
    for (question, answer) in answers {
        terminal.wait_for(question);
        terminal.type_in(&format!("{answer}\n"));
    }
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{line}: {seen}");
    seen
}

const NEW: [(&str, &str); 2] =
    [("New passphrase for ada: ", "another horse entirely"), ("The same again: ", "another horse entirely")];

#[test]
fn a_forgotten_passphrase_is_replaced_with_the_recovery_code_once() {
    let world = World::new();
    let seen = enrol(&world);
    let code =
        seen.split("shown only now: ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_lowercase();
    let asked = ("Recovery code of ada: ", code.as_str());
    let seen = answered(&world, "approver recover", &[asked, NEW[0], NEW[1]]);
    assert!(!seen.contains(&code) && seen.contains("shown only now: "), "another code: {seen}");
    world.agent_drafts(SESSION, crate::world::PLAN);
    let digest = world.active_plan(SESSION).digest();
    let approve = format!("plan approve 1 --session {SESSION} --digest {digest} --later");
    answered(&world, &approve, &[(ASKED, "another horse entirely")]);
    assert_eq!(world.status(), "APPROVED");
    let mut again = start(&world, "approver recover");
    again.wait_for(asked.0);
    again.type_in(&format!("{code}\n"));
    let (seen, exit) = again.end();
    assert!(exit != 0 && seen.contains("This is not the recovery code."), "{exit}: {seen}");
}

/// The signature on what is done is in the journal, and `verify` reads it.
#[test]
fn to_resume_a_plan_takes_the_passphrase_and_is_signed() {
    let world = World::new();
    enrol(&world);
    world.agent_drafts(SESSION, crate::world::PLAN);
    let digest = world.active_plan(SESSION).digest();
    let given = [(ASKED, PASSPHRASE)];
    answered(&world, &format!("plan approve 1 --session {SESSION} --digest {digest} --later"), &given);
    answered(&world, &format!("plan resume 1 --session {SESSION}"), &given);
    assert_eq!(world.status(), "EXECUTING");
    let session = SESSION.parse().unwrap();
    let entries = world.with_engine(async |engine| engine.ledger().journal(&session, 0, 500).await.unwrap());
    let signed: Vec<serde_json::Value> = entries
        .iter()
        .map(|entry| serde_json::from_str::<serde_json::Value>(&entry.body).unwrap()["by"]["presence"]["signed"].take())
        .filter(|signed| !signed.is_null())
        .collect();
    assert!(!signed.is_empty() && signed.iter().all(|signed| signed["act"]["kind"] == "resume"), "{signed:?}");
    assert_eq!(signed[0]["act"]["digest"], digest.to_string());
    world.run("verify").done();
}

#[test]
fn an_approval_takes_one_prompt_more() {
    let world = World::new();
    enrol(&world);
    world.agent_drafts(SESSION, crate::world::PLAN);
    let mut terminal = start(&world, &format!("plan approve 1 --session {SESSION} --later"));
    terminal.wait_for(QUESTION);
    terminal.type_in("y\n");
    terminal.wait_for(ASKED);
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert_eq!((seen.matches("? [y/N]").count(), seen.matches("assphrase").count()), (1, 1), "{seen}");
    assert_eq!(world.status(), "APPROVED");
}

/// Draws a line after each answer, so that the next one can be typed.
fn prompt(terminal: &mut Terminal) {
    terminal.wait_for("\u{1b}[?2004h");
    terminal.wait_for("›");
}

#[test]
fn a_chat_asks_once_while_the_passphrase_is_remembered() {
    let world = World::new();
    enrol(&world);
    let mut terminal = start(&world, "chat --session cli:session-one --model rehearsal");
    for number in 1..=2 {
        prompt(&mut terminal);
        terminal.type_in("/plan on\r");
        terminal.wait_for("Plan work is");
        prompt(&mut terminal);
        terminal.type_in("add a health endpoint\r");
        terminal.wait_for(&format!("/plan reject {number}"));
        prompt(&mut terminal);
        terminal.type_in(&format!("/plan approve {number}\r"));
        if number == 1 {
            terminal.wait_for(ASKED);
            terminal.type_in(&format!("{PASSPHRASE}\n"));
        }
        terminal.wait_for("is approved");
        terminal.wait_for("steps are done");
    }
    prompt(&mut terminal);
    terminal.type_in("/quit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(seen.matches(ASKED).count(), 1, "{seen}");
    for number in 1..=2 {
        let plan = world.json(&format!("plan show {number} --session cli:session-one"));
        assert_eq!(plan["approval"]["signedBy"], serde_json::json!(["ada"]), "{plan}");
    }
}

/// A plan that needs two people says everywhere who approved it and that one more is needed.
#[test]
fn a_plan_that_waits_for_a_second_person_says_so_on_every_surface() {
    let world = World::new();
    enrol(&world);
    let mut second = start(&world, "approver add bob");
    second.wait_for(ASKED);
    second.type_in(&format!("{PASSPHRASE}\n"));
    for question in ["New passphrase for bob: ", "The same again: "] {
        second.wait_for(question);
        second.type_in("another horse entirely\n");
    }
    let (seen, code) = second.end();
    assert_eq!(code, 0, "{seen}");
    world.write("planwright.toml", "[[approval.rules]]\nrequire = \"verified\"\npeople = 2\n");
    world.agent_drafts(SESSION, crate::world::PLAN);
    let digest = world.active_plan(SESSION).digest();
    let approve = |name: &str, passphrase: &str| {
        let line = format!("plan approve 1 --session {SESSION} --digest {digest} --later --approver {name}");
        let mut terminal = start(&world, &line);
        terminal.wait_for(&format!("Passphrase of {name}: "));
        terminal.type_in(&format!("{passphrase}\n"));
        let (seen, code) = terminal.end();
        assert_eq!(code, 0, "{seen}");
        seen
    };
    let message = "ada approved it, 1 of 2; it waits for one more approver: bob";
    // Lines are broken where they are too long for the screen.
    let says = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(message);
    let surfaces = || {
        let chat = format!("chat --session {SESSION} --model rehearsal");
        [
            ("plan show", world.run(&format!("plan show 1 --session {SESSION}")).done().stdout),
            ("plan status", world.run(&format!("plan status --session {SESSION}")).done().stdout),
            ("inbox", world.run("inbox").done().stdout),
            ("chat, status", world.run_with_input(&chat, "/plan status\n").stdout),
            ("chat, show", world.run_with_input(&chat, "/plan show 1\n").stdout),
        ]
    };
    let seen = approve("ada", PASSPHRASE);
    assert!(says(&seen), "{seen}");
    assert_eq!(world.status(), "READY");
    for (surface, text) in surfaces() {
        assert!(says(&text), "{surface}: {text}");
    }
    let item = &world.json("inbox")["items"][0];
    assert_eq!(item["approvedBySome"], message, "{item}");
    approve("bob", "another horse entirely");
    assert_eq!(world.status(), "APPROVED");
    for (surface, text) in surfaces() {
        assert!(!says(&text), "{surface}: {text}");
    }
    // With several approvers who are not named like the user, every command that takes a passphrase is told whose.
    for line in [format!("plan resume 1 --session {SESSION}"), format!("auto on --session {SESSION}")] {
        let unnamed = ran(world.command().env("USER", "cleo").args(line.split_whitespace())).stderr;
        assert!(unnamed.contains("there are several approvers") && unnamed.contains("--approver"), "{line}: {unnamed}");
        let help = world.run(&format!("{line} --approver bob --help")).done().stdout;
        assert!(help.contains("--approver <NAME>"), "{line}: {help}");
    }
}
