//! `planwright mcp-server`, and what other commands say about upstream servers.

use std::process::Command;

use planwright_test_support::upstream::not_shown;
use serde_json::Value;

#[cfg(target_os = "linux")]
use crate::terminal::Terminal;
use crate::world::{Ran, World, ran};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../upstream/tests/servers/hostile.py");

fn add(world: &World, name: &str, options: &[&str]) -> Ran {
    add_in_mode(world, name, options, "plain")
}

fn add_in_mode(world: &World, name: &str, options: &[&str], mode: &str) -> Ran {
    let notes = world.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    let mut command = world.command();
    command.args(["mcp-server", "add", name, "--json"]).args(options);
    ran(command.args(["--", "python3", SCRIPT, mode]).arg(notes))
}

fn accept(world: &World, digest: &str) -> Ran {
    world.run(&format!("mcp-server accept files --digest {digest}"))
}

fn details(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stderr).unwrap()
}

#[test]
fn a_server_is_added_accepted_looked_at_and_removed() {
    let world = World::new();
    let file = world.write("planwright.toml", "# mine\n[plan]\ntools = \"read_only\"\n");
    // Without a terminal no person has seen the tools, so they are not accepted.
    let added = add(&world, "files", &["--trust-annotations", "--tool", "*e*", "--env", "KEY=it's ${USER}"]);
    assert_eq!(added.code, 2, "{added:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n[plan]\ntools = \"read_only\"\n\n[mcp.servers.files]\ncommand = \"python3\"\n"),
        "{text}"
    );
    assert!(text.contains("trust_annotations = true") && text.contains("it's ${USER}"), "{text}");
    let listed = world.json("mcp-server list");
    assert_eq!((&listed["servers"][0]["state"], &listed["servers"][0]["tools"]), (&"not_accepted".into(), &0.into()));
    let digest = details(&added)["digest"].as_str().unwrap().to_owned();
    assert!(details(&added)["difference"].as_str().unwrap().contains("new `note`:\n    description: Writes a note."));
    assert_eq!(accept(&world, &"0".repeat(64)).code, 5);
    accept(&world, &digest).done().says("Accepted.");
    let shown = world.json("mcp-server show files");
    assert_eq!((&shown["state"], &shown["accepted"]), (&"accepted".into(), &19.into()));
    assert!(shown["problems"][0].as_str().unwrap().contains("`odd`"), "{shown}");
    world.run("mcp-server remove files").done();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\n[plan]\ntools = \"read_only\"\n");
    world.run("mcp-server list").done().tells("No MCP server is configured.");
}

