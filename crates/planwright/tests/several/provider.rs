//! A provider that speaks the chat completions of OpenAI and answers when it is allowed to.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::world::TIMEOUT;

/// A request: what was said last, and how many results it carried for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) phrase: String,
    pub(crate) results: usize,
}

impl Asked {
    /// Whether a document is to be carried out, for the first time or again.
    pub(crate) fn carries_out(&self) -> bool {
        self.phrase.starts_with("[Plan") || self.phrase.starts_with("[Go on with plan")
    }
}

/// What the model does when it is asked to carry out an approved document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// It reports every step.
    Reports,
    /// It asks a question and reports nothing.
    Asks,
    /// It writes a file and reports nothing.
    WritesAFile,
    /// The provider refuses the request with 400.
    IsRefused,
    /// Every answer begins at once, and ends when it is allowed to.
    WritesSlowly,
}

/// The first words of [`Work::WritesSlowly`].
pub(crate) const FIRST_TEXT: &str = "Let me see. ";

#[derive(Debug, Clone)]
pub(crate) struct Provider {
    address: String,
    stage: Arc<Stage>,
}

#[derive(Debug)]
struct Stage {
    work: Work,
    open: watch::Sender<bool>,
    asked: watch::Sender<Vec<Asked>>,
}

impl Provider {
    /// Serves until the test ends.
    pub(crate) async fn start() -> Self {
        Self::working(Work::Reports).await
    }

    pub(crate) async fn working(work: Work) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1/", listener.local_addr().unwrap());
        let stage = Stage { work, open: watch::Sender::new(true), asked: watch::Sender::new(Vec::new()) };
        let stage = Arc::new(stage);
        let serving = Arc::clone(&stage);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let stage = Arc::clone(&serving);
                // The client may be killed at any moment.
                tokio::spawn(async move { drop(answer(stream, &stage).await) });
            }
        });
        Self { address, stage }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// From here on no request is answered.
    pub(crate) fn hold(&self) {
        self.stage.open.send_replace(false);
    }

    /// Every caller is answered, also those who wait.
    pub(crate) fn release(&self) {
        self.stage.open.send_replace(true);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.stage.asked.borrow().clone()
    }

    /// Waits until it was asked like this so many times.
    pub(crate) async fn wait_for(&self, count: usize, matching: impl Fn(&Asked) -> bool) {
        let mut asked = self.stage.asked.subscribe();
        let enough = asked.wait_for(|asked| asked.iter().filter(|one| matching(one)).count() >= count);
        let waited = tokio::time::timeout(TIMEOUT, enough).await.map(|found| found.is_ok());
        assert_eq!(waited, Ok(true), "it was asked only {:?}", self.asked());
    }
}

async fn answer(mut stream: TcpStream, stage: &Stage) -> std::io::Result<()> {
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    let asked = note(&request);
    let delta = reply(&asked, stage.work);
    stage.asked.send_modify(|all| all.push(asked));
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk =
            json!({ "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    if stage.work == Work::WritesSlowly {
        let first = chunk(json!({ "content": FIRST_TEXT }), Value::Null);
        stream.write_all(format!("{}{first}", std::mem::take(&mut head)).as_bytes()).await?;
    }
    let _ = stage.open.subscribe().wait_for(|open| *open).await;
    let Some(delta) = delta else {
        let body = r#"{"error":{"message":"no","type":"invalid_request_error"}}"#;
        let head = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n";
        return stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
    };
    let reason = if delta.get("content").is_some() { "stop" } else { "tool_calls" };
    let body = chunk(delta, Value::Null) + &chunk(json!({}), json!(reason));
    stream.write_all(format!("{head}{body}data: [DONE]\n\n").as_bytes()).await
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Option<Value>> {
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
            return Ok(serde_json::from_slice(&bytes[end + 4..]).ok());
        }
    }
}

fn note(request: &Value) -> Asked {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let phrase = messages[last]["content"].as_str().unwrap_or_default().trim().to_owned();
    Asked { phrase, results: messages[last..].iter().filter(|message| message["role"] == "tool").count() }
}

/// `draft …` leads to a plan of three steps, an approval to its work, `look …` to a look, `write …` to a file, and anything else to an answer.
/// `None` is a refusal.
fn reply(asked: &Asked, work: Work) -> Option<Value> {
    let call = |name: &str, arguments: Value| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "tool_calls": [{ "index": 0, "id": "call_x", "type": "function", "function": function }] })
    };
    let phrase = asked.phrase.as_str();
    Some(match (asked.results, work) {
        (0, _) if phrase.starts_with("draft") => {
            call("plan_set_content", json!({ "plan_markdown": "# Work\n\n- [ ] one\n- [ ] two\n- [ ] three\n" }))
        }
        (0, _) if phrase.starts_with("look") => call("list_files", json!({})),
        (0, _) if phrase.starts_with("write") => call("write_file", json!({ "path": "made.txt", "content": "made" })),
        (done @ 0..3, Work::Reports) if asked.carries_out() => {
            call("plan_progress", json!({ "step": done + 1, "status": "done" }))
        }
        (0, Work::WritesAFile) if asked.carries_out() => {
            call("write_file", json!({ "path": "again.txt", "content": "again" }))
        }
        (_, Work::IsRefused) if asked.carries_out() => return None,
        _ => json!({ "content": format!("done: {}", phrase.lines().next().unwrap_or_default()) }),
    })
}
