use yaml_rust2::YamlLoader;

use super::*;
use crate::commands::install::to_json;

/// The program from the PATH, and no store.
fn for_people() -> Setup {
    Setup { program: "planwright".to_owned(), options: Vec::new(), native_plans: true }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The file of hooks that these edits make of an empty one.
fn hooks(edits: &[ConfigEdit]) -> Value {
    let mut root = json!({ "hooks": {} });
    for edit in edits {
        if let ConfigEdit::JsonHook { path, value, beside, .. } = edit {
            let list = root["hooks"][path[1]].as_array().cloned().unwrap_or_default();
            root["hooks"][path[1]] = json!([list, vec![value.clone()]].concat());
            if let Some((name, value)) = beside {
                root[*name] = value.clone();
            }
        }
    }
    root
}

/// What is in `clients/` for people who copy it.
#[test]
fn the_texts_for_people_are_what_is_installed() {
    let setup = for_people();
    let claude = claude_code(&setup, ".mcp.json".into(), ".claude/settings.json".into());
    let text = include_str!("../../../../../../clients/claude-code/settings.json");
    assert_eq!(parsed(text)["hooks"], hooks(&claude)["hooks"]);
    assert_eq!(parsed(text)["permissions"]["deny"], json!(DENIED));
    let text = include_str!("../../../../../../clients/codex/hooks.json");
    assert_eq!(parsed(text), hooks(&codex(&setup, "~/.codex".into())));
    let text = include_str!("../../../../../../clients/cursor/hooks.json");
    assert_eq!(parsed(text), hooks(&cursor(&setup, ".cursor".into())));
    for (text, made) in [
        (
            include_str!("../../../../../../clients/gemini/hooks/hooks.json"),
            gemini_hooks(&setup, Path::new("~/.gemini/extensions/planwright/hooks/hooks.json")),
        ),
        (
            include_str!("../../../../../../clients/goose/hooks/hooks.json"),
            goose_hooks(&setup, Path::new("~/.agents/plugins/planwright/hooks/hooks.json")),
        ),
        (
            include_str!("../../../../../../clients/vscode/hooks.json"),
            vscode_hooks(&setup, Path::new(".github/hooks/planwright.json")),
        ),
    ] {
        assert_eq!(parsed(text), parsed(&made));
    }
    for text in [CODEX_TABLE, GEMINI_EXTENSION] {
        assert_eq!(with_program(text, &setup), text);
    }
}

/// Claude Code and VS Code read a marketplace in the root of the repository, which names the folder of the plugin.
#[test]
fn the_plugins_of_the_marketplaces_are_what_is_installed() {
    let setup = for_people();
    for (marketplace, folder, manifest, servers) in [
        (
            include_str!("../../../../../../.claude-plugin/marketplace.json"),
            "./clients/claude-code/plugin",
            include_str!("../../../../../../clients/claude-code/plugin/.claude-plugin/plugin.json"),
            include_str!("../../../../../../clients/claude-code/plugin/.mcp.json"),
        ),
        (
            include_str!("../../../../../../.github/plugin/marketplace.json"),
            "./clients/vscode/plugin",
            include_str!("../../../../../../clients/vscode/plugin/plugin.json"),
            include_str!("../../../../../../clients/vscode/plugin/.mcp.json"),
        ),
    ] {
        let (entry, manifest) = (parsed(marketplace)["plugins"][0].clone(), parsed(manifest));
        assert_eq!(entry["source"], folder);
        for field in ["name", "description", "license"] {
            assert_eq!(entry[field], manifest[field], "{folder}: {field}");
        }
        for field in ["version", "description"] {
            assert_eq!(manifest[field], parsed(GOOSE_PLUGIN)[field], "{folder}: {field}");
        }
        // The name of the plugin is a part of the names of its tools: see `tool_of_server`.
        assert_eq!(manifest["name"], "planwright");
        assert_eq!(parsed(servers), json!({ "mcpServers": { "planwright": setup.server() } }));
    }
    let place = "the plugin (claude plugin uninstall planwright)";
    let claude = claude_code(&setup, ".mcp.json".into(), place.into());
    let text = include_str!("../../../../../../clients/claude-code/plugin/hooks/hooks.json");
    assert_eq!(parsed(text), hooks(&claude));
    let place = "the plugin (Agent Plugins in the Extensions view)";
    let text = include_str!("../../../../../../clients/vscode/plugin/hooks.json");
    assert_eq!(parsed(text), parsed(&vscode_hooks(&setup, Path::new(place))));
}

/// Gemini CLI takes the whole repository as the extension.
#[test]
fn the_extension_in_the_root_is_what_is_installed() {
    let mut extension = parsed(include_str!("../../../../../../gemini-extension.json"));
    assert_eq!(extension["contextFileName"], "clients/gemini/GEMINI.md");
    extension["contextFileName"] = json!("GEMINI.md");
    assert_eq!(extension, parsed(GEMINI_EXTENSION));
    let hooks = include_str!("../../../../../../hooks/hooks.json");
    assert_eq!(hooks, include_str!("../../../../../../clients/gemini/hooks/hooks.json"));
}

#[test]
fn the_recipe_of_goose_starts_the_server_that_is_installed() {
    let yaml = |text: &str| to_json(&YamlLoader::load_from_str(text).unwrap()[0]);
    let recipe = yaml(include_str!("../../../../../../.goose/recipes/planwright.yaml"));
    let mut server = yaml(GOOSE_EXTENSION)["extensions"]["planwright"].clone();
    server.as_object_mut().unwrap().remove("enabled");
    assert_eq!(recipe["extensions"][1], server);
    assert_eq!(recipe["instructions"], GEMINI_CONTEXT);
}

#[test]
fn the_program_and_the_store_are_in_every_text() {
    let setup = Setup {
        program: "/opt/with space/planwright".to_owned(),
        options: vec!["--data".to_owned(), "/data/one".to_owned()],
        native_plans: true,
    };
    for client in ClientName::ALL {
        for scope in scopes(client) {
            let edits = edits(client, *scope, &setup).unwrap();
            let text: String = edits.iter().map(|edit| edit.make("").unwrap()).collect();
            assert!(text.contains("/opt/with space/planwright"), "{client:?}: {text}");
            assert!(text.contains("/data/one"), "{client:?}: {text}");
            let rest = text.replace("/opt/with space/planwright", "");
            for bare in
                ["\"command\": \"planwright\"", "command = \"planwright\"", "cmd: planwright", "\"planwright hook"]
            {
                assert!(!rest.contains(bare), "{client:?}: {bare}");
            }
        }
    }
}
