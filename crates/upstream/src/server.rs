//! One server: started when it is needed, and started again after it failed, with longer and longer pauses.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StateMutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_core::upstream::ServerReach;
use planwright_engine::backoff::Backoff;
use planwright_engine::upstream::Arguments;
use planwright_engine::upstream::{
    CallObserver, ConnectionState, ResourceUpdate, ToolOffer, UpstreamError, UpstreamRequest, UpstreamResult,
};
use planwright_sandbox::Sandbox;
use serde_json::Value;
use tokio::sync::{Mutex, broadcast};
use tokio::time::{Instant, timeout};

use crate::connection::Connection;
use crate::options::UpstreamServerOptions;
use crate::program_access;

/// The pauses after failures in a row.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(60));
/// A connection that lasted this long was a good one.
const GOOD: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct ServerHandle {
    options: UpstreamServerOptions,
    sandbox: Sandbox,
    /// Held while the server is being started, so that it is started once.
    starting: Mutex<()>,
    state: StateMutex<State>,
    updates: broadcast::Sender<ResourceUpdate>,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// Failures in a row.
    failures: u32,
    failed: Option<Failed>,
    is_stopped: bool,
    /// The addresses of resources whose changes are wanted, of every connection.
    subscribed: BTreeSet<String>,
    /// The lines of the log that are wanted, of every connection.
    log_level: Option<String>,
}

#[derive(Debug, Clone)]
struct Failed {
    reason: String,
    retry_at: Instant,
}

impl ServerHandle {
    pub(crate) fn new(
        options: UpstreamServerOptions,
        sandbox: Sandbox,
        updates: broadcast::Sender<ResourceUpdate>,
    ) -> Self {
        Self { options, sandbox, starting: Mutex::default(), state: StateMutex::default(), updates }
    }

    pub(crate) fn reach(&self) -> ServerReach {
        program_access::describe(&self.options, &self.sandbox)
    }

    pub(crate) fn state(&self) -> ConnectionState {
        let state = self.lock();
        match (&state.connection, &state.failed) {
            (Some(connection), _) if connection.is_open() => ConnectionState::Connected,
            (_, Some(Failed { reason, retry_at })) => ConnectionState::Failed {
                reason: reason.clone(),
                retry_in: retry_at.saturating_duration_since(Instant::now()),
            },
            (_, None) => ConnectionState::NotStarted,
        }
    }

    pub(crate) fn has_news(&self) -> bool {
        self.lock().connection.as_ref().is_some_and(|connection| connection.is_open() && connection.has_news())
    }

