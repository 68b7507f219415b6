//! What a person feels: with a passphrase an approval takes one prompt more, and none while it is remembered.
#![cfg(target_os = "linux")]

use crate::terminal::{QUESTION, Terminal};
use crate::world::{SESSION, World};

const PASSPHRASE: &str = "correct horse battery";
const ASKED: &str = "Passphrase of ada: ";
const VERIFIED: [(&str, &str); 2] =
    [("PLANWRIGHT_APPROVAL_REQUIRE", "verified"), ("PLANWRIGHT_APPROVAL_REMEMBER", "5")];

fn start(world: &World, line: &str) -> Terminal {
    Terminal::start_with(world, &format!("exec {} {line}", env!("CARGO_BIN_EXE_planwright")), &VERIFIED)
}

fn enrol(world: &World) {
    let mut terminal = start(world, "init --approver ada");
    terminal.wait_for("New passphrase for ada: ");
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    terminal.wait_for("The same again: ");
    terminal.type_in(&format!("{PASSPHRASE}\n"));
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains(PASSPHRASE), "it is on the screen: {seen}");
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
}
