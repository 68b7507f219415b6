//! The state of every handler.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_agent::Agent;
use planwright_core::actor::Actor;
use planwright_core::presence::Presence;
use planwright_engine::Engine;
use planwright_engine::feed::Feed;
use planwright_engine::ledger::Ledger;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::access::client::Client;
use super::idempotency::InFlight;
use super::metrics::Metrics;
use super::plan_answers::PlanAnswers;
use super::problem::ApiResult;

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct App {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    agent: Agent,
    ledger: Arc<dyn Ledger>,
    feed: Feed,
    in_flight: InFlight,
    plan_answers: PlanAnswers,
    metrics: Metrics,
    tasks: TaskTracker,
    stopping: CancellationToken,
    public_url: Option<String>,
    started_at: Timestamp,
}

impl App {
    pub(crate) fn new(
        agent: Agent,
        ledger: Arc<dyn Ledger>,
        stopping: CancellationToken,
        public_url: Option<String>,
    ) -> Self {
        let feed = Feed::start(Arc::clone(&ledger));
        let started_at = agent.engine().now();
        let (in_flight, plan_answers, metrics, tasks) = Default::default();
        Self {
            parts: Arc::new(Parts {
                agent,
                ledger,
                feed,
                in_flight,
                plan_answers,
                metrics,
                tasks,
                stopping,
                public_url,
                started_at,
            }),
        }
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.parts.agent
    }

    pub(super) fn plan_answers(&self) -> &PlanAnswers {
        &self.parts.plan_answers
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.parts.agent.engine()
    }

    pub(crate) fn ledger(&self) -> &dyn Ledger {
        self.parts.ledger.as_ref()
    }

    pub(crate) fn feed(&self) -> &Feed {
        &self.parts.feed
    }

    /// Requests with a key that are being carried out in this process.
    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.parts.in_flight
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    /// Work that outlives its request, and WebSockets. A server that stops waits for it during its grace period.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.parts.tasks
    }

    /// Cancelled when the server stops: long-lived connections end then.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.parts.stopping
    }

    /// The address that links to this server begin with.
    pub(crate) fn public_url(&self) -> Option<&str> {
        self.parts.public_url.as_deref()
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.parts.started_at
    }

    /// A client with the token decides as a person.
    pub(crate) fn person(&self) -> Actor {
        Actor::person("person", "web").recognised(Presence::Token)
    }

    /// How a client is recognised that has not unlocked a key: by the link that its browser was signed in with, or by the
    /// token.
    pub(crate) async fn recognise(&self, client: &Client) -> ApiResult<Presence> {
        match &client.browser {
            Some(browser) if self.engine().approvals().is_signed_in(browser).await? => Ok(Presence::Browser),
            Some(_) | None => Ok(Presence::Token),
        }
    }
}
