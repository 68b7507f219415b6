//! Requests byte by byte, right ones and wrong ones.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::world::TIMEOUT;

/// A request as it goes over the wire.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    start: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Ask {
    /// `GET /metrics`
    pub(crate) fn new(what: &str) -> Self {
        Self { start: format!("{what} HTTP/1.1"), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        self.header_bytes(name, value.as_bytes())
    }

    pub(crate) fn header_bytes(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn cookie(self, cookie: &str) -> Self {
        self.header("Cookie", cookie)
    }

    pub(crate) fn json(self, body: &str) -> Self {
        self.header("Content-Type", "application/json").body(body.as_bytes())
    }

    pub(crate) fn form(self, body: &str) -> Self {
        self.header("Content-Type", "application/x-www-form-urlencoded").body(body.as_bytes())
    }

    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        body.clone_into(&mut self.body);
        self.header("Content-Length", &body.len().to_string())
    }

    /// Everything but the body.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.start).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: ").as_bytes());
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// On a connection of its own, which the server closes after its answer.
    pub(crate) async fn send(self, to: SocketAddr) -> Answer {
        let ask = self.header("Connection", "close");
        let mut stream = TcpStream::connect(to).await.unwrap();
        write(&mut stream, &ask.bytes()).await;
        rest(&mut stream).await.expect("there is an answer")
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("this is no answer: {text:?}"));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every header of this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// That it is a refusal as programs expect it, with this status and code.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["code"], code, "{self:?}");
        assert_eq!(problem["status"], status, "{self:?}");
        assert!(problem["detail"].as_str().is_some_and(|expected| !expected.is_empty()), "{self:?}");
        assert_eq!(self.header("www-authenticate").is_some(), status == 401, "{self:?}");
    }
}

pub(crate) async fn write(stream: &mut TcpStream, bytes: &[u8]) {
    timeout(TIMEOUT, stream.write_all(bytes)).await.expect("the server reads").unwrap();
}

/// Whatever comes until the server closes the connection; `None` if that is nothing.
pub(crate) async fn rest(stream: &mut TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    // A connection that is cut off has said what it has said.
    let _ = timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await.expect("the server closes");
    (!bytes.is_empty()).then(|| Answer::parse(&bytes))
}

/// One answer of a connection that stays open.
pub(crate) async fn next(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    loop {
        let mut more = [0; 4096];
        let read = timeout(TIMEOUT, stream.read(&mut more)).await.expect("the server answers").unwrap();
        assert!(read > 0, "the server closed the connection after {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&more[..read]);
        if !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
            continue;
        }
        let answer = Answer::parse(&bytes);
        let length: usize = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        if answer.body.len() >= length {
            return answer;
        }
    }
}
