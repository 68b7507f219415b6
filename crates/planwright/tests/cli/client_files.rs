//! `planwright install` and `uninstall` leave the files of clients as they were, byte for byte, and write all of them or none.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{Ran, World, ran};

const COMPACT: &str = "{\"theme\":\"dark\",\"n\":1.0,\"big\":12345678901234567890123}";
const ODD: &str =
    "{\r\n\t\"a\": 1,\r\n\t\"a\": 2,\r\n\t\"path\": \"C:\\u005cx\",\r\n\t\"list\": [1,2,  3],\r\n\t\"hooks\": {}\r\n}";
const COMMENTED: &str = "// mine\n{\n    /* why */ \"editor\": { \"size\": 12, }, // last\n}\n";

fn in_project(world: &World, line: &str) -> Ran {
    let project = world.path("project");
    std::fs::create_dir_all(&project).unwrap();
    let mut command = world.command();
    command.current_dir(&project).env("HOME", world.path("home")).args(line.split_whitespace());
    ran(&mut command)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn write(world: &World, file: &str, text: &str) -> std::path::PathBuf {
    let path = world.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_file_is_byte_for_byte_what_it_was() {
    for text in [
        COMPACT,
        ODD,
        COMMENTED,
        "{}",
        "{}\n",
        "",
        "{ \"mcpServers\": {}, \"mcp\": {}, \"permission\": {}, \"context_servers\": {} }",
    ] {
        for (client, scope, file) in [
            ("claude-code", "project", "project/.claude/settings.json"),
            ("claude-code", "project", "project/.mcp.json"),
            ("opencode", "project", "project/opencode.json"),
            ("cursor", "project", "project/.cursor/mcp.json"),
            ("zed", "user", "home/.config/zed/settings.json"),
        ] {
            let world = World::new();
            let path = write(&world, file, text);
            in_project(&world, &format!("install {client} --scope {scope} --yes")).done();
            for kept in ["12345678901234567890123", "C:\\u005cx", "[1,2,  3]", "/* why */", "// mine", "1.0"] {
                assert_eq!(read(&path).contains(kept), text.contains(kept), "{client}: {kept}: {}", read(&path));
            }
            in_project(&world, &format!("uninstall {client} --scope {scope} --yes")).done();
            assert_eq!(read(&path), text, "{client}: {file}");
        }
    }
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let world = World::new();
    let path =
        write(&world, "project/.mcp.json", "{\n  \"mcpServers\": {\n    \"one\": { \"command\": \"x\" }\n  }\n}\n");
    in_project(&world, "install claude-code --yes").done();
    std::fs::write(&path, read(&path).replace("\"x\"", "\"y\"")).unwrap();
    in_project(&world, "uninstall claude-code --yes").done();
    assert_eq!(read(&path), "{\n  \"mcpServers\": {\n    \"one\": { \"command\": \"y\" }\n  }\n}\n");
    assert!(!world.path("project/.claude").exists(), "what was made is gone");

    // Without the note of what was written, the entries are still taken out.
    in_project(&world, "install claude-code --yes").done();
    std::fs::remove_file(world.path("clients.json")).unwrap();
    in_project(&world, "uninstall claude-code --yes").done();
    assert!(!read(&path).contains("planwright") && read(&path).contains("\"y\""), "{}", read(&path));
}

#[test]
fn an_entry_of_the_person_is_neither_overwritten_nor_removed() {
    let world = World::new();
    let own = "{\"mcpServers\":{\"planwright\":{\"command\":\"my-planner\"}}}";
    let path = write(&world, "project/.mcp.json", own);
    in_project(&world, "install claude-code --yes").exits(2).complains("something else");
    assert_eq!(read(&path), own);
    assert!(!world.path("project/.claude").exists(), "all or nothing");
    in_project(&world, "doctor").says("mcpServers.planwright is something else");
    in_project(&world, "uninstall claude-code --yes").exits(4);
    assert_eq!(read(&path), own);

    // Our server with other words of the person stays, too, and is given its hooks.
    let adapted =
        "{\"mcpServers\":{\"planwright\":{\"command\":\"planwright\",\"args\":[\"mcp\",\"--session\",\"own-plan\"]}}}";
    std::fs::write(&path, adapted).unwrap();
    in_project(&world, "install claude-code --yes").done();
    assert!(world.path("project/.claude/settings.json").exists());
    in_project(&world, "uninstall claude-code --yes").done().says("stays");
    assert_eq!(read(&path), adapted);
    assert!(!world.path("project/.claude/settings.json").exists());
}

#[test]
fn links_are_followed_and_modes_are_kept() {
    let world = World::new();
    let real = write(&world, "dotfiles/settings.json", COMPACT);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::create_dir_all(world.path("project/.claude")).unwrap();
    let link = world.path("project/.claude/settings.json");
    symlink("../../dotfiles/settings.json", &link).unwrap();
    let mode = || std::fs::metadata(&real).unwrap().permissions().mode() & 0o777;
    in_project(&world, "install claude-code --yes").done();
    assert!(read(&real).contains(" hook --client claude-code ") && link.is_symlink());
    assert_eq!(mode(), 0o600);
    in_project(&world, "uninstall claude-code --yes").done();
    assert_eq!((read(&real).as_str(), mode(), link.is_symlink()), (COMPACT, 0o600, true));
}

#[test]
fn all_files_of_a_client_are_written_or_none() {
    let world = World::new();
    // The second file of Claude Code cannot be read as JSON, that of opencode not be made.
    write(&world, "project/.claude/settings.json", "{ \"hooks\": ");
    in_project(&world, "install claude-code --yes").exits(2).complains("not JSON");
    assert!(!world.path("project/.mcp.json").exists());
    write(&world, "project/.opencode", "a file and no folder");
    let settings = write(&world, "project/opencode.json", COMPACT);
    let refused = in_project(&world, "install opencode --yes");
    assert_ne!(refused.code, 0);
    assert_eq!(read(&settings), COMPACT);
}

#[test]
fn opencode_with_one_word_for_every_command_gets_the_rules_and_the_gate() {
    for (permission, expected) in
        [(json!({ "bash": "ask" }), json!("ask")), (json!({ "bash": { "*": "allow", "rm *": "ask" } }), json!("allow"))]
    {
        let world = World::new();
        let text = json!({ "permission": permission }).to_string();
        let path = write(&world, "project/opencode.json", &text);
        in_project(&world, "install opencode --yes").done();
        let written: Value = serde_json::from_str(&read(&path)).unwrap();
        assert_eq!(written["permission"]["bash"]["*"], expected);
        assert_eq!(written["permission"]["bash"]["planwright plan approve*"], "deny");
        assert!(world.path("project/.opencode/plugin/planwright.js").exists());
        in_project(&world, "uninstall opencode --yes").done();
        assert_eq!(read(&path), text);
        assert!(!world.path("project/.opencode").exists());
    }
}

#[test]
fn the_store_that_was_named_is_in_the_servers_entry() {
    for (client, scope, file) in [
        ("claude-code", "project", "project/.mcp.json"),
        ("codex", "user", "home/.codex/config.toml"),
        ("opencode", "project", "project/opencode.json"),
        ("gemini", "user", "home/.gemini/extensions/planwright/gemini-extension.json"),
        ("goose", "user", "home/.config/goose/config.yaml"),
        ("vscode", "project", "project/.vscode/mcp.json"),
        ("zed", "user", "home/.config/zed/settings.json"),
    ] {
        let world = World::new();
        in_project(&world, &format!("install {client} --scope {scope} --data ../own --yes")).done();
        let text = read(&world.path(file));
        assert!(text.contains("--data") && text.contains("/own\""), "{client}: {text}");
        in_project(&world, &format!("uninstall {client} --scope {scope} --data ../own --yes")).done();
        assert!(!world.path(file).exists(), "{client}");
    }
}

#[test]
fn doctor_tells_what_is_turned_off() {
    let world = World::new();
    in_project(&world, "install claude-code --yes").done();
    in_project(&world, "doctor").says("claude-code has Planwright in the configuration of this project");
    let local = write(&world, "project/.claude/settings.local.json", "{ \"disableAllHooks\": true }");
    in_project(&world, "doctor").says("turns the hooks off");
    std::fs::write(&local, "{ \"disabledMcpjsonServers\": [\"planwright\"] }").unwrap();
    in_project(&world, "doctor").says("turns the server off");
    in_project(&world, "install opencode --yes").done();
    let path = world.path("project/opencode.json");
    std::fs::write(&path, read(&path).replace("\"enabled\": true", "\"enabled\": false")).unwrap();
    in_project(&world, "doctor").says("mcp.planwright is turned off");
}
