//! What each client is given. The same texts are in `clients/`, for people who copy them by hand.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::edit::ConfigEdit;
use super::json;
use super::yaml::YamlEntry;
use crate::cli::{ClientName, InstallScope};
use crate::failure::Failure;

const OPENCODE_PLUGIN: &str = include_str!("../../../../../clients/opencode/planwright.js");
const CODEX_TABLE: &str = include_str!("../../../../../clients/codex/planwright.toml");
const CODEX_RULES: &str = include_str!("../../../../../clients/codex/planwright.rules");
const GEMINI_EXTENSION: &str = include_str!("../../../../../clients/gemini/gemini-extension.json");
const GOOSE_EXTENSION: &str = include_str!("../../../../../clients/goose/config.yaml");
const GEMINI_CONTEXT: &str = include_str!("../../../../../clients/gemini/GEMINI.md");

/// What every client starts, from its PATH.
pub(crate) const SERVER_PROGRAM: &str = "planwright";
const SESSION_START: &str = "planwright hook session-start";

/// The command that brings the plan back after a compaction. Without one the agent calls `plan_get`.
pub(crate) const fn session_start_command(client: ClientName) -> Option<&'static str> {
    match client {
        ClientName::ClaudeCode | ClientName::Opencode => Some(SESSION_START),
        ClientName::Codex
        | ClientName::Gemini
        | ClientName::Goose
        | ClientName::Cursor
        | ClientName::Vscode
        | ClientName::Zed => None,
    }
}

/// Commands that decide. The client denies them to its agent; the approval policy refuses them as well.
const DENIED: [&str; 4] = [
    "Bash(planwright plan approve:*)",
    "Bash(planwright plan reject:*)",
    "Bash(planwright plan resume:*)",
    "Bash(planwright approver:*)",
];

/// The scopes of a client, the usual one first.
pub(super) const fn scopes(client: ClientName) -> &'static [InstallScope] {
    match client {
        ClientName::ClaudeCode | ClientName::Opencode | ClientName::Cursor => {
            &[InstallScope::Project, InstallScope::User]
        }
        ClientName::Vscode => &[InstallScope::Project],
        ClientName::Codex | ClientName::Gemini | ClientName::Goose | ClientName::Zed => &[InstallScope::User],
    }
}

/// What is left for the person to do.
pub(super) const fn notes(client: ClientName) -> &'static str {
    match client {
        ClientName::ClaudeCode => {
            "Start Claude Code again; it asks once whether it may use the server of this project."
        }
        ClientName::Codex => {
            "Start Codex again. Its own sandbox and approval mode hold edits back; the rules forbid its agent to approve plans."
        }
        ClientName::Opencode | ClientName::Gemini | ClientName::Cursor | ClientName::Vscode | ClientName::Zed => {
            "Start the client again."
        }
        ClientName::Goose => "Start goose again.",
    }
}

/// The changes for a client whose server is started with these options before `mcp`.
pub(super) fn edits(client: ClientName, scope: InstallScope, options: &[String]) -> Result<Vec<ConfigEdit>, Failure> {
    if !scopes(client).contains(&scope) {
        return Err(Failure::usage(format!("{} has no configuration of this scope", client.name())));
    }
    let base = match scope {
        InstallScope::Project => std::env::current_dir()
            .map_err(|error| Failure::unavailable(format!("the current folder cannot be read: {error}")))?,
        InstallScope::User => dirs::home_dir().ok_or_else(|| Failure::unavailable("there is no home folder"))?,
    };
    let config = || -> PathBuf {
        let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        named.unwrap_or_else(|| base.join(".config"))
    };
    Ok(match (client, scope) {
        (ClientName::ClaudeCode, InstallScope::Project) => {
            claude_code(options, base.join(".mcp.json"), base.join(".claude/settings.json"))
        }
        (ClientName::ClaudeCode, InstallScope::User) => {
            claude_code(options, base.join(".claude.json"), base.join(".claude/settings.json"))
        }
        (ClientName::Codex, _) => {
            let home = codex_home(base);
            vec![
                ConfigEdit::TomlTable {
                    file: home.join("config.toml"),
                    path: &["mcp_servers", "planwright"],
                    text: with_options(CODEX_TABLE, options),
                },
                ConfigEdit::OwnFile { file: home.join("rules/planwright.rules"), text: CODEX_RULES.to_owned() },
            ]
        }
        (ClientName::Opencode, InstallScope::Project) => {
            opencode(options, base.join("opencode.json"), base.join(".opencode/plugin/planwright.js"))
        }
        (ClientName::Opencode, InstallScope::User) => {
            let folder = config().join("opencode");
            opencode(options, folder.join("opencode.json"), folder.join("plugin/planwright.js"))
        }
        (ClientName::Gemini, _) => {
            let folder = base.join(".gemini/extensions/planwright");
            vec![
                ConfigEdit::OwnFile {
                    file: folder.join("gemini-extension.json"),
                    text: with_options(GEMINI_EXTENSION, options),
                },
                ConfigEdit::OwnFile { file: folder.join("GEMINI.md"), text: GEMINI_CONTEXT.to_owned() },
            ]
        }
        (ClientName::Goose, _) => {
            let entry =
                YamlEntry { section: "extensions", name: "planwright", text: with_options(GOOSE_EXTENSION, options) };
            vec![ConfigEdit::YamlEntry { file: config().join("goose/config.yaml"), entry }]
        }
        (ClientName::Cursor, _) => {
            vec![field(base.join(".cursor/mcp.json"), &["mcpServers", "planwright"], server(options))]
        }
        (ClientName::Vscode, _) => {
            let value = json!({ "type": "stdio", "command": "planwright", "args": arguments(options) });
            vec![field(base.join(".vscode/mcp.json"), &["servers", "planwright"], value)]
        }
        (ClientName::Zed, _) => {
            let value = json!({ "command": "planwright", "args": arguments(options), "env": {} });
            vec![field(config().join("zed/settings.json"), &["context_servers", "planwright"], value)]
        }
    })
}

