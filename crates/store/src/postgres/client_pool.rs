//! The pool of connections for everything but commits: reads, and single transactions that write.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{Object, PoolError};
use deadpool_postgres::Transaction;
use futures::future::try_join_all;
use futures::join;
use planwright_core::ids::PlanId;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{LedgerError, LedgerResult, StoredSession};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Error, IsolationLevel, Row};

use super::errors::{DatabaseError, RetryPolicy};
use super::rows::{self, FIND_SESSION};
use super::schema;
use super::statement::{NumberedStatement, Parameter, PooledClient, StatementMode};
use super::target::{PooledReader, ReaderPool, Target};
use crate::encode;
use crate::write_health::WriteHealth;

/// Connections for reads and single writes, and how long one attempt may take.
const CLIENTS: usize = 8;
const ATTEMPT: Duration = Duration::from_secs(30);
/// Heartbeats do not wait for other work. One that is not answered soon is sent again on another connection, before the server has to stop its
/// work.
const BEATS: usize = 1;
const BEAT_ATTEMPT: Duration = Duration::from_secs(1);
/// How long a transaction is tried again that needs a row which another one holds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_millis(200);
/// Settings of a transaction that writes: it waits for locks only a little, and what it commits is on disk, and on the standby that the
/// server waits for: a time limit of the server's would end that wait and answer the commit as done.
pub(super) const WRITE_SETTINGS: &str = "
    SELECT set_config('lock_timeout', '100ms', true) WHERE current_setting('lock_timeout', true) IS NOT NULL;
    SELECT set_config('statement_timeout', '0', true) WHERE current_setting('statement_timeout', true) IS NOT NULL;
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit', true) = 'off'";
/// A pooled connection may have died unnoticed; what it was asked for can simply be asked for again.
const MAX_ATTEMPTS: u32 = 3;

/// The named plans of a session, each with the row of its execution, how its steps went, and where the journal of the session ended
/// at that moment.
const FIND_PLANS: &str = "SELECT plan.id, plan.number, plan.status, plan.style, plan.title, plan.body,
        execution.steps, execution.updated_at AS changed_at, execution.pause,
        ARRAY(SELECT position FROM step_run WHERE plan_id = plan.id ORDER BY position) AS positions,
        ARRAY(SELECT body FROM step_run WHERE plan_id = plan.id ORDER BY position) AS runs,
        (SELECT head_seq FROM session WHERE id = $1) AS end_seq
    FROM plan LEFT JOIN execution ON execution.plan_id = plan.id
    WHERE plan.session_id = $1 AND plan.id = ANY($2::text[])";

#[derive(Debug)]
pub(super) struct ClientPool {
    pool: ReaderPool,
    target: Target,
    health: Arc<WriteHealth>,
    /// How long one attempt may take.
    attempt: Duration,
}

/// Makes an attempt until it succeeds or [`Retry`] gives up.
macro_rules! retry {
    ($retry:ident, $attempt:expr) => {
        loop {
            match $attempt.await {
                Ok(done) => break Ok(done),
                Err(error) => {
                    if let Err(error) = $retry.before_next(error).await {
                        break Err(error);
                    }
                }
            }
        }
    };
}
pub(super) use retry;

impl ClientPool {
    pub(super) fn new(target: &Target, health: &Arc<WriteHealth>) -> LedgerResult<Self> {
        Self::of(CLIENTS, ATTEMPT, target, health)
    }

    pub(super) fn for_beats(target: &Target, health: &Arc<WriteHealth>) -> LedgerResult<Self> {
        Self::of(BEATS, BEAT_ATTEMPT, target, health)
    }

    fn of(size: usize, attempt: Duration, target: &Target, health: &Arc<WriteHealth>) -> LedgerResult<Self> {
        Ok(Self { pool: target.pool(size)?, target: target.clone(), health: Arc::clone(health), attempt })
    }

    pub(super) fn health(&self) -> &WriteHealth {
        &self.health
    }

    pub(super) fn mode(&self) -> StatementMode {
        self.target.statement_mode()
    }

