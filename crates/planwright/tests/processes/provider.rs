//! A provider that speaks the chat completions of OpenAI and answers by what it is asked: `do 7` leads to a file, a plan,
//! a look and the answer `done 7`. From `do 1000` on it leads to a first file, the file `shared.txt` and the answer. It notes
//! how far every request had come.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// A request: for which message, and how many results of its calls it carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) message: u32,
    pub(crate) results: usize,
}

#[derive(Debug, Default)]
struct Notes {
    asked: Mutex<Vec<Asked>>,
    more: Condvar,
    /// Requests with one result wait for their answer.
    held: Mutex<bool>,
    released: Condvar,
}

#[derive(Debug, Clone)]
pub(crate) struct Provider {
    address: String,
    notes: Arc<Notes>,
}

impl Provider {
    /// Serves until the test ends.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1/", listener.local_addr().unwrap());
        let notes = Arc::new(Notes::default());
        let noting = Arc::clone(&notes);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noting = Arc::clone(&noting);
                // The client may be killed at any moment.
                std::thread::spawn(move || drop(answer(stream, &noting)));
            }
        });
        Self { address, notes }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.notes.asked.lock().unwrap().clone()
    }

    /// Has the request after the first call wait for its answer.
    pub(crate) fn hold_second_call(&self) {
        *self.notes.held.lock().unwrap() = true;
    }

    pub(crate) fn release_second_call(&self) {
        *self.notes.held.lock().unwrap() = false;
        self.notes.released.notify_all();
    }

    /// Waits until there were so many requests in all, and the last one is for a later message than `past`.
    pub(crate) fn wait_for(&self, count: usize, past: u32) {
        let asked = self.notes.asked.lock().unwrap();
        let limit = Duration::from_secs(120);
        let is_early =
            |asked: &mut Vec<Asked>| asked.len() < count || asked.last().is_some_and(|last| last.message <= past);
        let (asked, waited) = self.notes.more.wait_timeout_while(asked, limit, is_early).unwrap();
        assert!(!waited.timed_out(), "{} of {count} requests came, the last one {:?}", asked.len(), asked.last());
    }
}

fn answer(stream: TcpStream, notes: &Notes) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).map_err(std::io::Error::other)?;
    let asked = note(&request);
    let pieces = pieces(asked);
    notes.asked.lock().unwrap().push(asked);
    notes.more.notify_all();
    if asked.results == 1 {
        drop(notes.released.wait_while(notes.held.lock().unwrap(), |held| *held).unwrap());
    }
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for piece in pieces {
        stream.write_all(format!("data: {piece}\n\n").as_bytes())?;
    }
    stream.write_all(b"data: [DONE]\n\n")
}

fn note(request: &Value) -> Asked {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let text = messages[last]["content"].as_str().unwrap_or_default();
    let message = text.trim().strip_prefix("do ").and_then(|number| number.parse().ok()).unwrap_or(0);
    Asked { message, results: messages[last..].iter().filter(|message| message["role"] == "tool").count() }
}

/// From this message on all of them write the same file.
const SHARED: u32 = 1000;

fn pieces(asked: Asked) -> Vec<Value> {
    let number = asked.message;
    let call = |name: &str, arguments: Value| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "tool_calls": [{ "index": 0, "id": "call_x", "type": "function", "function": function }] })
    };
    let (delta, reason) = match asked.results {
        0 if number >= SHARED => (call("write_file", json!({ "path": "first.txt", "content": "1" })), "tool_calls"),
        1 if number >= SHARED => {
            (call("write_file", json!({ "path": "shared.txt", "content": number.to_string() })), "tool_calls")
        }
        _ if number >= SHARED => (json!({ "content": format!("done {number}") }), "stop"),
        0 => (
            call("write_file", json!({ "path": format!("{number}.txt"), "content": number.to_string() })),
            "tool_calls",
        ),
        1 => (call("plan_set_content", json!({ "plan_markdown": format!("# Plan {number}") })), "tool_calls"),
        2 => (call("list_files", json!({})), "tool_calls"),
        _ => (json!({ "content": format!("done {number}") }), "stop"),
    };
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "test",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    vec![chunk(delta, Value::Null), chunk(json!({}), json!(reason))]
}
