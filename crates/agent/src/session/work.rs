//! What an input is carried out with, and the work that it is while it is carried out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use planwright_core::actor::Actor;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{CommittedRequest, LedgerResult};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Span;

use super::input::{Input, Request};
use super::lease::LeaseKeeper;
use super::outcome::Outcome;
use super::progress::ProgressSender;

/// Carries out inputs.
#[async_trait]
pub(crate) trait InputHandler: Send + Sync + std::fmt::Debug + 'static {
    /// Carries out an input whose turn it is.
    async fn handle(&self, input: Input, context: &InputContext) -> LedgerResult<Outcome>;

    /// Carries out an input that stops `running`, while that still runs.
    async fn interrupt(&self, input: Input, context: &InputContext, running: &Running) -> LedgerResult<Interruption>;
}

/// The result of an input that stops the running work.
#[derive(Debug)]
pub(crate) enum Interruption {
    Finished(Outcome),
    /// The rest of the input goes into the queue, under this name.
    Continues(Box<Input>, Option<RequestId>),
}

/// What an input is carried out with.
#[derive(Debug, Clone)]
pub(crate) struct InputContext {
    pub(crate) request: Request,
    pub(crate) progress: ProgressSender,
    pub(crate) work: Arc<Work>,
}

impl InputContext {
    pub(crate) fn session(&self) -> &SessionIdentity {
        self.request.session()
    }

    /// Every line that is logged while the input is carried out has these fields. An error's level shows it in every log.
    pub(super) fn span(&self) -> Span {
        let request = self.request.id.as_ref().map(RequestId::as_str);
        tracing::error_span!("input", session_identity = %self.session(), request)
    }

    pub(crate) fn by(&self) -> &Actor {
        &self.request.by
    }

    /// The engine under the name of the request, for the one command that carries the input out.
    pub(crate) fn engine(&self, engine: &Engine) -> Engine {
        match &self.request.id {
            Some(id) => engine.as_request(id.clone()),
            None => engine.clone(),
        }
    }

    /// What the request wrote if it was carried out before under the same name.
    pub(crate) async fn find_committed(&self, engine: &Engine) -> LedgerResult<Option<CommittedRequest>> {
        match &self.request.id {
            Some(id) => engine.ledger().find_request(self.session(), id).await,
            None => Ok(None),
        }
    }

    /// The engine under a name derived from the request's, for another command that belongs to the input.
    pub(crate) fn part(&self, engine: &Engine, part: &str) -> Engine {
        match self.request.part(part) {
            Some(id) => engine.as_request(id),
            None => engine.clone(),
        }
    }
}

/// One input at work in a session.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Cancelled to stop it.
    pub(crate) stop: CancellationToken,
    /// The request that stops it, if that has a name. The entry with which the work ends is written under it.
    stopped_by: Mutex<Option<RequestId>>,
    /// Whether it holds the lease of the session and does not only wait for it.
    holds_lease: AtomicBool,
    /// Cancelled when it is over.
    over: CancellationToken,
    /// The plan that it carries out.
    plan: Mutex<Option<PlanId>>,
    pub(crate) leases: LeaseKeeper,
}

impl Work {
    pub(super) fn new(leases: LeaseKeeper) -> Self {
        Self { leases, ..Self::default() }
    }

    /// The work is over when the guard is dropped.
    pub(super) fn over_guard(&self) -> DropGuard {
        self.over.clone().drop_guard()
    }

    /// The name of the request that stopped it, for the first entry that is written because of that.
    pub(crate) fn take_stopped_by(&self) -> Option<RequestId> {
        self.stopped_by.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// It has the lease of the session, to carry out this plan.
    pub(crate) fn holds_lease_for(&self, plan: Option<&PlanId>) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan.cloned();
        self.holds_lease.store(true, Ordering::Release);
    }
}

/// The work that runs in a session while an input arrives that may stop it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Option<Arc<Work>>);

impl Running {
    pub(crate) const NOTHING: Self = Self(None);

    pub(super) fn new(work: Option<&Arc<Work>>) -> Self {
        Self(work.cloned())
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn holds_lease(&self) -> bool {
        self.0.as_ref().is_some_and(|work| work.holds_lease.load(Ordering::Acquire))
    }

    pub(crate) fn carries_out(&self, plan: &PlanId) -> bool {
        let is_it = |work: &Arc<Work>| work.plan.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(plan);
        self.0.as_ref().is_some_and(is_it)
    }

    /// Stops it and waits until it is over.
    pub(crate) async fn stop(&self) {
        self.stop_for(None).await;
    }

    /// Stops the work for a request that may have an id.
    pub(crate) async fn stop_for(&self, request: Option<&RequestId>) {
        if let Some(work) = &self.0 {
            if let Some(request) = request {
                *work.stopped_by.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
            }
            work.stop.cancel();
            work.over.cancelled().await;
        }
    }

    /// Stops the work if it carries out this plan.
    pub(crate) async fn stop_work_on(&self, plan: &PlanId) {
        if self.carries_out(plan) {
            self.stop().await;
        }
    }
}
