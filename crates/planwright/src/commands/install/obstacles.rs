//! Settings of a client that turn the server or its hooks off, in files that `install` does not write.

use std::path::Path;

use serde_json::{Value, json};

use super::{codex_folder, goose_file, json};
use crate::cli::ClientName;

/// Said of a client that lets a call pass when the hook is too late.
const NOTHING_ELSE: &str =
    "nothing but the hook holds edits back then, and this client lets a call pass when the hook is too late";

pub(super) fn obstacles(client: ClientName) -> Vec<String> {
    let (Ok(project), Some(home)) = (std::env::current_dir(), dirs::home_dir()) else { return Vec::new() };
    match client {
        ClientName::ClaudeCode => claude_code(&project, &home),
        ClientName::Codex => codex(&codex_folder(home)),
        ClientName::Gemini => {
            let mut found = Vec::new();
            for file in [project.join(".gemini/settings.json"), home.join(".gemini/settings.json")] {
                if value_at(&file, &["hooksConfig", "enabled"]) == Some(Value::Bool(false)) {
                    found.push(format!("`hooksConfig.enabled` in {} turns the hooks off", file.display()));
                }
                if value_at(&file, &["security", "disableYoloMode"]) == Some(Value::Bool(false)) {
                    found.push(format!("`security.disableYoloMode` is false in {}: {NOTHING_ELSE}", file.display()));
                }
            }
            found
        }
        ClientName::Vscode => {
            let file = project.join(".vscode/settings.json");
            let approves = value_at(&file, &["chat.tools.global.autoApprove"]) == Some(Value::Bool(true));
            let say = || format!("`chat.tools.global.autoApprove` is true in {}: {NOTHING_ELSE}", file.display());
            approves.then(say).into_iter().collect()
        }
        ClientName::Goose => {
            [goose_file(&home).with_file_name("settings.json"), project.join(".config/goose/settings.json")]
                .iter()
                .filter(|file| names(file, &["disabledPlugins"]))
                .map(|file| format!("`disabledPlugins` in {} turns the hooks off", file.display()))
                .collect()
        }
        ClientName::Opencode | ClientName::Cursor | ClientName::Zed => Vec::new(),
    }
}

fn claude_code(project: &Path, home: &Path) -> Vec<String> {
    let files = [
        project.join(".claude/settings.json"),
        project.join(".claude/settings.local.json"),
        home.join(".claude/settings.json"),
        home.join(".claude.json"),
    ];
    let mut found = Vec::new();
    for file in files {
        if value_at(&file, &["disableAllHooks"]) == Some(Value::Bool(true)) {
            found.push(format!("`disableAllHooks` in {} turns the hooks off", file.display()));
        }
        let here = project.to_string_lossy();
        for path in [
            &["disabledMcpjsonServers"][..],
            &["projects", &here, "disabledMcpjsonServers"],
            &["projects", &here, "disabledMcpServers"],
        ] {
            if names(&file, path) {
                found.push(format!("`{}` in {} turns the server off", path[path.len() - 1], file.display()));
            }
        }
    }
    found
}

/// Codex runs a hook only once its person has looked at it and trusts it.
fn codex(folder: &Path) -> Vec<String> {
    let file = folder.join("config.toml");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let root: Value = toml::from_str(&text).unwrap_or_default();
    if root["features"]["hooks"] == Value::Bool(false) {
        return vec![format!("`features.hooks` in {} turns the hooks off", file.display())];
    }
    let mut found = Vec::new();
    for (key, open) in [("sandbox_mode", "danger-full-access"), ("approval_policy", "never")] {
        if root[key] == open {
            found.push(format!("`{key}` is `{open}` in {}: {NOTHING_ELSE}", file.display()));
        }
    }
    let hooks = folder.join("hooks.json");
    let is_there = std::fs::read_to_string(&hooks).is_ok_and(|text| text.contains("planwright"));
    let own = format!("{}:pre_tool_use:", hooks.display());
    let is_trusted = root["hooks"]["state"].as_object().is_some_and(|states| {
        states.iter().any(|(name, state)| name.starts_with(&own) && state["trusted_hash"].is_string())
    });
    if is_there && !is_trusted {
        found.push(
            "its hooks do not run until you trust them in Codex with `/hooks`; until then its own sandbox holds edits back"
                .to_owned(),
        );
    }
    found
}

fn value_at(file: &Path, path: &[&str]) -> Option<Value> {
    json::value_at(&std::fs::read_to_string(file).ok()?, path).ok().flatten()
}

/// Whether a list of names has ours.
fn names(file: &Path, path: &[&str]) -> bool {
    value_at(file, path).as_ref().and_then(Value::as_array).is_some_and(|names| names.contains(&json!("planwright")))
}