    pub(crate) async fn offer(&self) -> Result<Arc<ToolOffer>, UpstreamError> {
        let connection = self.connect().await?;
        let listed = timeout(self.options.start_time, connection.offer()).await;
        let failure = match listed {
            Ok(Ok(offer)) => return Ok(offer),
            Ok(Err(reason)) => reason,
            Err(_) => format!("it did not list its tools within {} seconds", self.options.start_time.as_secs()),
        };
        self.give_up(&connection, &failure);
        Err(self.not_reached(failure))
    }

    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Arguments,
        observer: &dyn CallObserver,
    ) -> Result<UpstreamResult, UpstreamError> {
        let connection = self.connect().await?;
        connection.call(&self.options, tool, arguments, observer).await
    }

    pub(crate) async fn read_resource(&self, uri: &str, observer: &dyn CallObserver) -> Result<Value, UpstreamError> {
        let connection = self.connect().await?;
        connection.read_resource(&self.options, uri, observer).await
    }

    pub(crate) async fn get_prompt(
        &self,
        name: &str,
        arguments: Option<Arguments>,
        observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        let connection = self.connect().await?;
        connection.get_prompt(&self.options, name, arguments, observer).await
    }

    pub(crate) async fn request(&self, request: UpstreamRequest) -> Result<Value, UpstreamError> {
        if let UpstreamRequest::SetLogLevel { level } = &request {
            self.lock().log_level = Some(level.clone());
            // A server that is not connected is told when it is.
            if self.open_connection().is_none() {
                return Ok(Value::Null);
            }
        }
        let connection = self.connect().await?;
        if let UpstreamRequest::Unsubscribe { uri } = &request {
            self.lock().subscribed.remove(uri);
        }
        let subscribed = match &request {
            UpstreamRequest::Subscribe { uri } => Some(uri.clone()),
            UpstreamRequest::ListResources
            | UpstreamRequest::ListResourceTemplates
            | UpstreamRequest::ListPrompts
            | UpstreamRequest::Unsubscribe { .. }
            | UpstreamRequest::SetLogLevel { .. }
            | UpstreamRequest::Complete(_) => None,
        };
        let asked = timeout(self.options.call_time, connection.request(&self.options, request)).await;
        let answer = asked.map_err(|_| UpstreamError::TimedOut {
            server: self.options.name.clone(),
            after: self.options.call_time,
        })??;
        self.lock().subscribed.extend(subscribed);
        Ok(answer)
    }

    pub(crate) async fn stop(&self) {
        let connection = {
            let mut state = self.lock();
            state.is_stopped = true;
            state.connection.take()
        };
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// The open connection, or a new one.
    async fn connect(&self) -> Result<Arc<Connection>, UpstreamError> {
        if let Some(open) = self.open_connection() {
            return Ok(open);
        }
        let _starting = self.starting.lock().await;
        if let Some(open) = self.open_connection() {
            return Ok(open);
        }
        self.note_end().await;
        self.check_pause()?;
        let starting = timeout(self.options.start_time, async {
            let connection = Connection::open(&self.options, &self.sandbox, &self.updates).await?;
            self.set_log_level_again(&connection).await;
            self.subscribe_again(&connection).await;
            Ok(connection)
        });
        let reason = match starting.await {
            Ok(Ok(connection)) => return self.keep(Arc::new(connection)),
            Ok(Err(reason)) => reason,
            Err(_) => format!("it did not start within {} seconds", self.options.start_time.as_secs()),
        };
        self.note_failure(reason.clone(), BACKOFF.after(1));
        Err(self.not_reached(reason))
    }

    /// A new connection knows nothing of the subscriptions of the one before.
    async fn subscribe_again(&self, connection: &Connection) {
        let subscribed = self.lock().subscribed.clone();
        for uri in subscribed {
            if let Err(error) = connection.request(&self.options, UpstreamRequest::Subscribe { uri }).await {
                tracing::warn!(event = "upstream_not_subscribed", server = %self.options.name, %error);
            }
        }
    }

    async fn set_log_level_again(&self, connection: &Connection) {
        let Some(level) = self.lock().log_level.clone() else { return };
        if let Err(error) = connection.request(&self.options, UpstreamRequest::SetLogLevel { level }).await {
            tracing::debug!(event = "upstream_log_level_not_set", server = %self.options.name, %error);
        }
    }

    fn open_connection(&self) -> Option<Arc<Connection>> {
        self.lock().connection.as_ref().filter(|connection| connection.is_open()).cloned()
    }

    fn keep(&self, connection: Arc<Connection>) -> Result<Arc<Connection>, UpstreamError> {
        let mut state = self.lock();
        if state.is_stopped {
            return Err(self.not_reached("Planwright is stopping".to_owned()));
        }
        state.connection = Some(Arc::clone(&connection));
        state.failed = None;
        Ok(connection)
    }

    /// A connection that broke soon and did nothing useful counts as a failure. After the first one the server is started
    /// again at once.
    async fn note_end(&self) {
        let Some(ended) = self.lock().connection.take() else { return };
        let reason = ended.end_reason().await;
        if ended.was_useful() || ended.age() > GOOD {
            let mut state = self.lock();
            state.failures = 0;
            state.failed = None;
        } else {
            self.note_failure(reason, Duration::ZERO);
        }
    }

    /// `first` is the pause if it did not fail before.
    fn note_failure(&self, reason: String, first: Duration) {
        let mut state = self.lock();
        tracing::warn!(event = "upstream_failed", server = %self.options.name, %reason);
        state.failures = state.failures.saturating_add(1);
        let pause = if state.failures == 1 { first } else { BACKOFF.after(state.failures) };
        state.failed = Some(Failed { reason, retry_at: Instant::now() + pause });
    }

    fn check_pause(&self) -> Result<(), UpstreamError> {
        let state = self.lock();
        if state.is_stopped {
            return Err(self.not_reached("Planwright is stopping".to_owned()));
        }
        let Some(Failed { reason, retry_at }) = &state.failed else { return Ok(()) };
        let retry_in = retry_at.saturating_duration_since(Instant::now());
        if retry_in.is_zero() {
            return Ok(());
        }
        Err(UpstreamError::BackingOff { server: self.options.name.clone(), retry_in, reason: reason.clone() })
    }

    /// Ends a connection that does not work.
    fn give_up(&self, connection: &Arc<Connection>, reason: &str) {
        connection.kill();
        let mut state = self.lock();
        if state.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            state.connection = None;
            drop(state);
            self.note_failure(reason.to_owned(), BACKOFF.after(1));
        }
    }

    fn not_reached(&self, reason: String) -> UpstreamError {
        UpstreamError::NotReached { server: self.options.name.clone(), reason }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
