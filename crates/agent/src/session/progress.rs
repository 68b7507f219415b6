//! What happens while an input is carried out: the stream that its submitter reads, and the observers of its session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_core::ids::TurnId;
use planwright_core::plan::Plan;
use planwright_core::plan::execution::StepStatus;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::ToolStatus;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::outcome::{Outcome, TurnOutcome};

/// The number of progress messages that an observer may be behind before it misses some.
const OBSERVER_BACKLOG: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another process works on this session; the message waits until it is done.
    WaitingForOthers,
    /// The message is on disk.
    Accepted(TurnId),
    /// An interrupted turn is resumed.
    Resumed(TurnId),
    /// An interrupted turn is over, and the message that waited for it begins.
    Finished(Box<TurnOutcome>),
    ModelCalled,
    Text(String),
    /// The text so far is discarded; the model is asked again after `wait`.
    Again {
        why: String,
        wait: Duration,
    },
    /// The reply is complete; `calls` tools follow.
    Replied {
        calls: usize,
    },
    ToolStarted {
        name: String,
        detail: String,
    },
    /// What a command wrote since the last piece. A person watches it; it is neither whole nor stored.
    ToolOutput {
        name: String,
        text: String,
    },
    ToolEnded {
        name: String,
        status: ToolStatus,
        detail: String,
        took: Duration,
    },
    StepStarted {
        position: usize,
        total: usize,
        about: String,
    },
    StepEnded {
        position: usize,
        total: usize,
        about: String,
        status: StepStatus,
        note: Option<String>,
        took: Duration,
    },
    /// Something the person should read at once, in Markdown.
    Said(String),
    Compacting,
    Compacted {
        messages: u32,
    },
}

/// A decision of a person that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    Plan(DecidedPlan),
    /// An answer to what the agent asks: what the person reads about it, in Markdown.
    Ask(String),
}

/// A decision about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedPlan {
    /// The plan after the decision; for a revision, the plan that the agent works on now.
    pub plan: Arc<Plan>,
    /// Why this process does not carry the plan out, if it does not.
    pub left: Option<String>,
}

/// One item of a [`ProgressStream`].
#[derive(Debug)]
pub enum ProgressUpdate {
    Progress(Progress),
    /// The last item.
    Outcome(LedgerResult<Outcome>),
}

/// The progress of one input, which ends in one outcome. Dropping the stream does not cancel the input.
#[derive(Debug)]
pub struct ProgressStream {
    /// In boxes, because a channel makes room for many at once and most inputs have one.
    updates: mpsc::UnboundedReceiver<Box<ProgressUpdate>>,
    only_outcome: Arc<AtomicBool>,
    decision: oneshot::Receiver<Decided>,
}

impl ProgressStream {
    /// The next item. After the outcome, and if the process broke off, it is an error.
    pub async fn next(&mut self) -> ProgressUpdate {
        let broke_off = || LedgerError::Internal("the input was abandoned; see the log".to_owned());
        self.updates.recv().await.map_or_else(|| ProgressUpdate::Outcome(Err(broke_off())), |update| *update)
    }

    /// Waits until the decision of the input is on disk. The work that it leads to continues afterwards. An input that ends
    /// without a decision gives its outcome.
    pub async fn decision(mut self) -> LedgerResult<Result<Decided, Outcome>> {
        match (&mut self.decision).await {
            Ok(decided) => Ok(Ok(decided)),
            Err(_) => self.outcome().await.map(Err),
        }
    }

    /// The decision that is on disk by now.
    pub fn take_decision(&mut self) -> Option<Decided> {
        self.decision.try_recv().ok()
    }

    /// Waits for the outcome and skips the progress.
    pub async fn outcome(mut self) -> LedgerResult<Outcome> {
        // Each update wakes the task that waits here.
        self.only_outcome.store(true, Ordering::Relaxed);
        loop {
            if let ProgressUpdate::Outcome(outcome) = self.next().await {
                return outcome;
            }
        }
    }
}

/// Where the progress of one input goes: to its stream, and to the observers of its session.
#[derive(Debug, Clone)]
pub(crate) struct ProgressSender {
    session: SessionIdentity,
    updates: mpsc::UnboundedSender<Box<ProgressUpdate>>,
    /// Whether the submitter skips the progress.
    only_outcome: Arc<AtomicBool>,
    /// Taken by the first decision, and by the end of the input.
    decision: Arc<Mutex<Option<oneshot::Sender<Decided>>>>,
    observers: Observers,
}

impl ProgressSender {
    pub(crate) fn new(session: SessionIdentity, observers: Observers) -> (Self, ProgressStream) {
        let (updates, receiver) = mpsc::unbounded_channel();
        let (decided, decision) = oneshot::channel();
        let only_outcome = Arc::<AtomicBool>::default();
        let stream = ProgressStream { updates: receiver, only_outcome: Arc::clone(&only_outcome), decision };
        (Self { session, updates, only_outcome, decision: Arc::new(Mutex::new(Some(decided))), observers }, stream)
    }

    /// The decision of the input about a plan is on disk.
    pub(crate) fn decide(&self, plan: &Arc<Plan>, left: Option<String>) {
        self.send_decision(Decided::Plan(DecidedPlan { plan: Arc::clone(plan), left }));
    }

    /// The answer to what the agent asks is on disk. The person reads the message about it at once.
    pub(crate) fn answer(&self, message: &str) {
        self.send_decision(Decided::Ask(message.to_owned()));
        self.send(Progress::Said(message.to_owned()));
    }

    fn send_decision(&self, decided: Decided) {
        if let Some(decision) = self.take_decision() {
            let _ = decision.send(decided);
        }
    }

    fn take_decision(&self) -> Option<oneshot::Sender<Decided>> {
        self.decision.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn send(&self, progress: Progress) {
        self.observers.notify(&self.session, &progress);
        if self.only_outcome.load(Ordering::Relaxed) {
            return;
        }
        // The stream may have been dropped.
        let _ = self.updates.send(Box::new(ProgressUpdate::Progress(progress)));
    }

    pub(crate) fn finish(self, outcome: LedgerResult<Outcome>) {
        let sent = self.updates.send(Box::new(ProgressUpdate::Outcome(outcome)));
        drop(self.take_decision());
        if let Err(mpsc::error::SendError(lost)) = sent
            && let ProgressUpdate::Outcome(Err(error)) = *lost
        {
            tracing::warn!(session_identity = %self.session, event = "input_failed", %error);
        }
    }
}

/// The observers of each session in this process. Progress is not stored; the journal has the results.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observers {
    senders: Arc<Mutex<HashMap<SessionIdentity, broadcast::Sender<Progress>>>>,
}

impl Observers {
    pub(crate) fn subscribe(&self, session: &SessionIdentity) -> broadcast::Receiver<Progress> {
        let mut senders = self.senders();
        // Channels without a receiver are removed now and then.
        if senders.len() >= 64 && senders.len().is_power_of_two() {
            senders.retain(|_, sender| sender.receiver_count() > 0);
        }
        senders.entry(session.clone()).or_insert_with(|| broadcast::Sender::new(OBSERVER_BACKLOG)).subscribe()
    }

    fn notify(&self, session: &SessionIdentity, progress: &Progress) {
        if let Some(sender) = self.senders().get(session) {
            let _ = sender.send(progress.clone());
        }
    }

    fn senders(&self) -> MutexGuard<'_, HashMap<SessionIdentity, broadcast::Sender<Progress>>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
