//! Sentences about a browser, which is connected to the real server by a WebSocket.

use std::time::Duration;

use cucumber::{given, then};
use futures::{SinkExt as _, StreamExt as _};
use planwright_core::gateway::GatewayOptions;
use planwright_core::session::SessionIdentity;
use planwright_surfaces::http::{Server, ServerLimits, ServerOptions, Token};
use planwright_surfaces::mcp::{PersonCommands, PlanStart};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// Longer than anything takes, unless it is for ever.
const LONG: Duration = Duration::from_secs(20);

pub(crate) struct Browser {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    frames: Vec<Value>,
    shutdown: CancellationToken,
    _folder: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Browser {
    async fn next(&mut self) -> Value {
        loop {
            let message = timeout(LONG, self.socket.next()).await.expect("a frame").expect("connected").expect("read");
            if let Message::Text(text) = message {
                let frame: Value = serde_json::from_str(&text).expect("JSON");
                self.frames.push(frame.clone());
                return frame;
            }
        }
    }
}

#[given(expr = "a browser is connected, which follows {string} and {string}")]
async fn connected(world: &mut World, one: String, other: String) {
    let folder = tempfile::tempdir().expect("a folder");
    let token = Token::File(folder.path().join("token"));
    let server = Server::bind(ServerOptions {
        agent: world.talk.agent(&world.engine),
        ledger: world.store.ledger().await,
        listen: "127.0.0.1:0".parse().expect("an address"),
        token: token.clone(),
        revoked_cookies: None,
        hosts: Vec::new(),
        origins: Vec::new(),
        public_url: None,
        limits: ServerLimits::default(),
        health: Vec::new(),
        grace: LONG,
        agents: None,
        plan_start: PlanStart::Ensure(None),
        gateway_options: GatewayOptions::default(),
        commands: PersonCommands::default(),
        updates: None,
    });
    let server = server.await.expect("bound");
    let secret = token.read().expect("readable").expect("a token").expose_secret().to_owned();
    let (address, shutdown) = (server.address(), CancellationToken::new());
    tokio::spawn(server.run(shutdown.clone()));
    let mut request = format!("ws://{address}/ws").into_client_request().expect("a request");
    let bearer = tungstenite::http::HeaderValue::from_str(&format!("Bearer {secret}")).expect("a header");
    request.headers_mut().insert("authorization", bearer);
    let (socket, _) = timeout(LONG, connect_async(request)).await.expect("in time").expect("connected");
    let mut browser = Browser { socket, frames: Vec::new(), shutdown, _folder: folder };
    for session in [one, other] {
        let session: SessionIdentity = session.parse().expect("a session");
        let (key, channel) = (session.conversation.as_str(), session.channel.as_str());
        let subscribe = json!({ "type": "subscribe", "sessionId": key, "channel": channel });
        browser.socket.send(Message::text(subscribe.to_string())).await.expect("sent");
        while browser.next().await["type"] != "subscribed" {}
    }
    // From here on the frames are about what happens.
    browser.frames.clear();
    world.browser = Some(browser);
}

#[then(expr = "the browser gets the frames {string}, {string}, {string}, {string} and {string} of {string}")]
async fn gets(
    world: &mut World,
    first: String,
    second: String,
    third: String,
    fourth: String,
    last: String,
    session: String,
) {
    let session: SessionIdentity = session.parse().expect("a session");
    let browser = world.browser.as_mut().expect("a browser");
    for kind in [first, second, third, fourth, last] {
        loop {
            let frame = browser.next().await;
            if frame["type"] == *kind {
                assert_eq!(frame["sessionId"], session.conversation.as_str(), "{frame}");
                assert_eq!(frame["channel"], session.channel.as_str(), "{frame}");
                break;
            }
        }
    }
}

#[then(expr = "every frame that the browser got has a sessionId, and none is of {string}")]
fn has_session(world: &mut World, other: String) {
    let other: SessionIdentity = other.parse().expect("a session");
    let frames = &world.browser.as_ref().expect("a browser").frames;
    assert!(frames.len() >= 5, "{frames:#?}");
    for frame in frames {
        let session = frame["sessionId"].as_str().unwrap_or_else(|| panic!("{frame}"));
        assert_ne!(session, other.conversation.as_str(), "{frame}");
        assert!(frame["seq"].is_u64(), "{frame}");
    }
}