    pub(super) async fn client(&self) -> Result<PooledReader, DatabaseError> {
        let unreachable = |why: String| DatabaseError::Unreachable(format!("{} cannot be reached: {why}", self.target));
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(_) => unreachable("it does not answer".to_owned()),
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                unreachable("its connections are closed".to_owned())
            }
        })
    }

    /// Gives work up that takes too long, or whose server takes the writes no more.
    async fn within_attempt<T>(
        &self,
        work: impl Future<Output = Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let opened = std::time::Instant::now();
        tokio::select! {
            biased;
            outcome = timeout(self.attempt, work) => outcome.unwrap_or(Err(DatabaseError::TimedOut)),
            () = self.target.moved_since(opened) => Err(DatabaseError::Moved),
        }
    }

    /// Reads with all statements what was there at one moment.
    pub(super) async fn query_all(&self, statements: &[NumberedStatement]) -> LedgerResult<Vec<Vec<Row>>> {
        let mut retry = Retry::new();
        retry!(retry, self.try_query(statements)).map_err(|error| error.to_error())
    }

    async fn try_query(&self, statements: &[NumberedStatement]) -> Result<Vec<Vec<Row>>, DatabaseError> {
        let mut client = self.client().await?;
        let outcome = self.within_attempt(query(&mut client, self.mode(), statements)).await;
        give_back(client, &outcome);
        outcome
    }

    /// Carries statements out in a transaction that checks the version of the schema, and waits for a row that another
    /// transaction holds without keeping a connection from others. `None` if `condition` returned no row.
    pub(super) async fn write_if(
        &self,
        condition: Option<&NumberedStatement>,
        statements: &[NumberedStatement],
    ) -> LedgerResult<Option<Vec<Vec<Row>>>> {
        let mut retry = Retry::new();
        retry!(retry, self.try_write(condition, statements)).map_err(|error| {
            let error = error.to_error();
            self.health.note_failure(&error);
            error
        })
    }

    async fn try_write(
        &self,
        condition: Option<&NumberedStatement>,
        statements: &[NumberedStatement],
    ) -> Result<Option<Vec<Vec<Row>>>, DatabaseError> {
        let mut client = self.client().await?;
        let outcome = self.within_attempt(write(&mut client, self.mode(), condition, statements)).await;
        give_back(client, &outcome);
        outcome
    }

    pub(super) async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        let mut retry = Retry::new();
        retry!(retry, self.try_snapshot(session, plan)).map_err(|error| error.to_error())
    }

    async fn try_snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> Result<Snapshot, DatabaseError> {
        let mut client = self.client().await?;
        let outcome = self.within_attempt(read_snapshot(&mut client, self.mode(), session, plan)).await;
        give_back(client, &outcome);
        outcome
    }
}

async fn query(
    client: &mut PooledReader,
    mode: StatementMode,
    statements: &[NumberedStatement],
) -> Result<Vec<Vec<Row>>, DatabaseError> {
    if let [statement] = statements {
        return Ok(vec![statement.run(client, mode).await?]);
    }
    let moment =
        client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?;
    let found = run_all(&moment, mode, statements).await?;
    moment.commit().await?;
    Ok(found)
}

async fn write(
    client: &mut PooledReader,
    mode: StatementMode,
    condition: Option<&NumberedStatement>,
    statements: &[NumberedStatement],
) -> Result<Option<Vec<Vec<Row>>>, DatabaseError> {
    let (Some(first), rest) = condition.map_or_else(|| first_and_rest(statements), |first| (Some(first), statements))
    else {
        return Ok(Some(Vec::new()));
    };
    let transaction = client.transaction().await?;
    // Sent in one go. The statement is only committed if the version is the right one.
    let (settings, version, rows) = join!(
        transaction.batch_execute(WRITE_SETTINGS),
        transaction.query_as(mode, schema::VERSION, &[]),
        first.run(&transaction, mode),
    );
    settings?;
    schema::check_version(&version?)?;
    let rows = rows?;
    if condition.is_some() && rows.is_empty() {
        return Ok(None);
    }
    let rest = run_all(&transaction, mode, rest).await?;
    transaction.commit().await?;
    let first = condition.is_none().then_some(rows);
    Ok(Some(first.into_iter().chain(rest).collect()))
}

fn first_and_rest(statements: &[NumberedStatement]) -> (Option<&NumberedStatement>, &[NumberedStatement]) {
    statements.split_first().map_or((None, &[]), |(first, rest)| (Some(first), rest))
}

/// Sends all statements in one go; they are carried out one after the other.
async fn run_all(
    transaction: &Transaction<'_>,
    mode: StatementMode,
    statements: &[NumberedStatement],
) -> Result<Vec<Vec<Row>>, Error> {
    try_join_all(statements.iter().map(|statement| statement.run(transaction, mode))).await
}

