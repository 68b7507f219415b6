//! The pages in `docs/start`: every command in them runs, in the order in which it stands there, before a person who says yes.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::gateway::SCRIPT;

const QUESTION: &str = "[y/N] ";

/// What the agent of another program does between two commands, as lines of a shell: it starts `planwright mcp` and calls tools.
fn agent(calls: &[(&str, Value)]) -> String {
    let about = json!({ "name": "agent", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
    let begin = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ];
    let calls = calls.iter().enumerate().map(|(index, (tool, arguments))| {
        let call = json!({ "name": tool, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": index + 2, "method": "tools/call", "params": call })
    });
    let messages: Vec<String> = begin.into_iter().chain(calls).map(|message| message.to_string()).collect();
    format!("planwright mcp >> agent.out <<'END'\n{}\nEND\n", messages.join("\n"))
}

fn drafts(markdown: &str) -> (&'static str, Value) {
    ("plan_set_content", json!({ "plan_markdown": markdown }))
}

/// Runs the commands of a page in one shell at a terminal, and gives what was on the screen. `before` is what happens before a
/// command; `instead` replaces words of the page, such as the address of a server.
fn run(page: &str, before: &[(&str, String)], instead: &[(&str, &str)]) -> String {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start").join(page)).unwrap();
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let mut script = "set -e\n".to_owned();
    for command in &commands {
        for (_, lines) in before.iter().filter(|(next, _)| next == command) {
            script.push_str(lines);
        }
        let command = instead.iter().fold((*command).to_owned(), |command, (old, new)| command.replace(old, new));
        script.push_str(&command);
        script.push('\n');
    }
    for (next, _) in before {
        assert!(commands.contains(next), "{page} has no {next:?}");
    }

    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&project).unwrap();
    std::fs::write(folder.path().join("page.sh"), &script).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_planwright")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("timeout");
    command.args(["--foreground", "300", "script", "--quiet", "--return", "--command", "sh ../page.sh", "/dev/null"]);
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("USER", "ada")
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh");
    // Scripts approve here; what approvals need has tests of its own.
    command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any").env("PLANWRIGHT_DATA", folder.path().join("data"));
    let mut child = command.current_dir(project).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut seen, mut answered, mut bytes) = (String::new(), 0, [0; 4096]);
    while let Ok(read @ 1..) = output.read(&mut bytes) {
        seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        while let Some(found) = seen[answered..].find(QUESTION) {
            answered += found + QUESTION.len();
            let is_about_passphrase = seen[..answered].ends_with("Set a passphrase now? [y/N] ");
            let answer = if is_about_passphrase { "n\n" } else { "y\n" };
            input.write_all(answer.as_bytes()).unwrap();
        }
    }
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(0), "{page}: {seen}");
    seen
}

#[test]
fn a_personal_agent() {
    let seen = run("personal-agent.md", &[], &[]);
    assert!(seen.contains("Every journal is whole"), "{seen}");
}

#[test]
fn behind_a_coding_agent() {
    let before = [
        (
            "planwright plan show",
            agent(&[drafts("# Move the tables\n\n- [ ] copy the rows\n- [ ] drop the old table\n")]),
        ),
        ("planwright plan diff", agent(&[drafts("# Move the tables\n\n- [ ] copy the rows\n")])),
    ];
    let seen = run("coding-agent.md", &before, &[]);
    assert!(seen.contains("changes asked for") && seen.contains("Removed; everything else is as it was."), "{seen}");
}

/// The server is one of the tests, which needs no network.
#[test]
fn a_gateway() {
    let calls = [
        drafts("# Note it\n\n- [ ] write the note\n"),
        ("files__note", json!({ "text": "milk" })),
        ("plan_finalize", json!({ "summary": "A note" })),
    ];
    let server = format!("--sandbox open -- python3 '{SCRIPT}' plain");
    let instead = [("--network -- npx -y @modelcontextprotocol/server-filesystem", server.as_str())];
    let seen = run("gateway.md", &[("planwright inbox", agent(&calls))], &instead);
    assert!(seen.contains("step recorded: files__note"), "{seen}");
}

/// The server takes any free port, and says which.
#[test]
fn an_engine_in_a_product() {
    let start = "mkfifo ready; planwright serve --listen 127.0.0.1:0 --json > ready 2> log & trap \"kill $!\" EXIT; read -r line < ready";
    let address = r#"$(echo "$line" | sed 's/.*"address":"\([^"]*\)".*/\1/')"#;
    let seen = run("product.md", &[], &[("planwright serve", start), ("http://127.0.0.1:7717", address)]);
    assert!(seen.contains("event: answer"), "{seen}");
}