/// Settings of a client that turn the server or its hooks off, in files that `install` does not write.
pub(super) fn obstacles(client: ClientName) -> Vec<String> {
    let (ClientName::ClaudeCode, Ok(project)) = (client, std::env::current_dir()) else { return Vec::new() };
    let home = dirs::home_dir();
    let mut files = vec![project.join(".claude/settings.json"), project.join(".claude/settings.local.json")];
    files.extend(home.iter().flat_map(|home| [home.join(".claude/settings.json"), home.join(".claude.json")]));
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let value_at = |path: &[&str]| json::value_at(&text, path).ok().flatten();
        if value_at(&["disableAllHooks"]) == Some(Value::Bool(true)) {
            found.push(format!("`disableAllHooks` in {} turns the hooks off", file.display()));
        }
        let here = project.to_string_lossy();
        for path in [
            &["disabledMcpjsonServers"][..],
            &["projects", &here, "disabledMcpjsonServers"],
            &["projects", &here, "disabledMcpServers"],
        ] {
            let names = value_at(path);
            if names.as_ref().and_then(Value::as_array).is_some_and(|names| names.contains(&json!("planwright"))) {
                found.push(format!("`{}` in {} turns the server off", path[path.len() - 1], file.display()));
            }
        }
    }
    found
}

fn codex_home(home: PathBuf) -> PathBuf {
    std::env::var_os("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from)
}

fn server(options: &[String]) -> Value {
    json!({ "command": "planwright", "args": arguments(options) })
}

fn arguments(options: &[String]) -> Vec<&str> {
    options.iter().map(String::as_str).chain(["mcp"]).collect()
}

/// The text of a pack, which starts the server with `["mcp"]` or `[mcp]`.
fn with_options(text: &str, options: &[String]) -> String {
    if options.is_empty() {
        return text.to_owned();
    }
    let list = json!(arguments(options)).to_string();
    ["[\"mcp\"]", "[mcp]"].iter().fold(text.to_owned(), |text, bare| text.replace(bare, &list))
}

fn field(file: PathBuf, path: &'static [&'static str], value: Value) -> ConfigEdit {
    ConfigEdit::JsonField { file, path, value }
}

fn claude_code(options: &[String], servers: PathBuf, settings: PathBuf) -> Vec<ConfigEdit> {
    let hook = |command: &str| json!({ "type": "command", "command": command, "timeout": 10 });
    let element =
        |path: &'static [&'static str], value: Value| ConfigEdit::JsonElement { file: settings.clone(), path, value };
    let mut edits = vec![
        field(servers, &["mcpServers", "planwright"], server(options)),
        element(&["hooks", "PreToolUse"], json!({ "matcher": "*", "hooks": [hook("planwright hook pre-tool-use")] })),
        element(&["hooks", "SessionStart"], json!({ "hooks": [hook(SESSION_START)] })),
    ];
    edits.extend(DENIED.map(|rule| element(&["permissions", "deny"], json!(rule))));
    edits
}

fn opencode(options: &[String], settings: PathBuf, plugin: PathBuf) -> Vec<ConfigEdit> {
    let command: Vec<&str> = std::iter::once("planwright").chain(arguments(options)).collect();
    let server = json!({ "type": "local", "command": command, "enabled": true });
    let rules = [
        (&["permission", "bash", "planwright plan approve*"][..], "deny"),
        (&["permission", "bash", "planwright plan reject*"][..], "deny"),
        (&["permission", "bash", "planwright plan resume*"][..], "deny"),
    ];
    let mut edits = vec![field(settings.clone(), &["mcp", "planwright"], server)];
    edits.extend(rules.map(|(path, decision)| field(settings.clone(), path, json!(decision))));
    edits.push(ConfigEdit::OwnFile { file: plugin, text: OPENCODE_PLUGIN.to_owned() });
    edits
}
