//! The queue and the task of each active session in this process. A session without a task is idle.
//!
//! Inputs take effect in the order of arrival. Those that stop what runs act at once, beside it. All of them run inside the
//! task of their session, so nothing outlives it. Inputs that only read, and those that need no turn and are checked by the
//! ledger alone, wait for nothing and have tasks of their own.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::LedgerError;
use tokio::sync::{broadcast, mpsc};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::input::{Input, Priority, Request};
use super::lease::LeaseKeeper;
use super::progress::{Observers, Progress, ProgressSender, ProgressStream};
use super::work::{InputContext, InputHandler, Interruption, Running, Work};
use crate::catch_panic::catch_panic;

/// Inputs that wait in this process at one time. More are refused before they take memory; the clients send them again.
const MAX_WAITING: usize = 10_000;

#[derive(Debug)]
pub(crate) struct SessionQueues {
    engine: Engine,
    handler: Arc<dyn InputHandler>,
    queues: Mutex<HashMap<SessionIdentity, InputSender>>,
    observers: Observers,
    tasks: TaskTracker,
    waiting: Arc<AtomicUsize>,
}

/// An input on its way into its session.
#[derive(Debug)]
struct QueuedInput {
    input: Input,
    request: Request,
    progress: ProgressSender,
    _place: Option<WaitingPlace>,
}

/// Counts an input until its work begins.
#[derive(Debug)]
struct WaitingPlace(Arc<AtomicUsize>);

impl WaitingPlace {
    /// `None` if too many wait already.
    fn take(waiting: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(waiting));
        // A place that is dropped is counted back.
        (waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING).then_some(place)
    }
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// In boxes, because a channel makes room for many at once and most have one.
type InputSender = mpsc::UnboundedSender<Box<QueuedInput>>;
type InputReceiver = mpsc::UnboundedReceiver<Box<QueuedInput>>;

impl SessionQueues {
    pub(crate) fn new(engine: &Engine, handler: Arc<dyn InputHandler>) -> Arc<Self> {
        let (queues, observers, tasks, waiting) = Default::default();
        Arc::new(Self { engine: engine.clone(), handler, queues, observers, tasks, waiting })
    }

    /// Puts the input into the queue of its session, or carries it out at once if it waits for nothing. When this returns, the
    /// input has its place in the order.
    pub(crate) fn submit(self: &Arc<Self>, input: Input, request: Request) -> ProgressStream {
        let request = Request { received_at: Some(self.engine.now()), ..request };
        let session = request.session().clone();
        let (progress, stream) = ProgressSender::new(session.clone(), self.observers.clone());
        let place = match input.priority() {
            Priority::Reads | Priority::Beside => {
                let queued = QueuedInput { input, request, progress, _place: None };
                self.tasks.spawn(Arc::clone(self).carry_out_beside(queued));
                return stream;
            }
            Priority::Waits => match WaitingPlace::take(&self.waiting) {
                Some(place) => Some(place),
                None => {
                    progress.finish(Err(too_many_wait().into()));
                    return stream;
                }
            },
            // What stops work makes room.
            Priority::Stops | Priority::MayStop => None,
        };
        let queued = QueuedInput { input, request, progress, _place: place };
        let queued = Box::new(queued);
        let mut queues = self.queues();
        let sent = match queues.get(&session) {
            Some(queue) => queue.send(queued),
            None => Err(mpsc::error::SendError(queued)),
        };
        let Err(mpsc::error::SendError(queued)) = sent else { return stream };
        // There is no task, or its runtime was shut down.
        let (queue, inputs) = mpsc::unbounded_channel();
        let _ = queue.send(queued);
        queues.insert(session.clone(), queue);
        drop(queues);
        let task = SessionTask::new(session, inputs, Arc::clone(self));
        self.tasks.spawn(task.run());
        stream
    }

    /// Carries out an input that waits for nothing and takes no lease.
    async fn carry_out_beside(self: Arc<Self>, arrived: QueuedInput) {
        let QueuedInput { input, request, progress, .. } = arrived;
        let context = InputContext { request, progress, work: Arc::default() };
        let outcome = catch_panic("an input", self.handler.handle(input, &context).instrument(context.span())).await;
        context.progress.finish(outcome.unwrap_or_else(|| Err(panicked())));
    }

