//! A server that runs for a test, and a client for it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::World;

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Running {
    child: Child,
    log: PathBuf,
    /// Kept open, so that the server can print when it stops.
    _output: Option<BufReader<ChildStdout>>,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
    pub(crate) token: String,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A server at any free port that logs into a file.
pub(crate) fn serve(world: &World) -> Command {
    let mut command = world.command();
    command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(log(world));
    command
}

pub(crate) fn log(world: &World) -> File {
    File::options().create(true).append(true).open(world.path("log")).unwrap()
}

pub(crate) fn logged(world: &World) -> String {
    std::fs::read_to_string(world.path("log")).unwrap()
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn start(world: &World) -> Self {
        Self::started(world, serve(world).arg("--json"))
    }

    /// Waits until it says that it is ready.
    pub(crate) fn started(world: &World, command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}{}", logged(world)));
        let address = ready["address"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let token = std::fs::read_to_string(world.path("token")).unwrap_or_default().trim().to_owned();
        Self { child, log: world.path("log"), _output: Some(output), address, token }
    }

    /// For a server whose stdout cannot be read: its log tells where it listens.
    pub(crate) fn from_log(world: &World, command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let started = |line: &str| {
            let line: Value = serde_json::from_str(line).ok()?;
            (line["event"] == "server_started").then(|| line["address"].as_str().unwrap().to_owned())
        };
        let address = loop {
            if let Some(address) = logged(world).lines().find_map(started) {
                break address;
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended: {}", logged(world));
        };
        let token = std::fs::read_to_string(world.path("token")).unwrap().trim().to_owned();
        Self { child, log: world.path("log"), _output: None, address, token }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        ask(&self.address, "GET", path, Some(&self.token), None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        ask(&self.address, "POST", path, Some(&self.token), Some(body))
    }

    /// Sends a request without waiting for its answer. The server may drop a request whose client hung up before it was
    /// read, so the connection is kept until the test knows that it was.
    #[must_use]
    pub(crate) fn begin_to_post(&self, path: &str, body: &Value) -> TcpStream {
        send(&self.address, "POST", path, &bearer(Some(&self.token)), &body.to_string())
    }

    pub(crate) fn without_token(&self, path: &str) -> Answer {
        ask(&self.address, "GET", path, None, None)
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// The exit code, once it has ended.
    #[track_caller]
    pub(crate) fn ended(mut self) -> i32 {
        let status = within("the server never ends", || self.child.try_wait().unwrap());
        status.code().unwrap_or(-1)
    }

    pub(crate) fn stop(self) -> i32 {
        self.signal("TERM");
        self.ended()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("what the server logged:\n{}", std::fs::read_to_string(&self.log).unwrap_or_default());
        }
    }
}

/// The next connection that a listener is offered.
#[track_caller]
pub(crate) fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    within("no connection came", || listener.accept().ok()).0
}

#[track_caller]
fn within<T>(failure: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < TIMEOUT, "{failure}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn ask(address: &str, method: &str, path: &str, token: Option<&str>, body: Option<&Value>) -> Answer {
    request(address, method, path, &bearer(token), &body.map(Value::to_string).unwrap_or_default())
}

fn bearer(token: Option<&str>) -> String {
    token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"))
}

/// With these headers, each with the end of its line.
pub(crate) fn request(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    let mut stream = send(address, method, path, headers, body);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn send(address: &str, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\n{headers}content-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}
