//! What each client is given. The same texts are in `clients/`, for people who copy them by hand.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::edit::ConfigEdit;
use super::setup::Setup;
use super::yaml::YamlEntry;
use super::{codex_folder, goose_file};
use crate::cli::{ClientName, HookEvent, InstallScope};
use crate::commands::hook::deadline::{CLIENT_PLAN_SECONDS, CLIENT_SECONDS};
use crate::failure::Failure;

const OPENCODE_PLUGIN: &str = include_str!("../../../../../clients/opencode/planwright.js");
const CODEX_TABLE: &str = include_str!("../../../../../clients/codex/planwright.toml");
const CODEX_RULES: &str = include_str!("../../../../../clients/codex/planwright.rules");
const GEMINI_EXTENSION: &str = include_str!("../../../../../clients/gemini/gemini-extension.json");
const GEMINI_CONTEXT: &str = include_str!("../../../../../clients/gemini/GEMINI.md");
const GOOSE_EXTENSION: &str = include_str!("../../../../../clients/goose/config.yaml");
const GOOSE_PLUGIN: &str = include_str!("../../../../../clients/goose/plugin.json");

/// Whether the client's hook brings the plan back after a compaction. Otherwise the agent calls `plan_get`.
pub(crate) const fn has_compaction_hook(client: ClientName) -> bool {
    match client {
        ClientName::ClaudeCode | ClientName::Codex | ClientName::Opencode => true,
        ClientName::Gemini | ClientName::Goose | ClientName::Cursor | ClientName::Vscode | ClientName::Zed => false,
    }
}

/// Whether the client has a plan mode whose plans its hooks can take in.
pub(super) const fn has_native_plans(client: ClientName) -> bool {
    match client {
        ClientName::ClaudeCode | ClientName::Codex | ClientName::Gemini | ClientName::Vscode => true,
        ClientName::Opencode | ClientName::Goose | ClientName::Cursor | ClientName::Zed => false,
    }
}

/// What the client shows while a plan waits.
const PLAN_WAITS: &str = "The plan waits for you: planwright plan show, planwright plan approve";

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
            "Start Codex again and trust the hooks with `/hooks`: they do not run before that. Until then its own sandbox and approval \
             mode hold edits back; the rules forbid its agent to approve plans."
        }
        ClientName::Zed => {
            "Start the client again. Zed has no hooks: its own confirmation of each tool call is what holds edits back."
        }
        ClientName::Opencode | ClientName::Gemini | ClientName::Goose | ClientName::Cursor | ClientName::Vscode => {
            "Start the client again."
        }
    }
}

