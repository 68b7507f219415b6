//! What `planwright install` tells clients to start: a program that stays, and a hook that denies when it is gone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{Ran, World, ran};

/// A program that was fetched into a cache, as `npx` and `uvx` do it.
struct Fetched {
    world: World,
    program: PathBuf,
}

impl Fetched {
    fn new() -> Self {
        let world = World::new();
        let program = world.path("home/.cache/fetched/planwright");
        for folder in ["home/.cache/fetched", "project"] {
            std::fs::create_dir_all(world.path(folder)).unwrap();
        }
        let own = env!("CARGO_BIN_EXE_planwright");
        if std::fs::hard_link(own, &program).is_err() {
            std::fs::copy(own, &program).unwrap();
        }
        Self { world, program }
    }

    fn run(&self, program: &Path, line: &str) -> Ran {
        let mut command = Command::new(program);
        command.env_clear().env("PLANWRIGHT_DATA", self.world.path("data")).env("HOME", self.world.path("home"));
        command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any").env("USER", "ada").stdin(Stdio::null());
        ran(command.current_dir(self.world.path("project")).args(line.split_whitespace()))
    }

    fn copy(&self) -> PathBuf {
        self.world.path("data/bin/planwright")
    }

    fn read(&self, file: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.world.path(file)).unwrap()).unwrap()
    }

    /// The hook of a client as the client runs it.
    fn hook(&self, file: &str, path: &str) -> Ran {
        let config = self.read(file);
        let line = config.pointer(path).unwrap_or_else(|| panic!("{path} is not in {config:#}")).as_str().unwrap();
        let project = self.world.path("project");
        let call = json!({
            "cwd": project, "working_dir": project, "workspace_roots": [project],
            "tool_name": "Write", "tool_input": { "file_path": "a.txt" },
        });
        let mut command = Command::new("/bin/sh");
        command.env_clear().env("HOME", self.world.path("home")).env("PATH", "/usr/bin:/bin").current_dir(&project);
        command.args(["-c", &format!("echo '{call}' | {line}")]);
        ran(&mut command)
    }
}

/// Where the hook before a call is in each client's configuration, and the entry that a person takes out.
const HOOKS: [(&str, &str, &str, &str); 6] = [
    ("claude-code", "project/.claude/settings.json", "/hooks/PreToolUse/0/hooks/0/command", "hooks.PreToolUse"),
    ("codex", "home/.codex/hooks.json", "/hooks/PreToolUse/0/hooks/0/command", "hooks.PreToolUse"),
    (
        "gemini",
        "home/.gemini/extensions/planwright/hooks/hooks.json",
        "/hooks/BeforeTool/0/hooks/0/command",
        "hooks.BeforeTool",
    ),
    (
        "goose",
        "home/.agents/plugins/planwright/hooks/hooks.json",
        "/hooks/PreToolUse/0/hooks/0/command",
        "hooks.PreToolUse",
    ),
    ("cursor", "project/.cursor/hooks.json", "/hooks/preToolUse/0/command", "hooks.preToolUse"),
    ("vscode", "project/.github/hooks/planwright.json", "/hooks/PreToolUse/0/command", "hooks.PreToolUse"),
];

