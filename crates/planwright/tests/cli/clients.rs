//! `planwright install`, `planwright uninstall` and `planwright hook`, as clients and people call them.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Ran, World, ran};

const KEPT_CONFIG: &str =
    "{\n  \"theme\": \"dark\",\n  \"permissions\": {\n    \"deny\": [\n      \"Read(.env)\"\n    ]\n  }\n}\n";

fn in_project(world: &World, line: &str) -> Ran {
    let project = world.path("project");
    std::fs::create_dir_all(&project).unwrap();
    let mut command = world.command();
    command.current_dir(&project).env("HOME", world.path("home")).args(line.split_whitespace());
    ran(&mut command)
}

fn read(world: &World, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(world.path(file)).unwrap()).unwrap()
}

#[test]
fn claude_code_is_given_the_server_the_hooks_and_the_rules_and_keeps_what_it_had() {
    let world = World::new();
    std::fs::create_dir_all(world.path("project/.claude")).unwrap();
    world.write("project/.claude/settings.json", KEPT_CONFIG);
    // Without a terminal nothing is written before the person agreed.
    in_project(&world, "install claude-code").exits(2).says("mcpServers.planwright").complains("--yes");
    assert_eq!(std::fs::read_to_string(world.path("project/.claude/settings.json")).unwrap(), KEPT_CONFIG);

    in_project(&world, "install claude-code --yes").done().says("planwright uninstall claude-code");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_planwright")).canonicalize().unwrap();
    let data = world.path("");
    let entry = json!({ "command": program, "args": ["--data", data.to_str().unwrap().trim_end_matches('/'), "mcp"] });
    assert_eq!(read(&world, "project/.mcp.json")["mcpServers"]["planwright"], entry);
    let settings = read(&world, "project/.claude/settings.json");
    assert_eq!((&settings["theme"], &settings["permissions"]["deny"][0]), (&json!("dark"), &json!("Read(.env)")));
    let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(hook["onFailure"], "block");
    let command = hook["command"].as_str().unwrap();
    assert!(command.contains("hook --client claude-code pre-tool-use || {"), "{command}");
    assert!(command.contains(&*program.to_string_lossy()) && command.contains("--data"), "{command}");
    assert!(settings["permissions"]["deny"].to_string().contains("planwright plan approve"));

    in_project(&world, "install claude-code --yes").done().says("already");
    in_project(&world, "doctor").says("claude-code has Planwright in the configuration of this project");
    in_project(&world, "uninstall claude-code --yes").done();
    assert_eq!(std::fs::read_to_string(world.path("project/.claude/settings.json")).unwrap(), KEPT_CONFIG);
    in_project(&world, "uninstall claude-code --yes").exits(4);
}

#[test]
fn every_client_is_installed_and_taken_out_again() {
    let world = World::new();
    for (client, scope, file) in [
        ("claude-code", "user", "home/.claude.json"),
        ("codex", "user", "home/.codex/config.toml"),
        ("codex", "user", "home/.codex/rules/planwright.rules"),
        ("opencode", "project", "project/opencode.json"),
        ("opencode", "user", "home/.config/opencode/plugin/planwright.js"),
        ("gemini", "user", "home/.gemini/extensions/planwright/gemini-extension.json"),
        ("cursor", "project", "project/.cursor/mcp.json"),
        ("vscode", "project", "project/.vscode/mcp.json"),
        ("zed", "user", "home/.config/zed/settings.json"),
        ("goose", "user", "home/.config/goose/config.yaml"),
    ] {
        in_project(&world, &format!("install {client} --scope {scope} --yes")).done();
        let text = std::fs::read_to_string(world.path(file)).unwrap();
        assert!(text.contains("planwright"), "{client}: {text}");
        in_project(&world, &format!("uninstall {client} --scope {scope} --yes")).done();
        let left = std::fs::read_to_string(world.path(file)).unwrap_or_default();
        assert!(!left.contains("planwright"), "{client}: {left}");
    }
    in_project(&world, "install codex --scope project --yes").exits(2);
    // Comments stay.
    std::fs::create_dir_all(world.path("home/.config/zed")).unwrap();
    world.write("home/.config/zed/settings.json", "// mine\n{}\n");
    in_project(&world, "install zed --yes").done();
    let text = || std::fs::read_to_string(world.path("home/.config/zed/settings.json")).unwrap();
    assert!(text().starts_with("// mine\n{") && text().contains("context_servers"), "{}", text());
    in_project(&world, "uninstall zed --yes").done();
    assert_eq!(text(), "// mine\n{}\n");
}

