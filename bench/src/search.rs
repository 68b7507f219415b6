//! Searching a repository of 100,000 files with `grep_files` and `glob_files`, beside `rg` on the same files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::toolbox::{Tool, ToolContext};
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Workspace;
use planwright_engine::core as planwright_core;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::figures::Kind::{Limit, Other, Time};
use crate::figures::{self, Table};

const FILES: usize = 100_000;
const FOLDERS: usize = 2_000;
const ROUNDS: usize = 9;

/// What is searched for, and the same for `rg`.
const SEARCHES: [(&str, &str, &[&str]); 5] = [
    ("a word that is nowhere", "grep_files", &["--regexp", "zanzibar"]),
    ("a word in 100 files", "grep_files", &["--regexp", "needle"]),
    ("a pattern in 100 files", "grep_files", &["--regexp", r"need\w+ \d+"]),
    ("capitals or not", "grep_files", &["--ignore-case", "--regexp", "NEEDLE"]),
    ("names", "glob_files", &["--files", "--glob", "module_77*.rs"]),
];

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    let has_rg =
        Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !has_rg {
        return figures::left_out("search", "`rg`, which is measured beside it, is not installed");
    }
    let project = folder.path().join("project");
    eprintln!("writing {FILES} files …");
    generate(&project)?;
    let files = FileTools::new(folder.path().join("data/users"), FileLimits::default());
    let workspace = files.project(&fs::canonicalize(&project)?)?;
    let session: SessionIdentity = "cli:benchmark".parse()?;
    let columns = &[("ours, ms", Time), ("rg, ms", Limit), ("ratio", Other), ("found", Other)];
    let table = Table::new("search", "", columns);
    for (name, tool, arguments) in SEARCHES {
        let tool = files.tools().into_iter().find(|each| each.spec().name == tool).context("the tool is missing")?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut found = 0;
        // In turns, so that both meet the same state of the machine. The first round fills the cache.
        for round in 0..=ROUNDS {
            let (time, count) = call(&tool, &session, &workspace, arguments).await?;
            let beside = rg(&project, arguments)?;
            found = count;
            if round > 0 {
                ours.push(time);
                theirs.push(beside);
            }
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        table.row(name, [millis(ours), millis(theirs), ratio, found as f64])?;
    }
    Ok(())
}

/// A repository with sources of ordinary size, and a folder of ignored ones.
fn generate(project: &Path) -> anyhow::Result<()> {
    for index in 0..FOLDERS {
        let folder = project.join(format!("crate_{}/src/part_{index}", index % 100));
        fs::create_dir_all(&folder)?;
        for number in (index..FILES).step_by(FOLDERS) {
            let mut text = String::new();
            for line in 0..(10 + number % 60) {
                text.push_str(&format!("    let value_{line} = compute(input[{line}], {number}); // step {line}\n"));
            }
            if number % 1_000 == 7 {
                text.push_str(&format!("// needle {number}\n"));
            }
            fs::write(folder.join(format!("module_{number}.rs")), text)?;
        }
    }
    fs::create_dir_all(project.join("target/debug"))?;
    for number in 0..1_000 {
        fs::write(project.join(format!("target/debug/out_{number}")), "needle\n")?;
    }
    fs::create_dir_all(project.join(".git"))?;
    fs::write(project.join(".gitignore"), "target/\n*.log\n/build\n")?;
    Ok(())
}

async fn call(
    tool: &Arc<dyn Tool>,
    session: &SessionIdentity,
    workspace: &Workspace,
    arguments: &[&str],
) -> anyhow::Result<(Duration, usize)> {
    let pattern = *arguments.last().context("the pattern is missing")?;
    let mut call = json!({"pattern": pattern});
    if arguments.contains(&"--ignore-case") {
        call["case_insensitive"] = true.into();
    }
    let Value::Object(call) = call else { unreachable!("an object was written above") };
    let context = ToolContext::without_lease(session).in_workspace(workspace);
    let began = Instant::now();
    let answer = tool.call(context, call).await?.value;
    let time = began.elapsed();
    ensure!(answer.get("truncated").is_none() || tool.spec().name == "glob_files", "not everything was searched");
    let found = answer["matches"].as_array().or(answer["paths"].as_array()).map_or(0, Vec::len);
    Ok((time, found))
}

fn rg(project: &Path, arguments: &[&str]) -> anyhow::Result<Duration> {
    let mut command = Command::new("rg");
    // Ours looks at dotfiles too, and its files are numbered.
    command.args(["--hidden", "--line-number", "--glob", "!.git"]).args(arguments).current_dir(project);
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let time = began.elapsed();
    ensure!(output.status.code().is_some_and(|code| code < 2), "rg: {}", String::from_utf8_lossy(&output.stderr));
    Ok(time)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
