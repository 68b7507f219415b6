//! A server as a process of its own, and a client for it.

use std::io::BufReader;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use planwright_store::Location;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::{Client, Hello};
use crate::provider::Provider;
use crate::stores::Store;
use crate::world::TIMEOUT;

/// All servers share it, as they do where several stand behind one name.
const TOKEN: &str = "a-token-that-all-servers-share";

pub(crate) struct Program {
    child: Child,
    data: TempDir,
    pub(crate) address: SocketAddr,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.body
    }
}

/// The program on this store, with nothing of the tester's own environment.
pub(crate) fn planwright(store: &Store) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    let database = match store.location() {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Postgres(address) => address.url().to_owned(),
    };
    command.env_clear().env("PLANWRIGHT_DATABASE", database).env("USER", "ada").stdin(Stdio::null());
    command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
    command
}

impl Program {
    /// A server with the built-in model.
    pub(crate) fn rehearsing(store: &Store, settings: &[(&str, &str)]) -> Self {
        Self::start(planwright(store), settings)
    }

    pub(crate) fn asking(store: &Store, provider: &Provider, settings: &[(&str, &str)]) -> Self {
        let mut command = planwright(store);
        command.env("PLANWRIGHT_MODEL", "openai:test").env("OPENAI_API_KEY", "a-key");
        command.env("OPENAI_BASE_URL", provider.address());
        Self::start(command, settings)
    }

    /// Waits until it says that it is ready.
    fn start(mut command: Command, settings: &[(&str, &str)]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let log = std::fs::File::create(data.path().join("log")).unwrap();
        command.env("PLANWRIGHT_DATA", data.path()).env("PLANWRIGHT_TOKEN", TOKEN).envs(settings.iter().copied());
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let log = || std::fs::read_to_string(data.path().join("log")).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}{}", log()));
        let address = ready["address"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        Self { child, data, address }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.data.path().join("log")).unwrap()
    }

    pub(crate) fn at(&self) -> Address {
        Address(self.address)
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// The exit code, once it has ended.
    pub(crate) async fn ended(&mut self) -> i32 {
        let waiting = async {
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status.code().unwrap_or(-1);
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, waiting).await.expect("it ends")
    }

    /// The most memory it ever had.
    pub(crate) fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until one of them has logged this, which it does when the work is over and others may know of that already.
pub(crate) async fn until_logged(servers: &[&Program], event: &str) {
    let looking = async {
        while !servers.iter().any(|server| server.log().contains(event)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, looking).await.unwrap_or_else(|_| panic!("{event} is never logged"));
}

/// Where a server is, or was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl Address {
    pub(crate) async fn get(self, path: &str) -> Answer {
        self.ask("GET", path, None, None).await.expect("it answers")
    }

    pub(crate) async fn post(self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, None, Some(body)).await.expect("it answers")
    }

    /// A request with these headers and without the token.
    pub(crate) async fn post_with(self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let ask = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}content-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.0,
            body.len()
        );
        self.send(&ask).await.expect("it answers")
    }

    pub(crate) async fn open(self, key: &str) {
        self.post("/api/sessions", json!({ "sessionId": key })).await.with(201);
    }

    /// Says something under a name, so that it can be said again. `None` if its outcome is unknown.
    pub(crate) async fn say(self, key: &str, text: &str, name: &str) -> Option<Answer> {
        let path = format!("/api/sessions/{key}/messages");
        self.ask("POST", &path, Some(name), Some(json!({ "text": text }))).await
    }

    pub(crate) async fn client(self) -> Client {
        Client::connect(self.0, &Self::hello()).await.unwrap()
    }

    pub(crate) fn hello() -> Hello {
        Hello::new().bearer(TOKEN)
    }

    /// `None` if the connection broke.
    async fn ask(self, method: &str, path: &str, name: Option<&str>, body: Option<Value>) -> Option<Answer> {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let name = name.map(|name| format!("idempotency-key: {name}\r\n")).unwrap_or_default();
        let ask = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\n{name}connection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.0,
            body.len()
        );
        self.send(&ask).await
    }

    async fn send(self, ask: &str) -> Option<Answer> {
        let asking = async {
            let mut stream = TcpStream::connect(self.0).await.ok()?;
            stream.write_all(ask.as_bytes()).await.ok()?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.ok()?;
            let (head, body) = answer.split_once("\r\n\r\n")?;
            let status = head.split_whitespace().nth(1)?.parse().ok()?;
            Some(Answer { status, body: serde_json::from_str(body).unwrap_or_else(|_| json!(body)) })
        };
        tokio::time::timeout(TIMEOUT, asking).await.expect("an answer, or none")
    }
}
