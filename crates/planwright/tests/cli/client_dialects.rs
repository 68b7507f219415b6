//! The hooks of every client: inputs as the clients send them, answers as they read them, and a denial whenever it is not known
//! whether the plan is approved.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{Ran, World, ran};

/// Each line says what happens before the approval, and has what the client sends.
const INPUTS: [(&str, &str); 7] = [
    ("claude-code", include_str!("hook_inputs/claude-code.txt")),
    ("codex", include_str!("hook_inputs/codex.txt")),
    ("gemini", include_str!("hook_inputs/gemini.txt")),
    ("goose", include_str!("hook_inputs/goose.txt")),
    ("opencode", include_str!("hook_inputs/opencode.txt")),
    ("cursor", include_str!("hook_inputs/cursor.txt")),
    ("vscode", include_str!("hook_inputs/vscode.txt")),
];

const GET: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_get","arguments":{}}}"#;
const DRAFT: &str = r##"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"# Canary 7f3a\n\n- [ ] one"}}}"##;

/// The inputs of a client that works in the folder of the world, each with whether the call has to wait.
fn inputs(world: &World, text: &str) -> Vec<(bool, String)> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let project = world.path("").display().to_string();
    let project = project.trim_end_matches('/');
    let placed = lines.map(|line| line.replace("{project}", project).replace("{home}", project));
    let read = placed.map(|line| {
        let (word, input) = line.split_once(' ').unwrap();
        assert!(["waits", "passes"].contains(&word), "{line}");
        (word == "waits", input.to_owned())
    });
    read.collect()
}

pub(crate) fn command(world: &World, client: &str, event: &str) -> Command {
    let mut command = world.command();
    command.env("HOME", world.path("home")).args(["hook", "--client", client, event]);
    command
}