#[test]
fn goose_keeps_its_comments_and_extensions_and_is_told_what_to_add_if_its_file_cannot_be_changed() {
    const OWN: &str = "# my models\nGOOSE_MODEL: gpt-4o # the cheap one\nextensions:\n  # the shell\n  developer:\n    enabled: true\n    \
                       type: builtin\n";
    let world = World::new();
    std::fs::create_dir_all(world.path("home/.config/goose")).unwrap();
    let file = world.write("home/.config/goose/config.yaml", OWN);
    let text = || std::fs::read_to_string(&file).unwrap();
    in_project(&world, "install goose").exits(2).says("extensions.planwright").complains("--yes");
    assert_eq!(text(), OWN);
    in_project(&world, "install goose --yes").done().says("planwright uninstall goose");
    for line in OWN.lines().chain(["  planwright:"]) {
        assert!(text().lines().any(|found| found == line), "{line}: {}", text());
    }
    assert!(text().contains("    cmd: \"/") && text().contains("    args: [\"--data\","), "{}", text());
    in_project(&world, "install goose --yes").done().says("already");
    in_project(&world, "doctor").says("goose has Planwright in the configuration of the user");
    in_project(&world, "uninstall goose --yes").done();
    assert_eq!(text(), OWN);
    in_project(&world, "uninstall goose --yes").exits(4);

    // The block to copy is in the answer.
    const FLOW: &str = "extensions: {developer: {enabled: true}}\n";
    world.write("home/.config/goose/config.yaml", FLOW);
    in_project(&world, "install goose --yes").exits(2).complains("by hand").complains("    cmd: \"/");
    assert_eq!(text(), FLOW);
}

/// Codex and Gemini CLI let a call pass when a hook is too late.
#[test]
fn a_client_that_lets_a_late_call_pass_is_given_its_own_mode_and_a_persons_one_stays() {
    let world = World::new();
    for folder in ["home/.codex", "home/.gemini"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
    }
    let text = |file: &str| std::fs::read_to_string(world.path(file)).unwrap_or_default();
    let (codex, gemini) = ("home/.codex/config.toml", "home/.gemini/settings.json");
    world.write(codex, "model = \"o\" # mine\n\n[tui]\ntheme = \"dark\"\n");
    for client in ["codex", "gemini"] {
        in_project(&world, &format!("install {client} --yes")).done();
    }
    let config: Value = toml::from_str(&text(codex)).unwrap();
    assert_eq!((&config["approval_policy"], &config["tui"]["theme"]), (&json!("on-request"), &json!("dark")));
    assert_eq!(read(&world, gemini)["security"]["disableYoloMode"], true);
    for client in ["codex", "gemini"] {
        in_project(&world, &format!("uninstall {client} --yes")).done();
    }
    assert_eq!(text(codex), "model = \"o\" # mine\n\n[tui]\ntheme = \"dark\"\n");
    assert!(!world.path(gemini).exists());

    // What a person set stays, and `doctor` names it.
    let own = ("approval_policy = \"never\"\n", "{ \"security\": { \"disableYoloMode\": false } }\n");
    world.write(codex, own.0);
    world.write(gemini, own.1);
    for client in ["codex", "gemini"] {
        in_project(&world, &format!("install {client} --yes")).done();
    }
    assert!(text(codex).contains("approval_policy = \"never\""));
    in_project(&world, "doctor").says("`approval_policy` is `never`").says("`security.disableYoloMode` is false");
    for client in ["codex", "gemini"] {
        in_project(&world, &format!("uninstall {client} --yes")).done();
    }
    assert_eq!((text(codex).as_str(), text(gemini).as_str()), own);
    // A person's own setting alone is no installation.
    world.write(gemini, "{ \"security\": { \"disableYoloMode\": true } }\n");
    in_project(&world, "doctor").never_says("gemini, in").never_says("gemini has");
    in_project(&world, "uninstall gemini --yes").exits(4);
}