#[test]
fn a_program_in_a_cache_is_copied_first_and_the_hook_denies_when_the_copy_is_gone() {
    let fetched = Fetched::new();
    let copy = fetched.copy();
    for (client, ..) in HOOKS {
        let installed = fetched.run(&fetched.program, &format!("install {client} --yes")).done();
        assert_eq!(installed.stdout.contains("a copy of"), client == HOOKS[0].0, "{}", installed.stdout);
    }
    // The cache is cleared, and the agent drafts.
    std::fs::remove_file(&fetched.program).unwrap();
    let get = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_get","arguments":{}}}"#;
    let mut server = Command::new(&copy);
    server
        .env_clear()
        .env("HOME", fetched.world.path("home"))
        .env("PLANWRIGHT_APPROVAL_REQUIRE", "any")
        .arg("--data")
        .arg(fetched.world.path("data"))
        .arg("mcp");
    crate::mcp::talk_to_program(server.current_dir(fetched.world.path("project")), &[get]).done();
    for (client, file, path, _) in HOOKS {
        let answer = fetched.hook(file, path).done().json().to_string();
        assert!(answer.contains("no approved plan"), "{client}: {answer}");
    }

    let kept = fetched.world.path("kept");
    std::fs::rename(&copy, &kept).unwrap();
    for (client, file, path, entry) in HOOKS {
        let Ran { code, stdout, stderr } = fetched.hook(file, path);
        let expected = format!("take its entry out of {entry} in {}", fetched.world.path(file).display());
        let shown = if client == "cursor" { stdout } else { stderr };
        assert_eq!(code, 2, "{client}: {shown}");
        assert!(shown.contains("this call is denied") && shown.contains(&expected), "{client}: {shown}");
    }
    fetched.run(&kept, "doctor").says(&format!("the program {} that it starts is not there", copy.display()));

    // Taken out everywhere, nothing of it is left.
    std::fs::rename(&kept, &copy).unwrap();
    for (client, file, ..) in HOOKS {
        assert!(copy.exists(), "{client}: the others still start it");
        fetched.run(&copy, &format!("uninstall {client} --yes")).done();
        assert!(!fetched.world.path(file).exists(), "{client}");
    }
    assert!(!fetched.world.path("data/bin").exists());
}

#[test]
fn entries_of_an_older_version_are_replaced_and_those_of_a_person_stay() {
    let fetched = Fetched::new();
    let write = |file: &str, value: &Value| {
        std::fs::create_dir_all(fetched.world.path(file).parent().unwrap()).unwrap();
        fetched.world.write(file, &value.to_string());
    };
    let own_hook = json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": "my-linter" }] });
    let old = |event: &str| json!({ "hooks": [{ "type": "command", "command": format!("planwright hook {event}"), "timeout": 10 }] });
    let settings =
        json!({ "hooks": { "PreToolUse": [own_hook, old("pre-tool-use")], "SessionStart": [old("session-start")] } });
    write("project/.claude/settings.json", &settings);
    write(
        "project/.mcp.json",
        &json!({ "mcpServers": { "planwright": { "command": "planwright", "args": ["mcp"] } } }),
    );
    let program = Path::new(env!("CARGO_BIN_EXE_planwright"));
    fetched.run(program, "doctor").says("is of another version of Planwright");
    fetched.run(program, "install claude-code --yes").done();
    let server = &fetched.read("project/.mcp.json")["mcpServers"]["planwright"];
    assert_eq!((&server["args"][0], &server["args"][2]), (&json!("--data"), &json!("mcp")), "{server}");
    let settings = fetched.read("project/.claude/settings.json");
    let before = settings["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!((before.len(), &before[0]), (3, &own_hook), "{settings:#}");
    assert!(before[1].to_string().contains("--client claude-code"), "{settings:#}");
    assert!(before[2].to_string().contains("native-plan"), "{settings:#}");
    assert_eq!(settings["hooks"]["SessionStart"].as_array().unwrap().len(), 1);
    fetched.run(program, "install claude-code --yes").done().says("already");
}

#[test]
fn doctor_tells_which_hooks_do_not_run() {
    let fetched = Fetched::new();
    let program = Path::new(env!("CARGO_BIN_EXE_planwright"));
    for client in ["codex", "gemini", "goose"] {
        fetched.run(program, &format!("install {client} --yes")).done();
    }
    fetched
        .run(program, "doctor")
        .says("do not run until you trust them")
        .says("gemini has Planwright")
        .says("goose has Planwright");
    let config = fetched.world.path("home/.codex/config.toml");
    let hooks = fetched.world.path("home/.codex/hooks.json");
    let trusted = format!("[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n", hooks.display());
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}\n{trusted}")).unwrap();
    fetched.world.write("home/.gemini/settings.json", "{ \"hooksConfig\": { \"enabled\": false } }");
    fetched.world.write("home/.config/goose/settings.json", "{ \"disabledPlugins\": [\"planwright\"] }");
    let shown = fetched
        .run(program, "doctor")
        .says("codex has Planwright")
        .says("`hooksConfig.enabled` in")
        .says("`disabledPlugins` in");
    assert!(!shown.stdout.contains("until you trust them"), "{}", shown.stdout);
}
