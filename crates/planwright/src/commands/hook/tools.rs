//! What the tools of clients do, and which of them pass before a plan is approved.

use std::path::{Path, PathBuf};

use planwright_agent::Gateway;
use planwright_core::gate::{AutoTool, MemoryTool, PlanTool, WorkbookTool};
use planwright_core::permission::{has_other_quotes, only_reads};
use serde_json::Value;

use super::wire::ToolRequest;
use crate::cli::ClientName;

/// What a tool of a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Reads,
    /// It keeps the agent's own list of what to do, asks the person, or changes how the client shows the conversation.
    Notes,
    /// It reads from the network.
    Network,
    /// It starts or leads another agent, whose calls come to the hook as well, except in goose.
    Agents,
    /// It gives the agent instructions that lie in a folder of skills. In Claude Code these may run commands as they are loaded.
    Skills,
    /// It runs a command in a shell.
    Commands,
    ChangesFiles,
    /// It belongs to an MCP server or an extension.
    Server,
    /// A tool that is not known counts as one that changes things.
    Unknown,
}

/// The tools of Claude Code, Codex, opencode, Gemini CLI, goose, Cursor and VS Code, in lower case and without `_` and `-`.
const KINDS: [(ToolKind, &[&str]); 7] = [
    (
        ToolKind::Reads,
        &[
            "analyze",
            "bashoutput",
            "codesearch",
            "fetchrules",
            "filesearch",
            "findfiles",
            "findtestfiles",
            "geterrors",
            "getchangedfiles",
            "getinternaldocs",
            "getterminaloutput",
            "glob",
            "globfilesearch",
            "grep",
            "grepfiles",
            "grepsearch",
            "list",
            "listbackgroundprocesses",
            "listcodeusages",
            "listdir",
            "listdirectory",
            "listmcpresources",
            "listmcpresourcestool",
            "listmcpresourcetemplates",
            "load",
            "ls",
            "lsp",
            "notebookread",
            "read",
            "readbackgroundoutput",
            "readfile",
            "readimage",
            "readlints",
            "readmanyfiles",
            "readmcpresource",
            "readmcpresourcedirtool",
            "readmcpresourcetool",
            "searchcodebase",
            "searchfilecontent",
            "semanticsearch",
            "terminallastcommand",
            "toolsearch",
            "tree",
            "viewimage",
        ],
    ),
    (
        ToolKind::Notes,
        &[
            "askuser",
            "askuserquestion",
            "completetask",
            "creategoal",
            "createplan",
            "enterplanmode",
            "exitplanmode",
            "getgoal",
            "managetodolist",
            "question",
            "reportfindings",
            "requestuserinput",
            "structuredoutput",
            "taskcreate",
            "taskget",
            "tasklist",
            "taskoutput",
            "taskupdate",
            "todoread",
            "todowrite",
            "trackeradddependency",
            "trackercreatetask",
            "trackergettask",
            "trackerlisttasks",
            "trackerupdatetask",
            "trackervisualize",
            "updategoal",
            "updateplan",
            "updatetodos",
            "updatetopic",
            "writetodos",
        ],
    ),
    (ToolKind::Network, &["fetch", "fetchwebpage", "googlewebsearch", "webfetch", "websearch"]),
    (
        ToolKind::Agents,
        &[
            "agent",
            "closeagent",
            // Codex puts the name of a group before that of the tool.
            "collaborationfollowuptask",
            "collaborationinterruptagent",
            "collaborationlistagents",
            "collaborationsendmessage",
            "collaborationspawnagent",
            "collaborationwaitagent",
            "delegate",
            "followuptask",
            "interruptagent",
            "invokeagent",
            "listagents",
            "resumeagent",
            "runsubagent",
            "sendinput",
            "sendmessage",
            "spawnagent",
            "task",
            "waitagent",
        ],
    ),
    (ToolKind::Skills, &["activateskill", "loadskill", "skill"]),
    (
        ToolKind::Commands,
        &[
            "bash",
            "execcommand",
            "localshell",
            "monitor",
            "powershell",
            "runcommand",
            "runinterminal",
            "runshellcommand",
            "runterminalcmd",
            "shell",
            "shellcommand",
            "writestdin",
        ],
    ),
    (
        ToolKind::ChangesFiles,
        &[
            "applypatch",
            "create",
            "createdirectory",
            "createfile",
            "delete",
            "deletefile",
            "edit",
            "editfile",
            "editfiles",
            "editnotebook",
            "editnotebookfile",
            "inserteditintofile",
            "multiedit",
            "multireplacestringinfile",
            "notebookedit",
            "patch",
            "replace",
            "replacestringinfile",
            "searchreplace",
            "strreplace",
            "write",
            "writefile",
        ],
    ),
];

