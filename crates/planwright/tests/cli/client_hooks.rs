//! The hook works on the session and the store of the client's server, wherever the agent goes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// A client that works in `project`, with the data folder of the world unless its configuration names another.
struct Client {
    world: World,
}

impl Client {
    fn new() -> Self {
        let world = World::new();
        for folder in ["project/.git", "project/src", "other/.git", "plain", "home", "data"] {
            std::fs::create_dir_all(world.path(folder)).unwrap();
        }
        Self { world }
    }

    fn command(&self, data: Option<&str>) -> Command {
        let mut command = self.world.command();
        command.env("HOME", self.world.path("home")).env_remove("PLANWRIGHT_DATA");
        command.env("XDG_DATA_HOME", self.world.path("xdg")).current_dir(self.world.path("project"));
        if let Some(folder) = data {
            command.env("PLANWRIGHT_DATA", self.world.path(folder));
        }
        command
    }

    /// Starts the server as the client would, so that its session is there.
    fn serve(&self, arguments: &[&str], variables: &[(&str, &str)]) {
        let get = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_get","arguments":{}}}"#;
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let mut command = self.command(None);
        command.args(arguments).envs(variables.iter().copied());
        send(&mut command, &format!("{hello}\n{ready}\n{get}\n")).done();
    }

    fn configure(&self, entry: &Value) {
        self.world.write("project/.mcp.json", &json!({ "mcpServers": { "planwright": entry } }).to_string());
    }

    /// The same in the person's own file.
    fn configure_own(&self, entry: &Value) {
        self.world.write("home/.claude.json", &json!({ "mcpServers": { "planwright": entry } }).to_string());
    }

    /// The reason of a denial.
    fn call(&self, folder: &str, tool: &str, input: Value) -> Option<String> {
        self.call_of_hook(&["hook", "pre-tool-use"], &[], folder, tool, input)
    }

    /// An edit in the project, with a hook whose command names the data folder.
    fn edit_with_data(&self, variables: &[(&str, &str)]) -> Option<String> {
        let words = ["--data", &text(&self.world.path("data")), "hook", "pre-tool-use"];
        self.call_of_hook(&words, variables, "project", "Edit", json!({ "file_path": "a.txt" }))
    }

    fn call_of_hook(
        &self,
        words: &[&str],
        variables: &[(&str, &str)],
        folder: &str,
        tool: &str,
        input: Value,
    ) -> Option<String> {
        let mut command = self.command(None);
        command.current_dir(self.world.path(folder)).env("CLAUDE_PROJECT_DIR", self.world.path("project"));
        command.envs(variables.iter().copied()).args(words);
        let details = json!({ "cwd": self.world.path(folder), "tool_name": tool, "tool_input": input });
        let ran = send(&mut command, &details.to_string()).done();
        let reason = "/hookSpecificOutput/permissionDecisionReason";
        (!ran.stdout.is_empty()).then(|| ran.json().pointer(reason).unwrap().as_str().unwrap().to_owned())
    }

    fn edit(&self, folder: &str) -> Option<String> {
        self.call(folder, "Edit", json!({ "file_path": "a.txt" }))
    }
}