/// The changes for a client.
pub(super) fn edits(client: ClientName, scope: InstallScope, setup: &Setup) -> Result<Vec<ConfigEdit>, Failure> {
    if !scopes(client).contains(&scope) {
        return Err(Failure::usage(format!("{} has no configuration of this scope", client.name())));
    }
    let base = match scope {
        InstallScope::Project => std::env::current_dir()
            .map_err(|error| Failure::unavailable(format!("the current folder cannot be read: {error}")))?,
        InstallScope::User => dirs::home_dir().ok_or_else(|| Failure::unavailable("there is no home folder"))?,
    };
    let own_file = |file: PathBuf, text: String| ConfigEdit::OwnFile { file, text };
    Ok(match (client, scope) {
        (ClientName::ClaudeCode, InstallScope::Project) => {
            claude_code(setup, base.join(".mcp.json"), base.join(".claude/settings.json"))
        }
        (ClientName::ClaudeCode, InstallScope::User) => {
            claude_code(setup, base.join(".claude.json"), base.join(".claude/settings.json"))
        }
        (ClientName::Codex, _) => codex(setup, codex_folder(base)),
        (ClientName::Opencode, InstallScope::Project) => {
            opencode(setup, base.join("opencode.json"), base.join(".opencode/plugin/planwright.js"))
        }
        (ClientName::Opencode, InstallScope::User) => {
            let folder = config_folder(&base).join("opencode");
            opencode(setup, folder.join("opencode.json"), folder.join("plugin/planwright.js"))
        }
        (ClientName::Gemini, _) => {
            let folder = base.join(".gemini/extensions/planwright");
            let hooks = folder.join("hooks/hooks.json");
            let text = gemini_hooks(setup, &hooks);
            vec![
                // Its own question about each call holds edits back where the hook cannot.
                ConfigEdit::JsonDefault {
                    file: base.join(".gemini/settings.json"),
                    path: &["security", "disableYoloMode"],
                    value: json!(true),
                },
                own_file(folder.join("gemini-extension.json"), with_program(GEMINI_EXTENSION, setup)),
                own_file(folder.join("GEMINI.md"), GEMINI_CONTEXT.to_owned()),
                own_file(hooks, text),
            ]
        }
        (ClientName::Goose, _) => {
            let text = with_program(GOOSE_EXTENSION, setup);
            let entry = YamlEntry { section: "extensions", name: "planwright", text };
            let folder = base.join(".agents/plugins/planwright");
            let hooks = folder.join("hooks/hooks.json");
            let text = goose_hooks(setup, &hooks);
            vec![
                ConfigEdit::YamlEntry { file: goose_file(&base), entry },
                own_file(folder.join("plugin.json"), GOOSE_PLUGIN.to_owned()),
                own_file(hooks, text),
            ]
        }
        (ClientName::Cursor, _) => cursor(setup, base.join(".cursor")),
        (ClientName::Vscode, _) => {
            let mut value = setup.server();
            value["type"] = json!("stdio");
            let hooks = base.join(".github/hooks/planwright.json");
            let text = vscode_hooks(setup, &hooks);
            vec![field(base.join(".vscode/mcp.json"), &["servers", "planwright"], value), own_file(hooks, text)]
        }
        (ClientName::Zed, _) => {
            let mut value = setup.server();
            value["env"] = json!({});
            vec![field(config_folder(&base).join("zed/settings.json"), &["context_servers", "planwright"], value)]
        }
    })
}

pub(super) fn config_folder(home: &Path) -> PathBuf {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| home.join(".config"))
}

/// The text of a pack, which starts the server as `planwright` with `["mcp"]` or `[mcp]`.
fn with_program(text: &str, setup: &Setup) -> String {
    let list = json!(setup.arguments()).to_string();
    let program = json!(setup.program).to_string();
    let text = ["[\"mcp\"]", "[mcp]"].iter().fold(text.to_owned(), |text, bare| text.replace(bare, &list));
    let named = [
        ("\"command\": \"planwright\"", format!("\"command\": {program}")),
        ("command = \"planwright\"", format!("command = {program}")),
        ("cmd: planwright", format!("cmd: {program}")),
    ];
    named.iter().fold(text, |text, (bare, whole)| text.replace(bare, whole))
}

fn field(file: PathBuf, path: &'static [&'static str], value: Value) -> ConfigEdit {
    ConfigEdit::JsonField { file, path, value }
}

fn hook(file: &Path, path: &'static [&'static str], event: HookEvent, value: Value) -> ConfigEdit {
    ConfigEdit::JsonHook { file: file.to_owned(), path, value, event, beside: None }
}

/// Before every call. Versions of Claude Code from before `onFailure` read over it.
fn claude_code(setup: &Setup, servers: PathBuf, settings: PathBuf) -> Vec<ConfigEdit> {
    let client = ClientName::ClaudeCode;
    let before = json!({ "matcher": "*", "hooks": [{
        "type": "command",
        "command": setup.closing_hook_line(client, "hooks.PreToolUse", &settings),
        "timeout": CLIENT_SECONDS,
        "onFailure": "block",
    }] });
    let mut edits = vec![
        field(servers, &["mcpServers", "planwright"], setup.server()),
        hook(&settings, &["hooks", "PreToolUse"], HookEvent::PreToolUse, before),
        hook(
            &settings,
            &["hooks", "SessionStart"],
            HookEvent::SessionStart,
            plain(setup, client, HookEvent::SessionStart),
        ),
        hook(
            &settings,
            &["hooks", "PostToolUse"],
            HookEvent::PostToolUse,
            plain(setup, client, HookEvent::PostToolUse),
        ),
        hook(
            &settings,
            &["hooks", "PostToolUseFailure"],
            HookEvent::PostToolUse,
            plain(setup, client, HookEvent::PostToolUse),
        ),
        hook(&settings, &["hooks", "Stop"], HookEvent::Stop, plain(setup, client, HookEvent::Stop)),
    ];
    if setup.native_plans {
        // Some versions pass over what the first one denies, and the second one answers the client's own question.
        for (path, entry) in [
            (&["hooks", "PreToolUse"], "hooks.PreToolUse"),
            (&["hooks", "PermissionRequest"], "hooks.PermissionRequest"),
        ] {
            let value = json!({ "matcher": "ExitPlanMode", "hooks": [{
                "type": "command",
                "command": setup.native_plan_line(client, entry, &settings),
                "timeout": CLIENT_PLAN_SECONDS,
                "statusMessage": PLAN_WAITS,
                "onFailure": "block",
            }] });
            edits.push(hook(&settings, path, HookEvent::NativePlan, value));
        }
    }
    let denied = |rule: &str| ConfigEdit::JsonElement {
        file: settings.clone(),
        path: &["permissions", "deny"],
        value: json!(rule),
    };
    edits.extend(DENIED.map(denied));
    edits
}

