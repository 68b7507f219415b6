//! A conversation with a model at a provider, as far as the program is concerned: keys, trouble, hostile text, crashes.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::provider::{Provider, Reply, last_message};
use crate::world::{Ran, World, ran};

fn chat(world: &World, provider: &Provider, arguments: &[&str]) -> Command {
    let mut command = world.command();
    command.envs(provider.variables()).arg("chat").args(arguments);
    command
}

#[test]
fn a_missing_key_says_what_to_do() {
    let world = World::new();
    let missing = world.run("chat --model openai:gpt-5 hello").exits(2);
    missing.complains("set OPENAI_API_KEY").complains("PLANWRIGHT_MODEL=rehearsal");
    let error = world.run("chat --model anthropic:claude --json hello").exits(2).error_json();
    assert!(error["message"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{error}");
    world.run("chat --model gpt-5 hello").exits(2).complains("did you mean `openai:gpt-5`?");
    world.run("chat --model nobody:x hello").exits(2).complains("no model provider");
    // What is said on the command line counts.
    ran(world.command().env("PLANWRIGHT_MODEL", "openai:gpt-5").args(["chat", "--model", "rehearsal", "hello"])).done();
}

#[test]
fn the_answer_of_the_model_is_the_answer() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Text("It is **done**.\n\n- one\n- two".to_owned())]);
    let answered = ran(&mut chat(&world, &provider, &["do", "it"])).done();
    assert_eq!(answered.stdout, "It is done.\n\n• one\n• two\n");
    assert_eq!(last_message(&provider.asked()), "do it");
}

/// A bare Debian has none, and its model may be on the same machine.
#[test]
fn certificates_of_the_system_are_needed_for_https_alone() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Text("Hello.".to_owned())]);
    let without =
        |mut command: Command| ran(command.envs([("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/dev/null")]));
    without(chat(&world, &provider, &["hello"])).done().says("Hello.");
    let mut encrypted = chat(&world, &provider, &["hello"]);
    encrypted.env("OPENAI_BASE_URL", provider.address.replace("http:", "https:")).env("OPENAI_API_KEY", "sk-x");
    without(encrypted).exits(2).complains("certificates").complains("ca-certificates");
}

#[test]
fn what_is_said_beside_calls_is_progress() {
    let world = World::new();
    let call = Reply::Call {
        preface: "Let me write that.",
        tool: "write_file",
        arguments: json!({ "path": "a.md", "content": "x" }),
    };
    let refused = Reply::Call { preface: "", tool: "read_file", arguments: json!({ "path": "../b.md" }) };
    let provider = Provider::start(&[call, refused, Reply::Text("Written.".to_owned())]);
    let answered = ran(&mut chat(&world, &provider, &["--session", "with-files", "write"])).done();
    assert_eq!(answered.stdout, "Written.\n");
    answered
        .complains("Let me write that.")
        .complains("✔ write_file  a.md")
        .complains("✘ read_file  ../b.md  refused: ");
    assert_eq!(std::fs::read_to_string(world.path("users/cli-with-files/files/a.md")).unwrap(), "x");
}

#[test]
fn a_model_that_fails_is_told_about() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Status(401, r#"{"error":{"message":"no such key"}}"#)]);
    let failed = ran(&mut chat(&world, &provider, &["hello"]));
    failed.exits(6).says("✘ The model could not answer.");
    let failed = ran(&mut chat(&world, &provider, &["--json", "hello"])).exits(6);
    assert_eq!(failed.json()["outcome"], "model_failed");
}

/// The provider offers 50 MiB. The turn ends in words, and the store holds none of it.
#[test]
fn a_reply_without_an_end_is_dropped() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Endless("word ", 50 * 1024 * 1024)]);
    let failed = ran(&mut chat(&world, &provider, &["--json", "hello"])).exits(6);
    assert_eq!(failed.json()["outcome"], "model_failed");
    let reply = failed.json()["reply"].to_string();
    assert!(reply.contains("too large") && reply.contains("`reply.text_bytes`"), "{reply}");
    let stored: u64 = std::fs::read_dir(world.store().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(stored < 1024 * 1024, "{stored} bytes are stored");
    let small = ran(chat(&world, &provider, &["hello"]).env("PLANWRIGHT_REPLY_TEXT_BYTES", "100")).exits(6);
    assert!(small.stdout.contains("`reply.text_bytes`"), "{}", small.stdout);
}

const HOSTILE: &str =
    "\u{1b}]0;owned\u{7}\u{1b}[2J# Title\u{202e}\n\n`\u{1b}[31m` <!-- hidden --> [bank](https://evil.example)";

#[track_caller]
fn harmless(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let found = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(found, None, "{text:?}");
    }
}