fn send(command: &mut Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn the_gate_stays_closed_wherever_the_agent_goes() {
    let client = Client::new();
    client.serve(&["mcp"], &[]);
    for folder in ["project", "project/src", "other", "plain", ""] {
        assert!(client.edit(folder).is_some_and(|reason| reason.contains("no approved plan")), "{folder}");
    }
}

#[test]
fn the_hook_finds_the_session_and_the_store_of_the_servers_entry() {
    let data = |client: &Client| text(&client.world.path("data"));
    type Entry = fn(&str) -> (Vec<String>, Value);
    let entries: [(&str, Entry); 6] = [
        ("a session", |_| (vec!["mcp".into(), "--session".into(), "own-plan".into()], json!({}))),
        ("a short session", |_| (vec!["mcp".into(), "--session=own".into()], json!({}))),
        ("a data folder", |data| (vec!["--data".into(), data.into(), "mcp".into()], json!({}))),
        ("a folder of the project", |_| (vec!["mcp".into(), "--data".into(), "../data".into()], json!({}))),
        ("variables", |data| {
            (vec!["mcp".into()], json!({ "PLANWRIGHT_DATA": data, "PLANWRIGHT_SESSION": "from-variable" }))
        }),
        ("a database", |data| (vec!["mcp".into(), "--database".into(), format!("sqlite:{data}/own.db")], json!({}))),
    ];
    for (about, entry) in entries {
        let client = Client::new();
        let (arguments, variables) = entry(&data(&client));
        client.configure_own(&json!({ "command": "/opt/bin/planwright", "args": arguments, "env": variables }));
        let before = client.edit("project");
        assert!(
            before.is_some_and(|reason| reason.contains("that does not exist")),
            "{about}: the server has not begun"
        );
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let variables: Vec<_> = variables
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
            .collect();
        client.serve(&words, &variables);
        for folder in ["project", "other"] {
            assert!(client.edit(folder).is_some_and(|reason| reason.contains("no approved plan")), "{about}: {folder}");
        }
    }
}

#[test]
fn an_entry_that_does_not_tell_where_the_plans_are_holds_changes_back() {
    let client = Client::new();
    client.serve(&["mcp"], &[]);
    for (entry, expected) in [
        (json!({ "command": "sh", "args": ["-c", "planwright mcp --session own"] }), "starts `sh`"),
        (json!({ "command": "planwright", "args": ["mcp", "--sesion", "own"] }), "not understood"),
        (json!({ "command": "planwright", "args": ["mcp", "--data", "${NOT_SET_ANYWHERE}"] }), "NOT_SET_ANYWHERE"),
        (json!({ "type": "http", "url": "http://127.0.0.1:1/mcp/mcp:elsewhere" }), "keeps its plans elsewhere"),
    ] {
        client.configure(&entry);
        let reason = client.edit("project");
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(expected)), "{entry}: {reason:?}");
        assert_eq!(client.call("project", "Read", json!({})), None);
    }
    // A variable may have a value for when it is not set.
    client
        .configure(&json!({ "command": "planwright", "args": ["mcp", "--session", "${NOT_SET_ANYWHERE:-own-plan}"] }));
    let reason = client.edit("project");
    assert!(reason.as_ref().is_some_and(|reason| reason.contains("a session that does not exist")), "{reason:?}");
}

#[test]
fn an_entry_of_the_project_does_not_choose_a_laxer_plan_than_the_hook() {
    let client = Client::new();
    let (data, other) = (text(&client.world.path("data")), text(&client.world.path("other-data")));
    assert_eq!(client.edit_with_data(&[]), None, "no agent has begun to plan");
    client.configure(&json!({ "command": "planwright", "args": ["--data", data, "mcp"] }));
    assert_eq!(client.edit_with_data(&[]), None, "the entry names the store of the hook");
    client.serve(&["--data", &data, "mcp"], &[]);
    client.serve(&["--data", &other, "mcp", "--plan", "off"], &[]);
    client.serve(&["--data", &data, "mcp", "--session", "lax", "--plan", "off"], &[]);
    for (arguments, expected) in [
        (vec!["--data", "/nonexistent", "mcp"], "another data folder"),
        (vec!["--data", &data, "mcp", "--session", "nosuchsession"], "a session that does not exist"),
        (vec!["--data", &other, "mcp"], "another data folder"),
        (vec!["mcp", "--database", "postgres://${HOME}@127.0.0.1:1/x"], "another database"),
        (vec!["mcp", "--config", "planwright.toml"], "another configuration"),
        (vec!["--data", &data, "mcp", "--session", "lax"], "no approved plan"),
    ] {
        client.configure(&json!({ "command": "planwright", "args": arguments }));
        let reason = client.edit_with_data(&[]).unwrap_or_else(|| panic!("{arguments:?} passes"));
        assert!(reason.contains(expected), "{arguments:?}: {reason}");
        if expected != "no approved plan" {
            let file = text(&client.world.path("project/.mcp.json"));
            assert!(reason.contains("the entry `planwright` in") && reason.contains(&file), "{reason}");
        }
    }
}

#[test]
fn every_scope_counts_and_the_strictest_decides() {
    let client = Client::new();
    let (data, other) = (text(&client.world.path("data")), text(&client.world.path("other-data")));
    client.serve(&["--data", &data, "mcp"], &[]);
    client.serve(&["--data", &other, "mcp", "--plan", "off"], &[]);
    let entry = |data: &str| json!({ "planwright": { "command": "planwright", "args": ["--data", data, "mcp"] } });
    let project = text(&client.world.path("project"));
    let here = json!({ project: { "mcpServers": entry(&data) } });
    let settings = json!({ "mcpServers": entry(&other), "projects": here });
    client.world.write("home/.claude.json", &settings.to_string());
    assert!(client.edit("project").is_some_and(|reason| reason.contains("no approved plan")));
}

