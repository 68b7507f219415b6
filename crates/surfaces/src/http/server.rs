//! The server: bound to an address, run until it is told to stop.
//!
//! - `limits`: how much of everything is taken from whoever asks
//! - `accepting`: connections, from the first to the last
//! - `connection`: one of them
//! - `stalling`: a connection that is given up when its client takes nothing any more

mod accepting;
mod connection;
mod limits;
mod stalling;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use planwright_engine::agent::Agent;
use planwright_engine::server_ledger::ServerLedger;
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::access::places::{PlaceError, Places};
use super::access::{Access, keys::Keys};
use super::app::App;
use super::router::router;
use super::token::{Token, TokenError};
use accepting::Accepting;

pub use limits::ServerLimits;

/// What others on the network might guess is no token.
const SHORTEST_FOR_OTHERS: usize = 16;

/// What has been answered may take this long to reach whoever asked, when the grace is over.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct ServerOptions {
    pub agent: Agent,
    pub ledger: Arc<dyn ServerLedger>,
    pub listen: SocketAddr,
    pub token: Token,
    /// Names under which the server is reached besides `localhost` and its own address: `plans.example.org` under any
    /// port, `plans.example.org:8443` under this one.
    pub hosts: Vec<String>,
    /// Web pages of others that may ask, such as `https://dash.example.org`.
    pub origins: Vec<String>,
    pub limits: ServerLimits,
    /// How long requests may take to finish once the server is told to stop.
    pub grace: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "{0} can be reached by others, and there is no token: a token is made first with `planwright token`, or set \
         PLANWRIGHT_TOKEN"
    )]
    NoToken(SocketAddr),
    #[error(
        "{0} can be reached by others, and the token has fewer than {SHORTEST_FOR_OTHERS} characters: \
         `planwright token rotate` makes a better one"
    )]
    ShortToken(SocketAddr),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
}

/// It listens; nobody is answered until it runs.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    access: Arc<Access>,
    limits: ServerLimits,
    grace: Duration,
}

impl Server {
    pub async fn bind(options: ServerOptions) -> Result<Self, ServerError> {
        let ServerOptions { agent, ledger, listen, token, hosts, origins, limits, grace } = options;
        check_token(&token, listen)?;
        let mut places = Places::new(&hosts, &origins)?;
        let failed = |source| ServerError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        places.listen_on(address);
        let app = App::new(agent, ledger, CancellationToken::new());
        app.engine().observe(Arc::new(app.metrics().clone()));
        let access = Arc::new(Access::new(Keys::new(token), places, &limits));
        Ok(Self { listener, address, app, access, limits, grace })
    }

    /// Where it really listens, also when any port was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown` is cancelled. Then nobody new is let in, whoever is there is answered, and after the
    /// grace whatever is left is cut.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), ServerError> {
        let Self { listener, address, app, access, limits, grace } = self;
        tracing::info!(event = "server_started", %address);
        let upkeep = tokio::spawn(access.clone().watch()).abort_handle();
        let measuring = tokio::spawn(app.metrics().clone().tidy()).abort_handle();
        let recovering = tokio::spawn(take_over(app.clone()));
        let service = router(app.clone(), access, limits.websocket.clone());
        let accepting = Accepting::new(service, limits);
        accepting.run(listener, &shutdown).await;

        tracing::info!(event = "server_stopping", %address);
        app.stopping().cancel();
        app.tasks().close();
        let begun = Instant::now();
        // Whoever waits for an answer that the next process gives is told so, also when that takes the whole grace.
        app.agent().drain(grace).await;
        let everybody = async {
            accepting.finished().await;
            app.tasks().wait().await;
            let _ = recovering.await;
        };
        let rest = grace.saturating_sub(begun.elapsed()).max(LAST_ANSWERS.min(grace));
        let left = tokio::time::timeout(rest, everybody).await.is_err();
        if left {
            tracing::warn!(event = "server_cut", connections = accepting.open(), "the grace is over");
            accepting.cut();
        }
        upkeep.abort();
        measuring.abort();
        tracing::info!(event = "server_stopped", %address);
        Ok(())
    }
}

/// What other processes left undone goes on here, and whoever looks at the session sees it.
async fn take_over(app: App) {
    let ledger = app.server_ledger();
    app.agent().take_over(ledger, app.stopping().clone()).await;
}

/// On an address that only this machine reaches a missing token is made; elsewhere somebody has to have made it.
fn check_token(token: &Token, listen: SocketAddr) -> Result<(), ServerError> {
    if listen.ip().to_canonical().is_loopback() {
        token.make_if_missing()?;
        return Ok(());
    }
    match token.read()? {
        None => Err(ServerError::NoToken(listen)),
        Some(token) if token.expose_secret().len() < SHORTEST_FOR_OTHERS => Err(ServerError::ShortToken(listen)),
        Some(_) => Ok(()),
    }
}
