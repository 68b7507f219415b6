//! The model that the demonstration plays for Planwright's own agent: a server on this machine that speaks like OpenAI and answers by
//! script. It keeps one answer back, so that the process which waits for it can be killed in the middle.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::failure::Failure;

/// The files that the plan's steps write, in order.
pub(super) const FILES: [&str; 3] = ["one.txt", "two.txt", "three.txt"];
/// How the request for the plan begins.
pub(super) const REQUEST: &str = "Write three files";
/// The answer that is kept back the first time, by the outcomes before it: the first step is done, and the second file is written.
const KEPT_BACK: usize = 3;

/// What a step is reported with.
pub(super) fn evidence(file: &str) -> String {
    format!("{file} is written")
}

#[derive(Debug)]
pub(super) struct PlayedModel {
    pub(super) address: String,
    state: Arc<Mutex<ModelState>>,
}

#[derive(Debug, Default)]
struct ModelState {
    /// The files that a call was asked for, once for each call.
    written: Vec<String>,
    /// Whether a process waits for the answer that is kept back.
    is_waited_for: bool,
}

impl PlayedModel {
    pub(super) fn start() -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::unavailable(format!("this machine has no loopback address: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = format!("http://{}/v1", listener.local_addr().map_err(failed)?);
        let state = Arc::<Mutex<ModelState>>::default();
        let shared = Arc::clone(&state);
        // It ends with the program.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &state));
            }
        });
        Ok(Self { address, state })
    }

    pub(super) fn is_waited_for(&self) -> bool {
        lock(&self.state).is_waited_for
    }

    /// The files that a call was asked for, once for each call.
    pub(super) fn written(&self) -> Vec<String> {
        lock(&self.state).written.clone()
    }
}

fn lock(state: &Mutex<ModelState>) -> MutexGuard<'_, ModelState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the model answers.
enum PlayedReply {
    Text(&'static str),
    Call(&'static str, Value),
    KeptBack,
}

fn serve(mut stream: &TcpStream, state: &Mutex<ModelState>) {
    let Some(request) = read(stream) else { return };
    let reply = answer(&request, &mut lock(state));
    let mut text = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
    match reply {
        PlayedReply::KeptBack => {
            // The caller ends it by leaving.
            let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
            lock(state).is_waited_for = true;
            let _ = stream.read(&mut [0]);
            return;
        }
        PlayedReply::Text(said) => {
            text.push_str(&chunk(&json!({ "content": said }), None));
            text.push_str(&chunk(&json!({}), Some("stop")));
        }
        PlayedReply::Call(tool, arguments) => {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            let call = json!([{ "index": 0, "id": "call_1", "type": "function", "function": function }]);
            text.push_str(&chunk(&json!({ "tool_calls": call }), None));
            text.push_str(&chunk(&json!({}), Some("tool_calls")));
        }
    }
    text.push_str("data: [DONE]\n\n");
    // A process that was killed does not read the rest.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// The next action follows from what the person said last and from how many calls were made since.
fn answer(request: &Value, state: &mut ModelState) -> PlayedReply {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let asked = messages.iter().rposition(|message| message["role"] == "user");
    let since = asked.map_or(messages, |asked| &messages[asked..]);
    let outcomes = since.iter().filter(|message| message["role"] == "tool").count();
    let asks_for_plan =
        since.first().and_then(|asked| asked["content"].as_str()).is_some_and(|text| text.starts_with(REQUEST));
    if asks_for_plan {
        return match outcomes {
            0 => PlayedReply::Call("plan_set_content", json!({ "plan_markdown": plan() })),
            _ => PlayedReply::Text("The plan is ready."),
        };
    }
    if outcomes == KEPT_BACK && !state.is_waited_for {
        return PlayedReply::KeptBack;
    }
    let Some(file) = FILES.get(outcomes / 2) else { return PlayedReply::Text("All three files are written.") };
    if outcomes % 2 == 1 {
        let step = json!({ "step": outcomes / 2 + 1, "status": "done", "evidence": evidence(file) });
        return PlayedReply::Call("plan_progress", step);
    }
    state.written.push((*file).to_owned());
    PlayedReply::Call("write_file", json!({ "path": file, "content": format!("{file}\n") }))
}

fn plan() -> String {
    let steps: String = FILES.iter().map(|file| format!("- [ ] write {file}\n")).collect();
    format!("# {REQUEST}\n\n{steps}")
}

/// The body of a request.
fn read(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk =
        json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "demo", "choices": [choice] });
    format!("data: {chunk}\n\n")
}