#[test]
fn nothing_the_model_says_or_names_is_obeyed_by_a_terminal() {
    let world = World::new();
    let call = Reply::Call { preface: HOSTILE, tool: "\u{1b}[2Jtool", arguments: json!({ "path": HOSTILE }) };
    let provider = Provider::start(&[call, Reply::Text(HOSTILE.to_owned())]);
    let ran = ran(chat(&world, &provider, &["hello"]).env("USER", "\u{1b}[2Jeve")).done();
    harmless(&ran);
    ran.says("⟦U+001B⟧[2J").says("<!-- hidden -->").says("https://evil.example").complains("⟦U+001B⟧[2Jtool");
    harmless(&world.run("sessions").done());
}

#[cfg(unix)]
#[test]
fn a_turn_that_a_kill_interrupted_goes_on() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("I was just"), Reply::Text("Here I am again.".to_owned())]);
    let mut command = chat(&world, &provider, &["--session", "interrupted", "are", "you", "there?"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    provider.asked();
    child.kill().unwrap();
    child.wait().unwrap();
    // The test does not wait until the lease of the dead process expires.
    let store = rusqlite::Connection::open(world.store()).unwrap();
    assert_eq!(store.execute("DELETE FROM lease", []).unwrap(), 1);
    drop(store);

    let resumed = ran(&mut chat(&world, &provider, &[])).done();
    resumed.says("Here I am again.").complains("Continuing a turn that was interrupted.");
    assert_eq!(last_message(&provider.asked()), "are you there?");
    ran(&mut chat(&world, &provider, &["/status"])).done().says("idle");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_asked_to_end_stops_the_turn() {
    for signal in ["TERM", "INT"] {
        let world = World::new();
        let provider = Provider::start(&[Reply::Hold("I was just")]);
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_planwright"), "chat", "hello"]);
        command.env("PLANWRIGHT_DATA", world.path("")).env("USER", "ada").envs(provider.variables());
        command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        provider.asked();
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().unwrap().success());
        let ended: Ran = child.wait_with_output().unwrap().into();
        ended.exits(3);
        ran(world.command().args(["chat", "/status"])).done().says("idle");
    }
}

/// The rehearsal works from what it said itself, and nothing in a session that a real model answered in is that.
#[test]
fn without_a_model_nothing_is_carried_out_in_a_session_that_a_model_answered_in() {
    for style in ["document", "build"] {
        let world = World::new();
        let provider = Provider::start(&[Reply::Text("Which blog?".to_owned())]);
        let lines = [&format!("/plan on {style}"), "add a health endpoint", "/plan approve", ""];
        world.run_with_input("chat --session mixed-one", &lines[..2].join("\n")).done();
        ran(&mut chat(&world, &provider, &["--session", "mixed-one", "move the blog"])).done();
        let approved = world.run_with_input("chat --session mixed-one", &lines[2..].join("\n")).done();
        approved
            .tells("Plan 1 is approved")
            .tells("No model is configured")
            .tells("openai:tester")
            .tells("has answered in this session");
        let plan = || world.json("plan show 1 --session cli:mixed-one");
        assert_eq!(plan()["status"], "APPROVED", "{style}");
        let refused = world.run("plan resume 1 --session cli:mixed-one --json");
        assert_eq!(refused.error_json()["code"], "CONFLICT");
        assert_eq!(plan()["status"], "APPROVED", "{style}");
        // In a session of its own it does.
        let own = world.run_with_input("chat --session of-its-own", &lines.join("\n")).done();
        own.tells("Plan 1 is COMPLETED");
    }
}

#[test]
fn without_a_model_no_message_is_answered_in_a_session_that_a_model_answered_in() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Text("Which blog?".to_owned()), Reply::Text("That one.".to_owned())]);
    let of_session = |line: &'static str| ["--session", "mixed-one", line];
    ran(&mut chat(&world, &provider, &of_session("move the blog"))).done();
    let entries = || {
        world.with_engine(async |engine| {
            engine.ledger().journal(&"cli:mixed-one".parse().unwrap(), 0, 10_000).await.unwrap().len()
        })
    };
    let before = entries();
    let refused = ran(world.command().arg("chat").args(of_session("the one of the shop")));
    let told = format!("{} {}", refused.stdout, refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_ne!(refused.code, 0, "{told}");
    for expected in ["No model is configured", "openai:tester", "PLANWRIGHT_MODEL", "/new"] {
        assert!(told.contains(expected), "{expected} is not in: {told}");
    }
    assert_eq!(entries(), before, "nothing was answered, and the message was not taken");
    // To look needs no model, and with its own model the session goes on.
    ran(world.command().arg("chat").args(of_session("/status"))).done();
    ran(&mut chat(&world, &provider, &of_session("the one of the shop"))).done().says("That one.");
}
