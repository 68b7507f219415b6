//! The writers: a few tasks, each with a connection of its own, that commit many callers' work in one transaction. All
//! commands of a session go through the same writer, so that they keep their order.
//!
//! - `parked`: jobs whose session another transaction holds

mod parked;

use std::future::pending;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use planwright_core::ask::AskSubject;
use planwright_core::ask::CallToPermit;
use planwright_core::command::{Command, DraftCommand, ExternalCommand, SessionCommand, TurnCommand};
use planwright_core::gateway::GatewayCallRecord;
use planwright_core::turn::TurnInput;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult, Submission};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::batch::{self, Outcomes};
use super::changes::Changes;
use super::errors::{DatabaseError, RetryPolicy, is_undefined};
use super::schema;
use super::target::Target;
use super::writer_connection::WriterConnection;
use crate::write_health::WriteHealth;
use parked::{Blocked, DueJobs, ParkedJobs, Retry};

const WRITERS: usize = 4;
/// How many jobs are committed at once; more would only make the first of them wait.
const BATCH: usize = 256;
/// How much content goes into one transaction, roughly.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
const WAITING: usize = 2 * BATCH;

/// How long one transaction may take.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How long a writer tries to reconnect before its callers get an error.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// How often a batch is tried again that collided with other transactions.
const COLLISIONS: u32 = 8;
const MAX_COLLISION_PAUSE: Duration = Duration::from_millis(100);

/// A handle on the writers. They end when it is dropped and everything waiting is done.
#[derive(Debug)]
pub(super) struct WriterPool {
    inboxes: Vec<mpsc::Sender<Job>>,
}

#[derive(Debug)]
struct Job {
    submission: Submission,
    answer: oneshot::Sender<LedgerResult<Committed>>,
    /// Set once another transaction was in the way.
    retry: Option<Retry>,
}

struct WriterTask {
    target: Target,
    changes: Changes,
    health: Arc<WriteHealth>,
    /// The connection, and when it was made.
    connection: Option<(WriterConnection, std::time::Instant)>,
    parked: ParkedJobs,
    /// How long a job waits for a busy session.
    lock_patience: Duration,
    /// How large the plans were that each command of the batch before had to read: a guess for the next one.
    plan_bytes: usize,
}

impl WriterPool {
    pub(super) fn start(target: &Target, changes: &Changes, health: &Arc<WriteHealth>) -> Self {
        let start = |_| {
            let (inbox, waiting) = mpsc::channel(WAITING);
            let writer = WriterTask {
                target: target.clone(),
                changes: changes.clone(),
                health: Arc::clone(health),
                connection: None,
                parked: ParkedJobs::default(),
                lock_patience: WRITE_TIMEOUT,
                plan_bytes: 0,
            };
            tokio::spawn(writer.run(waiting));
            inbox
        };
        Self { inboxes: (0..WRITERS).map(start).collect() }
    }

    /// Whether all writers run.
    pub(super) fn are_open(&self) -> bool {
        self.inboxes.iter().all(|inbox| !inbox.is_closed())
    }

    /// Dropping the future does not undo what was submitted.
    pub(super) async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let gone = || LedgerError::Unavailable("the writer has stopped".to_owned());
        let mut hasher = DefaultHasher::new();
        submission.session.hash(&mut hasher);
        let writer = hasher.finish() as usize % self.inboxes.len();
        let (answer, answered) = oneshot::channel();
        let job = Job { submission, answer, retry: None };
        self.inboxes[writer].send(job).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl WriterTask {
    async fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        let mut received = Vec::with_capacity(BATCH);
        let mut open = true;
        while open || !self.parked.is_empty() {
            let next_attempt = self.parked.next_attempt();
            tokio::select! {
                count = inbox.recv_many(&mut received, BATCH), if open => open = count > 0,
                () = until(next_attempt) => {}
            }
            let DueJobs { together, apart } = self.parked.take_due();
            let mut waiting = together;
            waiting.append(&mut received);
            let outcome = match self.serve_all(waiting).await {
                Ok(()) => self.serve_apart(apart).await,
                Err((error, rest)) => Err((error, rest.into_iter().chain(apart).collect())),
            };
            // The jobs behind have waited as long as those that just failed; the next one to come tries anew.
            if let Err((error, mut rest)) = outcome {
                while let Ok(job) = inbox.try_recv() {
                    rest.push(job);
                }
                rest.into_iter().for_each(|job| job.answer(Err(error.to_error())));
            }
        }
    }

    /// Carries the jobs out, as many at once as fit. It fails if the database cannot be reached, and gives back the rest.
    async fn serve_all(&mut self, mut waiting: Vec<Job>) -> Result<(), (DatabaseError, Vec<Job>)> {
        loop {
            self.parked.park_behind(&mut waiting, self.lock_patience);
            if waiting.is_empty() {
                return Ok(());
            }
            let rest = waiting.split_off(share(&waiting, self.plan_bytes));
            if let Err(error) = self.serve(waiting).await {
                return Err((error, rest));
            }
            waiting = rest;
        }
    }

