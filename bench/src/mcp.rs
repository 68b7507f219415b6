//! Round trips over MCP stdio: the plan tools beside an empty call of the same server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::figures::Kind::{Other, Time};
use crate::figures::{self, Table};
use crate::{bare, ledger};

const CALLS: u32 = 2_000;

pub(crate) fn run(program: &Path) -> anyhow::Result<()> {
    let data = tempfile::tempdir_in(".")?;
    let flushes = bare::flushes(data.path(), std::time::Duration::from_secs(2))?;
    let mut child = Command::new(program)
        .arg("--data")
        .arg(data.path())
        .args(["mcp", "--session", "bench-mcp-session"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut wire = Wire::new(&mut child)?;

    let set = || json!({ "name": "plan_set_content", "arguments": { "plan_markdown": ledger::another_text() } });
    let get = json!({ "name": "plan_get", "arguments": {} });
    let none = json!({ "name": "no_such_tool", "arguments": {} });
    let ping = wire.micros("ping", || json!({}))?;
    let none = wire.micros("tools/call", || none.clone())?;
    let set = wire.micros("tools/call", set)?;
    let get = wire.micros("tools/call", || get.clone())?;
    let flush = 1e6 / flushes;
    figures::remark(&format!("{CALLS} calls each, one after another; one flush of this disk takes {flush:.0} µs"));
    let table = Table::new("mcp", "call", &[("µs", Time), ("/ ping", Other), ("(µs - ping) / flush", Other)]);
    for (name, micros) in [("ping", ping), ("an unknown tool", none), ("plan_get", get), ("plan_set_content", set)] {
        table.row(name, [micros, micros / ping, (micros - ping) / flush])?;
    }
    drop(wire);
    child.wait()?;
    Ok(())
}

pub(crate) struct Wire {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Wire {
    /// Talks to a server that was just started.
    pub(crate) fn new(child: &mut Child) -> anyhow::Result<Self> {
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            anyhow::bail!("the server has no pipes");
        };
        let mut wire = Self { input, output: BufReader::new(output), next: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        wire.ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }))?;
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(wire)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.input.flush()?)
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                anyhow::bail!("the server hung up");
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == id {
                return Ok(answer);
            }
        }
    }

    /// The mean time of one call.
    fn micros(&mut self, method: &str, params: impl Fn() -> Value) -> anyhow::Result<f64> {
        for _ in 0..CALLS / 10 {
            self.ask(method, params())?;
        }
        let start = Instant::now();
        for _ in 0..CALLS {
            self.ask(method, params())?;
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS))
    }
}