pub(crate) fn send(command: &mut Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that answers without reading has closed its end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// The reason of a denial, read as the client reads it. An answer that the client does not understand is a failure.
#[track_caller]
fn denial(client: &str, ran: &Ran) -> Option<String> {
    if ran.stdout.is_empty() {
        assert_ne!(client, "cursor", "Cursor takes no answer for a failure");
        return None;
    }
    let answer = ran.json();
    let (decision, reason, denied) = match client {
        "claude-code" | "codex" | "vscode" => {
            let own = &answer["hookSpecificOutput"];
            assert_eq!((own["hookEventName"].as_str(), answer.as_object().unwrap().len()), (Some("PreToolUse"), 1));
            (&own["permissionDecision"], &own["permissionDecisionReason"], "deny")
        }
        "gemini" | "goose" | "opencode" => (&answer["decision"], &answer["reason"], "block"),
        "cursor" => (&answer["permission"], &answer["user_message"], "deny"),
        other => panic!("{other}"),
    };
    if client == "cursor" && decision == "allow" {
        return None;
    }
    assert_eq!(decision, denied, "{answer}");
    Some(reason.as_str().unwrap().to_owned())
}

#[test]
fn calls_of_every_client_wait_for_the_approval_and_reading_does_not() {
    let world = World::new();
    let look = |expected: Option<&str>| {
        for (client, text) in INPUTS {
            for (waits, input) in inputs(&world, text) {
                let ran = send(&mut command(&world, client, "pre-tool-use"), &input).done();
                match expected.filter(|_| waits) {
                    Some(expected) => {
                        let reason = denial(client, &ran);
                        assert!(reason.as_ref().is_some_and(|reason| reason.contains(expected)), "{input}: {reason:?}");
                    }
                    None => assert_eq!(denial(client, &ran), None, "{client}: {input}"),
                }
            }
        }
    };
    look(None);
    crate::mcp::talk(&world, "mcp", &[GET]).done();
    look(Some("no approved plan"));
    crate::mcp::talk(&world, "mcp", &[DRAFT]).done();
    look(Some("waits for a person's approval"));
    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
    look(None);
}

#[test]
fn the_plan_is_brought_back_in_the_form_of_each_client() {
    let world = World::new();
    crate::mcp::talk(&world, "mcp", &[DRAFT]).done();
    for (client, path) in [
        ("claude-code", Some("/hookSpecificOutput/additionalContext")),
        ("codex", Some("/hookSpecificOutput/additionalContext")),
        ("gemini", Some("/hookSpecificOutput/additionalContext")),
        ("vscode", Some("/hookSpecificOutput/additionalContext")),
        ("cursor", Some("/additional_context")),
        ("opencode", Some("/context")),
        ("goose", None),
    ] {
        let details = json!({ "cwd": world.path(""), "workspace_roots": [world.path("")], "source": "compact" });
        let ran = send(&mut command(&world, client, "session-start"), &details.to_string()).done();
        let Some(path) = path else {
            assert_eq!(ran.stdout, "", "{client}");
            continue;
        };
        let answer = ran.json();
        let context = answer.pointer(path).and_then(Value::as_str);
        assert!(context.is_some_and(|context| context.contains("Canary 7f3a")), "{client}: {answer}");
    }
}

/// A call that changes things, as each client sends it.
fn changing_call(world: &World, text: &str) -> String {
    inputs(world, text).into_iter().find(|(waits, _)| *waits).unwrap().1
}

#[test]
fn what_cannot_be_read_is_denied() {
    type Break = fn(&World) -> Option<&'static str>;
    let ways: [(&str, Break); 4] = [
        ("the call is no JSON", |_| Some("{ \"tool_name\": ")),
        ("the call is no object", |_| Some("[]")),
        ("the configuration is broken", |world| {
            world.write("planwright.toml", "[approval\n");
            None
        }),
        ("the store is damaged", |world| {
            world.write(
                "planwright.db",
                "this is no database, and it is long enough to be looked at as one by sqlite itself",
            );
            None
        }),
    ];
    for (about, make) in ways {
        let world = World::new();
        let input = make(&world);
        for (client, text) in INPUTS {
            let input = input.map_or_else(|| changing_call(&world, text), str::to_owned);
            let ran = send(&mut command(&world, client, "pre-tool-use"), &input).done();
            let reason = denial(client, &ran);
            assert!(
                reason.as_ref().is_some_and(|reason| reason.contains("Planwright cannot")),
                "{about}: {client}: {reason:?}"
            );
        }
    }
}

/// The configuration is a pipe that no process writes to, so that reading it never ends.
#[test]
fn a_hook_that_is_stuck_denies_before_the_client_stops_waiting() {
    let world = World::new();
    ran(Command::new("mkfifo").arg(world.path("planwright.toml"))).done();
    let begun = Instant::now();
    let children: Vec<_> = INPUTS
        .iter()
        .map(|(client, text)| {
            let mut command = command(&world, client, "pre-tool-use");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(changing_call(&world, text).as_bytes()).unwrap();
            (client, child)
        })
        .collect();
    for (client, child) in children {
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert!(denial(client, &ran.done()).is_some_and(|reason| reason.contains("in time")), "{client}");
    }
    assert!(begun.elapsed() < Duration::from_secs(18), "the clients wait for 20 seconds");
    // What only reads does not need the store.
    let (client, text) = INPUTS[0];
    let (_, reading) = inputs(&world, text).into_iter().find(|(waits, _)| !waits).unwrap();
    assert_eq!(denial(client, &send(&mut command(&world, client, "pre-tool-use"), &reading).done()), None);
}

#[test]
fn the_hook_finds_the_session_of_the_server_in_the_files_of_each_client() {
    let toml =
        "[mcp_servers.planwright]\ncommand = \"/opt/planwright\"\nargs = [\"mcp\", \"--session\", \"own-plan\"]\n";
    let yaml = "extensions:\n  planwright:\n    enabled: true\n    cmd: /opt/planwright\n    args: [mcp, --session, own-plan]\n";
    let entry = json!({ "command": "/opt/planwright", "args": ["mcp", "--session", "own-plan"] });
    let servers = |field: &str| json!({ field: { "planwright": entry } }).to_string();
    for (client, file, entries) in [
        ("codex", "home/.codex/config.toml", toml.to_owned()),
        ("gemini", "home/.gemini/extensions/planwright/gemini-extension.json", servers("mcpServers")),
        ("gemini", "home/.gemini/settings.json", servers("mcpServers")),
        ("goose", "home/.config/goose/config.yaml", yaml.to_owned()),
        ("cursor", ".cursor/mcp.json", servers("mcpServers")),
        ("cursor", "home/.cursor/mcp.json", servers("mcpServers")),
        ("vscode", ".vscode/mcp.json", servers("servers")),
    ] {
        let world = World::new();
        crate::mcp::talk(&world, "mcp --session own-plan", &[GET]).done();
        let (_, text) = INPUTS.iter().find(|(name, _)| *name == client).unwrap();
        let look =
            || denial(client, &send(&mut command(&world, client, "pre-tool-use"), &changing_call(&world, text)).done());
        assert_eq!(look(), None, "{client}: no agent works in the session of the folder");
        std::fs::create_dir_all(world.path(file).parent().unwrap()).unwrap();
        world.write(file, &entries);
        assert!(look().is_some_and(|reason| reason.contains("no approved plan")), "{client}: {file}");
    }
}

#[test]
fn an_entry_in_a_file_of_the_project_does_not_turn_the_gate_of_any_client_off() {
    let toml = "[mcp_servers.planwright]\ncommand = \"planwright\"\nargs = [\"--data\", \"/nonexistent\", \"mcp\"]\n";
    let entry = json!({ "command": "planwright", "args": ["--data", "/nonexistent", "mcp"] });
    let servers = |field: &str| json!({ field: { "planwright": entry } }).to_string();
    for (client, file, entries) in [
        ("claude-code", ".mcp.json", servers("mcpServers")),
        ("codex", ".codex/config.toml", toml.to_owned()),
        ("gemini", ".gemini/settings.json", servers("mcpServers")),
        ("cursor", ".cursor/mcp.json", servers("mcpServers")),
        ("vscode", ".vscode/mcp.json", servers("servers")),
    ] {
        let world = World::new();
        crate::mcp::talk(&world, "mcp", &[GET]).done();
        let (_, text) = INPUTS.iter().find(|(name, _)| *name == client).unwrap();
        std::fs::create_dir_all(world.path(file).parent().unwrap()).unwrap();
        world.write(file, &entries);
        let ran = send(&mut command(&world, client, "pre-tool-use"), &changing_call(&world, text)).done();
        let reason = denial(client, &ran);
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(file)), "{client}: {reason:?}");
    }
}