/// A name with `__` or `:` belongs to a server, whatever its other letters are.
pub(super) fn kind(tool: &str) -> ToolKind {
    if tool.contains("__") || tool.contains(':') || tool.starts_with("mcp_") {
        return ToolKind::Server;
    }
    let is_plain = tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let name = table_name(tool);
    let found = KINDS.iter().find(|(_, names)| is_plain && names.contains(&name.as_str()));
    found.map_or(ToolKind::Unknown, |(kind, _)| *kind)
}

/// The name as it stands in the table.
fn table_name(tool: &str) -> String {
    tool.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_lowercase).collect()
}

/// Whether the client spells its own tools like that. opencode calls a tool of a server `server_tool`, so a name of its own has
/// letters only, as one of Claude Code has; the other clients mark those of servers otherwise.
fn is_spelled_as_own(client: ClientName, tool: &str) -> bool {
    match client {
        ClientName::Opencode => tool.chars().all(|c| c.is_ascii_lowercase()),
        ClientName::ClaudeCode => tool.chars().all(|c| c.is_ascii_alphabetic()),
        ClientName::Codex | ClientName::Gemini | ClientName::Goose | ClientName::Cursor | ClientName::Vscode => {
            tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }
        ClientName::Zed => false,
    }
}

/// Whether the tool changes nothing by itself.
pub(super) fn is_reader(client: ClientName, tool: &str, input: &Value) -> bool {
    if !is_spelled_as_own(client, tool) {
        return false;
    }
    match kind(tool) {
        ToolKind::Reads | ToolKind::Notes | ToolKind::Network => true,
        // goose starts no hooks for the calls of a sub-agent.
        ToolKind::Agents if client == ClientName::Goose => false,
        // A sub-agent in a work tree of its own begins with making that.
        ToolKind::Agents => input.get("isolation").is_none_or(Value::is_null),
        ToolKind::Skills => matches!(client, ClientName::Gemini | ClientName::Goose | ClientName::Opencode),
        ToolKind::Commands | ToolKind::ChangesFiles | ToolKind::Server | ToolKind::Unknown => false,
    }
}

pub(super) fn is_shell(client: ClientName, tool: &str) -> bool {
    is_spelled_as_own(client, tool) && kind(tool) == ToolKind::Commands
}

