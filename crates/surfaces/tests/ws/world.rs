//! A server on a store of its own, with a model that answers by script.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::gateway::GatewayOptions;
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_surfaces::http::{Server, ServerError, ServerLimits, ServerOptions, Token, WebSocketLimits};
use planwright_surfaces::mcp::{PersonCommands, PlanStart};
use planwright_test_support::agent::AgentSetup;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Hello};
use crate::stores::Store;

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const SESSION: &str = "session-one";
pub(crate) const OTHER: &str = "session-two";

pub(crate) struct World {
    folder: TempDir,
    pub(crate) store: Store,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) engine: Engine,
    pub(crate) model: ScriptedModel,
    pub(crate) shutdown: CancellationToken,
    running: JoinHandle<Result<(), ServerError>>,
    markers: AtomicUsize,
}

impl World {
    /// Two sessions that have begun, and a model that says the same to everything.
    pub(crate) async fn new() -> Self {
        Self::limited(|_| {}).await
    }

    pub(crate) async fn limited(change: impl FnOnce(&mut WebSocketLimits)) -> Self {
        Self::with(Store::sqlite(), ScriptedModel::new([]).otherwise(Reply::text("Good morning.")), change).await
    }

    pub(crate) async fn answering(model: ScriptedModel) -> Self {
        Self::with(Store::sqlite(), model, |_| {}).await
    }

    pub(crate) async fn with(store: Store, model: ScriptedModel, change: impl FnOnce(&mut WebSocketLimits)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = store.ledger().await;
        let agent = AgentSetup::new(folder.path()).owned_by("the server").agent(ledger.clone(), model.clone());
        let engine = agent.engine().clone();
        let mut limits = ServerLimits { requests_per_second: 0, ..ServerLimits::default() };
        change(&mut limits.websocket);
        let token = Token::File(folder.path().join("token"));
        let server = Server::bind(ServerOptions {
            agent,
            ledger,
            listen: "127.0.0.1:0".parse().unwrap(),
            token: token.clone(),
            revoked_cookies: None,
            hosts: Vec::new(),
            origins: vec!["https://dash.example.org".to_owned()],
            public_url: None,
            limits,
            health: Vec::new(),
            grace: TIMEOUT,
            agents: None,
            plan_start: PlanStart::Ensure(None),
            gateway_options: GatewayOptions::default(),
            commands: PersonCommands::default(),
            updates: None,
        });
        let server = server.await.unwrap();
        let token = token.read().unwrap().unwrap().expose_secret().to_owned();
        let (address, shutdown) = (server.address(), CancellationToken::new());
        let running = tokio::spawn(server.run(shutdown.clone()));
        let world =
            Self { folder, store, address, token, engine, model, shutdown, running, markers: AtomicUsize::new(0) };
        for key in [SESSION, OTHER] {
            world.open(key).await;
        }
        world
    }

    pub(crate) async fn open(&self, key: &str) {
        self.engine.sessions().open(&session(key), &person()).await.unwrap();
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    /// A client with the token.
    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address, &Hello::new().bearer(&self.token)).await.unwrap()
    }

    /// A client that follows a session from here on.
    pub(crate) async fn follower(&self, key: &str, after: impl Into<Option<u64>>) -> Client {
        let mut client = self.client().await;
        client.subscribe(key, after.into()).await;
        client
    }

    /// Asks a place of the server that is not a WebSocket.
    pub(crate) async fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let ask = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Asks until so many clients are connected.
    pub(crate) async fn until_connected(&self, count: usize) {
        let line = format!("websocket_connections {count}\n");
        let asking = async { while !self.get("/metrics").await.contains(&line) {} };
        tokio::time::timeout(TIMEOUT, asking).await.unwrap_or_else(|_| panic!("there are never {count} clients"));
    }

    /// The cookie a browser gets for the token, as it sends it back.
    pub(crate) async fn cookie(&self) -> String {
        let body = json!({ "token": self.token }).to_string();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let ask = format!(
            "POST /api/login HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let set =
            answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap_or_else(|| panic!("{answer}"));
        set.split(';').next().unwrap().to_owned()
    }

    /// The journal of a session as frames ought to tell it.
    pub(crate) async fn journal(&self, key: &str) -> Vec<(u64, Value)> {
        let sealed = self.engine.ledger().journal(&session(key), 0, 100_000).await.unwrap();
        let entry = |body: &str| serde_json::from_str::<Value>(body).unwrap()["event"].clone();
        sealed.iter().map(|sealed| (sealed.seq, entry(&sealed.body))).collect()
    }

    /// The number of a session that only marks a point in time.
    pub(crate) fn next_marker(&self) -> usize {
        self.markers.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) async fn head(&self, key: &str) -> u64 {
        self.engine.ledger().session(&session(key)).await.unwrap().unwrap().head.seq
    }

    /// When the server has ended by itself.
    pub(crate) async fn ended(self) {
        tokio::time::timeout(TIMEOUT, self.running).await.expect("it ends").unwrap().unwrap();
    }
}

/// Turns plan work on and off, so many times: an entry or more each.
pub(crate) async fn write(engine: &Engine, key: &str, times: usize) {
    for _ in 0..times {
        engine.sessions().enable_plan_mode(&session(key), &person(), PlanStyle::Document).await.unwrap();
        engine.sessions().disable_plan_mode(&session(key), &person()).await.unwrap();
    }
}

pub(crate) fn session(key: &str) -> SessionIdentity {
    format!("web:{key}").parse().unwrap()
}

pub(crate) fn person() -> Actor {
    Actor::person("ada", "test")
}
