//! The writers: a few tasks, each with a connection of its own, that commit many callers' work in one transaction. All
//! commands of a session go through the same one, so that they keep their order.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use planwright_core::command::{Command, DraftCommand, TurnCommand};
use planwright_core::turn::TurnInput;
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult, Submission};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use super::batch::{self, Outcomes};
use super::changes::Changes;
use super::errors::{Failure, RetryPolicy};
use super::target::Target;
use super::writer_connection::WriterConnection;

const LANES: usize = 4;
/// The most that is committed at once; more only makes the first of them wait.
const BATCH: usize = 256;
/// How much content goes into one transaction, roughly.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
const WAITING: usize = 2 * BATCH;

/// How long one transaction may take.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How long a broken connection is mended before the callers are told.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often a batch is tried again that others were in the way of.
const COLLISIONS: u32 = 8;

/// A handle on the writers. They end when it is dropped and everything waiting is done.
#[derive(Debug)]
pub(super) struct WriterPool {
    inboxes: Vec<mpsc::Sender<Job>>,
}

#[derive(Debug)]
struct Job {
    submission: Submission,
    answer: oneshot::Sender<LedgerResult<Committed>>,
}

struct Writer {
    target: Target,
    changes: Changes,
    connection: Option<WriterConnection>,
    /// How large the plans were that each command of the batch before had to read: a guess for the next one.
    plan_bytes: usize,
}

impl WriterPool {
    pub(super) fn start(target: &Target, changes: &Changes) -> Self {
        let start = |_| {
            let (inbox, waiting) = mpsc::channel(WAITING);
            let (target, changes) = (target.clone(), changes.clone());
            tokio::spawn(Writer { target, changes, connection: None, plan_bytes: 0 }.run(waiting));
            inbox
        };
        Self { inboxes: (0..LANES).map(start).collect() }
    }

    /// Whether all of them still take something.
    pub(super) fn are_open(&self) -> bool {
        self.inboxes.iter().all(|inbox| !inbox.is_closed())
    }

