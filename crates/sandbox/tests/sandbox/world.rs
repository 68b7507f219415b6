//! A workspace, a home folder and a sandbox around them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright_sandbox::{
    CommandLimits, CommandResult, RunningCommand, Sandbox, SandboxLevel, SandboxOptions, ShellCommand,
};
use planwright_test_support::prerequisites::{Prerequisite, skip};

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) sandbox: Sandbox,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut SandboxOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["workspace", "home", "scratch"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut options = SandboxOptions {
            home: Some(folder.path().join("home")),
            scratch: Some(folder.path().join("scratch")),
            ..SandboxOptions::default()
        };
        change(&mut options);
        Self { folder, sandbox: Sandbox::new(options) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn command(&self, level: SandboxLevel, line: &str) -> ShellCommand {
        ShellCommand {
            line: line.to_owned(),
            workspace: self.path("workspace"),
            cwd: PathBuf::new(),
            level,
            environment: Vec::new(),
            output_file: self.path("output"),
            limits: CommandLimits { timeout: Some(Duration::from_secs(60)), ..CommandLimits::default() },
        }
    }

    pub(crate) async fn start(&self, level: SandboxLevel, line: &str) -> RunningCommand {
        self.sandbox.start(self.command(level, line)).await.unwrap()
    }

    pub(crate) async fn run(&self, level: SandboxLevel, line: &str) -> CommandResult {
        self.start(level, line).await.wait().await
    }

    /// The levels that this system enforces. A restricted level that it does not enforce is refused, and what a test does
    /// at that level is reported as skipped.
    pub(crate) async fn levels(&self) -> Vec<SandboxLevel> {
        let mut levels = Vec::new();
        for level in SandboxLevel::ALL {
            match self.sandbox.support().refusal(level) {
                None => levels.push(level),
                Some(reason) => {
                    let refused = self.sandbox.start(self.command(level, "true")).await.unwrap_err().to_string();
                    assert!(refused.contains(&reason) && refused.contains(level.name()), "{refused}");
                    skip(Prerequisite::Sandbox, &format!("at level {level}: {refused}"));
                }
            }
        }
        levels
    }
}

/// Waits until the file has this many lines. The sandbox has a time limit of its own, so that this ends.
pub(crate) async fn lines_of(path: &Path, count: usize) -> Vec<String> {
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.lines().count() >= count && text.ends_with('\n') {
            return text.lines().map(str::to_owned).collect();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