#[test]
fn every_line_and_every_argument_of_every_tool_is_shown_before_it_is_accepted() {
    let world = World::new();
    let added = details(&add_in_mode(&world, "files", &[], "wordy"));
    let shown = world.run("mcp-server show files").done().stdout.clone();
    let in_inbox = world.run("inbox show mcp-server-files").done().stdout.clone();
    let json = world.json("inbox show mcp-server-files");
    let texts =
        [&shown, &in_inbox, added["difference"].as_str().unwrap(), json["toolChange"]["difference"].as_str().unwrap()];
    for text in texts {
        assert_eq!(not_shown(text), [""; 0]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_all_pages_are_shown_before_the_question() {
    let world = World::new();
    add_in_mode(&world, "files", &[], "wordy");
    let mut terminal = Terminal::start(&world, "mcp-server accept files");
    for part in 1..=3 {
        terminal.wait_for(&format!("Part {part} of 4. Show the next one? [y/N] "));
        terminal.type_in("y\n");
    }
    terminal.wait_for("Accept the tools of files as shown? [y/N] ");
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!((code, not_shown(&seen)), (0, Vec::new()), "{seen}");
    assert_eq!(world.json("mcp-server show files")["state"], "accepted");
    // Who does not look at the rest accepts nothing.
    let other = World::new();
    add_in_mode(&other, "files", &[], "wordy");
    let mut terminal = Terminal::start(&other, "mcp-server accept files");
    terminal.wait_for("Part 1 of 4. Show the next one? [y/N] ");
    terminal.type_in("n\n");
    let (seen, code) = terminal.end();
    assert!(code != 0 && !seen.contains("Accept the tools"), "{code}: {seen}");
    assert_eq!(other.json("mcp-server show files")["state"], "not_accepted");
}

#[test]
fn a_server_at_an_address_is_shown_with_the_names_of_what_it_is_sent() {
    let world = World::new();
    let settings = "url = \"http://127.0.0.1:1/mcp?tenant=hidden\"\nheaders = { Authorization = \"Bearer hidden\" }\n";
    world.write("planwright.toml", &format!("[mcp.servers.web]\n{settings}"));
    let shown = world.json("mcp-server show web");
    let reach: Vec<_> = shown["reach"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(reach[0].starts_with("It runs elsewhere."), "{shown}");
    assert_eq!(reach[1..], ["  headers of the settings: Authorization", "  parameters in the address: tenant"]);
    assert!(!shown.to_string().contains("hidden"), "{shown}");
    // The log has no address of a server, also where a library writes the line and with every level switched on.
    for log in ["", "trace"] {
        let mut command = world.command();
        let ran = ran(command.args(["mcp-server", "show", "web"]).env("PLANWRIGHT_LOG", log)).done();
        assert!(ran.stderr.contains("connection refused") && !ran.stderr.contains("hidden"), "{}", ran.stderr);
    }
}

#[test]
fn a_change_is_seen_by_doctor_and_accepted_again() {
    let world = World::new();
    let digest = details(&add(&world, "files", &[]))["digest"].as_str().unwrap().to_owned();
    let doctor = || ran(world.command().env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:1").args(["doctor"]));
    doctor().done().says("files answers and is not yet accepted");
    accept(&world, &digest).done();
    doctor().done().says("files offers 19 tools");
    world.write("notes/description.txt", " And sends it to me.");
    doctor().done().says("files changed its tools: 1 changed");
    let shown = world.json("mcp-server show files");
    assert!(
        shown["difference"].as_str().unwrap().contains("+description: Writes a note. And sends it to me."),
        "{shown}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let world = World::new();
    for line in [
        "mcp-server add Git -- x",
        "mcp-server add a_b -- x",
        "mcp-server add git",
        "mcp-server add git --url ftp://x",
        "mcp-server add git --url https://x -- x",
        "mcp-server add git --sandbox tight -- x",
        "mcp-server add git --env PLANWRIGHT_TOKEN=x -- x",
        "mcp-server add git --env NONSENSE -- x",
    ] {
        let refused = world.run(line);
        assert_eq!(refused.code, 2, "{line}: {refused:?}");
        assert!(!world.path("planwright.toml").exists(), "{line}");
    }
    assert!(world.run("mcp-server add Git -- x").stderr.contains("a-z, 0-9 and -"));
    assert_eq!(world.run("mcp-server show files").code, 4);
    add(&world, "files", &[]);
    let again = add(&world, "files", &[]);
    assert!(details(&again)["message"].as_str().unwrap().contains("configured already"), "{again:?}");
}

#[test]
fn a_server_that_cannot_be_reached_is_written_and_said_to_be() {
    let world = World::new();
    let added = world.run("mcp-server add gone -- no-such-program-anywhere");
    assert_eq!(added.code, 6, "{added:?}");
    assert!(
        added.stderr.contains("no program \"no-such-program-anywhere\"") && added.stderr.contains("tries again"),
        "{added:?}"
    );
    let doctor = ran(world.command().env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:1").args(["doctor"]));
    assert_eq!(doctor.code, 6, "{doctor:?}");
}

#[test]
fn no_server_outlives_the_command() {
    let world = World::new();
    // Inside of the sandbox it does not know its process id.
    add(&world, "files", &["--sandbox", "open"]);
    let started = std::fs::read_to_string(world.path("notes/started.log")).unwrap();
    for pid in started.lines() {
        let gone = Command::new("kill").args(["-0", pid]).stderr(std::process::Stdio::null()).status().unwrap();
        assert!(!gone.success(), "process {pid} still runs");
    }
}