/// The texts of a call that a shell may be given.
pub(super) fn shell_text(input: &Value) -> String {
    let fields = ["command", "cmd", "script", "chars", "input"];
    let mut lines = Vec::new();
    for field in fields {
        match input.get(field) {
            Some(Value::String(line)) => lines.push(line.clone()),
            Some(Value::Array(words)) => {
                lines.push(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "));
            }
            Some(_) | None => {}
        }
    }
    lines.join("\n")
}

/// Whether a call is a shell line that certainly only reads. git runs what the configuration of its repository names, so it
/// passes only in the repository of the project.
pub(super) fn is_reading_call(client: ClientName, request: &ToolRequest, project: &Path, folder: &Path) -> bool {
    let ToolRequest { tool, input } = request;
    // PowerShell has commands of its own for these names.
    if !is_shell(client, tool) || table_name(tool) == "powershell" {
        return false;
    }
    // Codex's model calls it `cmd`. Text for a program that runs is not a line of a shell.
    let Some(line) = input.get("command").or_else(|| input.get("cmd")).and_then(Value::as_str) else { return false };
    let Some(reading) = only_reads(line) else { return false };
    let is_here = || folders(input, folder).iter().all(|folder| is_in_repository(project, folder));
    let stays = !reading.changes_folder || !keeps_folder(client);
    stays && (!reading.uses_git || is_here())
}

/// Whether the client runs the next line in the same shell, and does not tell in which folder that one is.
const fn keeps_folder(client: ClientName) -> bool {
    match client {
        ClientName::Cursor | ClientName::Vscode => true,
        ClientName::ClaudeCode
        | ClientName::Codex
        | ClientName::Gemini
        | ClientName::Goose
        | ClientName::Opencode
        | ClientName::Zed => false,
    }
}

/// The folders that a command may run in. Some clients let a call name one of its own.
pub(super) fn folders(input: &Value, folder: &Path) -> Vec<PathBuf> {
    let fields = ["workdir", "working_directory", "workingDirectory", "working_dir", "cwd", "dir_path", "directory"];
    let named: Vec<_> = fields.iter().filter_map(|field| Some(folder.join(input.get(field)?.as_str()?))).collect();
    if named.is_empty() { vec![folder.to_owned()] } else { named }
}

/// Whether a command runs where and how an approved plan means it: in the project, not in another one below it, and with what
/// confines the client's commands, and is the same line in every shell.
pub(super) fn runs_as_planned(input: &Value, project: &Path, folder: &Path) -> bool {
    runs_in_project(input, project, folder) && !leaves_sandbox(input) && !has_other_quotes(&shell_text(input))
}

/// Whether a call is made in the project, and not in another one below it.
pub(super) fn runs_in_project(input: &Value, project: &Path, folder: &Path) -> bool {
    folders(input, folder).iter().all(|folder| is_in_project(project, folder))
}

fn is_in_project(project: &Path, folder: &Path) -> bool {
    let (Ok(project), Ok(folder)) = (project.canonicalize(), folder.canonicalize()) else { return false };
    let is_another = |folder: &Path| folder.join(".git").exists() || is_bare(folder);
    let mut between = folder.ancestors().take_while(|around| *around != project.as_path());
    folder.starts_with(&project) && !between.any(is_another)
}

/// Whether the call asks to run without the client's sandbox.
fn leaves_sandbox(input: &Value) -> bool {
    const FIELDS: [&str; 5] = [
        "additional_permissions",
        "dangerouslyDisableSandbox",
        "requestUnsandboxedExecution",
        "with_escalated_permissions",
        "sandbox_permissions",
    ];
    let asks = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.as_str(), "" | "false" | "use_default"),
        Value::Array(entries) => !entries.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) | Value::Object(_) => true,
    };
    FIELDS.iter().any(|field| input.get(field).is_some_and(asks))
}

/// Whether git in this folder works on the repository that the project is in.
fn is_in_repository(project: &Path, folder: &Path) -> bool {
    let (Ok(project), Ok(folder)) = (project.canonicalize(), folder.canonicalize()) else { return false };
    let Some(root) = project.ancestors().find(|folder| folder.join(".git").exists()) else { return false };
    let found = folder.ancestors().find(|folder| folder.join(".git").exists() || is_bare(folder));
    found == Some(root) && !is_bare(root)
}

/// git also takes a folder that looks like a repository itself.
fn is_bare(folder: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| folder.join(name).exists())
}

/// The tool of Planwright's server that a client's name of a tool means. Clients put the server's name before it, with `__` or
/// `_` between them, and some `mcp` before that: `mcp__planwright__plan_get`, `mcp_planwright_plan_get`, `planwright_plan_get`.
/// Claude Code puts the name of Planwright's plugin before that of its server: `mcp__plugin_planwright_planwright__plan_get`.
/// Cursor leaves the server's name out: `MCP:plan_get`.
pub(super) fn tool_of_server<'a>(tool: &'a str, server: &str) -> Option<&'a str> {
    if let Some(name) = tool.strip_prefix("MCP:") {
        return Some(name);
    }
    let plain: String = server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if let Some(named) = tool.strip_prefix("mcp__") {
        let named = named.strip_prefix("plugin_planwright_").unwrap_or(named);
        return named.strip_prefix(plain.as_str())?.strip_prefix("__");
    }
    let name = tool.strip_prefix("mcp_").unwrap_or(tool).strip_prefix(plain.as_str())?;
    name.strip_prefix("__").or_else(|| name.strip_prefix('_'))
}

