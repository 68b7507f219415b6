//! Which tools of a client pass before a plan is approved.

use std::path::Path;

use planwright_core::gate::{AutoTool, MemoryTool, PlanTool, WorkbookTool};
use planwright_core::permission::only_reads;
use serde_json::Value;

/// Tools that only read, or keep the agent's own list of what to do, in lower case and without `_` and `-`. What a
/// sub-agent calls passes this hook, too.
const READERS: [&str; 35] = [
    "agent",
    "askuserquestion",
    "bashoutput",
    "codesearch",
    "enterplanmode",
    "exitplanmode",
    "findfiles",
    "glob",
    "googlewebsearch",
    "grep",
    "list",
    "listdirectory",
    "listmcpresourcestool",
    "ls",
    "lsp",
    "notebookread",
    "question",
    "read",
    "readfile",
    "readmanyfiles",
    "readmcpresourcetool",
    "searchfilecontent",
    "task",
    "taskcreate",
    "taskget",
    "tasklist",
    "taskoutput",
    "taskupdate",
    "todoread",
    "todowrite",
    "toolsearch",
    "updatetodos",
    "webfetch",
    "websearch",
    "writetodos",
];
/// Tools that run a shell line.
const SHELLS: [&str; 4] = ["bash", "shell", "runshellcommand", "runcommand"];

fn plain(tool: &str) -> String {
    tool.chars().filter(|c| matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9')).flat_map(char::to_lowercase).collect()
}

pub(super) fn is_reader(tool: &str, input: &Value) -> bool {
    // A name with `__` belongs to a server, whatever its other letters are.
    let is_own = !tool.contains("__") && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    // A sub-agent in a work tree of its own begins with making that.
    let is_isolated = input.get("isolation").is_some_and(|kind| !kind.is_null());
    is_own && READERS.contains(&plain(tool).as_str()) && !is_isolated
}

pub(super) fn is_shell(tool: &str) -> bool {
    !tool.contains("__") && SHELLS.contains(&plain(tool).as_str())
}

/// Whether the shell line of a call certainly only reads. git runs what the configuration of its repository names, so it
/// passes only in the repository of the project.
pub(super) fn is_reading_line(input: &Value, project: &Path, folder: &Path) -> bool {
    let Some(line) = input.get("command").and_then(Value::as_str) else { return false };
    // Some clients let a call name a folder of its own.
    let named = ["workdir", "cwd", "dir_path", "directory"].iter().find_map(|field| input.get(field)?.as_str());
    let folder = named.map_or_else(|| folder.to_owned(), |named| folder.join(named));
    only_reads(line).is_some_and(|reading| !reading.uses_git || is_in_repository(project, &folder))
}

/// Whether git in this folder works on the repository that the project is in.
fn is_in_repository(project: &Path, folder: &Path) -> bool {
    let (Ok(project), Ok(folder)) = (project.canonicalize(), folder.canonicalize()) else { return false };
    let Some(root) = project.ancestors().find(|folder| folder.join(".git").exists()) else { return false };
    // git also takes a folder that looks like a repository itself.
    let is_bare = |folder: &Path| ["HEAD", "objects", "refs"].iter().all(|name| folder.join(name).exists());
    let found = folder.ancestors().find(|folder| folder.join(".git").exists() || is_bare(folder));
    found == Some(root) && !is_bare(root)
}

/// The tool of Planwright's server that a client's name of a tool means. Clients put the server's name before it:
/// `mcp__planwright__plan_get`, `planwright_plan_get`.
pub(super) fn tool_of_server<'a>(tool: &'a str, server: &str) -> Option<&'a str> {
    let plain: String = server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let after = |text: &'a str, end: &str| text.strip_prefix(plain.as_str())?.strip_prefix(end);
    tool.strip_prefix("mcp__").and_then(|rest| after(rest, "__")).or_else(|| after(tool, "_"))
}

/// Whether Planwright's own server has the tool. Its own gate decides about it.
pub(super) fn is_own_tool(name: &str) -> bool {
    PlanTool::named(name).is_some()
        || WorkbookTool::named(name).is_some()
        || MemoryTool::named(name).is_some()
        || AutoTool::named(name).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn readers_pass_and_every_other_tool_waits() {
        for tool in ["Read", "read_file", "Grep", "list_directory", "Agent", "Task", "TaskCreate", "TodoWrite"] {
            assert!(is_reader(tool, &json!({})), "{tool}");
        }
        for tool in
            ["Edit", "Write", "Bash", "apply_patch", "mcp__github__push", "", "mcp__read", "__read", "réad", "Skill"]
        {
            assert!(!is_reader(tool, &json!({})), "{tool}");
        }
        assert!(!is_reader("Agent", &json!({ "prompt": "look", "isolation": "worktree" })));
    }

    #[test]
    fn a_tool_of_the_server_is_known_by_the_whole_name() {
        for (tool, expected) in [
            ("mcp__planwright__plan_get", Some("plan_get")),
            ("planwright_plan_get", Some("plan_get")),
            ("mcp__planwright__github__push", Some("github__push")),
            ("mcp__planwright-evil__plan_get", None),
            ("mcp__planwrightevil__plan_get", None),
            ("mcp__other__plan_get", None),
            ("plan_get", None),
        ] {
            assert_eq!(tool_of_server(tool, "planwright"), expected, "{tool}");
        }
        assert_eq!(tool_of_server("mcp__my_plans__plan_get", "my plans"), Some("plan_get"));
        assert!(is_own_tool("plan_get") && !is_own_tool("run_anything") && !is_own_tool("github__push"));
    }

    #[test]
    fn git_is_let_through_in_the_repository_of_the_project_only() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        for folder in [
            "project/.git",
            "project/src",
            "project/nested/.git",
            "project/bare/objects",
            "project/bare/refs",
            "other/.git",
        ] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        std::fs::write(project.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        let status = json!({ "command": "git status" });
        for (folder, passes) in [
            ("project", true),
            ("project/src", true),
            ("project/nested", false),
            ("project/bare", false),
            ("other", false),
            ("", false),
            ("missing", false),
        ] {
            assert_eq!(is_reading_line(&status, &project, &root.path().join(folder)), passes, "{folder}");
            let reads = is_reading_line(&json!({ "command": "ls" }), &project, &root.path().join(folder));
            assert!(reads, "{folder}");
        }
    }
}