    /// Serves the jobs one at a time.
    async fn serve_apart(&mut self, jobs: Vec<Job>) -> Result<(), (DatabaseError, Vec<Job>)> {
        let mut rest = jobs.into_iter();
        while let Some(job) = rest.next() {
            let mut jobs = vec![job];
            self.parked.park_behind(&mut jobs, self.lock_patience);
            if jobs.is_empty() {
                continue;
            }
            if let Err(error) = self.serve(jobs).await {
                return Err((error, rest.collect()));
            }
        }
        Ok(())
    }

    /// Carries the jobs out in one transaction and answers their callers. It fails if the database cannot be reached.
    async fn serve(&mut self, jobs: Vec<Job>) -> Result<(), DatabaseError> {
        let submissions: Vec<_> = jobs.iter().map(|job| &job.submission).collect();
        let error = match self.commit(&submissions).await {
            Ok(outcomes) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    match outcome {
                        Some(outcome) => job.answer(outcome),
                        None => self.park(job, Blocked::SessionLocked, &DatabaseError::SessionBusy),
                    }
                }
                return Ok(());
            }
            Err(error) => error,
        };
        match error.retry_policy() {
            RetryPolicy::Again | RetryPolicy::Busy | RetryPolicy::None if jobs.len() > 1 => {
                // One at a time, the job that caused the error fails or waits alone.
                match Box::pin(self.serve_apart(jobs)).await {
                    Ok(()) => Ok(()),
                    Err((error, rest)) => {
                        rest.into_iter().for_each(|job| job.fail(&error));
                        Err(error)
                    }
                }
            }
            RetryPolicy::Busy => {
                jobs.into_iter().for_each(|job| self.park(job, Blocked::Otherwise, &error));
                Ok(())
            }
            RetryPolicy::Again | RetryPolicy::None => {
                jobs.into_iter().for_each(|job| job.fail(&error));
                Ok(())
            }
            RetryPolicy::Wait => {
                self.health.note_failure(&error.to_error());
                jobs.into_iter().for_each(|job| job.fail(&error));
                Ok(())
            }
            RetryPolicy::Reconnect => {
                self.health.note_failure(&error.to_error());
                jobs.into_iter().for_each(|job| job.fail(&error));
                Err(error)
            }
        }
    }

    fn park(&mut self, job: Job, blocked: Blocked, error: &DatabaseError) {
        if let Some(job) = self.parked.park(job, blocked, self.lock_patience) {
            job.fail(error);
        }
    }

    /// Tries until it is known whether the batch was committed. After a broken connection the same submissions are sent
    /// again: their requests are in the journal if the first attempt was committed, and are then answered from there.
    async fn commit(
        &mut self,
        submissions: &[&Submission],
    ) -> Result<Vec<Option<LedgerResult<Committed>>>, DatabaseError> {
        let mut deadline = Instant::now() + WRITE_TIMEOUT;
        let mut reconnections = Backoff::new(FIRST_PAUSE, MAX_PAUSE);
        let mut collisions = Backoff::new(FIRST_PAUSE, MAX_COLLISION_PAUSE);
        loop {
            let error = match self.attempt(submissions).await {
                Ok(outcomes) => {
                    // A batch that changed nothing did not reach the disk.
                    if outcomes.wrote {
                        self.health.note_success();
                    }
                    self.plan_bytes = outcomes.loaded / submissions.len().max(1);
                    return Ok(outcomes.of_each);
                }
                Err(error) => error,
            };
            match error.retry_policy() {
                RetryPolicy::Again if collisions.failures() < COLLISIONS => {
                    sleep(collisions.next_pause()).await;
                }
                RetryPolicy::Reconnect => {
                    // A server that takes the writes was found just now.
                    if let DatabaseError::Moved = error {
                        deadline = Instant::now() + WRITE_TIMEOUT;
                    }
                    let pause = reconnections.next_pause();
                    if Instant::now() + pause >= deadline {
                        return Err(error);
                    }
                    tracing::warn!(database = %self.target, error = %error.to_error(), "reconnecting to the database");
                    sleep(pause).await;
                }
                RetryPolicy::Again | RetryPolicy::Busy | RetryPolicy::Wait | RetryPolicy::None => return Err(error),
            }
        }
    }

    async fn open(&self) -> Result<WriterConnection, DatabaseError> {
        let began = std::time::Instant::now();
        tokio::select! {
            biased;
            opened = timeout(ATTEMPT, WriterConnection::open(&self.target)) => {
                opened.unwrap_or(Err(DatabaseError::TimedOut))
            }
            () = self.target.moved_since(began) => Err(DatabaseError::Moved),
        }
    }

    async fn attempt(&mut self, submissions: &[&Submission]) -> Result<Outcomes, DatabaseError> {
        let kept = self.connection.take().filter(|(_, opened)| !self.target.has_moved_since(*opened));
        let (connection, opened) = match kept {
            Some(kept) => kept,
            None => (self.open().await?, std::time::Instant::now()),
        };
        self.lock_patience = connection.patience;
        let mut outcome = tokio::select! {
            biased;
            outcome = timeout(ATTEMPT, batch::commit(&connection, &self.changes, submissions)) => {
                outcome.unwrap_or(Err(DatabaseError::TimedOut))
            }
            () = self.target.moved_since(opened) => Err(DatabaseError::Moved),
        };
        // A connection is only kept if it is known to be out of the transaction.
        let usable = match &outcome {
            Ok(_) => true,
            Err(error) => match error.retry_policy() {
                RetryPolicy::Reconnect => false,
                RetryPolicy::Again | RetryPolicy::Busy | RetryPolicy::Wait | RetryPolicy::None => {
                    connection.client.batch_execute("ROLLBACK").await.is_ok()
                }
            },
        };
        // A statement that names a column which is gone fails before the version is compared.
        if let Err(error) = &outcome
            && is_undefined(error)
            && usable
            && let Err(too_new) = schema::check_version(&connection.query(1, &connection.schema_version, []).await?)
        {
            outcome = Err(too_new);
        }
        self.connection = usable.then_some((connection, opened));
        outcome
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

impl Job {
    /// Sends the outcome to the caller, if it still waits.
    fn answer(self, outcome: LedgerResult<Committed>) {
        let _ = self.answer.send(outcome);
    }

    fn fail(self, error: &DatabaseError) {
        let error = error.to_error_in(&self.submission.session);
        self.answer(Err(error));
    }
}

/// How many of the waiting jobs go into one transaction: at least one, and then as many as there is room for.
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
        Command::Draft(DraftCommand::SetContent { markdown, .. })
        | Command::External(ExternalCommand::SetContent { markdown, .. }) => markdown.len(),
        Command::External(
            ExternalCommand::AddCall { arguments, .. }
            | ExternalCommand::RecordInRound { arguments, .. }
            | ExternalCommand::RecordAsk { arguments, .. }
            | ExternalCommand::RecordRefused { arguments, .. }
            | ExternalCommand::AskClientCall(CallToPermit { arguments, .. })
            | ExternalCommand::RecordCall(GatewayCallRecord { arguments, .. }),
        ) => arguments.to_string().len(),
        Command::External(ExternalCommand::RecordQuestions { questions, answers, .. }) => {
            questions.to_string().len() + answers.as_ref().map_or(0, |answers| answers.to_string().len())
        }
        Command::Draft(DraftCommand::Answered { draft, answers }) => {
            weight(&Command::Draft((**draft).clone())) + answers.size()
        }
        Command::External(ExternalCommand::Answered { command, answers }) => {
            weight(&Command::External((**command).clone())) + answers.size()
        }
        Command::External(
            ExternalCommand::Report(_)
            | ExternalCommand::FinalizeRound { .. }
            | ExternalCommand::RecordCallEnd { .. }
            | ExternalCommand::CountCall { .. }
            | ExternalCommand::TakeClientCall { .. },
        ) => 0,
        Command::Import(imported) => imported.content.size(),
        Command::Session(SessionCommand::TakeTurn(turn)) => turn.said.len() + turn.replied.len(),
        Command::Workbook(command) => command.size(),
        Command::Memory(command) => command.size(),
        Command::Auto(command) => command.size(),
        Command::Turn(TurnCommand::Begin { text, .. } | TurnCommand::BeginDocument { text, .. }) => text.len(),
        Command::Turn(TurnCommand::Record { inputs, .. }) => inputs.iter().map(text_bytes).sum(),
        Command::Turn(TurnCommand::Compact(compaction)) => compaction.summary.len(),
        Command::Turn(TurnCommand::Ask { subject, .. }) => match subject {
            AskSubject::Permission(call) => call.arguments.to_string().len(),
            AskSubject::Questions { questions } => questions.iter().map(|question| question.text.len()).sum(),
        },
        Command::Turn(TurnCommand::Resume { .. } | TurnCommand::Stop | TurnCommand::Show(_)) => 0,
        Command::Session(_) | Command::Draft(_) | Command::Decide(_) | Command::Answer(_) | Command::Execution(_) => 0,
    }
}

/// The bytes of the two versions of a changed file in the journal.
const VERSIONS: usize = 300;

fn text_bytes(input: &TurnInput) -> usize {
    match input {
        TurnInput::Replied { reply, .. } => {
            reply.text.len() + reply.calls.iter().map(|call| call.arguments.len()).sum::<usize>()
        }
        TurnInput::ToolEnded { outcome, changes, .. } => {
            outcome.text.len() + changes.changes.iter().map(|change| change.path.len() + VERSIONS).sum::<usize>()
        }
    }
}
