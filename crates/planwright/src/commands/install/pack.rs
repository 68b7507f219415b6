//! What each client is given. The same texts are in `clients/`, for people who copy them by hand.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::edit::ConfigEdit;
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

pub(super) fn edits(client: ClientName, scope: InstallScope) -> Result<Vec<ConfigEdit>, Failure> {
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
            claude_code(base.join(".mcp.json"), base.join(".claude/settings.json"))
        }
        (ClientName::ClaudeCode, InstallScope::User) => {
            claude_code(base.join(".claude.json"), base.join(".claude/settings.json"))
        }
        (ClientName::Codex, _) => {
            let home = codex_home(base);
            vec![
                ConfigEdit::TomlTable {
                    file: home.join("config.toml"),
                    path: &["mcp_servers", "planwright"],
                    text: CODEX_TABLE,
                },
                ConfigEdit::OwnFile { file: home.join("rules/planwright.rules"), text: CODEX_RULES },
            ]
        }
        (ClientName::Opencode, InstallScope::Project) => {
            opencode(base.join("opencode.json"), base.join(".opencode/plugin/planwright.js"))
        }
        (ClientName::Opencode, InstallScope::User) => {
            let folder = config().join("opencode");
            opencode(folder.join("opencode.json"), folder.join("plugin/planwright.js"))
        }
        (ClientName::Gemini, _) => {
            let folder = base.join(".gemini/extensions/planwright");
            vec![
                ConfigEdit::OwnFile { file: folder.join("gemini-extension.json"), text: GEMINI_EXTENSION },
                ConfigEdit::OwnFile { file: folder.join("GEMINI.md"), text: GEMINI_CONTEXT },
            ]
        }
        (ClientName::Goose, _) => {
            let entry = YamlEntry { section: "extensions", name: "planwright", text: GOOSE_EXTENSION };
            vec![ConfigEdit::YamlEntry { file: config().join("goose/config.yaml"), entry }]
        }
        (ClientName::Cursor, _) => vec![field(base.join(".cursor/mcp.json"), &["mcpServers", "planwright"], server())],
        (ClientName::Vscode, _) => {
            let value = json!({ "type": "stdio", "command": "planwright", "args": ["mcp"] });
            vec![field(base.join(".vscode/mcp.json"), &["servers", "planwright"], value)]
        }
        (ClientName::Zed, _) => {
            let value = json!({ "command": "planwright", "args": ["mcp"], "env": {} });
            vec![field(config().join("zed/settings.json"), &["context_servers", "planwright"], value)]
        }
    })
}

fn codex_home(home: PathBuf) -> PathBuf {
    std::env::var_os("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from)
}

fn server() -> Value {
    json!({ "command": "planwright", "args": ["mcp"] })
}

fn field(file: PathBuf, path: &'static [&'static str], value: Value) -> ConfigEdit {
    ConfigEdit::JsonField { file, path, value }
}

fn claude_code(servers: PathBuf, settings: PathBuf) -> Vec<ConfigEdit> {
    let hook = |command: &str| json!({ "type": "command", "command": command, "timeout": 10 });
    let element =
        |path: &'static [&'static str], value: Value| ConfigEdit::JsonElement { file: settings.clone(), path, value };
    let mut edits = vec![
        field(servers, &["mcpServers", "planwright"], server()),
        element(&["hooks", "PreToolUse"], json!({ "matcher": "*", "hooks": [hook("planwright hook pre-tool-use")] })),
        element(&["hooks", "SessionStart"], json!({ "hooks": [hook(SESSION_START)] })),
    ];
    edits.extend(DENIED.map(|rule| element(&["permissions", "deny"], json!(rule))));
    edits
}

fn opencode(settings: PathBuf, plugin: PathBuf) -> Vec<ConfigEdit> {
    let server = json!({ "type": "local", "command": ["planwright", "mcp"], "enabled": true });
    let rules = [
        (&["permission", "bash", "planwright plan approve*"][..], "deny"),
        (&["permission", "bash", "planwright plan reject*"][..], "deny"),
        (&["permission", "bash", "planwright plan resume*"][..], "deny"),
    ];
    let mut edits = vec![field(settings.clone(), &["mcp", "planwright"], server)];
    edits.extend(rules.map(|(path, decision)| field(settings.clone(), path, json!(decision))));
    edits.push(ConfigEdit::OwnFile { file: plugin, text: OPENCODE_PLUGIN });
    edits
}