    pub(crate) fn is_active(&self, session: &SessionIdentity) -> bool {
        self.queues().get(session).is_some_and(|queue| !queue.is_closed())
    }

    pub(crate) fn observe(&self, session: &SessionIdentity) -> broadcast::Receiver<Progress> {
        self.observers.subscribe(session)
    }

    /// Removes an idle task. Gives an input back that arrived in the meantime; the task is not idle then.
    fn deregister(&self, session: &SessionIdentity, inputs: &mut InputReceiver) -> Option<Box<QueuedInput>> {
        // Inputs are sent under this lock, so none arrives between the look and the removal.
        let mut queues = self.queues();
        let arrived = inputs.try_recv().ok();
        if arrived.is_none() {
            queues.remove(session);
        }
        arrived
    }

    /// Waits until no session has a task.
    pub(crate) async fn all_idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<SessionIdentity, InputSender>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task of one session: a queue of inputs, the work at its head, and the lease that the work holds.
struct SessionTask {
    session: SessionIdentity,
    inputs: InputReceiver,
    sessions: Arc<SessionQueues>,
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
    fn new(session: SessionIdentity, inputs: InputReceiver, sessions: Arc<SessionQueues>) -> Self {
        let (leases, queue, interrupting) = Default::default();
        Self { session, inputs, sessions, leases, queue, current: None, interrupting, arrivals: 0 }
    }

    /// Runs until the session is idle.
    async fn run(mut self) {
        let (leases, sessions) = (self.leases.clone(), Arc::clone(&self.sessions));
        let mut renewing = std::pin::pin!(leases.run(sessions.engine.ledger().as_ref()));
        loop {
            self.begin_next();
            if self.current.is_none() && self.interrupting.is_empty() {
                match sessions.deregister(&self.session, &mut self.inputs) {
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
            // Inputs that wait for nothing do not come here.
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
        let Some(QueuedInput { input, request, progress, .. }) = self.queue.pop_front().and_then(|first| first.input)
        else {
            return;
        };
        let work = Arc::new(Work::new(self.leases.clone()));
        let context = InputContext { request, progress, work: Arc::clone(&work) };
        let (handler, over) = (Arc::clone(&self.sessions.handler), work.over_guard());
        let span = context.span();
        let carried_out = async move {
            let outcome = catch_panic("an input", handler.handle(input, &context)).await;
            drop(over);
            context.progress.finish(outcome.unwrap_or_else(|| Err(panicked())));
        };
        self.current = Some((work, Box::pin(carried_out.instrument(span))));
    }

    fn interrupt(&self, arrival: u64, arrived: QueuedInput) -> BoxFuture<'static, Settled> {
        let QueuedInput { input, request, progress, .. } = arrived;
        let work = Arc::new(Work::new(self.leases.clone()));
        let context = InputContext { request, progress, work };
        let running = Running::new(self.current.as_ref().map(|(work, _)| work));
        let (handler, span) = (Arc::clone(&self.sessions.handler), context.span());
        let carried_out = async move {
            let interruption = catch_panic("an input", handler.interrupt(input, &context, &running)).await;
            let InputContext { request, progress, .. } = context;
            let rest = match interruption.unwrap_or_else(|| Err(panicked())) {
                Ok(Interruption::Continues(input, id)) => {
                    Some(QueuedInput { input: *input, request: request.named(id), progress, _place: None })
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

async fn finished(current: &mut Option<(Arc<Work>, BoxFuture<'static, ()>)>) {
    match current {
        Some((_, work)) => work.await,
        None => std::future::pending().await,
    }
}

fn too_many_wait() -> Refusal {
    let message =
        format!("{MAX_WAITING} messages and commands wait in this server already. Nothing was stored; send it again.");
    Refusal::new(RefusalCode::Unavailable, message)
}

fn panicked() -> LedgerError {
    LedgerError::Internal("the input was interrupted; see the log".to_owned())
}