/// `doctor` writes a plan of its own and asks for it as each client does.
#[test]
fn doctor_proves_that_a_plan_comes_back_and_says_why_if_it_does_not() {
    let world = World::new();
    for client in ["claude-code", "gemini"] {
        in_project(&world, &format!("install {client} --yes")).done();
    }
    in_project(&world, "doctor")
        .says("a plan comes back in claude-code: `planwright hook session-start`")
        .says("a plan comes back in gemini: the agent calls `plan_get`");
    assert!(!world.path("planwright.db").exists(), "the plan is in a store of its own");

    // A program that is not there, and one that answers something else.
    let other = world.path("other/planwright");
    std::fs::create_dir(world.path("other")).unwrap();
    for (file, field) in [
        ("project/.mcp.json", "mcpServers"),
        ("home/.gemini/extensions/planwright/gemini-extension.json", "mcpServers"),
    ] {
        let mut config = read(&world, file);
        config[field]["planwright"]["command"] = json!(other);
        world.write(file, &config.to_string());
    }
    let gone = format!("the program {} that it starts is not there", other.display());
    in_project(&world, "doctor")
        .says(&gone)
        .says(&format!("a plan does not come back in claude-code: `{}` is not there", other.display()));
    std::fs::write(&other, "#!/bin/sh\necho '{}'\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
        in_project(&world, "doctor")
            .says("a plan does not come back in claude-code: the plan is not in the answer")
            .says("a plan does not come back in gemini: it did not answer");
    }
}

fn hook(world: &World, event: &str, details: &Value) -> Option<Value> {
    let mut command = world.command();
    command.args(["hook", event]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(details.to_string().as_bytes()).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    let ran = ran.done();
    (!ran.stdout.is_empty()).then(|| ran.json())
}

fn decision(world: &World, tool: &str, input: Value) -> Option<String> {
    let details = json!({ "cwd": world.path(""), "tool_name": tool, "tool_input": input });
    let answer = hook(world, "pre-tool-use", &details)?;
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    Some(answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned())
}

#[test]
fn edits_and_commands_wait_for_the_approval_and_reading_does_not() {
    let world = World::new();
    let edit = || decision(&world, "Edit", json!({ "file_path": "a.txt" }));
    let bash = || decision(&world, "Bash", json!({ "command": "make" }));
    assert_eq!(edit(), None, "without a store nothing is held back");

    let draft = r##"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"# Canary 7f3a\n\n- [ ] one"}}}"##;
    let get = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_get","arguments":{}}}"#;
    crate::mcp::talk(&world, "mcp", &[get]).done();
    assert!(edit().unwrap().contains("no approved plan"));
    assert_eq!(hook(&world, "session-start", &json!({ "cwd": world.path("") })), None, "there is no plan yet");
    crate::mcp::talk(&world, "mcp", &[draft]).done();
    assert!(edit().unwrap().contains("waits for a person's approval"));
    assert!(bash().is_some());
    for reader in ["Read", "Grep", "mcp__planwright__plan_get"] {
        assert_eq!(decision(&world, reader, json!({})), None, "{reader}");
    }

    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
    assert_eq!((edit(), bash()), (None, None));
    // Deciding stays with the person, whatever the status is.
    assert!(decision(&world, "Bash", json!({ "command": "planwright plan approve 1" })).is_some());

    // After a start or a compaction the plan is back, whole.
    let back = hook(&world, "session-start", &json!({ "cwd": world.path(""), "source": "compact" })).unwrap();
    let context = back["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("Canary 7f3a") && context.contains("APPROVED"), "{context}");

    let done = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plan_progress","arguments":{"status":"done"}}}"#;
    crate::mcp::talk(&world, "mcp", &[done]).done();
    assert!(edit().unwrap().contains("finished"));
    world.run("plan off").done();
    assert_eq!(edit(), None, "plan work is off");
}

#[test]
fn a_store_that_cannot_be_read_holds_changes_back() {
    let world = World::new();
    world.write("planwright.db", "this is no database, and it is long enough to be looked at as one by sqlite itself");
    let denied = decision(&world, "Edit", json!({}));
    assert!(denied.unwrap().contains("cannot tell"), "the plan may not be approved");
    assert_eq!(decision(&world, "Read", json!({})), None);
}
