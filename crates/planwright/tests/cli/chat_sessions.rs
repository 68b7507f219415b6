//! Which session a chat is in, and sessions that go.

use std::process::Stdio;

use crate::provider::{Provider, Reply};
use crate::world::{PLAN, SESSION, World, ran};

#[test]
fn a_chat_goes_on_where_the_person_was_last() {
    let world = World::new();
    let first = world.run("chat --json --session first-session /status").done().json();
    assert_eq!(first["sessionId"], "first-session");
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], "first-session");
    let new = world.run("chat --json /new").done().json();
    assert_ne!(new["sessionId"], "first-session");
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], new["sessionId"]);
    assert_eq!(world.run("chat --json /switch first-session").done().json()["sessionId"], "first-session");
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], "first-session");
    // Another user has another session.
    let other = ran(world.command().env("USER", "bob").args(["chat", "--json", "/status"])).done().json();
    assert_ne!(other["sessionId"], "first-session");
    world.run("chat /switch no-such-key").exits(3).says("no-such-key");
}

/// Whichever comes first begins the session, and the other one takes it.
#[test]
fn plan_on_and_a_chat_take_the_same_session() {
    let world = World::new();
    let begun = world.json("plan on")["sessionId"].clone();
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], begun);
    assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 1);
    // Also where there are other sessions.
    let world = World::new();
    world.agent_drafts("web:session-two", PLAN);
    let begun = world.run("chat --json hello").done().json()["sessionId"].clone();
    assert_ne!(begun, "session-two");
    assert_eq!(world.json("plan on")["sessionId"], begun);
    // Plan work in a session of another name does not move the chat.
    world.run("plan on --session web:session-two").done();
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], begun);
    // The only session there is becomes that of the chat.
    let world = World::with_plan();
    assert_eq!(world.json("plan on")["sessionId"], "session-one");
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], "session-one");
}

#[test]
fn a_session_of_another_channel_is_named_by_its_key() {
    let world = World::with_plan();
    let answer = world.run("chat --json --session session-one /plan show").done().json();
    assert_eq!((&answer["channel"], &answer["plan"]["status"]), (&"mcp".into(), &"READY".into()));
    world.run(&format!("chat --session {SESSION} /plan approve")).done().says("is approved");
    world.run("chat --session no /status").exits(2).complains("8 to 64");
}

#[test]
fn a_person_continues_the_last_session_or_finds_one() {
    let world = World::new();
    world.run("chat --continue /status").exits(4).complains("There is no session to continue yet");
    world.run("chat --session work tell me about health").done();
    world.run("chat --session blog-posts write about the sea").done();
    let status =
        |arguments: &str| world.run(&format!("chat --json {arguments} /status")).done().json()["sessionId"].clone();
    assert_eq!(status("--continue"), "blog-posts");
    assert_eq!(status("--resume=health"), "session-work");
    assert_eq!(status("--session work"), "session-work");
    assert_eq!(status("-c"), "session-work");
    assert_eq!(status("--resume=blog"), "blog-posts");
    world.run("chat --resume /status").exits(2).complains("2 sessions can be continued").complains("cli:session-work");
    world.run("chat --resume=nowhere /status").exits(4).complains("No session has `nowhere`");
    world.run("chat --resume --session work /status").exits(2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_switch_finds_a_session_by_a_piece_of_what_it_is_about() {
    use crate::terminal::Terminal;
    let world = World::new();
    world.run("chat --session first-session tell me about health").done();
    world.run("chat --session first-other write about the sea").done();
    let mut terminal = Terminal::start(&world, "chat --resume");
    terminal.wait_for("Continue which session? [1-2] ");
    terminal.type_in("9\n");
    terminal.wait_for("Continue which session? [1-2] ");
    // The one that was active last comes first.
    terminal.type_in("1\n");
    terminal.wait_for("cli:first-other");
    terminal.wait_for("\u{1b}[?2004h");
    terminal.wait_for("›");
    terminal.type_in("/switch first\r");
    terminal.wait_for("2 sessions fit");
    terminal.wait_for("›");
    terminal.type_in("/switch health\r");
    terminal.wait_for("cli:first-session");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end().1, 0);
    assert_eq!(world.run("chat --json /status").done().json()["sessionId"], "first-session");
}

#[test]
fn sessions_are_listed_with_what_they_are_about() {
    let world = World::new();
    world.run("chat --session about-health tell me about health").done();
    world.run("sessions").done().says("cli:about-health").says("“tell me about health” 0 plans, none active");
    assert_eq!(world.json("sessions")["sessions"][0]["topic"], "tell me about health");
}

#[test]
fn a_deleted_session_is_gone_with_its_files() {
    let world = World::new();
    world.run("chat --session to-be-deleted hello").done();
    let files = world.path("users/cli-to-be-deleted/files");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("notes.md"), "text").unwrap();

    world.run("sessions delete to-be-deleted").exits(2).complains("there is no terminal to ask on").complains("--yes");
    let error = world.run("sessions delete to-be-deleted --json").exits(2).error_json();
    assert_eq!(error["code"], "INVALID_ARGUMENT");
    assert!(files.exists());

    let gone = world.json("sessions delete to-be-deleted --yes");
    assert_eq!((&gone["sessionId"], &gone["deleted"]), (&"to-be-deleted".into(), &true.into()));
    assert!(!files.exists());
    world.run("sessions").done().never_says("to-be-deleted");
    world.run("sessions delete to-be-deleted --yes").exits(4).complains("There is no session");
    world.run("chat /status").done().never_says("to-be-deleted");
    world.run("verify").done();
}

#[test]
fn deleting_names_one_session_only() {
    let world = World::with_plan();
    world.run("sessions delete").exits(2).complains("<KEY>");
    world.run("sessions --after 3 delete x").exits(2);
    world.run(&format!("sessions delete {SESSION} --yes")).done().says("Session mcp:session-one is deleted.");
}

/// The turn of the other process does not end by itself, and its lease is renewed.
#[test]
fn a_stop_and_a_look_do_not_wait_for_another_process() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("Let me")]);
    let mut talking = world.command();
    talking.args(["chat", "--session", "held-session", "hello"]).envs(provider.variables());
    let mut talking = talking.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    provider.asked();
    let run = |arguments: &[&str]| {
        let mut command = world.command();
        ran(command.args(["chat", "--session", "held-session"]).args(arguments).envs(provider.variables()))
    };
    run(&["/status"]).done();
    run(&["/stop"]).done().tells("Stopped.");
    assert_eq!(talking.wait().unwrap().code(), Some(3));
}