    /// Whoever stops waiting for the answer does not undo what was submitted.
    pub(super) async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let gone = || LedgerError::Unavailable("the writer has stopped".to_owned());
        let mut hasher = DefaultHasher::new();
        submission.session.hash(&mut hasher);
        let lane = hasher.finish() as usize % self.inboxes.len();
        let (answer, answered) = oneshot::channel();
        self.inboxes[lane].send(Job { submission, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl Writer {
    async fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        let mut waiting = Vec::with_capacity(BATCH);
        while inbox.recv_many(&mut waiting, BATCH).await > 0 {
            while !waiting.is_empty() {
                let jobs: Vec<_> = waiting.drain(..share(&waiting, self.plan_bytes)).collect();
                let Err(failure) = self.serve(jobs).await else { continue };
                // Those who wait behind have waited as long as those who were just told; the next to come tries anew.
                while let Ok(job) = inbox.try_recv() {
                    waiting.push(job);
                }
                for job in waiting.drain(..) {
                    job.tell(Err(failure.to_error()));
                }
            }
        }
    }

    /// Carries the jobs out and tells everybody. It fails if the database cannot be reached.
    async fn serve(&mut self, jobs: Vec<Job>) -> Result<(), Failure> {
        let submissions: Vec<_> = jobs.iter().map(|job| &job.submission).collect();
        let failure = match self.commit(&submissions).await {
            Ok(outcomes) => {
                jobs.into_iter().zip(outcomes).for_each(|(job, outcome)| job.tell(outcome));
                return Ok(());
            }
            Err(failure) => failure,
        };
        match failure.retry_policy() {
            RetryPolicy::Again | RetryPolicy::None if jobs.len() > 1 => {
                // One at a time, whoever caused it fails alone.
                for job in jobs {
                    Box::pin(self.serve(vec![job])).await?;
                }
                Ok(())
            }
            RetryPolicy::Again | RetryPolicy::None | RetryPolicy::Wait => {
                jobs.into_iter().for_each(|job| job.tell_failure(&failure));
                Ok(())
            }
            RetryPolicy::Reconnect => {
                jobs.into_iter().for_each(|job| job.tell_failure(&failure));
                Err(failure)
            }
        }
    }

    /// Tries until it is known what became of the batch. After a broken connection the same submissions are sent again:
    /// their requests are in the journal if the first attempt came through, and are then answered from there.
    async fn commit(&mut self, submissions: &[&Submission]) -> Result<Vec<LedgerResult<Committed>>, Failure> {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = FIRST_PAUSE;
        let mut collisions = 0;
        loop {
            let failure = match self.attempt(submissions).await {
                Ok(outcomes) => {
                    self.plan_bytes = outcomes.loaded / submissions.len().max(1);
                    return Ok(outcomes.told);
                }
                Err(failure) => failure,
            };
            match failure.retry_policy() {
                RetryPolicy::Again if collisions < COLLISIONS => {
                    collisions += 1;
                    sleep(FIRST_PAUSE * collisions).await;
                }
                RetryPolicy::Reconnect if Instant::now() + pause < deadline => {
                    tracing::warn!(database = %self.target, error = %failure.to_error(), "trying to reach the database again");
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                RetryPolicy::Again | RetryPolicy::Reconnect | RetryPolicy::Wait | RetryPolicy::None => {
                    return Err(failure);
                }
            }
        }
    }

    async fn attempt(&mut self, submissions: &[&Submission]) -> Result<Outcomes, Failure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => WriterConnection::open(&self.target).await?,
        };
        let outcome = timeout(ATTEMPT, batch::commit(&connection, &self.changes, submissions)).await;
        let outcome = outcome.unwrap_or(Err(Failure::TimedOut));
        // A connection is only kept if it is known to be out of the transaction.
        let usable = match &outcome {
            Ok(_) => true,
            Err(failure) => match failure.retry_policy() {
                RetryPolicy::Reconnect => false,
                RetryPolicy::Again | RetryPolicy::Wait | RetryPolicy::None => {
                    connection.client.batch_execute("ROLLBACK").await.is_ok()
                }
            },
        };
        self.connection = usable.then_some(connection);
        outcome
    }
}

impl Job {
    /// Gives the outcome to whoever waits, if they still do.
    fn tell(self, outcome: LedgerResult<Committed>) {
        let _ = self.answer.send(outcome);
    }

    fn tell_failure(self, failure: &Failure) {
        let error = failure.to_error_in(&self.submission.session);
        self.tell(Err(error));
    }
}

/// How many of those waiting go into one transaction: at least one, and then as many as there is room for.
fn share(waiting: &[Job], plan_bytes: usize) -> usize {
    let mut bytes = 0;
    let fits = waiting.iter().take_while(|job| {
        bytes += plan_bytes + weight(&job.submission.command);
        bytes <= BATCH_BYTES
    });
    fits.count().max(1)
}

/// The content a command brings, beside the plan it is about; the rest is small.
fn weight(command: &Command) -> usize {
    match command {
        Command::Draft(DraftCommand::SetContent { markdown, .. }) => markdown.len(),
        Command::Import(imported) => imported.content.size(),
        Command::Workbook(command) => command.size(),
        Command::Turn(TurnCommand::Begin { text, .. }) => text.len(),
        Command::Turn(TurnCommand::Record { inputs, .. }) => inputs.iter().map(said).sum(),
        Command::Turn(TurnCommand::Compact(compaction)) => compaction.summary.len(),
        Command::Turn(TurnCommand::Resume { .. } | TurnCommand::Stop | TurnCommand::Show(_)) => 0,
        Command::Session(_) | Command::Draft(_) | Command::Decide(_) | Command::Run(_) => 0,
    }
}

fn said(input: &TurnInput) -> usize {
    match input {
        TurnInput::Replied { reply, .. } => {
            reply.text.len() + reply.calls.iter().map(|call| call.arguments.len()).sum::<usize>()
        }
        TurnInput::ToolEnded { outcome, .. } => outcome.text.len(),
    }
}
