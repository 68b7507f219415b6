//! A server on a store of its own, at a port of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use planwright_core::gateway::GatewayOptions;
use planwright_engine::ledger::Ledger;
use planwright_llm::rehearsal::RehearsalModel;
use planwright_surfaces::http::{Server, ServerError, ServerLimits, ServerOptions, Token};
use planwright_surfaces::mcp::{PersonCommands, PlanStart};
use planwright_test_support::agent::AgentSetup;
use secrecy::ExposeSecret;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, Ask};
use crate::store::{ControlledLedger, StoreControl};

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct World {
    folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// The secret of the link that the server shows when it starts.
    pub(crate) start_link: String,
    pub(crate) control: StoreControl,
    pub(crate) shutdown: CancellationToken,
    running: JoinHandle<Result<(), ServerError>>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn limited(change: impl FnOnce(&mut ServerLimits)) -> Self {
        Self::with(|options| change(&mut options.limits)).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let control = StoreControl::default();
        let mut options = options(&folder, control.clone()).await;
        change(&mut options);
        let token = options.token.clone();
        let server = Server::bind(options).await.unwrap();
        let token = token.read().unwrap().unwrap().expose_secret().to_owned();
        let (address, shutdown) = (server.address(), CancellationToken::new());
        let start_link = server.start_link().unwrap();
        let running = tokio::spawn(server.run(shutdown.clone()));
        Self { folder, address, token, start_link, control, shutdown, running }
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A request that is meant for this server, without the token.
    pub(crate) fn ask(&self, what: &str) -> Ask {
        Ask::new(what).header("Host", &self.address.to_string())
    }

    /// A request with the token.
    pub(crate) fn allowed(&self, what: &str) -> Ask {
        self.ask(what).bearer(&self.token)
    }

    pub(crate) async fn send(&self, ask: Ask) -> Answer {
        ask.send(self.address).await
    }

    /// The cookie a browser gets for the token, as it sends it back.
    pub(crate) async fn cookie(&self) -> String {
        let answer = self.send(self.ask("POST /api/login").json(&format!(r#"{{"token":"{}"}}"#, self.token))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    pub(crate) fn database(&self) -> PathBuf {
        AgentSetup::new(self.folder.path()).database()
    }

    pub(crate) fn revoked_cookies_file(&self) -> PathBuf {
        self.folder.path().join("revoked-cookies")
    }

    /// When the server has ended by itself.
    pub(crate) async fn ended(self) {
        tokio::time::timeout(TIMEOUT, self.running).await.expect("it ends").unwrap().unwrap();
    }
}

/// What a server starts with: a store and a token in this folder, on any port of this machine.
pub(crate) async fn options(folder: &TempDir, control: StoreControl) -> ServerOptions {
    let setup = AgentSetup::new(folder.path());
    let store = setup.ledger().await;
    let ledger: Arc<dyn Ledger> = ControlledLedger::new(store, control);
    let agent = setup.agent(Arc::clone(&ledger), RehearsalModel::default());
    ServerOptions {
        agent,
        ledger,
        listen: "127.0.0.1:0".parse().unwrap(),
        token: Token::File(folder.path().join("token")),
        revoked_cookies: Some(folder.path().join("revoked-cookies")),
        hosts: Vec::new(),
        origins: Vec::new(),
        public_url: None,
        limits: ServerLimits::default(),
        health: Vec::new(),
        grace: TIMEOUT,
        agents: None,
        plan_start: PlanStart::Ensure(None),
        gateway_options: GatewayOptions::default(),
        commands: PersonCommands::default(),
        updates: None,
    }
}
