//! The task of one session: a queue of inputs, the work at its head, and the lease that the work holds.
//!
//! Inputs take effect in the order of arrival. Those that stop what runs act at once, beside it. All of them run inside this
//! one task, so nothing outlives it. Inputs that only read, and those that need no turn and are checked by the ledger alone,
//! wait for nothing and have tasks of their own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use planwright_core::actor::Actor;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{CommittedRequest, Ledger, LedgerError, LedgerResult};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use super::input::{Input, Priority, Request};
use super::lease::LeaseKeeper;
use super::outcome::Outcome;
use super::progress::ProgressSender;
use super::registry::SessionRegistry;
use crate::catch_panic::catch_panic;

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

/// An input on its way into its session.
#[derive(Debug)]
pub(super) struct QueuedInput {
    pub(crate) input: Input,
    pub(crate) request: Request,
    pub(crate) progress: ProgressSender,
}

/// In boxes, because a channel makes room for many at once and most have one.
pub(super) type InputSender = mpsc::UnboundedSender<Box<QueuedInput>>;
pub(super) type InputReceiver = mpsc::UnboundedReceiver<Box<QueuedInput>>;

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
    fn span(&self) -> Span {
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
    fn new(leases: LeaseKeeper) -> Self {
        Self { leases, ..Self::default() }
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

#[derive(Debug, Clone)]
pub(crate) struct TaskOptions {
    pub(crate) ledger: Arc<dyn Ledger>,
}

pub(super) struct SessionTask {
    session: SessionIdentity,
    inputs: InputReceiver,
    registry: SessionRegistry,
    handler: Arc<dyn InputHandler>,
    options: TaskOptions,
    leases: LeaseKeeper,
    queue: VecDeque<Queued>,
    /// The input that is carried out now.
    current: Option<(Arc<Work>, BoxFuture<'static, ()>)>,
    /// Inputs that act on it at once.
    interrupting: FuturesUnordered<BoxFuture<'static, Settled>>,
    arrivals: u64,
}

/// A position in the queue.
struct Queued {
    arrival: u64,
    /// `None` while the input acts at once; inputs that arrived after it wait for that.
    input: Option<QueuedInput>,
}

/// An input that acted at once is over, or takes its place in the queue.
struct Settled {
    arrival: u64,
    rest: Option<QueuedInput>,
}

impl SessionTask {
    pub(super) fn new(
        session: SessionIdentity,
        inputs: InputReceiver,
        registry: SessionRegistry,
        handler: Arc<dyn InputHandler>,
        options: TaskOptions,
    ) -> Self {
        let (leases, queue, interrupting) = Default::default();
        Self { session, inputs, registry, handler, options, leases, queue, current: None, interrupting, arrivals: 0 }
    }

    /// Runs until the session is idle.
    pub(super) async fn run(mut self) {
        let (leases, options) = (self.leases.clone(), self.options.clone());
        let mut renewing = std::pin::pin!(leases.run(options.ledger.as_ref()));
        loop {
            self.begin_next();
            if self.current.is_none() && self.interrupting.is_empty() {
                match self.registry.deregister(&self.session, &mut self.inputs) {
                    Some(arrived) => self.accept(*arrived),
                    None => return,
                }
                continue;
            }
            tokio::select! {
                biased;
                Some(arrived) = self.inputs.recv() => self.accept(*arrived),
                () = finished(&mut self.current) => self.current = None,
                Some(settled) = self.interrupting.next() => self.settle(settled),
                () = &mut renewing => {}
            }
        }
    }

    fn accept(&mut self, arrived: QueuedInput) {
        self.arrivals += 1;
        let arrival = self.arrivals;
        let is_idle = self.current.is_none() && self.queue.is_empty();
        match arrived.input.priority() {
            Priority::MayStop if is_idle => self.queue.push_back(Queued { arrival, input: Some(arrived) }),
            Priority::Stops | Priority::MayStop => {
                self.queue.push_back(Queued { arrival, input: None });
                self.interrupting.push(self.interrupt(arrival, arrived));
            }
            // The registry begins inputs that wait for nothing before they come here.
            Priority::Waits | Priority::Reads | Priority::Beside => {
                self.queue.push_back(Queued { arrival, input: Some(arrived) });
            }
        }
    }

    /// Begins the first input in the queue, unless one is at work.
    fn begin_next(&mut self) {
        if self.current.is_some() || self.queue.front().is_none_or(|first| first.input.is_none()) {
            return;
        }
        let Some(QueuedInput { input, request, progress }) = self.queue.pop_front().and_then(|first| first.input)
        else {
            return;
        };
        let work = Arc::new(Work::new(self.leases.clone()));
        let context = InputContext { request, progress, work: Arc::clone(&work) };
        let (handler, over) = (Arc::clone(&self.handler), work.over.clone().drop_guard());
        let span = context.span();
        let carried_out = async move {
            let outcome = catch_panic("an input", handler.handle(input, &context)).await;
            drop(over);
            context.progress.finish(outcome.unwrap_or_else(|| Err(panicked())));
        };
        self.current = Some((work, Box::pin(carried_out.instrument(span))));
    }

    fn interrupt(&self, arrival: u64, arrived: QueuedInput) -> BoxFuture<'static, Settled> {
        let QueuedInput { input, request, progress } = arrived;
        let work = Arc::new(Work::new(self.leases.clone()));
        let context = InputContext { request, progress, work };
        let running = Running(self.current.as_ref().map(|(work, _)| Arc::clone(work)));
        let (handler, span) = (Arc::clone(&self.handler), context.span());
        let carried_out = async move {
            let interruption = catch_panic("an input", handler.interrupt(input, &context, &running)).await;
            let InputContext { request, progress, .. } = context;
            let rest = match interruption.unwrap_or_else(|| Err(panicked())) {
                Ok(Interruption::Continues(input, id)) => {
                    Some(QueuedInput { input: *input, request: request.named(id), progress })
                }
                Ok(Interruption::Finished(outcome)) => {
                    progress.finish(Ok(outcome));
                    None
                }
                Err(error) => {
                    progress.finish(Err(error));
                    None
                }
            };
            Settled { arrival, rest }
        };
        Box::pin(carried_out.instrument(span))
    }

    /// An input that acted at once leaves the queue, or keeps its position with the rest of its work.
    fn settle(&mut self, settled: Settled) {
        let Some(place) = self.queue.iter().position(|queued| queued.arrival == settled.arrival) else { return };
        match settled.rest {
            Some(rest) => self.queue[place].input = Some(rest),
            None => drop(self.queue.remove(place)),
        }
    }
}

/// Carries out an input that waits for nothing and takes no lease.
pub(super) async fn carry_out_beside(arrived: QueuedInput, handler: Arc<dyn InputHandler>) {
    let QueuedInput { input, request, progress } = arrived;
    let context = InputContext { request, progress, work: Arc::default() };
    let outcome = catch_panic("an input", handler.handle(input, &context).instrument(context.span())).await;
    context.progress.finish(outcome.unwrap_or_else(|| Err(panicked())));
}

async fn finished(current: &mut Option<(Arc<Work>, BoxFuture<'static, ()>)>) {
    match current {
        Some((_, work)) => work.await,
        None => std::future::pending().await,
    }
}

fn panicked() -> LedgerError {
    LedgerError::Internal("the input was interrupted; see the log".to_owned())
}
