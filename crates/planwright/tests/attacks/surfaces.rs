//! The other ways in: the API with the token, a browser's sign-in, MCP, and a plan that is swapped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::results::AttackResult;
use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage, attack, done};

/// A server that the person runs.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start(stage: &Stage) -> Self {
        let mut command = Command::new(PROGRAM.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).env("PLANWRIGHT_DATA", stage.folder());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = ready["address"].as_str().unwrap().trim_start_matches("http://").to_owned();
        let token = std::fs::read_to_string(stage.path("token")).unwrap().trim().to_owned();
        Self { child, address, token }
    }

    /// The command with which an agent calls the tool of the file `requests` over HTTP.
    pub(crate) fn http_client(&self, session: &str) -> String {
        format!("python3 client.py http://{}/mcp/{session} {} requests", self.address, self.token)
    }

    /// The head and the body of the answer.
    pub(crate) fn post(&self, path: &str, headers: &str, body: &Value) -> (String, String) {
        post(&self.address, path, headers, body)
    }
}

/// The head and the body of the answer.
pub(crate) fn post(address: &str, path: &str, headers: &str, body: &Value) -> (String, String) {
    send(address, "POST", path, headers, body)
}

pub(crate) fn send(address: &str, method: &str, path: &str, headers: &str, body: &Value) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         {headers}connection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn approve(stage: &mut Stage, server: &Server, headers: &str) -> (String, String) {
    let plan = stage.plan();
    let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
    server.post(&path, headers, &json!({ "digest": plan["digest"], "later": true }))
}

#[test]
fn token() {
    attack("token", |stage| {
        let server = Server::start(stage);
        let headers = format!("authorization: Bearer {}\r\n", server.token);
        let (head, body) = approve(stage, &server, &headers);
        let result = stage.result();
        let refused = head.starts_with("HTTP/1.1 403") && body.contains("POLICY_DENIED");
        assert_eq!(result == AttackResult::Stopped, refused, "{head}\n{body}");
        result
    });
}

#[test]
fn sign_in() {
    attack("sign_in", |stage| {
        let server = Server::start(stage);
        let origin = format!("origin: http://{}\r\n", server.address);
        let (head, body) = server.post("/api/login", &origin, &json!({ "token": server.token }));
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect(&body);
        let cookie = cookie.split(';').next().unwrap();
        approve(stage, &server, &format!("{origin}cookie: {cookie}\r\n"));
        stage.result()
    });
}

/// The passphrase goes with the approval. It is never kept as part of a request that is sent twice.
#[test]
fn a_person_approves_over_the_api_with_their_passphrase() {
    let mut stage = Stage::new(Require::Verified);
    let server = Server::start(&stage);
    let plan = stage.plan();
    let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let body = |passphrase: &str| json!({ "digest": plan["digest"], "later": true, "passphrase": passphrase });
    let (head, answer) = server.post(&path, &headers, &body("let me in"));
    assert!(head.starts_with("HTTP/1.1 401") && answer.contains("not the passphrase"), "{head}\n{answer}");
    let (head, answer) = server.post(&path, &format!("{headers}idempotency-key: one\r\n"), &body(PASSPHRASE));
    assert!(head.starts_with("HTTP/1.1 400") && answer.contains("Idempotency-Key"), "{head}\n{answer}");
    assert_eq!(stage.status(), "READY");
    let (head, answer) = server.post(&path, &headers, &body(PASSPHRASE));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{answer}");
    let approved: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(approved["approval"]["presence"], "verified");
    assert_eq!(approved["approval"]["signedBy"], json!(["ada"]));
    done(&stage.verify(""));
}

/// `/plan approve` as a message is the same decision as the endpoint.
#[test]
fn a_command_in_a_message_is_no_way_around() {
    attack("token", |stage| {
        let server = Server::start(stage);
        let headers = format!("authorization: Bearer {}\r\n", server.token);
        let path = "/api/sessions/attack-one/messages?channel=mcp";
        server.post(path, &headers, &json!({ "text": "/plan show 1" }));
        server.post(path, &headers, &json!({ "text": "/plan approve 1" }));
        stage.result()
    });
}

#[test]
fn mcp() {
    attack("mcp", |stage| {
        let digest = stage.digest();
        for tool in ["plan_approve", "approve", "plan_decide", "plan_resume"] {
            let answer = stage.agent_calls(SESSION, tool, &json!({ "plan": 1, "digest": digest }));
            assert!(answer.contains("\"isError\":true"), "{answer}");
        }
        stage.agent_calls(SESSION, "plan_progress", &json!({ "status": "done", "note": "/plan approve 1" }));
        stage.result()
    });
}

#[test]
fn swapped_plan() {
    attack("swapped_plan", |stage| {
        let digest = stage.digest();
        stage.agent_calls(SESSION, "plan_set_content", &json!({ "plan_markdown": "# Something else\n\n- [ ] more\n" }));
        let ran = stage.person.run(&format!("{PROGRAM} plan approve 1 --session {SESSION} --digest {digest} --later"));
        assert_eq!(ran.code, 5, "{}", ran.output);
        stage.result()
    });
}

/// A server behind a proxy may be told who asks. This one is told by nobody.
#[test]
fn token_headers() {
    attack("token_headers", |stage| {
        let server = Server::start(stage);
        let token = format!("authorization: Bearer {}\r\n", server.token);
        let plan = stage.plan();
        let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
        let body = json!({ "digest": plan["digest"], "later": true });
        let mut person = body.clone();
        person["by"] =
            json!({ "kind": "person", "name": "ada", "presence": { "kind": "verified", "approver": "ada" } });
        for (method, path, headers, body) in [
            (
                "POST",
                path.as_str(),
                "x-forwarded-for: 192.0.2.1\r\nforwarded: for=192.0.2.1\r\nx-remote-user: ada\r\n",
                &body,
            ),
            ("GET", path.as_str(), "x-http-method-override: POST\r\n", &body),
            ("POST", &*format!("/{path}"), "", &body),
            ("POST", &*path.replace("approve", "%61pprove"), "", &body),
            ("POST", path.as_str(), "", &person),
        ] {
            send(&server.address, method, path, &format!("{token}{headers}"), body);
        }
        stage.result()
    });
}
