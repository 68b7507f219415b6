//! A model provider in this process that speaks like OpenAI and does what a test tells it to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// How one request is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Text(String),
    Call {
        preface: &'static str,
        tool: &'static str,
        arguments: Value,
    },
    /// Says this much and then nothing more, until the caller leaves.
    Hold(&'static str),
    /// A reply that is sent once the test releases it.
    Held(Box<Reply>),
    Status(u16, &'static str),
    /// Repeats a word until so many bytes were sent or the caller leaves.
    Endless(&'static str, usize),
}

pub(crate) struct Provider {
    pub(crate) address: String,
    requests: Receiver<Value>,
    releases: Sender<()>,
}

impl Provider {
    /// Answers the first request with the first reply, and so on; the last one is repeated.
    pub(crate) fn start(replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1/", listener.local_addr().unwrap());
        let (to, requests) = channel();
        let (releases, released) = channel();
        let released = Arc::new(Mutex::new(released));
        let replies = Arc::new(Mutex::new(replies.to_vec()));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (replies, to, released) = (Arc::clone(&replies), to.clone(), Arc::clone(&released));
                std::thread::spawn(move || serve(&stream.unwrap(), &replies, &to, &released));
            }
        });
        Self { address, requests, releases }
    }

    /// Lets the next reply go that is held.
    pub(crate) fn release(&self) {
        self.releases.send(()).unwrap();
    }

    /// Waits for the next request.
    pub(crate) fn asked(&self) -> Value {
        self.requests.recv_timeout(std::time::Duration::from_secs(60)).expect("a request")
    }

    pub(crate) fn variables(&self) -> [(&str, &str); 2] {
        [("OPENAI_BASE_URL", &self.address), ("PLANWRIGHT_MODEL", "openai:tester")]
    }
}

/// What a person said last, as it was sent.
pub(crate) fn last_message(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap_or_default().to_owned()
}

fn serve(mut stream: &TcpStream, replies: &Mutex<Vec<Reply>>, to: &Sender<Value>, released: &Mutex<Receiver<()>>) {
    let Some(request) = read(stream) else { return };
    let reply = {
        let mut replies = replies.lock().unwrap();
        if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
    };
    let reply = match reply {
        Reply::Held(reply) => {
            // A test that has ended releases nothing.
            if released.lock().unwrap().recv().is_err() {
                return;
            }
            *reply
        }
        reply => reply,
    };
    let mut write = |text: String| stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
    // A client that left does not read the rest.
    let _ = match reply {
        Reply::Text(text) => {
            let pieces: String =
                text.split_inclusive(' ').map(|piece| chunk(&json!({ "content": piece }), None)).collect();
            write(head + &pieces + &chunk(&json!({}), Some("stop")) + "data: [DONE]\n\n")
        }
        Reply::Call { preface, tool, arguments } => {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            let call = json!([{ "index": 0, "id": "call_1", "type": "function", "function": function }]);
            let delta = json!({ "content": preface, "tool_calls": call });
            write(head + &chunk(&delta, None) + &chunk(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n")
        }
        Reply::Endless(word, bytes) => {
            let pieces = chunk(&json!({ "content": word.repeat(1000) }), None);
            let times = bytes / pieces.len();
            write(head).and_then(|()| (0..times).try_for_each(|_| write(pieces.clone())))
        }
        Reply::Held(_) => unreachable!("it was released"),
        Reply::Hold(preface) => write(head + &chunk(&json!({ "content": preface }), None)),
        Reply::Status(status, body) => write(format!(
            "HTTP/1.1 {status} Trouble\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )),
    };
    let _ = to.send(request);
    // The caller ends a reply that is held back by leaving.
    let _ = (&mut stream).read(&mut [0]);
}

/// A request to the model. One for the list of models is answered at once.
fn read(mut stream: &TcpStream) -> Option<Value> {
    const MODELS: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{\"data\":[]}";
    let mut reader = BufReader::new(stream);
    let (mut length, mut is_list) = (0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        is_list |= line.starts_with("GET ");
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    if is_list {
        let _ = stream.write_all(MODELS.as_bytes());
        return None;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk =
        json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tester", "choices": [choice] });
    format!("data: {chunk}\n\n")
}
