//! The entries of MCP servers in the files of each client, the nearest scope first, each with the name of its file.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value};
use yaml_rust2::YamlLoader;

use super::server_entries::USUAL_NAME;
use crate::cli::ClientName;
use crate::commands::install::{codex_folder, goose_file, to_json};

type Entries = Map<String, Value>;

pub(super) fn scopes(client: ClientName, project: &Path) -> Vec<(String, Entries)> {
    let home = || dirs::home_dir().unwrap_or_default();
    let of_json = |file: PathBuf| scope(&file, json_file(&file).as_ref(), "mcpServers");
    match client {
        ClientName::ClaudeCode => claude_code(project),
        ClientName::Codex => [project.join(".codex"), codex_folder(home())]
            .iter()
            .map(|folder| folder.join("config.toml"))
            .map(|file| scope(&file, toml_file(&file).as_ref(), "mcp_servers"))
            .collect(),
        ClientName::Gemini => [
            project.join(".gemini/settings.json"),
            home().join(".gemini/settings.json"),
            home().join(".gemini/extensions/planwright/gemini-extension.json"),
        ]
        .into_iter()
        .map(of_json)
        .collect(),
        ClientName::Goose => {
            let file = goose_file(&home());
            vec![scope(&file, yaml_file(&file).as_ref(), "extensions")]
        }
        ClientName::Cursor => {
            [project.join(".cursor/mcp.json"), home().join(".cursor/mcp.json")].into_iter().map(of_json).collect()
        }
        ClientName::Vscode => {
            let file = project.join(".vscode/mcp.json");
            vec![scope(&file, json_file(&file).as_ref(), "servers")]
        }
        // Its plugin tells them; and Zed calls no hooks.
        ClientName::Opencode | ClientName::Zed => Vec::new(),
    }
}

/// The files of Claude Code: of the person in this project, of the project, of the person.
fn claude_code(project: &Path) -> Vec<(String, Entries)> {
    let folder = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(dirs::home_dir);
    let file = folder.unwrap_or_default().join(".claude.json");
    let own = json_file(&file);
    let shared_file = project.join(".mcp.json");
    let shared = json_file(&shared_file);
    let here = own.as_ref().and_then(|own| own.get("projects")?.get(&*project.to_string_lossy()));
    vec![
        scope(&file, here, "mcpServers"),
        scope(&shared_file, shared.as_ref(), "mcpServers"),
        scope(&file, own.as_ref(), "mcpServers"),
    ]
}

fn scope(file: &Path, root: Option<&Value>, field: &str) -> (String, Entries) {
    (file.display().to_string(), entries(root, field))
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