#[test]
fn a_command_that_decides_is_denied_in_every_client() {
    let world = World::new();
    for (client, tool, field) in [
        ("claude-code", "Bash", "command"),
        ("codex", "Bash", "command"),
        ("codex", "exec_command", "cmd"),
        ("codex", "write_stdin", "chars"),
        ("gemini", "run_shell_command", "command"),
        ("goose", "shell", "command"),
        ("opencode", "bash", "command"),
        ("cursor", "Shell", "command"),
        ("vscode", "run_in_terminal", "command"),
    ] {
        for (line, is_denied) in [
            ("npx -y planwright@1 plan approve 1", true),
            ("sh -c 'planwright plan off'", true),
            ("alias p=planwright; p plan revise 1 more", true),
            ("planwright plan show", false),
            ("grep -rn \"plan approve\" planwright", false),
        ] {
            let call = json!({ "cwd": world.path(""), "tool_name": tool, "tool_input": { field: line } });
            let ran = send(&mut command(&world, client, "pre-tool-use"), &call.to_string()).done();
            let denied = denial(client, &ran).is_some_and(|reason| reason.contains("does not decide"));
            // Text for a program that runs is no line that only reads.
            let reads = line.starts_with("grep") && field == "chars";
            assert_eq!(denied, is_denied || reads, "{client}: {line}");
        }
    }
}

/// What a client answers about a call of a tool: `pass`, or its own word with the reason.
pub(crate) fn decision(world: &World, client: &str, tool: &str, input: &Value) -> (String, String) {
    let place = world.path("");
    let call = json!({
        "cwd": place, "working_dir": place, "workspace_roots": [place], "tool_name": tool, "tool_input": input,
    });
    let ran = send(&mut command(world, client, "pre-tool-use"), &call.to_string()).done();
    if ran.stdout.is_empty() {
        return ("pass".to_owned(), String::new());
    }
    let answer = ran.json();
    let own = &answer["hookSpecificOutput"];
    let word =
        [&own["permissionDecision"], &answer["decision"], &answer["permission"]].into_iter().find_map(Value::as_str);
    let reason = [&own["permissionDecisionReason"], &answer["reason"], &answer["user_message"]];
    let reason = reason.into_iter().find_map(Value::as_str).unwrap_or_default();
    (word.unwrap().to_owned(), reason.to_owned())
}

