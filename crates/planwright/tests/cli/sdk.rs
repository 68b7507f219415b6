//! The official TypeScript SDK as a client, over standard input and over HTTP. `make test-clients` has the long form.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::World;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/sdk/client.mjs");
const PROGRAM: &str = env!("CARGO_BIN_EXE_planwright");
/// How long a test waits for the next observation.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// A child that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The client as it runs, and what it observes.
struct SdkClient {
    running: Running,
    observations: mpsc::Receiver<String>,
}

impl SdkClient {
    fn start(world: &World, arguments: &[&str]) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let installed = Command::new(root.join("scripts/ensure-mcp-servers")).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let printed = String::from_utf8(installed.stdout).unwrap();
        let (node, packages) = printed.trim().split_once('\n').unwrap();
        let mut command = Command::new(Path::new(node).join("node"));
        command.arg(SCRIPT).arg(packages).args(arguments).env_clear();
        command.env("PLANWRIGHT_DATA", world.path("")).env("PLANWRIGHT_APPROVAL_REQUIRE", "any").env("USER", "ada");
        command.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(world.path(""));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (lines, observations) = mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        Self { running: Running(child), observations }
    }

    #[track_caller]
    fn observes(&self, what: &str) -> Value {
        let line = self.observations.recv_timeout(MAX_WAIT).unwrap_or_else(|_| panic!("it never observes {what}"));
        let observed: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(observed["what"], what, "{line}");
        observed["value"].clone()
    }

    /// From the handshake to a plan that waits for a person.
    fn drafts(&self) -> Value {
        assert_eq!(self.observes("server"), "planwright");
        let tools = self.observes("tools");
        assert!(tools.as_array().unwrap().contains(&json!("plan_set_content")), "{tools}");
        let plan = self.observes("drafted");
        assert_eq!(plan["status"], "READY", "{plan}");
        assert_eq!(self.observes("refused")["code"], "WRONG_STATUS");
        plan
    }

    /// From the approval to the end.
    fn completes(mut self) {
        assert_eq!(self.observes("decided")["status"], "APPROVED");
        assert_eq!(self.observes("reported"), false);
        assert_eq!(self.observes("status"), "COMPLETED");
        assert!(self.running.0.wait().unwrap().success());
    }
}

#[test]
fn a_plan_is_approved_on_the_command_line_while_the_client_waits() {
    let world = World::new();
    let client = SdkClient::start(&world, &["stdio", PROGRAM, "sdk-session"]);
    let plan = client.drafts();
    let digest = plan["digest"].as_str().unwrap();
    world.run(&format!("plan approve --session mcp:sdk-session --digest {digest}")).done();
    client.completes();
}

#[test]
fn a_plan_is_approved_over_rest_while_a_client_over_http_waits() {
    let world = World::new();
    let mut command = world.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Running(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let address = ready["address"].as_str().unwrap();
    let token = std::fs::read_to_string(world.path("token")).unwrap().trim().to_owned();
    let client = SdkClient::start(&world, &["http", &format!("{address}/mcp/sdk-session"), &token]);
    let plan = client.drafts();
    let body = json!({ "digest": plan["digest"], "sessionId": "sdk-session", "channel": "mcp" }).to_string();
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let (id, length) = (plan["plan_id"].as_str().unwrap(), body.len());
    write!(
        stream,
        "POST /api/plans/{id}/approve HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: \
         application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    client.completes();
}
