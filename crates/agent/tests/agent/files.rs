//! The file tools, on real folders with real links, pipes and races.

mod cancellation;
mod changes;
mod diffs;
mod editing;
mod ignoring;
mod limits;
mod links;
mod moving;
mod paths;
mod projects;
mod races;
mod reading;
mod repositories;
mod searching;
mod sessions;
mod snapshots;
mod writing;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext, Toolbox};
use planwright_core::gate::ToolEffect;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::{FileChange, Workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A data folder with file tools, and a place outside with a secret in it.
struct Snapshot {
    folder: TempDir,
    files: FileTools,
    toolbox: Toolbox,
    session: SessionIdentity,
    workspace: Workspace,
}

const SECRET: &str = "the secret outside";

impl Snapshot {
    fn new() -> Self {
        Self::with(FileLimits::default())
    }

    fn with(limits: FileLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = FileTools::new(folder.path().join("data/users"), limits);
        let toolbox = Toolbox::new(files.tools());
        let snapshot =
            Self { folder, files, toolbox, session: "cli:k3yk3y8x".parse().unwrap(), workspace: Workspace::Own };
        fs::create_dir(snapshot.outside()).unwrap();
        fs::write(snapshot.outside().join("secret.md"), SECRET).unwrap();
        snapshot
    }

    /// With the session's folder made already.
    fn begun() -> Self {
        let snapshot = Self::new();
        fs::create_dir_all(snapshot.inside()).unwrap();
        snapshot
    }

    /// In a project folder.
    fn in_project() -> Self {
        Self::in_project_with(FileLimits::default())
    }

    fn in_project_with(limits: FileLimits) -> Self {
        let mut snapshot = Self::with(limits);
        // As deep as a session's own files.
        let project = snapshot.folder.path().join("home/ada/code/till");
        fs::create_dir_all(&project).unwrap();
        snapshot.workspace = snapshot.files.project(&project).unwrap();
        snapshot
    }

    /// One in its own folder and one in a project.
    fn both() -> [Self; 2] {
        [Self::begun(), Self::in_project()]
    }

    fn inside(&self) -> PathBuf {
        match &self.workspace {
            Workspace::Own => self.files.folder(&self.session),
            Workspace::Project { path } => PathBuf::from(path),
        }
    }

    fn context(&self) -> ToolContext<'_> {
        ToolContext::without_lease(&self.session).in_workspace(&self.workspace)
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Puts a file there as a person would.
    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.inside().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.toolbox.get(name).unwrap()
    }

    async fn answer(&self, name: &str, arguments: Value) -> Result<ToolAnswer, Refusal> {
        self.tool(name).call(self.context(), arguments.as_object().unwrap().clone()).await
    }

    /// What the call changed.
    async fn change(&self, name: &str, arguments: Value) -> Vec<FileChange> {
        self.answer(name, arguments).await.unwrap().changes
    }

    async fn edit(&self, path: &str, old: &str, new: &str) -> Result<ToolAnswer, Refusal> {
        self.answer("edit_file", json!({"path": path, "edits": [{"old": old, "new": new}]})).await
    }

    /// A file as it is on disk.
    fn on_disk(&self, path: &str) -> Vec<u8> {
        fs::read(self.inside().join(path)).unwrap()
    }

    async fn try_call(&self, name: &str, arguments: Value) -> Result<Value, Refusal> {
        self.answer(name, arguments).await.map(|answer| answer.value)
    }

    async fn call(&self, name: &str, arguments: Value) -> Value {
        self.try_call(name, arguments).await.unwrap()
    }

    async fn refused(&self, name: &str, arguments: Value) -> RefusalCode {
        self.try_call(name, arguments).await.unwrap_err().code
    }

    async fn write(&self, path: &str, content: &str) -> Value {
        self.call("write_file", json!({"path": path, "content": content})).await
    }

    async fn read(&self, path: &str) -> String {
        self.call("read_file", json!({"path": path, "numbers": false})).await["content"].as_str().unwrap().to_owned()
    }

    /// Nothing was written outside and nothing was changed there.
    fn check_outside(&self) {
        let names: Vec<_> = fs::read_dir(self.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret.md"]);
        assert_eq!(fs::read_to_string(self.outside().join("secret.md")).unwrap(), SECRET);
    }
}

/// Lets a thread that waits for `true` end also when the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The paths in an answer of `list_files`.
fn listed(answer: &Value) -> Vec<&str> {
    answer["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect()
}

fn globbed(answer: &Value) -> Vec<&str> {
    answer["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

#[test]
fn the_tools_say_what_they_are() {
    let snapshot = Snapshot::new();
    let tools: Vec<_> = snapshot.toolbox.iter().collect();
    let reply: Vec<_> = tools.iter().map(|tool| (tool.spec().name.as_str(), tool.effect())).collect();
    assert_eq!(
        reply,
        [
            ("list_files", ToolEffect::ReadsOnly),
            ("glob_files", ToolEffect::ReadsOnly),
            ("grep_files", ToolEffect::ReadsOnly),
            ("read_file", ToolEffect::ReadsOnly),
            ("write_file", ToolEffect::Repeatable),
            ("edit_file", ToolEffect::Changes),
            ("delete_file", ToolEffect::Changes),
            ("move_file", ToolEffect::Changes),
        ]
    );
    for tool in tools {
        let schema = &tool.spec().input_schema;
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} of {}", tool.spec().name);
            assert!(property.get("type").is_some(), "{name} of {}: {property}", tool.spec().name);
        }
        assert!(!tool.spec().description.is_empty());
    }
    let tool = snapshot.tool("read_file");
    let read = &tool.spec().input_schema;
    assert_eq!(read["required"], json!(["path"]));
}

#[test]
fn unfit_arguments_are_found_without_doing_anything() {
    let snapshot = Snapshot::new();
    for (tool, arguments, fits) in [
        ("list_files", json!({}), true),
        ("list_files", json!({"folder": "a"}), false),
        ("read_file", json!({}), false),
        ("read_file", json!({"path": "a", "offset": 0}), false),
        ("read_file", json!({"path": "."}), false),
        ("read_file", json!({"path": "../a"}), false),
        ("write_file", json!({"path": "a", "content": "text"}), true),
        ("write_file", json!({"path": "a"}), false),
        ("write_file", json!({"path": "", "content": ""}), false),
        ("write_file", json!({"path": "a", "content": "x".repeat(1024 * 1024 + 1)}), false),
        ("edit_file", json!({"path": "a", "edits": [{"old": "x", "new": "y"}]}), true),
        ("edit_file", json!({"path": "a", "edits": []}), false),
        ("edit_file", json!({"path": "a", "edits": [{"old": "", "new": "y"}]}), false),
        ("edit_file", json!({"path": "a", "edits": [{"old": "x", "new": "x"}]}), false),
        ("edit_file", json!({"path": "a", "edits": [{"old": "x"}]}), false),
        ("delete_file", json!({"path": "."}), false),
        ("move_file", json!({"path": "a", "to": "a"}), false),
        ("move_file", json!({"path": "a", "to": "../b"}), false),
        ("glob_files", json!({"pattern": "**/*.md"}), true),
        ("glob_files", json!({"pattern": "[a"}), false),
        ("grep_files", json!({"pattern": "a+"}), true),
        ("grep_files", json!({"pattern": "(a"}), false),
    ] {
        let checked = snapshot.tool(tool).check(arguments.as_object().unwrap());
        assert_eq!(checked.is_ok(), fits, "{tool} {checked:?}");
    }
    assert!(!snapshot.folder.path().join("data").exists());
}
