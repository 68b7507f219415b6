//! A model provider with the chat completions of OpenAI. It notes each request with the process that sent it, answers after
//! a short wait, and sometimes fails the first attempt of a request.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::script::{self, Marker, Reply};
use crate::seed::Random;

/// One request for a model's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelCall {
    /// The server process, as `SERVER-START`.
    pub(crate) process: String,
    /// `None` if the text that began the turn has no marker.
    pub(crate) marker: Option<Marker>,
    /// What began the turn, and its place in the conversation.
    pub(crate) text: String,
    pub(crate) place: usize,
    /// Tool results of the turn so far.
    pub(crate) results: u32,
    /// The provider failed it on purpose, so that it has to be sent again.
    pub(crate) failed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Provider {
    address: String,
    calls: Arc<Mutex<Vec<ModelCall>>>,
}

#[derive(Debug)]
struct Answering {
    seed: u64,
    calls: Arc<Mutex<Vec<ModelCall>>>,
    failed: Mutex<BTreeSet<(String, usize, u32)>>,
}

impl Provider {
    pub(crate) async fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let answering = Arc::new(Answering { seed, calls: Arc::clone(&calls), failed: Mutex::default() });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answering = Arc::clone(&answering);
                // The process that asks may be killed at any moment.
                tokio::spawn(async move { drop(answering.serve(stream).await) });
            }
        });
        Self { address, calls }
    }

    /// Each process has an address of its own, which tells who asks.
    pub(crate) fn address_for(&self, process: &str) -> String {
        format!("http://{}/{process}/v1/", self.address)
    }

    pub(crate) fn calls(&self) -> Vec<ModelCall> {
        self.calls.lock().unwrap().clone()
    }
}

impl Answering {
    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some((path, request)) = read(&mut stream).await? else { return Ok(()) };
        let mut call = note(&path, &request);
        let mut random = Random::new(self.seed, (&call.text, call.place, call.results));
        let wait = Duration::from_millis(random.between(5, 150));
        let name = (call.text.clone(), call.place, call.results);
        call.failed = random.one_in(25) && self.failed.lock().unwrap().insert(name);
        let cut = random.one_in(2);
        self.calls.lock().unwrap().push(call.clone());
        tokio::time::sleep(wait).await;
        match (&call.marker, call.failed, cut) {
            (Some(_), true, false) => stream.write_all(SERVER_ERROR.as_bytes()).await,
            (Some(marker), true, true) => {
                let whole = completion(&script::reply(&call.text, marker, call.results));
                stream.write_all(&whole.as_bytes()[..whole.len() / 2]).await
            }
            (Some(marker), false, _) => {
                stream.write_all(completion(&script::reply(&call.text, marker, call.results)).as_bytes()).await
            }
            (None, ..) => stream.write_all(completion(&Reply::Words("a summary".to_owned())).as_bytes()).await,
        }
    }
}

const SERVER_ERROR: &str = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// The path and the body of a request; `None` if the connection ends before it is whole.
async fn read(stream: &mut TcpStream) -> std::io::Result<Option<(String, Value)>> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
        let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap_or(0));
        if bytes.len() >= end + 4 + length {
            let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
            return Ok(serde_json::from_slice(&bytes[end + 4..]).ok().map(|body| (path, body)));
        }
    }
}

fn note(path: &str, request: &Value) -> ModelCall {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let place = messages.iter().rposition(|message| message["role"] == "user").unwrap_or_default();
    let text =
        messages.get(place).and_then(|message| message["content"].as_str()).unwrap_or_default().trim().to_owned();
    let results = messages.iter().skip(place).filter(|message| message["role"] == "tool").count();
    ModelCall {
        process: path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned(),
        marker: Marker::find(&text),
        text,
        place,
        results: results as u32,
        failed: false,
    }
}

fn completion(reply: &Reply) -> String {
    let (delta, reason) = match reply {
        Reply::Words(expected) => (json!({ "content": expected }), "stop"),
        Reply::Calls(calls) => {
            let call = |(index, (name, arguments)): (usize, &(&str, Value))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function })
            };
            (json!({ "tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>() }), "tool_calls")
        }
    };
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk =
            json!({ "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}{}{}data: [DONE]\n\n", chunk(delta, Value::Null), chunk(json!({}), json!(reason)))
}
