//! A call of an upstream tool: bare, over the pipes of the same server, and as the agent makes it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::toolbox::{Tool, ToolContext};
use planwright_agent::upstream::UpstreamTools;
use planwright_core::actor::Actor;
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::{AnnotationTrust, ServerName};
use planwright_engine::Engine;
use planwright_engine::ledger::ApprovalStore;
use planwright_engine::upstream::ToolSelection;
use planwright_sandbox::{Sandbox, SandboxLevel, SandboxOptions};
use planwright_store::Location;
use planwright_upstream::{AskedAccess, PassedRequests, Reach, UpstreamClient, UpstreamServerOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::times::{self, Times};

const ROUNDS: usize = 2_000;

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/upstream/tests/servers/hostile.py");
    let mut bare_server = BareServer::start(&script, &own_folder(folder, "bare")?)?;
    let (upstream, tool) = accepted_tool(folder, &script).await?;
    let session: SessionIdentity = "cli:benchmark".parse()?;
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    // In turns, so that what else the machine does falls on both alike.
    for _ in 0..ROUNDS {
        bare.push(bare_server.call()?);
        let begun = Instant::now();
        let arguments = json!({ "text": "milk" }).as_object().cloned().unwrap_or_default();
        tool.call(ToolContext::without_lease(&session), arguments).await?;
        ours.push(begun.elapsed());
    }
    upstream.stop().await;
    times::print("upstream", "bare server", Times::of(bare), "as the agent calls it", Times::of(ours))
}

fn own_folder(folder: &TempDir, name: &str) -> anyhow::Result<PathBuf> {
    let own = folder.path().canonicalize()?.join(name);
    std::fs::create_dir(&own)?;
    Ok(own)
}

async fn accepted_tool(folder: &TempDir, script: &Path) -> anyhow::Result<(UpstreamTools, Arc<dyn Tool>)> {
    let own = own_folder(folder, "ours")?;
    let name: ServerName = "test".parse()?;
    let arguments = [script.display().to_string(), "plain".to_owned(), own.display().to_string()];
    let mut options = UpstreamServerOptions {
        passed_requests: PassedRequests::default(),
        name: name.clone(),
        reach: Reach::Program {
            command: "python3".to_owned(),
            arguments: arguments.into(),
            program: None,
            environment: Vec::new(),
            home: own.clone(),
            folder: own,
            access: AskedAccess { level: SandboxLevel::Open, is_allowed: true, ..AskedAccess::default() },
        },
        trust: AnnotationTrust::Ignored,
        selection: ToolSelection::new(&[], 128).map_err(anyhow::Error::msg)?,
        start_time: Duration::from_secs(30),
        call_time: Duration::from_secs(30),
    };
    options.locate();
    let home = std::env::var_os("HOME").map(Into::into);
    let sandbox = Sandbox::new(SandboxOptions { home, ..SandboxOptions::default() });
    let client = UpstreamClient::new(vec![options], &sandbox);
    let store = planwright_store::open(&Location::Sqlite(folder.path().join("bench.db"))).await?;
    let engine = Engine::new(store.clone(), Policy::default());
    let pins: Arc<dyn ApprovalStore> = store;
    let files = FileTools::new(folder.path().join("users"), FileLimits::default());
    let upstream = UpstreamTools::new(Arc::new(client), pins, files, 16 * 1024);
    let status = upstream.look(&name).await?;
    let (digest, ..) = status.state.waiting().context("the server offers nothing to accept")?;
    upstream.accept(&name, digest, &Actor::person("benchmark", "cli"), &engine.approvals()).await?;
    let tool = upstream.get("test__note").context("the server has no tool `note`")?;
    Ok((upstream, tool))
}

/// The upstream server, called without Planwright in between.
struct BareServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl BareServer {
    fn start(script: &Path, folder: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new("python3")
            .args([script, Path::new("plain"), folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut server = Self { child, input, output, id: 0 };
        server.ask("initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {} }))?;
        Ok(server)
    }

    fn call(&mut self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.ask("tools/call", &json!({ "name": "note", "arguments": { "text": "milk" } }))?;
        Ok(begun.elapsed())
    }

    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.input.write_all(format!("{request}\n").as_bytes())?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for BareServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
