//! A client of `/ws` that looks at everything it is told.

use std::net::SocketAddr;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::world::TIMEOUT;

/// What is sent with the request for a WebSocket.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hello(Vec<(&'static str, String)>);

impl Hello {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.push((name, value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }
}

/// A refusal instead of a WebSocket.
#[derive(Debug)]
pub(crate) struct TurnedAway {
    pub(crate) status: u16,
    pub(crate) problem: Value,
}

pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
}

impl Client {
    pub(crate) async fn connect(to: SocketAddr, hello: &Hello) -> Result<Self, TurnedAway> {
        let socket = TcpSocket::new_v4().unwrap();
        Self::connect_on(socket, to, hello).await
    }

    pub(crate) async fn connect_on(socket: TcpSocket, to: SocketAddr, hello: &Hello) -> Result<Self, TurnedAway> {
        let stream = timeout(TIMEOUT, socket.connect(to)).await.unwrap().unwrap();
        let mut request = format!("ws://{to}/ws").into_client_request().unwrap();
        for (name, value) in &hello.0 {
            match *name {
                // There is one already, and only one is sent.
                "host" => drop(request.headers_mut().insert("host", value.parse().unwrap())),
                name => drop(request.headers_mut().append(name, value.parse().unwrap())),
            }
        }
        match timeout(TIMEOUT, client_async(request, stream)).await.expect("it answers") {
            Ok((socket, _)) => Ok(Self { socket }),
            Err(Error::Http(answer)) => {
                let problem = serde_json::from_slice(answer.body().as_deref().unwrap_or_default()).unwrap_or_default();
                Err(TurnedAway { status: answer.status().as_u16(), problem })
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_message(Message::text(frame.to_string())).await.unwrap();
    }

    pub(crate) async fn send_message(&mut self, message: Message) -> Result<(), Error> {
        timeout(TIMEOUT, self.socket.send(message)).await.expect("the server reads")
    }

    /// Follows a session and gives the entry it is followed from.
    pub(crate) async fn subscribe(&mut self, key: &str, after: Option<u64>) -> u64 {
        self.send(json!({ "type": "subscribe", "sessionId": key, "after": after })).await;
        let frame = self.next().await;
        assert_eq!((&frame["type"], &frame["sessionId"]), (&json!("subscribed"), &json!(key)), "{frame}");
        frame["seq"].as_u64().unwrap()
    }

    /// The next frame, which has what every frame has.
    pub(crate) async fn next(&mut self) -> Value {
        let frame = self.try_next().await.unwrap_or_else(|end| panic!("the connection ended with {end:?}"));
        assert!(frame["type"].is_string() && frame["seq"].is_u64(), "{frame}");
        let about = frame.get("sessionId").unwrap_or_else(|| panic!("about which session? {frame}"));
        assert!(
            about.is_string()
                || matches!(frame["type"].as_str(), Some("pong" | "problem" | "watching" | "unwatched" | "changed")),
            "{frame}"
        );
        frame
    }

    /// The next frame of this kind; others are passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    /// The next entry of a journal; what is told on the way is passed over.
    pub(crate) async fn entry(&mut self) -> (u64, Value) {
        loop {
            let mut frame = self.next().await;
            if frame.get("event").is_some() {
                return (frame["seq"].as_u64().unwrap(), frame["event"].take());
            }
        }
    }

    /// The next frame, or the code that the connection ended with; `None` if it was just cut.
    pub(crate) async fn try_next(&mut self) -> Result<Value, Option<u16>> {
        let next = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(close))) => return Err(close.map(|close| close.code.into())),
                    Some(Ok(other)) => panic!("{other:?}"),
                    Some(Err(_)) | None => return Err(None),
                }
            }
        };
        timeout(TIMEOUT, next).await.expect("something comes")
    }

    /// The code that the connection ends with, whatever is told before.
    pub(crate) async fn closed(&mut self) -> Option<u16> {
        loop {
            if let Err(code) = self.try_next().await {
                return code;
            }
        }
    }

    /// That the connection is open and the server answers on it. A pong may overtake journal entries.
    pub(crate) async fn is_alive(&mut self) {
        self.send(json!({ "type": "ping" })).await;
        let frame = self.next().await;
        assert_eq!(frame["type"], "pong", "{frame}");
    }
}
