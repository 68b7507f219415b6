//! On a real terminal, which `script` plays.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::world::{PLAN, SESSION, World};

/// A command that runs on a terminal, and a person in front of it.
pub(crate) struct Terminal {
    child: Child,
    seen: String,
}

impl Terminal {
    pub(crate) fn start(world: &World, line: &str) -> Self {
        Self::start_with(world, &format!("{} {line}", env!("CARGO_BIN_EXE_planwright")), &[])
    }

    /// Any command of the shell, with more variables.
    pub(crate) fn start_with(world: &World, line: &str, variables: &[(&str, &str)]) -> Self {
        // Tests that run in the background inherit an ignored Ctrl+C, and so does everything they start.
        let mut command = Command::new("env");
        // One that waits for ever is a failure and not a test that never ends.
        command.args(["--default-signal=INT", "timeout", "--foreground", "120"]);
        command.args(["script", "--quiet", "--return", "--command"]);
        command
            .arg(line)
            .arg("/dev/null")
            .env("SHELL", "/bin/sh")
            // The tests of the first start say so.
            .env("PLANWRIGHT_MODEL", "rehearsal")
            // The tests of the inline interface say so.
            .env("PLANWRIGHT_CHAT_INTERFACE", "plain")
            .envs(variables.iter().copied());
        // Not inside a git work tree, where the chat asks whether to work there.
        command.current_dir(world.path(""));
        command.env("PLANWRIGHT_DATA", world.path("")).env("USER", "ada").env("TERM", "xterm").env_remove("NO_COLOR");
        if variables.iter().all(|(name, _)| *name != "PLANWRIGHT_APPROVAL_REQUIRE") {
            command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
        }
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        Self { child, seen: String::new() }
    }

    /// Reads until `text` is on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let from = self.seen.len();
        let stdout = self.child.stdout.as_mut().unwrap();
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !String::from_utf8_lossy(&bytes).contains(text) {
            assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{text:?} never came: {}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        self.seen.push_str(&String::from_utf8_lossy(&bytes));
        assert!(self.seen.len() > from);
    }

    /// What was written since, at least a byte of it. Empty once the command has ended.
    pub(crate) fn read_some(&mut self) -> Vec<u8> {
        let mut bytes = [0; 4096];
        let count = self.child.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
        self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        bytes[..count].to_vec()
    }

    /// Everything that was written so far.
    pub(crate) fn seen(&self) -> &str {
        &self.seen
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The command ends at once, wherever it is.
    pub(crate) fn kill(self) {
        let line = self.line_of_processes();
        signal("-KILL", *line.last().unwrap());
        self.end();
    }

    /// The window is closed.
    pub(crate) fn hang_up(self) {
        let line = self.line_of_processes();
        let [_, script, .., command] = line.as_slice() else { panic!("{line:?}") };
        signal("-KILL", *script);
        while std::path::Path::new(&format!("/proc/{command}")).exists() {
            std::thread::yield_now();
        }
        self.end();
    }

    /// From what was started here, each the parent of the next, down to the command itself.
    fn line_of_processes(&self) -> Vec<u32> {
        let mut line = vec![self.child.id()];
        while let Some(child) = child_of(*line.last().unwrap()) {
            line.push(child);
        }
        line
    }

    /// What was on the screen and the exit code, once the command has ended.
    pub(crate) fn end(mut self) -> (String, i32) {
        let mut rest = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        (self.seen + &rest, self.child.wait().unwrap().code().unwrap_or(-1))
    }
}

fn child_of(process: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    children.split_whitespace().next().map(|child| child.parse().unwrap())
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

pub(crate) const QUESTION: &str = "Approve plan 1 as shown? [y/N] ";

#[test]
fn a_person_reads_and_says_yes() {
    let world = World::with_plan();
    let mut terminal = Terminal::start(&world, "plan approve");
    terminal.wait_for(QUESTION);
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("\u{1b}[1m") && seen.contains("copy the rows"), "{seen}");
    assert_eq!(world.status(), "APPROVED");
}

#[test]
fn anything_but_yes_is_no() {
    for answer in ["n\n", "\n", "yeah\n", "approve\n", "\u{4}", "\u{3}"] {
        let world = World::with_plan();
        let mut terminal = Terminal::start(&world, "plan approve");
        terminal.wait_for(QUESTION);
        terminal.type_in(answer);
        let (seen, code) = terminal.end();
        assert_ne!(code, 0, "{answer:?}: {seen}");
        assert_eq!(world.status(), "READY", "{answer:?}: {seen}");
    }
}

#[test]
fn a_plan_that_changes_while_it_is_read_is_shown_again() {
    let world = World::with_plan();
    let mut terminal = Terminal::start(&world, "plan approve");
    terminal.wait_for(QUESTION);
    world.agent_drafts(SESSION, "# Move the tables\n\n- [ ] delete the backups\n");
    terminal.type_in("y\n");
    terminal.wait_for("delete the backups");
    terminal.wait_for(QUESTION);
    assert_eq!(world.status(), "READY");
    terminal.type_in("no\n");
    assert_eq!(terminal.end().1, 3);
    assert_eq!(world.status(), "READY");
}

#[test]
fn between_several_sessions_a_person_chooses() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", PLAN);
    let mut terminal = Terminal::start(&world, "plan show");
    terminal.wait_for("Which session? [1-2] ");
    terminal.type_in("2\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(
        seen.contains("Approve: planwright plan approve 1 --session mcp:session-one\u{1b}[0m\r\n")
            && seen.ends_with("Reject: planwright plan reject 1 --session mcp:session-one\u{1b}[0m\r\n")
            && seen.contains("digest"),
        "{seen}"
    );

    let mut terminal = Terminal::start(&world, "plan show");
    terminal.wait_for("Which session? [1-2] ");
    terminal.type_in("3\n");
    assert_eq!(terminal.end().1, 3);

    let mut terminal = Terminal::start(&world, "plan on");
    terminal.wait_for("Which session? [1-2, n for a new one] ");
    terminal.type_in("n\n");
    terminal.wait_for("New session");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn an_export_to_a_terminal_is_harmless() {
    let world = World::new();
    world.agent_drafts(SESSION, "# Plan \u{1b}[2J\n");
    let (seen, code) = Terminal::start(&world, "plan export").end();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("\u{1b}[2J") && seen.contains("⟦U+001B⟧[2J"), "{seen:?}");
}
