//! The example of `docs/approval.md`: the server is a user of its own, and the agent's user reaches it over HTTP only.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::{Value, json};

const SERVICE: u32 = 64_201;
const AGENT: u32 = 64_202;
const PASSPHRASE: &str = "correct horse battery";

struct Installed {
    folder: tempfile::TempDir,
    server: Option<Child>,
}

impl Drop for Installed {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Installed {
    /// The program for everyone, and a data folder that only the service's user can read.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        open(folder.path(), 0o755);
        let program = folder.path().join("planwright");
        std::fs::copy(env!("CARGO_BIN_EXE_planwright"), &program).unwrap();
        open(&program, 0o755);
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("planwright.toml"), "[approval]\nrequire = \"verified\"\n").unwrap();
        for path in [data.as_path(), &data.join("planwright.toml")] {
            chown(path, Some(SERVICE), Some(SERVICE)).unwrap();
        }
        open(&data, 0o700);
        Self { folder, server: None }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self) -> String {
        self.folder.path().join("planwright").display().to_string()
    }

    /// A command of another user.
    fn as_user(&self, user: u32, expected: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        let user = user.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).args(expected);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap()).env("USER", "ada").env("TERM", "xterm");
        command.env("PLANWRIGHT_DATA", self.data()).env("SHELL", "/bin/sh").current_dir(self.folder.path());
        command
    }

    fn agent(&self, expected: &[&str]) -> Output {
        self.as_user(AGENT, expected).stdin(Stdio::null()).output().unwrap()
    }

    /// A command of the service's user at a terminal, with answers to its questions.
    fn at_terminal(&self, line: &str, answers: &[(&str, &str)]) -> String {
        let line = format!("{} {line}", self.program());
        let mut command = self.as_user(SERVICE, &["script", "--quiet", "--return", "--command", &line, "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut seen, mut from, mut bytes) = (String::new(), 0, [0; 1024]);
        let mut answers = answers.iter();
        let mut next = answers.next();
        while let Ok(read @ 1..) = output.read(&mut bytes) {
            seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
            if let Some((question, answer)) = next
                && seen[from..].contains(question)
            {
                from = seen.len();
                writeln!(input, "{answer}").unwrap();
                next = answers.next();
            }
        }
        assert!(child.wait().unwrap().success(), "{line}: {seen}");
        seen
    }

    fn serve(&mut self) -> String {
        let program = self.program();
        let mut command = self.as_user(SERVICE, &[&program, "serve", "--listen", "127.0.0.1:0", "--json"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.server = Some(child);
        let ready: Value = serde_json::from_str(&line).unwrap();
        ready["address"].as_str().unwrap().trim_start_matches("http://").to_owned()
    }
}

/// What the agent reaches: the server, with the token that a person gave it.
fn post(address: &str, token: &str, path: &str, body: &Value) -> (String, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), serde_json::from_str(body).unwrap_or_default())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn an_agent_of_another_user_cannot_approve_and_the_service_user_can() {
    if !is_root() {
        skip(Prerequisite::Root, "it acts as two users");
        return;
    }
    let mut installed = Installed::new();
    let asked = [("New passphrase for ada: ", PASSPHRASE), ("The same again: ", PASSPHRASE)];
    installed.at_terminal("init --approver ada", &asked);
    let address = installed.serve();
    let token = std::fs::read_to_string(installed.data().join("token")).unwrap().trim().to_owned();

    // The agent's user reads neither the store nor the token, and cannot write them.
    let (data, program) = (installed.data(), installed.program());
    for file in ["token", "planwright.db", "planwright.toml"] {
        let path = data.join(file).display().to_string();
        assert!(data.join(file).exists(), "{path}");
        assert!(!installed.agent(&["cat", &path]).status.success(), "{path} can be read");
        assert!(
            !installed.agent(&["sh", "-c", &format!("echo x >> {path}")]).status.success(),
            "{path} can be written"
        );
    }
    let tried = installed.agent(&[&program, "plan", "approve", "1", "--session", "web:service-1"]);
    assert!(!tried.status.success(), "{tried:?}");

    // Over HTTP it drafts a plan, and cannot approve it with the token.
    let say = |text: &str| post(&address, &token, "/api/sessions/service-1/messages", &json!({ "text": text }));
    post(&address, &token, "/api/sessions", &json!({ "sessionId": "service-1" }));
    say("/plan on");
    let (head, answer) = say("add a health endpoint");
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {answer}");
    let plan = answer["plan"].clone();
    let approve = format!("/api/plans/{}/approve", plan["planId"].as_str().unwrap());
    let (head, refused) = post(&address, &token, &approve, &json!({ "digest": plan["digest"], "later": true }));
    assert!(head.starts_with("HTTP/1.1 403"), "{head} {refused}");
    let (_, refused) = say("/plan approve");
    assert_eq!(refused["code"], "POLICY_DENIED", "{refused}");

    // The service's user approves at a terminal.
    let line = "plan approve 1 --session web:service-1 --later";
    installed.at_terminal(line, &[("[y/N] ", "y"), ("Passphrase of ada: ", PASSPHRASE)]);
    let seen = installed.at_terminal("plan show 1 --session web:service-1 --json", &[]);
    let shown: Value = serde_json::from_str(&seen).unwrap_or_else(|_| panic!("{seen}"));
    assert_eq!((&shown["status"], &shown["approval"]["presence"]), (&json!("APPROVED"), &json!("verified")));
    installed.at_terminal("verify", &[]);
}
