//! Requests over REST and WebSocket that may break off at any point.

use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::history::Attempt;

/// All servers share it, as they do where several stand behind one name.
pub(crate) const TOKEN: &str = "a-token-that-all-servers-share";
/// Clients do not wait longer for an answer, because the server may be frozen.
const WAIT: Duration = Duration::from_secs(6);

pub(crate) async fn get(server: SocketAddr, path: &str) -> Attempt {
    send(server, "GET", path, "", None).await
}

pub(crate) async fn post(server: SocketAddr, path: &str, key: &str, body: &Value) -> Attempt {
    send(server, "POST", path, &format!("idempotency-key: {key}\r\n"), Some(body)).await
}

async fn send(server: SocketAddr, method: &str, path: &str, headers: &str, body: Option<&Value>) -> Attempt {
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer {TOKEN}\r\n{headers}connection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let exchange = async {
        let mut stream = TcpStream::connect(server).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split_whitespace().nth(1)?.parse().ok()?;
        // An answer that was cut off in the middle is none.
        let body = serde_json::from_str(body).ok()?;
        Some(Attempt::Answered { status, body })
    };
    tokio::time::timeout(WAIT, exchange).await.ok().flatten().unwrap_or(Attempt::Unanswered)
}

pub(crate) type Socket = WebSocketStream<TcpStream>;

pub(crate) async fn connect(server: SocketAddr) -> Option<Socket> {
    let connecting = async {
        let stream = TcpStream::connect(server).await.ok()?;
        let mut request = format!("ws://{server}/ws").into_client_request().ok()?;
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().ok()?);
        Some(client_async(request, stream).await.ok()?.0)
    };
    tokio::time::timeout(WAIT, connecting).await.ok().flatten()
}

pub(crate) async fn send_frame(socket: &mut Socket, frame: &Value) -> Option<()> {
    socket.send(Message::text(frame.to_string())).await.ok()
}

/// The next frame; `None` if the connection ends or nothing comes for too long.
pub(crate) async fn next_frame(socket: &mut Socket) -> Option<Value> {
    let next = async {
        loop {
            match socket.next().await?.ok()? {
                Message::Text(text) => return serde_json::from_str(&text).ok(),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    };
    tokio::time::timeout(WAIT, next).await.ok().flatten()
}

/// Sends a message over a WebSocket of its own and waits for the answer.
pub(crate) async fn say(server: SocketAddr, session: &str, text: &str, key: &str) -> Attempt {
    let exchange = async {
        let mut socket = connect(server).await?;
        let frame = json!({ "type": "message", "sessionId": session, "text": text, "id": 1, "key": key });
        send_frame(&mut socket, &frame).await?;
        loop {
            let frame = next_frame(&mut socket).await?;
            match frame["type"].as_str()? {
                "answer" => return Some(Attempt::Answered { status: 200, body: frame }),
                "problem" => {
                    let status = frame["status"].as_u64().and_then(|status| u16::try_from(status).ok());
                    return Some(Attempt::Answered { status: status.unwrap_or(500), body: frame });
                }
                _ => {}
            }
        }
    };
    tokio::time::timeout(WAIT, exchange).await.ok().flatten().unwrap_or(Attempt::Unanswered)
}
