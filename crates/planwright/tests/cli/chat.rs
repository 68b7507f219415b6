//! A conversation in a pipe, with the built-in model.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::world::{Ran, World, ran};

/// Each line is one message or command.
fn talk(world: &World, arguments: &str, lines: &[&str]) -> Ran {
    world.run_with_input(&format!("chat {arguments}"), &(lines.join("\n") + "\n"))
}

fn answers(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_document_is_drafted_approved_and_carried_out() {
    let world = World::new();
    let lines = ["/plan on", "add a health endpoint", "/plan approve", "/plan status"];
    let ran = talk(&world, "", &lines).done();
    ran.says("Plan 1  READY  document\nAdd a health endpoint\ndigest ")
        .says("☐ Add a health endpoint")
        .says("Approve: /plan approve 1\nRequest changes: /plan revise #1 WHAT TO CHANGE\nReject: /plan reject 1\n")
        .says("Plan 1 is approved: Add a health endpoint.")
        .says("Plan 1 is COMPLETED: Add a health endpoint. 3 of 3 steps are done.")
        .never_says("\u{1b}")
        .complains("✔ plan_set_content")
        .complains("✔ plan_progress");
    assert_eq!(world.json("plan show 1")["status"], "COMPLETED");
    world.run("verify").done();
}

/// No person reads what a pipe shows, so the line has to name the text that it approves.
#[test]
fn a_line_of_a_pipe_approves_only_the_text_that_it_names() {
    let world = World::new();
    let pipe = |lines: &str| {
        let mut command = world.command();
        command.env("PLANWRIGHT_APPROVAL_REQUIRE", "separate").args(["chat", "--session", "piped-session"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    };
    let shown = || world.json("plan show 1 --session cli:piped-session");
    let named = |digest: &str| format!("/plan approve 1 --digest {digest}");
    let refused = pipe("/plan on\nadd a health endpoint\n/plan approve\n").exits(3);
    let digest = shown()["digest"].as_str().unwrap().to_owned();
    let told = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("no person reads what a pipe shows") && told.contains(&named(&digest)), "{told}");
    assert_eq!(shown()["status"], "READY");
    let other = pipe(&format!("{}\n", named(&"ab".repeat(32))));
    assert_ne!(other.code, 0);
    assert_eq!(shown()["status"], "READY");
    pipe(&format!("{}\n", named(&digest))).done().says("Plan 1 is approved");
    assert_eq!(shown()["status"], "COMPLETED");
}

#[test]
fn calls_are_collected_and_some_of_them_approved() {
    let world = World::new();
    let lines = ["/plan on collect", "send the report", "/plan approve skip 1 -- only the note"];
    talk(&world, "", &lines)
        .done()
        .says("1. `list_files`")
        .says("Plan 1 is approved")
        .says("step 1 will not be done")
        .says("1 done, 1 skipped.")
        .complains("▪ write_file  rehearsal.md  planned, not run")
        .complains("✔ 2/2  write_file");
    let plan = world.json("plan show 1");
    assert_eq!((&plan["status"], &plan["style"]), (&"COMPLETED".into(), &"collect".into()));
}

#[test]
fn a_proposal_is_built_revised_and_rejected() {
    let world = World::new();
    let lines = ["/plan on build", "move the tables", "/plan revise fewer steps", "/plan reject too risky", "/plans"];
    talk(&world, "", &lines)
        .done()
        .says("Plan 1  READY  build")
        .says("coder: Move the tables")
        .says("Plan 2  READY  build")
        .says("Plan 2 is REJECTED")
        .says("SUPERSEDED");
}

#[test]
fn the_plan_can_be_chosen_at_the_start() {
    let world = World::new();
    talk(&world, "--plan collect", &["send the report"]).done().says("Plan 1  READY  collect");
    talk(&world, "--plan off", &["/plan status"]).done().says("Plan work is off");
    world.run("chat --plan maybe").exits(2).complains("document, collect, build, off");
}

#[test]
fn programs_get_one_object_per_answer() {
    let world = World::new();
    let ran = talk(&world, "--json", &["/plan on", "", "add a health endpoint", "/plan approve 7"]).exits(3);
    assert_eq!(ran.stderr, "", "nothing disturbs a program");
    let [on, drafted, refused] = answers(&ran).try_into().unwrap();
    assert_eq!((&on["outcome"], &on["channel"]), (&"done".into(), &"cli".into()));
    assert!(on.get("plan").is_none() && on.get("planId").is_none(), "{on}");
    assert_eq!(drafted["outcome"], "answered");
    assert_eq!(drafted["plan"]["status"], "READY");
    assert_eq!(drafted["planId"], drafted["plan"]["planId"]);
    assert_eq!(drafted["plan"]["digest"].as_str().unwrap().len(), 64);
    assert_eq!(refused["outcome"], "refused");
    assert_eq!(refused["sessionId"], on["sessionId"]);
}

#[test]
fn a_message_on_the_command_line_is_answered_once() {
    let world = World::new();
    world.run("chat --plan document add a health endpoint").done().says("Plan 1  READY  document");
    world.run("chat /plan show").done().says("Plan 1  READY").says("☐ Add a health endpoint");
    // All of stdin is one message.
    let ran = world.run_with_input("chat --plan document --json --session another-one -", "one\ntwo\n").done();
    let [answer] = answers(&ran).try_into().unwrap();
    assert!(answer["plan"]["markdown"].as_str().unwrap().contains("one"), "{answer}");
}

#[test]
fn with_nothing_to_say_nothing_happens() {
    let world = World::new();
    let ran = world.run("chat").done();
    assert_eq!(ran.stdout, "");
    talk(&world, "", &["", "   ", "/quit", "/plna"]).done().never_says("plna");
    talk(&world, "", &["/EXIT"]).done();
}

#[test]
fn a_mistake_is_told_and_ends_it() {
    let world = World::new();
    talk(&world, "", &["/plna on", "/plan on"])
        .exits(3)
        .says("✘ There is no command `/plna`. Did you mean `/plan on`?");
    talk(&world, "", &["/plan aprove"]).exits(3).says("`/plan approve`");
    talk(&world, "", &["/plan approve 9", "/plan on"]).exits(3).never_says("COLLECTING");
    talk(&world, "", &["/plan status"]).done().says("Plan work is off");
    let long = "x ".repeat(200);
    let limited = ran(world.command().env("PLANWRIGHT_LIMITS_MESSAGE_BYTES", "100").args(["chat", &long]));
    limited.exits(2).complains("at most 100");
    let error = ran(world.command().env("PLANWRIGHT_LIMITS_MESSAGE_BYTES", "100").args(["chat", "--json", &long]));
    assert_eq!(error.exits(2).error_json()["code"], "LIMIT_EXCEEDED");
}

#[test]
fn settings_reach_the_turn() {
    let world = World::new();
    world.write("planwright.toml", "[turn]\nmodel_calls = 1\n");
    talk(&world, "--plan document", &["add a health endpoint"]).exits(6).says("`turn.model_calls`");
    let ended = ran(world.command().env("PLANWRIGHT_TURN_MODEL_CALLS", "9").args(["chat", "add a health endpoint"]));
    ended.done().says("READY");
}

#[test]
fn a_command_whose_line_breaks_off_decides_nothing() {
    let world = World::new();
    talk(&world, "--plan document", &["tidy the garage"]).done();
    // What was written may have been `/plan approve 1 skip 2`.
    let ran = world.run_with_input("chat", "/plan approve 1").exits(2);
    ran.complains("has no line end");
    assert_eq!(world.json("plan show 1")["status"], "READY");
    world.run_with_input("chat", "and a message that ends with the file").done();
}

/// What the agent and the engine say in a conversation names what can be typed there.
#[test]
fn the_chat_names_no_command_of_the_command_line() {
    let world = World::new();
    for line in [
        "/plan show",
        "/plan on",
        "move the blog",
        "/plan reject 1",
        "/plan approve 1",
        "/plan resume 1",
        "/plan revise #1 again",
        "/plan status",
        "/plan watch",
        "/sessions",
        "/status",
        "/switch no-such-key",
        "/reset",
        "/help",
        "/help plan",
    ] {
        let ran = ran(world.command().args(["chat", line]));
        let told = ran.stdout.clone() + &ran.stderr;
        assert!(!told.contains("planwright plan") && !told.contains("planwright sessions"), "{line}: {told}");
    }
}

#[test]
fn a_reset_says_what_became_of_the_plan() {
    let world = World::new();
    talk(&world, "", &["/plan on", "add a health endpoint", "/reset"]).done().tells("The active plan is cancelled.");
    assert_eq!(world.json("plan show 1")["status"], "CANCELLED");
    let done = talk(&world, "", &["/plan on", "add a health endpoint", "/plan approve", "/reset"]).done();
    done.says("Plan work is off.").never_says("cancelled");
    assert_eq!(world.json("plan show 2")["status"], "COMPLETED");
}

#[test]
fn the_lines_of_a_pipe_take_effect_in_their_order() {
    const PAIRS: usize = 100;
    let world = World::new();
    let command = |pair: usize| if pair.is_multiple_of(2) { "/plan on collect" } else { "/plan off" };
    let input: String = (0..PAIRS).map(|pair| format!("message {pair}\n{}\n", command(pair))).collect();
    world.run_with_input("chat --session pipe-one", &input).done();
    let journal = world.with_engine(async |engine| {
        engine.ledger().journal(&"cli:pipe-one".parse().unwrap(), 0, 100_000).await.unwrap()
    });
    let effect = |body: &str| {
        let event = serde_json::from_str::<Value>(body).unwrap()["event"].clone();
        match event["type"].as_str().unwrap() {
            "turn_begun" => event["text"].as_str().map(str::to_owned),
            name @ ("turn_ended" | "plan_mode_enabled" | "plan_mode_disabled") => Some(name.to_owned()),
            _ => None,
        }
    };
    let effects: Vec<_> = journal.iter().filter_map(|entry| effect(&entry.body)).collect();
    let mode = |pair: usize| if pair.is_multiple_of(2) { "plan_mode_enabled" } else { "plan_mode_disabled" };
    let expected: Vec<_> =
        (0..PAIRS).flat_map(|n| [format!("message {n}"), "turn_ended".to_owned(), mode(n).to_owned()]).collect();
    assert_eq!(effects, expected);
}
