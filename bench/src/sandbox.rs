//! How long a command takes that does nothing: bare, at level `open`, and in the sandbox.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use planwright_sandbox::{CommandLimits, Sandbox, SandboxLevel, SandboxOptions, ShellCommand};
use tempfile::TempDir;

use crate::figures::Kind::{Other, Time};
use crate::figures::{self, Table};
use crate::times::Times;

const ROUNDS: usize = 200;

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    std::fs::create_dir(folder.path().join("workspace"))?;
    let home = std::env::var_os("HOME").map(Into::into);
    let sandbox = Sandbox::new(SandboxOptions { home, ..SandboxOptions::default() });
    for line in sandbox.support().lines() {
        figures::remark(&line);
    }
    let (mut bare, mut open, mut restricted) = (Vec::new(), Vec::new(), Vec::new());
    // In turns, so that what else the machine does falls on all alike.
    for _ in 0..ROUNDS {
        bare.push(bare_shell()?);
        open.push(command(&sandbox, folder, SandboxLevel::Open).await?);
        restricted.push(command(&sandbox, folder, SandboxLevel::Workspace).await?);
    }
    let columns = &[("median ms", Time), ("90 % ms", Time), ("more than bare", Other)];
    let table = Table::new("sandbox", "level", columns);
    let bare = Times::of(bare);
    for (name, times) in [("bare", bare), ("open", Times::of(open)), ("workspace", Times::of(restricted))] {
        table.row(name, [times.median, times.slow, times.median - bare.median])?;
    }
    Ok(())
}

fn bare_shell() -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let shell = Command::new("/bin/sh").args(["-c", "true"]).stdin(Stdio::null()).output()?;
    anyhow::ensure!(shell.status.success(), "the bare shell failed");
    Ok(begun.elapsed())
}

async fn command(sandbox: &Sandbox, folder: &TempDir, level: SandboxLevel) -> anyhow::Result<Duration> {
    let command = ShellCommand {
        line: "true".to_owned(),
        workspace: folder.path().join("workspace"),
        cwd: "".into(),
        level,
        environment: Vec::new(),
        output_file: folder.path().join("output"),
        limits: CommandLimits::default(),
    };
    let begun = Instant::now();
    let result = sandbox.start(command).await?.wait().await;
    let elapsed = begun.elapsed();
    anyhow::ensure!(result.end.exit_code() == Some(0), "the command failed: {:?}", result.end);
    Ok(elapsed)
}