/// A hook that denies nothing, of the form that Claude Code, Codex and goose share.
fn plain(setup: &Setup, client: ClientName, event: HookEvent) -> Value {
    let command = setup.hook_line(client, event);
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": CLIENT_SECONDS }] })
}

fn codex(setup: &Setup, folder: PathBuf) -> Vec<ConfigEdit> {
    let client = ClientName::Codex;
    let hooks = folder.join("hooks.json");
    let before = json!({ "hooks": [{
        "type": "command",
        "command": setup.closing_hook_line(client, "hooks.PreToolUse", &hooks),
        "timeout": CLIENT_SECONDS,
    }] });
    let mut edits = vec![
        ConfigEdit::TomlTable {
            file: folder.join("config.toml"),
            path: &["mcp_servers", "planwright"],
            text: with_program(CODEX_TABLE, setup),
        },
        hook(&hooks, &["hooks", "PreToolUse"], HookEvent::PreToolUse, before),
        hook(
            &hooks,
            &["hooks", "SessionStart"],
            HookEvent::SessionStart,
            plain(setup, client, HookEvent::SessionStart),
        ),
        hook(&hooks, &["hooks", "PostToolUse"], HookEvent::PostToolUse, plain(setup, client, HookEvent::PostToolUse)),
        hook(&hooks, &["hooks", "Stop"], HookEvent::Stop, plain(setup, client, HookEvent::Stop)),
        ConfigEdit::OwnFile { file: folder.join("rules/planwright.rules"), text: CODEX_RULES.to_owned() },
        // Its sandbox and its own question hold edits back where the hook cannot.
        ConfigEdit::TomlDefault { file: folder.join("config.toml"), key: "approval_policy", value: "on-request" },
    ];
    if setup.native_plans {
        // Its plan is the last message of a turn. A hook there that failed with a denial would send the agent back without end.
        let value = json!({ "hooks": [{
            "type": "command",
            "command": setup.hook_line(client, HookEvent::NativePlan),
            "timeout": CLIENT_PLAN_SECONDS,
            "statusMessage": PLAN_WAITS,
        }] });
        edits.push(hook(&hooks, &["hooks", "Stop"], HookEvent::NativePlan, value));
    }
    edits
}

/// Its time is in milliseconds.
fn gemini_hooks(setup: &Setup, file: &Path) -> String {
    let client = ClientName::Gemini;
    let hook = |command: String| json!({ "hooks": [{ "type": "command", "command": command, "timeout": CLIENT_SECONDS * 1000 }] });
    let mut before = vec![hook(setup.closing_hook_line(client, "hooks.BeforeTool", file))];
    if setup.native_plans {
        before.push(json!({ "matcher": "exit_plan_mode", "hooks": [{
            "type": "command",
            "command": setup.native_plan_line(client, "hooks.BeforeTool", file),
            "timeout": CLIENT_PLAN_SECONDS * 1000,
        }] }));
    }
    pretty(&json!({ "hooks": {
        "BeforeTool": before,
        "SessionStart": [hook(setup.hook_line(client, HookEvent::SessionStart))],
        "AfterTool": [hook(setup.hook_line(client, HookEvent::PostToolUse))],
        "AfterAgent": [hook(setup.hook_line(client, HookEvent::Stop))],
    } }))
}