/// Whether Planwright's own server has the tool. Its own gate decides about it.
pub(super) fn is_own_tool(name: &str) -> bool {
    PlanTool::named(name).is_some()
        || WorkbookTool::named(name).is_some()
        || MemoryTool::named(name).is_some()
        || AutoTool::named(name).is_some()
        || Gateway::is_result_tool(name)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn readers_pass_and_every_other_tool_waits() {
        for tool in
            ["Read", "read_file", "Grep", "list_directory", "Agent", "Task", "TaskCreate", "TodoWrite", "view_image"]
        {
            let client = if tool.contains('_') { ClientName::Codex } else { ClientName::ClaudeCode };
            assert!(is_reader(client, tool, &json!({})), "{tool}");
        }
        for tool in [
            "Edit",
            "Write",
            "Bash",
            "apply_patch",
            "mcp__github__push",
            "",
            "mcp__read",
            "__read",
            "réad",
            "Skill",
            "NotebookEdit",
            "MCP:read",
            "mcp_read",
            "extensionmanager__read",
            "replace_string_in_file",
        ] {
            assert!(!is_reader(ClientName::Codex, tool, &json!({})), "{tool}");
        }
        assert!(!is_reader(ClientName::ClaudeCode, "Agent", &json!({ "prompt": "look", "isolation": "worktree" })));
        assert!(is_reader(ClientName::Codex, "spawn_agent", &json!({ "message": "look" })));
        assert!(!is_reader(ClientName::Goose, "delegate", &json!({ "instructions": "look" })));
    }

    /// Each line has a client, one of the tools that it offers its model, and what becomes of a call before the approval.
    #[test]
    fn every_tool_that_a_client_offers_is_classified() {
        let listed = include_str!("../../../tests/cli/hook_inputs/tools.txt");
        for line in listed.lines().filter(|line| !line.starts_with('#')) {
            let [client, tool, expected] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let client = ClientName::from_str(client, false).unwrap();
            let passes = is_reader(client, tool, &json!({}));
            let found = if passes {
                "passes"
            } else if is_shell(client, tool) {
                "line"
            } else {
                "waits"
            };
            assert_eq!(found, expected, "{line}");
            let unknown = ["Workflow", "ScheduleWakeup"];
            assert!(kind(tool) != ToolKind::Unknown || unknown.contains(&tool), "{line}");
        }
    }

    /// opencode puts one `_` between the names of a server and its tool.
    #[test]
    fn a_tool_of_a_server_is_no_reader_because_it_is_called_like_one_of_another_client() {
        for tool in ["task_update", "todo_write", "web_fetch", "file_search", "list_dir", "R_e_a_d", "read-", "Read"] {
            assert!(!is_reader(ClientName::Opencode, tool, &json!({})), "{tool}");
        }
        for tool in ["exec_command", "run_command", "local_shell"] {
            assert!(!is_shell(ClientName::Opencode, tool), "{tool}");
        }
        for tool in ["read", "todowrite", "webfetch", "task", "grep"] {
            assert!(is_reader(ClientName::Opencode, tool, &json!({})), "{tool}");
        }
        assert!(is_shell(ClientName::Opencode, "bash"));
        assert!(!is_reader(ClientName::ClaudeCode, "todo_write", &json!({})));
        assert!(is_reader(ClientName::Gemini, "web_fetch", &json!({})));
    }

    #[test]
    fn a_name_stands_in_the_table_once() {
        let mut names: Vec<&str> = KINDS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for (kind_of, names) in KINDS {
            assert!(names.iter().all(|name| kind(name) == kind_of));
        }
    }

    /// The lists of tools that the clients offered their model, from `docs/clients`.
    #[test]
    fn the_tools_of_clients_are_known() {
        for (tools, expected) in [
            ("Bash exec_command write_stdin run_shell_command shell bash Shell run_in_terminal", ToolKind::Commands),
            (
                "Write Edit NotebookEdit apply_patch replace write_file write edit Write Delete create_file editFiles",
                ToolKind::ChangesFiles,
            ),
            ("Agent spawn_agent invoke_agent delegate task Task runSubagent", ToolKind::Agents),
            ("WebFetch web_fetch google_web_search webfetch fetch_webpage", ToolKind::Network),
            ("mcp__planwright__plan_get apps__create_app MCP:plan_get mcp_planwright_plan_get", ToolKind::Server),
            ("activate_skill load_skill skill Skill", ToolKind::Skills),
            ("Workflow ScheduleWakeup memory something_new", ToolKind::Unknown),
        ] {
            for tool in tools.split(' ') {
                assert_eq!(kind(tool), expected, "{tool}");
            }
        }
    }

    #[test]
    fn a_tool_of_the_server_is_known_by_the_whole_name() {
        for (tool, expected) in [
            ("mcp__planwright__plan_get", Some("plan_get")),
            ("planwright_plan_get", Some("plan_get")),
            ("mcp__planwright__github__push", Some("github__push")),
            ("mcp__plugin_planwright_planwright__plan_get", Some("plan_get")),
            ("mcp__plugin_other_planwright__plan_get", None),
            ("mcp__plugin_planwright_other__plan_get", None),
            ("mcp__planwright-evil__plan_get", None),
            ("mcp__planwrightevil__plan_get", None),
            ("mcp__other__plan_get", None),
            ("plan_get", None),
            ("mcp_planwright_plan_get", Some("plan_get")),
            ("planwright__plan_get", Some("plan_get")),
            ("MCP:plan_get", Some("plan_get")),
            ("mcp_planwrightevil_plan_get", None),
        ] {
            assert_eq!(tool_of_server(tool, "planwright"), expected, "{tool}");
        }
        assert_eq!(tool_of_server("mcp__my_plans__plan_get", "my plans"), Some("plan_get"));
        assert!(is_own_tool("plan_get") && is_own_tool("result_read"));
        assert!(!is_own_tool("run_anything") && !is_own_tool("github__push"));
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
        let reads = |line: &Value, folder: &Path| {
            let request = ToolRequest { tool: "Bash".to_owned(), input: line.clone() };
            is_reading_call(ClientName::ClaudeCode, &request, &project, folder)
        };
        for (folder, passes) in [
            ("project", true),
            ("project/src", true),
            ("project/nested", false),
            ("project/bare", false),
            ("other", false),
            ("", false),
            ("missing", false),
        ] {
            assert_eq!(reads(&status, &root.path().join(folder)), passes, "{folder}");
            assert!(reads(&json!({ "command": "ls" }), &root.path().join(folder)), "{folder}");
            assert_eq!(runs_as_planned(&status, &project, &root.path().join(folder)), passes, "{folder}");
            let elsewhere = json!({ "command": "git status", "workdir": folder });
            assert_eq!(runs_as_planned(&elsewhere, &project, root.path()), passes, "{folder}");
        }
    }

    /// The next line runs where `cd` went, and these clients do not tell where that is.
    #[test]
    fn a_line_is_read_as_the_shell_of_its_client_reads_it() {
        let root = tempfile::tempdir().unwrap();
        for (client, tool, line, expected) in [
            (ClientName::ClaudeCode, "Bash", "cd src && ls", true),
            (ClientName::ClaudeCode, "PowerShell", "ls", false),
            (ClientName::Gemini, "run_shell_command", "cd src && ls", true),
            (ClientName::Vscode, "run_in_terminal", "ls | head", true),
            (ClientName::Vscode, "run_in_terminal", "cd src && ls", false),
            (ClientName::Cursor, "Shell", "cd src", false),
            (ClientName::ClaudeCode, "Edit", "ls", false),
        ] {
            let request = ToolRequest { tool: tool.to_owned(), input: json!({ "command": line }) };
            assert_eq!(is_reading_call(client, &request, root.path(), root.path()), expected, "{tool} {line}");
        }
    }

    #[test]
    fn a_call_that_asks_to_leave_the_sandbox_is_known() {
        let root = tempfile::tempdir().unwrap();
        for (input, expected) in [
            (json!({}), false),
            (json!({ "dangerouslyDisableSandbox": false, "sandbox_permissions": "use_default" }), false),
            (json!({ "dangerouslyDisableSandbox": true }), true),
            (json!({ "requestUnsandboxedExecution": "true" }), true),
            (json!({ "with_escalated_permissions": 1 }), true),
            (json!({ "sandbox_permissions": "require_escalated" }), true),
            (json!({ "additional_permissions": { "network": true } }), true),
        ] {
            assert_eq!(leaves_sandbox(&input), expected, "{input}");
            assert_eq!(runs_as_planned(&input, root.path(), root.path()), !expected, "{input}");
        }
        let quoted = json!({ "command": "cargo test 'a\u{2019}; rm b; \u{2018}c'" });
        assert!(!runs_as_planned(&quoted, root.path(), root.path()));
    }
}
