//! The entries of MCP servers in the files of each client, the nearest scope first.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value};
use yaml_rust2::YamlLoader;

use super::server_entries::USUAL_NAME;
use crate::cli::ClientName;
use crate::commands::install::{codex_folder, goose_file, to_json};

type Entries = Map<String, Value>;

pub(super) fn scopes(client: ClientName, project: &Path) -> Vec<Entries> {
    let home = || dirs::home_dir().unwrap_or_default();
    match client {
        ClientName::ClaudeCode => claude_code(project),
        ClientName::Codex => [project.join(".codex"), codex_folder(home())]
            .iter()
            .map(|folder| entries(toml_file(&folder.join("config.toml")).as_ref(), "mcp_servers"))
            .collect(),
        // An extension counts before the settings only if these do not name the server.
        ClientName::Gemini => [
            project.join(".gemini/settings.json"),
            home().join(".gemini/settings.json"),
            home().join(".gemini/extensions/planwright/gemini-extension.json"),
        ]
        .iter()
        .map(|file| entries(json_file(file).as_ref(), "mcpServers"))
        .collect(),
        ClientName::Goose => vec![entries(yaml_file(&goose_file(&home())).as_ref(), "extensions")],
        ClientName::Cursor => [project.join(".cursor/mcp.json"), home().join(".cursor/mcp.json")]
            .iter()
            .map(|file| entries(json_file(file).as_ref(), "mcpServers"))
            .collect(),
        ClientName::Vscode => vec![entries(json_file(&project.join(".vscode/mcp.json")).as_ref(), "servers")],
        // Its plugin tells them; and Zed calls no hooks.
        ClientName::Opencode | ClientName::Zed => Vec::new(),
    }
}

/// The files of Claude Code: of the person in this project, of the project, of the person.
fn claude_code(project: &Path) -> Vec<Entries> {
    let own = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(dirs::home_dir);
    let own = own.and_then(|folder| json_file(&folder.join(".claude.json")));
    let shared = json_file(&project.join(".mcp.json"));
    let here = own.as_ref().and_then(|own| own.get("projects")?.get(&*project.to_string_lossy()));
    vec![entries(here, "mcpServers"), entries(shared.as_ref(), "mcpServers"), entries(own.as_ref(), "mcpServers")]
}

fn entries(root: Option<&Value>, field: &str) -> Entries {
    root.and_then(|root| root.get(field)?.as_object().cloned()).unwrap_or_default()
}

/// A file that does not name Planwright is not parsed: those of a person may be large.
fn text(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok().filter(|text| text.contains(USUAL_NAME))
}

fn json_file(file: &Path) -> Option<Value> {
    CstRootNode::parse(&text(file)?, &ParseOptions::default()).ok()?.to_serde_value()
}

fn toml_file(file: &Path) -> Option<Value> {
    toml::from_str(&text(file)?).ok()
}

fn yaml_file(file: &Path) -> Option<Value> {
    YamlLoader::load_from_str(&text(file)?).ok()?.first().map(to_json)
}