pub(crate) fn draft(world: &World, markdown: &str) -> Ran {
    let arguments = json!({ "plan_markdown": markdown });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "plan_set_content", "arguments": arguments },
    });
    crate::mcp::talk(world, "mcp", &[&call.to_string()]).done()
}

#[test]
fn an_approved_plan_that_says_what_it_needs_is_approved_once() {
    let world = World::new();
    world.write(
        "planwright.toml",
        "[[permissions]]\ntool = \"run_command\"\nmatch = \"cargo publish\"\ndecide = \"deny\"\n",
    );
    let refused = draft(&world, "# One\n\n```planwright-needs\nfile = [\"src\"]\n```\n");
    assert!(refused.stdout.contains("INVALID_ARGUMENT"), "{}", refused.stdout);
    draft(
        &world,
        "# One\n\n- [ ] one\n\n```planwright-needs\nfiles = [\"src/**\"]\ncommands = [\"cargo test\"]\n\
         tools = [\"mcp__github__get_issue\", \"gitlab__get_*\"]\n```\n",
    );
    let write = |path: &str| json!({ "file_path": path, "content": "x" });
    let bash = |line: &str| json!({ "command": line });
    assert_eq!(decision(&world, "claude-code", "Write", &write("src/a.rs")).0, "deny", "it waits");
    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();

    let whole = world.path("src/new/b.rs").display().to_string();
    for (tool, input, expected) in [
        ("Write", write("src/a.rs"), "allow"),
        ("Edit", write(&whole), "allow"),
        ("Bash", bash("cargo test -p one"), "allow"),
        ("Write", write("README.md"), "ask"),
        ("Write", write("src/../../elsewhere.rs"), "ask"),
        ("Write", write("/etc/hosts"), "ask"),
        ("Write", write("src/CLAUDE.md"), "ask"),
        ("Write", write("~/src/a.rs"), "ask"),
        ("Write", json!({ "file_path": "src/a.rs", "path": "README.md" }), "ask"),
        ("Write", write("src/.git/config"), "deny"),
        ("Bash", bash("git push --force"), "ask"),
        ("Bash", bash("cargo test; git push --force"), "ask"),
        ("Bash", json!({ "command": "cargo test", "dangerouslyDisableSandbox": true }), "ask"),
        ("Bash", json!({ "command": "cargo test", "workdir": ".." }), "ask"),
        ("Bash", bash("cargo publish"), "deny"),
        ("mcp__github__push", json!({}), "ask"),
        ("mcp__github__get_issue", json!({}), "allow"),
        ("mcp__gitlab__get_issue", json!({}), "allow"),
        ("mcp__gitlab__push", json!({}), "ask"),
        ("SomethingNew", json!({}), "ask"),
        ("Read", write("README.md"), "pass"),
    ] {
        let (word, reason) = decision(&world, "claude-code", tool, &input);
        assert_eq!(word, expected, "{tool} {input}: {reason}");
    }
    // A client that cannot ask denies, and says what to do.
    for (client, tool, field, word) in [
        ("codex", "Bash", "command", "deny"),
        ("gemini", "run_shell_command", "command", "block"),
        ("goose", "shell", "command", "block"),
        ("opencode", "bash", "command", "block"),
        ("cursor", "Shell", "command", "deny"),
        ("vscode", "run_in_terminal", "command", "ask"),
    ] {
        let covered = decision(&world, client, tool, &json!({ field: "cargo test" })).0;
        let expected = if matches!(client, "cursor" | "vscode") { "allow" } else { "pass" };
        assert_eq!(covered, expected, "{client}");
        let (found, reason) = decision(&world, client, tool, &json!({ field: "git push --force" }));
        assert_eq!(found, word, "{client}: {reason}");
        assert_eq!(reason.contains("planwright-needs"), word != "ask", "{client}: {reason}");
    }
    // Codex changes files with a patch.
    let patch = |path: &str| {
        bash(&format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\nEOF"))
    };
    assert_eq!(decision(&world, "codex", "Bash", &patch("src/a.rs")).0, "pass");
    assert_eq!(decision(&world, "codex", "Bash", &patch("README.md")).0, "deny");
    let more = format!("{}\nrm -r src", patch("src/a.rs")["command"].as_str().unwrap());
    assert_eq!(decision(&world, "codex", "Bash", &bash(&more)).0, "deny");

    // It ends with the plan.
    let done = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plan_progress","arguments":{"status":"done"}}}"#;
    crate::mcp::talk(&world, "mcp", &[done]).done();
    let (word, reason) = decision(&world, "claude-code", "Write", &write("src/a.rs"));
    assert!(word == "deny" && reason.contains("finished"), "{word}: {reason}");
}

#[test]
fn an_approval_that_has_ended_permits_no_call() {
    for block in ["\n```planwright-needs\nfiles = [\"src/**\"]\n```\n", ""] {
        let world = World::new();
        world.write("planwright.toml", "[approval]\nvalid_for = 2\n");
        draft(&world, &format!("# One\n\n- [ ] one\n{block}"));
        let shown = world.json("plan show");
        world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
        std::thread::sleep(Duration::from_millis(2500));
        let (word, reason) = decision(&world, "claude-code", "Write", &json!({ "file_path": "src/a.rs" }));
        assert!(word == "deny" && reason.contains("has expired"), "{word}: {reason}");
    }
}

#[test]
fn recorded_calls_of_the_client_pass_as_they_were_recorded() {
    let world = World::new();
    world.write(
        "planwright.toml",
        "[[permissions]]\ntool = \"run_command\"\nmatch = \"cargo publish\"\ndecide = \"deny\"\n",
    );
    let call = |name: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
            .to_string()
    };
    let recorded = json!({ "to": "team@example.org" });
    let add =
        call("plan_add_call", json!({ "tool": "send_mail", "arguments": recorded, "description": "tell the team" }));
    let line = |tool: &str, field: &str, line: &str| {
        call("plan_add_call", json!({ "tool": tool, "arguments": { field: line }, "description": "run it" }))
    };
    let (make, publish) = (line("exec_command", "cmd", "make all"), line("Bash", "command", "cargo publish"));
    for request in [add, make, publish, call("plan_finalize", json!({}))] {
        crate::mcp::talk(&world, "mcp --plan collect", &[&request]).done();
    }
    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
    for (client, tool, input, expected) in [
        ("claude-code", "send_mail", recorded.clone(), "allow"),
        ("claude-code", "send_mail", json!({ "to": "all@example.org" }), "ask"),
        ("claude-code", "Write", json!({ "file_path": "a.txt" }), "ask"),
        // A rule that denies beats the plan.
        ("claude-code", "Bash", json!({ "command": "cargo publish" }), "deny"),
        // Codex's hooks are told another name of its shell.
        ("codex", "Bash", json!({ "command": "make all" }), "pass"),
        ("codex", "Bash", json!({ "command": "make all", "workdir": "/" }), "deny"),
        ("codex", "Bash", json!({ "command": "make" }), "deny"),
    ] {
        assert_eq!(decision(&world, client, tool, &input).0, expected, "{client} {tool} {input}");
    }
}

#[test]
fn the_commands_of_a_built_plan_are_covered_as_whole_lines() {
    let world = World::new();
    for (name, arguments) in [
        ("plan_create_draft", json!({ "goal": "Clean up" })),
        ("plan_add_step", json!({ "description": "Clean up", "agent": "coder", "commands": ["rm -rf build"] })),
        ("plan_set_metadata", json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] })),
        ("plan_submit", json!({})),
    ] {
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        crate::mcp::talk(&world, "mcp --plan build", &[&call.to_string()]).done();
    }
    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {} --later", shown["digest"].as_str().unwrap())).done();
    for (line, expected) in [("rm -rf build", "allow"), ("rm -rf build /root", "ask")] {
        assert_eq!(decision(&world, "claude-code", "Bash", &json!({ "command": line })).0, expected, "{line}");
    }
}
