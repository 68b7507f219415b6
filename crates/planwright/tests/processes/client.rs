//! `planwright mcp` as an agent has it: a child process and two pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use planwright_store::Location;
use serde_json::{Value, json};

pub(crate) struct McpClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

pub(crate) fn planwright(location: &Location) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    let database = match location {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Postgres(address) => address.url().to_owned(),
    };
    command.args(["--database", &database]).env_remove("PLANWRIGHT_SESSION").stderr(Stdio::null());
    command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
    command
}

impl McpClient {
    pub(crate) fn start(location: &Location, session: &str, style: &str) -> Self {
        Self::started(&mut planwright(location), session, style)
    }

    /// With files in this folder.
    pub(crate) fn start_with_data(location: &Location, session: &str, style: &str, data: &Path) -> Self {
        Self::started(planwright(location).arg("--data").arg(data), session, style)
    }

    /// With the tools of the servers in the settings of this folder, in style collect.
    pub(crate) fn start_with_servers(location: &Location, session: &str, data: &Path) -> Self {
        let mut command = planwright(location);
        command.env("PLANWRIGHT_GATEWAY_START_SECONDS", "600");
        Self::started(command.arg("--data").arg(data), session, "collect")
    }

    fn started(command: &mut Command, session: &str, style: &str) -> Self {
        command.args(["mcp", "--session", session, "--plan", style]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, next: 0 };
        let about = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
        client.send("initialize", &hello).unwrap();
        client.receive().expect("the server answers");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.input.write_all(format!("{ready}\n").as_bytes()).unwrap();
        client
    }

    fn send(&mut self, method: &str, params: &Value) -> std::io::Result<u64> {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.next)
    }

    /// The next answer and its id; `None` once the process is gone.
    pub(crate) fn receive(&mut self) -> Option<(u64, Value)> {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).ok()?;
            if read == 0 || !line.ends_with('\n') {
                return None;
            }
            let message: Value = serde_json::from_str(&line).expect("whole lines are JSON");
            // Notifications come in between.
            if let Some(id) = message["id"].as_u64() {
                return Some((id, message["result"].clone()));
            }
        }
    }

    /// Sends a call without waiting for its answer.
    pub(crate) fn post(&mut self, tool: &str, arguments: &Value) -> std::io::Result<u64> {
        self.send("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let sent = self.post(tool, arguments).unwrap();
        let (id, result) = self.receive().expect("an answer");
        assert_eq!(id, sent);
        assert_ne!(result["isError"], json!(true), "{result}");
        result["structuredContent"].clone()
    }

    /// Ends the process at once, wherever it is.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Everything that was answered before the end.
    pub(crate) fn drain(mut self) -> Vec<(u64, Value)> {
        let answers = std::iter::from_fn(|| self.receive()).collect();
        self.child.wait().unwrap();
        answers
    }

    pub(crate) fn close(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}
