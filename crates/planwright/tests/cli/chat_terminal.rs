//! A conversation on a real terminal.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::provider::{Provider, Reply, last_message};
use crate::terminal::Terminal;
use crate::world::{SESSION, World};

const PROGRAM: &str = env!("CARGO_BIN_EXE_planwright");

fn chat(world: &World, columns: u16, arguments: &str, variables: &[(&str, &str)]) -> Terminal {
    let line = format!("stty cols {columns} rows 24; exec {PROGRAM} chat {arguments}");
    Terminal::start_with(world, &line, variables)
}

/// Waits until the next line can be typed.
#[track_caller]
fn prompt(terminal: &mut Terminal) {
    // What is pasted is told apart from what is typed from the moment on when keys are read one by one.
    terminal.wait_for("\u{1b}[?2004h");
    terminal.wait_for("›");
}

/// What was written, without what only a terminal understands.
fn plain(seen: &str) -> String {
    anstream::adapter::strip_str(seen).to_string()
}

/// What stays on the screen of what was drawn: going up and clearing takes lines away again.
fn stays(seen: &str) -> String {
    let mut lines = vec![String::new()];
    let mut rest = seen;
    while let Some(c) = rest.chars().next() {
        let up = rest.strip_prefix("\r\u{1b}[").and_then(|after| after.split_once("A\u{1b}[J"));
        if let Some((rows, after)) = up.and_then(|(rows, after)| Some((rows.parse::<usize>().ok()?, after))) {
            lines.truncate(lines.len() - rows);
            lines.last_mut().unwrap().clear();
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\r\u{1b}[J") {
            lines.last_mut().unwrap().clear();
            rest = after;
        } else {
            if c == '\n' {
                lines.push(String::new())
            } else {
                lines.last_mut().unwrap().push(c)
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    plain(&lines.join("\n")).replace('\r', "")
}

/// Without how long a call took, which is printed from a tenth of a second on.
fn without_times(seen: &str) -> String {
    let without_time = |line: &str| match line.rsplit_once("  ") {
        Some((call, time)) if time.strip_suffix('s').is_some_and(|time| time.parse::<f64>().is_ok()) => call.to_owned(),
        _ => line.to_owned(),
    };
    seen.split('\n').map(without_time).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_drawn_anew_leaves_one_answer() {
    let world = World::new();
    let text = "# One\n\ntwo *three*\n\n- four\n- five";
    let look = Reply::Call { preface: "Let me look.", tool: "list_files", arguments: serde_json::json!({}) };
    let provider = Provider::start(&[look, Reply::Text(text.to_owned()), Reply::Hold("six\n\nseven")]);
    let mut terminal = chat(&world, 40, "", &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("count\r");
    terminal.wait_for("five");
    prompt(&mut terminal);
    terminal.type_in("more\r");
    terminal.wait_for("seven");
    terminal.type_in("\u{3}");
    prompt(&mut terminal);
    terminal.type_in("\u{4}");
    let seen = without_times(&stays(&terminal.end().0));
    let first = "› count\n\nLet me look.\n\n✔ list_files\n\n# One\n\ntwo three\n\n• four\n• five\n\n";
    assert!(seen.contains(first), "{seen}");
    assert!(seen.contains("› more\n\nsix\n\nseven\n\nStopped.\n\n"), "{seen}");
    assert_eq!((seen.matches("five").count(), seen.matches("seven").count()), (1, 1), "{seen}");
}

#[test]
fn a_person_is_welcomed_and_asked() {
    let world = World::new();
    let mut terminal = chat(&world, 80, "--session first-session", &[]);
    terminal.wait_for("session ");
    terminal.wait_for("cli:first-session");
    terminal.wait_for("This is a rehearsal");
    terminal.wait_for("/quit");
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("add a health endpoint\r");
    terminal.wait_for("/plan reject 1");
    prompt(&mut terminal);
    terminal.type_in("/quit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    let plain = plain(&seen);
    assert!(plain.contains("plan 1 COLLECTING ›") && plain.contains("plan 1 READY ›"), "{plain}");
    assert!(plain.contains("Add a health endpoint") && plain.contains("digest"), "{plain}");
    assert_eq!(world.json("plan show 1")["status"], "READY");
}

#[test]
fn tab_completes_and_the_history_comes_back() {
    let world = World::new();
    let mut terminal = chat(&world, 80, "", &[]);
    prompt(&mut terminal);
    terminal.type_in("/plan sta\t\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("/pl\t\t");
    terminal.wait_for("/plans");
    terminal.type_in("\u{3}");
    prompt(&mut terminal);
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end().1, 0);

    let history = world.path("chat_history");
    assert!(std::fs::read_to_string(&history).unwrap().contains("/plan status"));
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let mut terminal = chat(&world, 80, "", &[]);
    prompt(&mut terminal);
    terminal.type_in("\u{1b}[A\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("/exit\r");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn ctrl_c_stops_the_agent_and_leaves_when_asked_twice() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("I begin with the "), Reply::Text("The second answer.".to_owned())]);
    let mut terminal = chat(&world, 80, "", &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("begin\r");
    terminal.wait_for("I begin with the");
    terminal.type_in("\u{3}");
    terminal.wait_for("Stopped.");
    prompt(&mut terminal);
    terminal.type_in("go on\r");
    terminal.wait_for("The second answer.");
    prompt(&mut terminal);
    // What is in the line goes first, and asks for nothing.
    terminal.type_in("some words\u{3}");
    prompt(&mut terminal);
    terminal.type_in("\u{3}");
    terminal.wait_for("Ctrl+C again leaves.");
    prompt(&mut terminal);
    terminal.type_in("\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(seen.matches("Ctrl+C again leaves.").count(), 1, "{seen}");
}

#[test]
fn lines_that_belong_together_are_one_message() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Text("Heard.".to_owned())]);
    let mut terminal = chat(&world, 80, "", &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("one\\\r");
    terminal.wait_for("\u{1b}[?2004h");
    terminal.type_in("two\r");
    assert_eq!(last_message(&provider.asked()), "one\ntwo");
    terminal.wait_for("Heard.");
    prompt(&mut terminal);
    terminal.type_in("\u{1b}[200~three \\\nfour\u{1b}[201~\r");
    assert_eq!(last_message(&provider.asked()), "three \\\nfour");
    terminal.wait_for("Heard.");
    prompt(&mut terminal);
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn in_a_narrow_window_nothing_is_too_wide() {
    let world = World::new();
    let text = "A paragraph that is much longer than forty columns are wide.\n\n- and an item that is longer than that as well, really";
    let provider = Provider::start(&[Reply::Text(text.to_owned())]);
    let mut terminal = chat(&world, 40, "", &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("go\r");
    terminal.wait_for("really");
    prompt(&mut terminal);
    terminal.type_in("/help\r");
    terminal.wait_for("//like this");
    prompt(&mut terminal);
    terminal.type_in("\u{4}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    let widest = plain(&seen).split(['\n', '\r']).map(|line| line.chars().count()).max();
    assert!(widest <= Some(40), "{widest:?}: {}", plain(&seen));
}

#[test]
fn what_a_model_says_is_shown_and_never_obeyed() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Text("\u{1b}[2Jgone \u{1b}]0;owned\u{7} end".to_owned())]);
    let mut terminal = chat(&world, 80, "", &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("hello\r");
    terminal.wait_for("⟦U+001B⟧[2Jgone");
    terminal.wait_for("end");
    prompt(&mut terminal);
    terminal.type_in("\u{4}");
    let (seen, _) = terminal.end();
    assert!(!seen.contains("\u{1b}[2J") && !seen.contains("\u{1b}]0"), "{seen:?}");
}

#[test]
fn asked_to_end_it_leaves_the_terminal_as_it_was() {
    let world = World::new();
    let line =
        format!("stty -a >before; {PROGRAM} chat --session terminated-at-the-prompt; echo code $?; stty -a >after");
    let mut terminal = Terminal::start_with(&world, &format!("cd {}; {line}", world.path("").display()), &[]);
    prompt(&mut terminal);
    let found = Command::new("pgrep").args(["-f", "^[^ ]*planwright chat --session terminated-at-the-prompt"]).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    assert!(Command::new("kill").arg(found.trim()).status().unwrap().success(), "{found:?}");
    terminal.wait_for("\u{1b}[?2004l");
    terminal.wait_for("code 0");
    assert_eq!(terminal.end().1, 0);
    let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(read("before"), read("after"));
}

#[test]
fn deleting_a_session_asks_first() {
    let world = World::new();
    world.run("chat --session to-be-deleted hello").done();
    for (answer, code) in [("n\n", 3), ("y\n", 0)] {
        let mut terminal = Terminal::start(&world, "sessions delete to-be-deleted");
        terminal.wait_for("Delete session cli:to-be-deleted? [y/N] ");
        terminal.type_in(answer);
        assert_eq!(terminal.end().1, code);
    }
    world.run("sessions").done().never_says("to-be-deleted");
}

#[test]
fn a_chat_beside_a_process_at_work_has_a_prompt() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("Let me")]);
    let mut talking = world.command();
    talking.args(["chat", "--session", "held-session", "hello"]).envs(provider.variables());
    let null = std::process::Stdio::null;
    let mut talking = talking.stdin(null()).stdout(null()).stderr(null()).spawn().unwrap();
    provider.asked();
    let mut terminal = chat(&world, 100, "--session held-session", &provider.variables());
    terminal.wait_for("Another process works on this session");
    prompt(&mut terminal);
    terminal.type_in("/stop\r");
    terminal.wait_for("Stopped.");
    terminal.type_in("/quit\r");
    terminal.end();
    assert_eq!(talking.wait().unwrap().code(), Some(3));
}

/// On return after a kill, and after a switch, what the agent asks is on the screen before the prompt.
#[test]
fn what_the_agent_asks_greets_the_person() {
    let world = World::new();
    let project = tempfile::tempdir().unwrap();
    let arguments = serde_json::json!({ "path": "hello.py", "content": "print('hello')\n" });
    let write = Reply::Call { preface: "", tool: "write_file", arguments };
    let provider = Provider::start(&[write, Reply::Text("Written.".to_owned())]);
    let of_session = format!("--session asking-session --project {}", project.path().display());
    let mut terminal = chat(&world, 100, &of_session, &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("write it\r");
    terminal.wait_for("+print('hello')");
    terminal.wait_for("permits");
    terminal.kill();
    let mut terminal = chat(&world, 100, "--session asking-session", &provider.variables());
    terminal.wait_for("+print('hello')");
    prompt(&mut terminal);
    terminal.type_in("/new\r");
    prompt(&mut terminal);
    terminal.type_in("/switch asking-session\r");
    terminal.wait_for("+print('hello')");
    terminal.wait_for("/allow");
    terminal.type_in("/quit\r");
    terminal.end();
}

/// What a command wrote stays on the screen when the person stops it.
#[test]
fn what_a_command_wrote_stays_when_it_is_stopped() {
    let world = World::new();
    let arguments = serde_json::json!({ "command": "printf 'so %s\\n' far; sleep 600" });
    let provider = Provider::start(&[Reply::Call { preface: "", tool: "run_command", arguments }]);
    if !world.has_sandbox() {
        return;
    }
    let mut terminal = chat(&world, 100, "--session stopped-session", &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("run it\r");
    terminal.wait_for("so far");
    terminal.type_in("\u{3}");
    terminal.wait_for("Stopped");
    terminal.type_in("/quit\r");
    let (seen, _) = terminal.end();
    assert!(stays(&seen).lines().any(|line| line.trim() == "│ so far"), "{}", stays(&seen));
}

#[test]
fn a_decision_that_is_made_elsewhere_is_told_at_the_prompt() {
    let world = World::with_plan();
    let mut terminal = chat(&world, 100, &format!("--session {SESSION}"), &[]);
    terminal.wait_for("copy the rows");
    prompt(&mut terminal);
    world.run(&format!("plan reject 1 --session {SESSION}")).done();
    terminal.wait_for("Plan 1 is REJECTED now: that was decided elsewhere.");
    terminal.type_in("\r");
    prompt(&mut terminal);
    terminal.type_in("/quit\r");
    let (seen, _) = terminal.end();
    assert!(plain(&seen).contains("plan 1 REJECTED"), "the next prompt says so: {seen}");
}