/// The session and its plans as of one commit, while others write. A damaged active plan is left out,
/// unless it is what was asked for.
async fn read_snapshot(
    client: &mut PooledReader,
    mode: StatementMode,
    session: &SessionIdentity,
    plan: Option<&PlanId>,
) -> Result<Snapshot, DatabaseError> {
    // To begin and to end a transaction is a round trip each. Without one it is known afterwards whether the session may have been
    // written to in between, which is rare.
    let (snapshot, of_one_moment) = read_parts(client, mode, session, plan).await?;
    if of_one_moment {
        return Ok(snapshot);
    }
    let moment =
        client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?;
    let (snapshot, _) = read_parts(&moment, mode, session, plan).await?;
    moment.commit().await?;
    Ok(snapshot)
}

/// The session and its plans, read one after the other, and whether both are certainly of one moment.
async fn read_parts(
    client: &impl PooledClient,
    mode: StatementMode,
    session: &SessionIdentity,
    plan: Option<&PlanId>,
) -> Result<(Snapshot, bool), DatabaseError> {
    let mut snapshot = Snapshot::new(session.clone());
    let names: [&dyn Parameter; 2] = [&session.conversation.as_str(), &session.channel.as_str()];
    let found = client.query_as(mode, FIND_SESSION, &names).await?;
    let Some(row) = found.first() else { return Ok((snapshot, true)) };
    let StoredSession { session: opened, head, .. } = rows::stored_session(&rows::row(row)?)?;
    let at_hand = [opened.plan_mode.active_plan.clone(), opened.round.clone(), opened.worked_on().cloned()];
    snapshot.session = Some(opened.into());
    let wanted: Vec<_> = at_hand.iter().flatten().chain(plan).map(PlanId::as_str).collect();
    if wanted.is_empty() {
        return Ok((snapshot, true));
    }
    let (mut of_one_moment, mut read) = (true, BTreeSet::new());
    for row in client.query_as(mode, FIND_PLANS, &[&row.try_get::<_, i64>(0)?, &wanted]).await? {
        of_one_moment &= row.try_get::<_, Option<i64>>("end_seq")? == i64::try_from(head.seq).ok();
        let id: &str = row.try_get("id")?;
        read.insert(id.to_owned());
        let needed = plan.is_none_or(|plan| id == plan.as_str());
        match encode::set_damage_aside(rows::plan(&row, session)?)? {
            Ok(plan) => drop(snapshot.plans.insert(plan.id.clone(), plan.into())),
            Err(_) if !needed => {}
            Err(row) => return Err(LedgerError::damaged(row.what, row.reason).into()),
        }
    }
    // The session may have been deleted, or have named another plan meanwhile.
    of_one_moment &= at_hand.iter().flatten().all(|plan| read.contains(plan.as_str()));
    Ok((snapshot, of_one_moment))
}

/// Tries again while another transaction holds what is needed, and when a connection of the pool turned out to be dead.
pub(super) struct Retry {
    attempts: u32,
    /// An attempt may have been carried out although its answer never came.
    pub(super) answer_lost: bool,
    give_up: Instant,
    backoff: Backoff,
}

impl Retry {
    pub(super) fn new() -> Self {
        let backoff = Backoff::new(FIRST_PAUSE, MAX_PAUSE);
        Self { attempts: 0, answer_lost: false, give_up: Instant::now() + LOCK_TIMEOUT, backoff }
    }

    /// Waits until the next attempt may be made, or gives the error back if there is none.
    pub(super) async fn before_next(&mut self, error: DatabaseError) -> Result<(), DatabaseError> {
        self.attempts += 1;
        let stale = match error {
            DatabaseError::Moved => true,
            DatabaseError::Database(_) => error.retry_policy() == RetryPolicy::Reconnect,
            DatabaseError::TimedOut
            | DatabaseError::Unreachable(_)
            | DatabaseError::Overtaken
            | DatabaseError::SessionBusy
            | DatabaseError::Ledger(_) => false,
        };
        if stale && self.attempts < MAX_ATTEMPTS {
            self.answer_lost = true;
            return Ok(());
        }
        if error.retry_policy() != RetryPolicy::Busy || Instant::now() >= self.give_up {
            return Err(error);
        }
        sleep(self.backoff.next_pause()).await;
        Ok(())
    }
}

/// A connection on which something may still be under way does not go back into the pool.
pub(super) fn give_back<T>(client: PooledReader, outcome: &Result<T, DatabaseError>) {
    if let Err(DatabaseError::TimedOut | DatabaseError::Moved) = outcome {
        drop(Object::take(client));
    }
}
