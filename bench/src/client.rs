//! What a coding agent waits for: a call through the gateway beside the bare server, a hook beside a program that does nothing,
//! and the time from the start of `planwright mcp` to its list of tools.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use planwright_store::Location;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::figures::Kind::{Limit, Other, Time};
use crate::figures::Table;
use crate::ledger;
use crate::mcp::Wire;
use crate::times::{self, Times};

const CALLS: usize = 2_000;
const STARTS: usize = 200;
const MANY_SESSIONS: usize = 100_000;
/// How many sessions are opened at once.
const AT_ONCE: usize = 1_000;

/// A call of an upstream tool, bare and through the gateway, in turns. One that only reads is written down once, and one that changes
/// something twice: before it is made, and after it.
pub(crate) fn run_gateway(program: &Path, folder: &TempDir) -> anyhow::Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/upstream/tests/servers/hostile.py");
    let script = script.canonicalize()?;
    let (bare_folder, own_folder) =
        (folder.path().canonicalize()?.join("bare"), folder.path().canonicalize()?.join("own"));
    std::fs::create_dir(&bare_folder)?;
    std::fs::create_dir(&own_folder)?;
    let mut bare_server = Server::start(Command::new("python3").arg(&script).arg("plain").arg(&bare_folder))?;
    let arguments = json!([script, "plain", own_folder]);
    let settings = format!("[mcp.servers.up]\ncommand = \"python3\"\nargs = {arguments}\ntrust_annotations = true\n");
    std::fs::write(folder.path().join("planwright.toml"), settings)?;
    accept_server(program, folder.path())?;
    let mut gateway = Server::start(planwright(program, folder.path()).args(["mcp", "--session", "bench-gateway"]))?;
    let (mut bare, mut reads, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CALLS {
        bare.push(bare_server.call("read", json!({}))?);
        reads.push(gateway.call("up__read", json!({}))?);
        changes.push(gateway.call("up__note", json!({ "text": "milk" }))?);
    }
    let ours = [("a call that reads", Times::of(reads)), ("a call that changes", Times::of(changes))];
    times::print_all("gateway", "bare server", Times::of(bare), &ours)
}

/// The program on a store of its own, where calls of the gateway run at once.
fn planwright(program: &Path, data: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--data").arg(data).env("PLANWRIGHT_GATEWAY_WRITES", "free").env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
    command
}

fn accept_server(program: &Path, data: &Path) -> anyhow::Result<()> {
    let shown = planwright(program, data).args(["mcp-server", "show", "up", "--json"]).output()?;
    let shown: Value = serde_json::from_slice(&shown.stdout).context("the server is not shown")?;
    let digest = shown["digest"].as_str().context("the server has no digest")?;
    let accepted = planwright(program, data).args(["mcp-server", "accept", "up", "--digest", digest]).output()?;
    anyhow::ensure!(accepted.status.success(), "{}", String::from_utf8_lossy(&accepted.stderr));
    Ok(())
}

/// `planwright hook pre-tool-use` for an edit that has to wait, beside `true`, with few and with many sessions in the store.
pub(crate) async fn run_hook(program: &Path, folder: &TempDir) -> anyhow::Result<()> {
    let project = folder.path().canonicalize()?.join("project");
    std::fs::create_dir(&project)?;
    begin_plan(program, folder, &project)?;
    let details = json!({ "cwd": project, "tool_name": "Edit", "tool_input": { "file_path": "a.txt" } }).to_string();
    let titles = &[("median ms", Time), ("99 % ms", Time), ("ratio", Other), ("our own, ms", Other)];
    for sessions in [1, MANY_SESSIONS] {
        // The project has one itself.
        fill(folder, sessions - 1).await?;
        let (nothing, hook) = hooks_in_turns(program, folder, &details)?;
        let limit = Table::new("hook", "sessions", &[("median ms", Limit), ("99 % ms", Limit)]);
        limit.row(format!("{sessions}, `true`"), [nothing.median, nothing.slowest])?;
        let own = [hook.median / nothing.median, hook.median - nothing.median];
        let row = [hook.median, hook.slowest].into_iter().chain(own);
        Table::new("hook", "sessions", titles).row(format!("{sessions}, hook"), row)?;
    }
    Ok(())
}

/// Sessions of other projects, with plan work on.
async fn fill(folder: &TempDir, sessions: usize) -> anyhow::Result<()> {
    let engine = ledger::open(&Location::Sqlite(folder.path().join("planwright.db"))).await?;
    let numbers: Vec<usize> = (0..sessions).collect();
    // Those of a group are committed together.
    for group in numbers.chunks(AT_ONCE) {
        let opened = group.iter().map(|number| ledger::open_session(&engine, *number));
        futures::future::try_join_all(opened).await?;
    }
    Ok(())
}

/// A plan that waits in the session of the project.
fn begin_plan(program: &Path, folder: &TempDir, project: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.arg("--data").arg(folder.path()).arg("mcp").current_dir(project);
    let mut server = Server::start(&mut command)?;
    let plan = json!({ "name": "plan_set_content", "arguments": { "plan_markdown": "# A plan\n\n- [ ] one\n" } });
    server.wire.ask("tools/call", plan)?;
    Ok(())
}

/// `true` and the hook, each started many times.
fn hooks_in_turns(program: &Path, folder: &TempDir, details: &str) -> anyhow::Result<(Times, Times)> {
    let (mut nothing, mut hook) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let (took, _) = timed(&mut Command::new("true"), details)?;
        nothing.push(took);
        let mut command = Command::new(program);
        let (took, output) = timed(command.arg("--data").arg(folder.path()).args(["hook", "pre-tool-use"]), details)?;
        anyhow::ensure!(output.contains("deny"), "the hook let the edit pass: {output}");
        hook.push(took);
    }
    Ok((Times::of(nothing), Times::of(hook)))
}

/// From the start of the program to the answer to `tools/list`, with a store that exists, beside `true`.
pub(crate) fn run_cold_start(program: &Path, folder: &TempDir) -> anyhow::Result<()> {
    let (mut nothing, mut first_list) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        nothing.push(timed(&mut Command::new("true"), "")?.0);
        let begun = Instant::now();
        let mut command = Command::new(program);
        command.arg("--data").arg(folder.path()).args(["mcp", "--session", "bench-cold-start"]);
        let mut server = Server::start(&mut command)?;
        let listed = server.wire.ask("tools/list", json!({}))?;
        first_list.push(begun.elapsed());
        anyhow::ensure!(listed.to_string().contains("plan_get"), "no tools: {listed}");
    }
    times::print("cold start", "true", Times::of(nothing), "first tools/list", Times::of(first_list))
}

/// Runs a program to its end with this input.
fn timed(command: &mut Command, input: &str) -> anyhow::Result<(Duration, String)> {
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // `true` ends without reading.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output()?;
    Ok((begun.elapsed(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// An MCP server on its pipes.
struct Server {
    wire: Wire,
    child: Child,
}

impl Server {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let wire = Wire::new(&mut child)?;
        Ok(Self { wire, child })
    }

    fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let answer = self.wire.ask("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let took = begun.elapsed();
        let result = answer.get("result").context("the call failed")?;
        anyhow::ensure!(result["isError"] != true, "the call was refused: {result}");
        Ok(took)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
