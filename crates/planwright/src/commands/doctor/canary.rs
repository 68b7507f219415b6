//! Proves that a plan survives a compaction in a client: a plan is written into a store of its own, and is asked for in the way
//! in which the client gets it back.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// How long each program may take.
const CANARY_TIMEOUT: Duration = Duration::from_secs(10);
/// Settings of the person that point to another store or session, and to the configuration of clients.
const FOREIGN: [&str; 10] = [
    "PLANWRIGHT_SESSION",
    "PLANWRIGHT_DATABASE",
    "PLANWRIGHT_CONFIG",
    "PLANWRIGHT_APPROVAL_REQUIRE",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CODEX_HOME",
    "CURSOR_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "XDG_CONFIG_HOME",
];

pub(super) struct Canary {
    folder: TempDir,
    digest: String,
}

impl Canary {
    /// Writes the plan, with this program.
    pub(super) async fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("there is no folder for a plan: {error}"))?;
        let own = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
        let text = format!("# Canary {}\n\n- [ ] come back\n", std::process::id());
        let drafted = call(&own, folder.path(), "plan_set_content", &json!({ "plan_markdown": text })).await?;
        match drafted["digest"].as_str() {
            Some(digest) => Ok(Self { digest: digest.to_owned(), folder }),
            None => Err(format!("the plan could not be written: {drafted}")),
        }
    }

    /// Runs the hook of a client.
    pub(super) async fn comes_back_by_hook(&self, program: &Path, client: &str) -> Result<(), String> {
        let arguments = ["hook", "--client", client, "session-start"];
        let details = json!({ "cwd": self.folder.path(), "hook_event_name": "SessionStart", "source": "compact" });
        let output = talk(program, self.folder.path(), &arguments, &details.to_string()).await?;
        self.check(output.contains(&self.digest), &output)
    }

    /// Starts the server as the client does, and asks it for the plan.
    pub(super) async fn comes_back_by_server(&self, program: &Path) -> Result<(), String> {
        let plan = call(program, self.folder.path(), "plan_get", &json!({})).await?;
        self.check(plan["digest"] == self.digest.as_str(), &plan.to_string())
    }

    fn check(&self, came_back: bool, output: &str) -> Result<(), String> {
        let shown: String = output.chars().take(200).collect();
        if came_back { Ok(()) } else { Err(format!("the plan is not in the answer: {shown}")) }
    }
}

/// Calls a tool of `planwright mcp`.
async fn call(program: &Path, folder: &Path, tool: &str, arguments: &Value) -> Result<Value, String> {
    let about = json!({ "name": "planwright-doctor", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = talk(program, folder, &["mcp"], &input).await?;
    let answers = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = answers.into_iter().find(|answer| answer["id"] == 2);
    answer.map(|answer| answer["result"]["structuredContent"].clone()).ok_or_else(|| "it did not answer".to_owned())
}

async fn talk(program: &Path, folder: &Path, arguments: &[&str], input: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PLANWRIGHT_DATA", folder).env("HOME", folder);
    for name in FOREIGN {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let name = program.display();
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound if program.is_absolute() => format!("`{name}` is not there"),
        std::io::ErrorKind::NotFound => format!("`{name}` is not found on the PATH"),
        _ => format!("`{name}` cannot be started: {error}"),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read ends soon, and its output says more.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    match timeout(CANARY_TIMEOUT, child.wait_with_output()).await {
        Ok(Ok(output)) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(Err(error)) => Err(format!("`{name}` failed: {error}")),
        Err(_) => Err(format!("`{name}` did not answer within {} seconds", CANARY_TIMEOUT.as_secs())),
    }
}