/// It takes no text for the agent at the start of a conversation, and tells no result of a call, only that it failed.
fn goose_hooks(setup: &Setup, file: &Path) -> String {
    let client = ClientName::Goose;
    let before = json!({ "hooks": [{
        "type": "command",
        "command": setup.closing_hook_line(client, "hooks.PreToolUse", file),
        "timeout": CLIENT_SECONDS,
        "on_failure": "block",
    }] });
    pretty(&json!({ "hooks": {
        "PreToolUse": [before],
        "PostToolUseFailure": [plain(setup, client, HookEvent::PostToolUse)],
        "Stop": [plain(setup, client, HookEvent::Stop)],
    } }))
}

fn vscode_hooks(setup: &Setup, file: &Path) -> String {
    let client = ClientName::Vscode;
    let hook = |command: String, seconds: u64| json!({ "type": "command", "command": command, "timeout": seconds });
    let mut before = vec![hook(setup.closing_hook_line(client, "hooks.PreToolUse", file), CLIENT_SECONDS)];
    if setup.native_plans {
        // VS Code calls each hook before every tool; this one says nothing about the others.
        let line = setup.native_plan_line(client, "hooks.PreToolUse", file);
        before.push(hook(line, CLIENT_PLAN_SECONDS));
    }
    // Copilot CLI reads the same file and asks for the version.
    pretty(&json!({ "version": 1, "hooks": {
        "PreToolUse": before,
        "SessionStart": [hook(setup.hook_line(client, HookEvent::SessionStart), CLIENT_SECONDS)],
        "PostToolUse": [hook(setup.hook_line(client, HookEvent::PostToolUse), CLIENT_SECONDS)],
        "Stop": [hook(setup.hook_line(client, HookEvent::Stop), CLIENT_SECONDS)],
    } }))
}

fn cursor(setup: &Setup, folder: PathBuf) -> Vec<ConfigEdit> {
    let client = ClientName::Cursor;
    let file = folder.join("hooks.json");
    let before = json!({
        "command": setup.closing_hook_line(client, "hooks.preToolUse", &file),
        "timeout": CLIENT_SECONDS,
        "failClosed": true,
    });
    let plain = |event| json!({ "command": setup.hook_line(client, event), "timeout": CLIENT_SECONDS });
    let mut stop = plain(HookEvent::Stop);
    stop["loop_limit"] = json!(1);
    let hook = |path, event, value| ConfigEdit::JsonHook {
        file: file.clone(),
        path,
        value,
        event,
        beside: Some(("version", json!(1))),
    };
    vec![
        field(folder.join("mcp.json"), &["mcpServers", "planwright"], setup.server()),
        hook(&["hooks", "preToolUse"], HookEvent::PreToolUse, before),
        hook(&["hooks", "sessionStart"], HookEvent::SessionStart, plain(HookEvent::SessionStart)),
        hook(&["hooks", "postToolUse"], HookEvent::PostToolUse, plain(HookEvent::PostToolUse)),
        hook(&["hooks", "postToolUseFailure"], HookEvent::PostToolUse, plain(HookEvent::PostToolUse)),
        hook(&["hooks", "stop"], HookEvent::Stop, stop),
    ]
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn opencode(setup: &Setup, settings: PathBuf, plugin: PathBuf) -> Vec<ConfigEdit> {
    let command: Vec<&str> = std::iter::once(setup.program.as_str()).chain(setup.arguments()).collect();
    let server = json!({ "type": "local", "command": command, "enabled": true });
    let rules = [
        (&["permission", "bash", "planwright plan approve*"][..], "deny"),
        (&["permission", "bash", "planwright plan reject*"][..], "deny"),
        (&["permission", "bash", "planwright plan resume*"][..], "deny"),
    ];
    let text = OPENCODE_PLUGIN
        .replace("const PROGRAM = \"planwright\";", &format!("const PROGRAM = {};", json!(setup.program)))
        .replace("const OPTIONS = [];", &format!("const OPTIONS = {};", json!(setup.options)));
    let mut edits = vec![field(settings.clone(), &["mcp", "planwright"], server)];
    edits.extend(rules.map(|(path, decision)| field(settings.clone(), path, json!(decision))));
    edits.push(ConfigEdit::OwnFile { file: plugin, text });
    edits
}

#[cfg(test)]
mod tests;