#[test]
fn variables_of_the_shell_choose_nothing_once_the_hook_names_the_data_folder() {
    let client = Client::new();
    client.serve(&["--data", &text(&client.world.path("data")), "mcp"], &[]);
    client.world.write("empty.toml", "database = \"sqlite:/nonexistent/none.db\"\n");
    let config = text(&client.world.path("empty.toml"));
    for (name, value) in [
        ("PLANWRIGHT_DATA", "/nonexistent"),
        ("PLANWRIGHT_DATABASE", "sqlite:/nonexistent/none.db"),
        ("PLANWRIGHT_CONFIG", config.as_str()),
        ("PLANWRIGHT_SESSION", "othersession"),
    ] {
        let reason = client.edit_with_data(&[(name, value)]);
        assert!(reason.as_ref().is_some_and(|reason| reason.contains("no approved plan")), "{name}: {reason:?}");
    }
}

#[test]
fn only_the_tools_of_our_server_pass() {
    let client = Client::new();
    client.serve(&["mcp"], &[]);
    let passes = |tool: &str| client.call("project", tool, json!({})).is_none();
    for (tool, expected) in [
        ("mcp__planwright__plan_get", true),
        ("mcp__plugin_planwright_planwright__plan_get", true),
        ("planwright_plan_get", true),
        ("mcp__planwright__memory_search", true),
        ("mcp__planwright__result_read", true),
        ("mcp__planwright-evil__plan_get", false),
        ("mcp__planwrightx__run", false),
        ("planwright_delete_everything", false),
        ("mcp__planwright__delete_everything", false),
        ("mcp__planwright__git__push", false),
        ("mcp_planwright_plan_get", true),
        ("planwright__plan_get", true),
        ("MCP:delete_everything", false),
    ] {
        assert_eq!(passes(tool), expected, "{tool}");
    }
    // A server behind ours is behind our gate.
    client.configure(&json!({ "command": "planwright", "args": ["mcp", "--upstream", "git=git-server"] }));
    assert!(passes("mcp__planwright__git__push") && !passes("mcp__planwright__hub__push"));
}

#[test]
fn an_agent_can_look_around_before_there_is_a_plan() {
    let client = Client::new();
    client.serve(&["mcp"], &[]);
    let bash = |folder: &str, line: &str| client.call(folder, "Bash", json!({ "command": line }));
    for line in ["ls -la", "git status && git log --oneline | head -5", "grep -rn main src 2>/dev/null | wc -l"] {
        assert_eq!(bash("project", line), None, "{line}");
    }
    for line in ["rm a", "ls > a", "find . -delete", "git -C ../other status", "ls $(rm a)"] {
        let reason = bash("project", line);
        assert!(reason.as_ref().is_some_and(|reason| reason.contains("only read pass")), "{line}: {reason:?}");
    }
    assert_eq!(bash("other", "ls"), None);
    assert!(bash("other", "git status").is_some(), "the repository of another project may name programs");
    for tool in ["Agent", "Task", "TaskCreate", "TaskUpdate", "TodoWrite"] {
        assert_eq!(client.call("project", tool, json!({ "prompt": "look around" })), None, "{tool}");
    }
    assert!(client.call("project", "Agent", json!({ "isolation": "worktree" })).is_some());
}

/// The hook runs outside of the agent's sandbox, and whoever writes the project's files chooses its entries.
#[test]
fn an_entry_of_the_project_chooses_no_command_for_a_password() {
    let client = Client::new();
    let (data, mark) = (text(&client.world.path("other-data")), client.world.path("mark"));
    let toml = format!(
        "database = \"postgres://ada@127.0.0.1:1/plans\"\ndatabase_password_command = \"touch {}\"\n",
        mark.display()
    );
    std::fs::create_dir_all(&data).unwrap();
    client.world.write("other-data/planwright.toml", &toml);
    client.configure(&json!({ "command": "planwright", "args": ["--data", data, "mcp"] }));
    let reason = client.edit_with_data(&[]);
    assert!(reason.as_ref().is_some_and(|reason| reason.contains("another data folder")), "{reason:?}");
    assert!(!mark.exists(), "the command was run");
    let refused = client.command(None).args(["--data", &data, "plan", "list"]).output().unwrap();
    assert!(!refused.status.success());
    assert!(mark.exists(), "a person's own command line runs it");
}
