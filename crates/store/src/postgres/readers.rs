//! The pool of connections: everything that is read, and single statements that write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deadpool_postgres::{Object, Pool, PoolError};
use futures::join;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page, PlanSummary, StoredSession};
use planwright_engine::version_index::VersionIndexEntry;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{IsolationLevel, Row};

use super::errors::{DatabaseError, RetryPolicy, describe};
use super::statement::{Parameter, PooledClient as _, StatementMode};
use super::target::Target;
use super::{rows, schema};
use crate::derived_rows::{ORPHANED, orphaned};
use crate::encode;
use crate::paging::{self, PageEnd, page_end};
use crate::version_lookup;
use crate::write_health::WriteHealth;

const READ: Duration = Duration::from_secs(30);
/// How long a statement is tried again that needs a row which another transaction holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_millis(200);
/// Settings of a transaction that writes: it waits for locks only a little, and what it commits is on disk.
pub(super) const WRITE_SETTINGS: &str = "
    SELECT set_config('lock_timeout', '100ms', true) WHERE current_setting('lock_timeout', true) IS NOT NULL;
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit', true) = 'off'";
/// A pooled connection may have died unnoticed; a read can simply be done again.
pub(super) const ATTEMPTS: u32 = 3;
/// The last moment that a position names exactly, in microseconds: in the year 2255.
const LATEST: i64 = (1 << 53) - 1;
/// How many rows without a session are named, of each kind.
const ORPHANS: i64 = 10;

/// Sessions, each with the end of its journal.
macro_rules! select_sessions {
    ($rest:literal) => {
        concat!(
            "SELECT session.id, session.channel, session.conversation, session.head_seq, session.head_hash,
                session.state, session.last_active, session.written_at, journal.seq AS end_seq, journal.hash AS end_hash
             FROM session LEFT JOIN journal ON journal.session_id = session.id
                AND journal.seq = (SELECT max(seq) FROM journal WHERE session_id = session.id) ",
            $rest
        )
    };
}

pub(super) use select_sessions;

/// Plans, each with the row of its execution and how its steps went.
macro_rules! select_plans {
    ($rest:literal) => {
        concat!(
            "SELECT plan.id, plan.number, plan.status, plan.style, plan.title, plan.body,
                execution.steps, execution.updated_at AS changed_at, execution.pause,
                ARRAY(SELECT position FROM step_run WHERE plan_id = plan.id ORDER BY position) AS positions,
                ARRAY(SELECT body FROM step_run WHERE plan_id = plan.id ORDER BY position) AS runs
             FROM plan LEFT JOIN execution ON execution.plan_id = plan.id ",
            $rest
        )
    };
}

#[derive(Debug)]
pub(super) struct Readers {
    pool: Pool,
    target: Target,
    health: Arc<WriteHealth>,
}

impl Readers {
    pub(super) fn new(target: &Target, health: &Arc<WriteHealth>) -> LedgerResult<Self> {
        Ok(Self { pool: target.pool()?, target: target.clone(), health: Arc::clone(health) })
    }

    pub(super) fn health(&self) -> &WriteHealth {
        &self.health
    }

    pub(super) fn mode(&self) -> StatementMode {
        self.target.statement_mode()
    }

    pub(super) async fn query(&self, sql: &str, parameters: &[&dyn Parameter]) -> LedgerResult<Vec<Row>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.try_query(sql, parameters).await {
                Err(error) if is_stale(&error) && attempts < ATTEMPTS => {}
                outcome => return outcome.map_err(|error| error.to_error()),
            }
        }
    }

    async fn try_query(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, DatabaseError> {
        let client = self.client().await?;
        let work = async { Ok(client.query_as(self.mode(), sql, parameters).await?) };
        let outcome = timeout(READ, work).await.unwrap_or(Err(DatabaseError::TimedOut));
        give_back(client, &outcome);
        outcome
    }

    /// Runs one statement that writes. Its transaction checks the version of the schema, and waits for a row that another
    /// transaction holds without keeping a connection from the readers.
    pub(super) async fn write(&self, sql: &str, parameters: &[&dyn Parameter]) -> LedgerResult<Vec<Row>> {
        let mut retry = WriteRetry::new();
        loop {
            let error = match self.try_write(sql, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            retry.before_next(error).await.map_err(|error| {
                let error = error.to_error();
                self.health.note_failure(&error);
                error
            })?;
        }
    }

    async fn try_write(&self, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, DatabaseError> {
        let mut client = self.client().await?;
        let outcome = timeout(READ, write_once(&mut client, self.mode(), sql, parameters))
            .await
            .unwrap_or(Err(DatabaseError::TimedOut));
        give_back(client, &outcome);
        outcome
    }

    pub(super) async fn client(&self) -> Result<Object, DatabaseError> {
        let unreachable = |why: String| DatabaseError::Unreachable(format!("{} cannot be reached: {why}", self.target));
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => unreachable(describe(&error)),
            PoolError::Timeout(_) => unreachable("it does not answer".to_owned()),
            error => unreachable(error.to_string()),
        })
    }

    pub(super) async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let sql = select_sessions!("WHERE session.conversation = $1 AND session.channel = $2");
        let found = self.query(sql, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
        found.first().map(|row| sound(rows::stored_session(row))).transpose()
    }

    /// The most recently active first.
    pub(super) async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let sql = select_sessions!(
            "WHERE session.written_at < to_timestamp(0) + interval '1 microsecond' * $1::float8
             ORDER BY session.written_at DESC, session.id DESC LIMIT $2"
        );
        let below = paging::below(after)?.min(LATEST) as f64;
        let mut read = paging::first_read(limit);
        loop {
            let found = self.query(sql, &[&below, &i64::from(read)]).await?;
            let mut keys = Vec::with_capacity(found.len());
            for row in &found {
                let since = get::<SystemTime>(row, 7)?.duration_since(UNIX_EPOCH).unwrap_or_default();
                keys.push(u64::try_from(since.as_micros()).unwrap_or(0));
            }
            match page_end(&keys, limit, read) {
                PageEnd::After { rows, next } => {
                    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next };
                    found
                        .iter()
                        .take(rows)
                        .try_for_each(|row| encode::note(&mut page, sound(rows::stored_session(row))))?;
                    return Ok(page);
                }
                PageEnd::ReadMore(more) => read = more,
            }
        }
    }

    /// In the order of their row ids, which never change.
    pub(super) async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let sql = select_sessions!("WHERE session.id > $1 ORDER BY session.id LIMIT $2");
        let after = after.map_or(i64::MIN, u64::cast_signed);
        let found = self.query(sql, &[&after, &i64::from(limit)]).await?;
        let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
        for row in &found {
            encode::note(&mut page, sound(rows::stored_session(row)))?;
        }
        let last = found.last().filter(|_| found.len() == limit as usize);
        page.next = last.map(|row| get::<i64>(row, 0)).transpose()?.map(i64::cast_unsigned);
        Ok(page)
    }

    pub(super) async fn count_sessions(&self) -> LedgerResult<u64> {
        let found = self.query("SELECT count(*) FROM session", &[]).await?;
        found.first().map_or(Ok(0), |row| get::<i64>(row, 0).map(i64::unsigned_abs))
    }

    pub(super) async fn count_undelivered(&self) -> LedgerResult<u64> {
        let sql = format!("SELECT count(*) FROM outbox WHERE {}", crate::outbox_rows::IS_UNDELIVERED);
        let found = self.query(&sql, &[]).await?;
        found.first().map_or(Ok(0), |row| get::<i64>(row, 0).map(i64::unsigned_abs))
    }

    /// A row whose channel cannot be read does not hide the others; lists of sessions name it.
    pub(super) async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        let sql = "SELECT channel, conversation FROM session WHERE conversation = $1 ORDER BY channel";
        let found = self.query(sql, &[&key.as_str()]).await?;
        let mut sessions = Vec::new();
        for row in &found {
            sessions.extend(encode::set_damage_aside(sound(rows::identity(row)))?.ok());
        }
        Ok(sessions)
    }

    pub(super) async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.try_snapshot(session, plan).await {
                Err(failure) if is_stale(&failure) && attempts < ATTEMPTS => {}
                outcome => return outcome.map_err(|failure| failure.to_error()),
            }
        }
    }

    async fn try_snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> Result<Snapshot, DatabaseError> {
        let mut client = self.client().await?;
        let outcome = timeout(READ, read_snapshot(&mut client, self.mode(), session, plan))
            .await
            .unwrap_or(Err(DatabaseError::TimedOut));
        give_back(client, &outcome);
        outcome
    }

    pub(super) async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        let sql = "SELECT plan.id, plan.number FROM plan JOIN session ON session.id = plan.session_id
                   WHERE session.conversation = $1 AND session.channel = $2
                       AND (plan.number = $3 OR position($4::text IN plan.id) > 0)
                   ORDER BY plan.number = $3 DESC, plan.id = $4 DESC, plan.number LIMIT 10";
        // Numbers begin at 1, and no id has a space in it.
        let number = reference.number().map_or(0, i64::from);
        let piece = reference.piece().unwrap_or_else(|| " ".to_owned());
        let found =
            self.query(sql, &[&session.conversation.as_str(), &session.channel.as_str(), &number, &piece]).await?;
        let mut candidates = Vec::new();
        for row in &found {
            // A plan whose id or number cannot be read does not hide the others; the list of plans names it.
            let (id, number) = (PlanId::new(get::<String>(row, 0)?).ok(), u32::try_from(get::<i64>(row, 1)?).ok());
            candidates.extend(id.zip(number).map(|(id, number)| PlanCandidate { id, number }));
        }
        Ok(candidates)
    }

    pub(super) async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        let sql = "SELECT session.channel, session.conversation FROM plan JOIN session ON session.id = plan.session_id
                   WHERE plan.id = $1";
        let found = self.query(sql, &[&plan.as_str()]).await?;
        found.first().map(|row| sound(rows::identity(row))).transpose()
    }

    pub(super) async fn is_request_known(&self, request: &RequestId) -> LedgerResult<bool> {
        Ok(!self.query("SELECT 1 FROM journal WHERE request = $1", &[&request.as_str()]).await?.is_empty())
    }

    pub(super) async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        let sql = "SELECT plan.id, plan.number, plan.status, plan.style, plan.title, plan.updated_at,
                       execution.steps, execution.updated_at AS changed_at, execution.pause
                   FROM plan JOIN session ON session.id = plan.session_id
                       LEFT JOIN execution ON execution.plan_id = plan.id
                   WHERE session.conversation = $1 AND session.channel = $2 AND plan.number < $3
                   ORDER BY plan.number DESC LIMIT $4";
        let before = before.map_or(i64::MAX, small);
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let found = self.query(sql, &[&conversation, &channel, &before, &i64::from(limit)]).await?;
        let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
        let mut last = None;
        for row in &found {
            last = Some(get::<i64>(row, 1)?);
            encode::note(&mut page, sound(rows::plan_summary(row, session)))?;
        }
        page.next = last.filter(|last| found.len() == limit as usize && *last > 1).map(i64::unsigned_abs);
        Ok(page)
    }

    pub(super) async fn journal(
        &self,
        session: &SessionIdentity,
        after: u64,
        limit: u32,
    ) -> LedgerResult<Vec<SealedEntry>> {
        // Asked in this way it is read in the order of the index, so that a page costs no more than what is on it.
        let sql = "SELECT seq, body, hash FROM journal
                   WHERE session_id = (SELECT id FROM session WHERE conversation = $1 AND channel = $2) AND seq > $3
                   ORDER BY session_id, seq LIMIT $4";
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let found = self.query(sql, &[&conversation, &channel, &small(after), &i64::from(limit)]).await?;
        found.iter().map(|row| rows::sealed_entry(row).map_err(|error| DatabaseError::from(error).to_error())).collect()
    }

    pub(super) async fn conversation(
        &self,
        session: &SessionIdentity,
        from: u64,
        limit: u32,
    ) -> LedgerResult<Vec<Entry>> {
        let sql = "SELECT seq, body FROM journal
                   WHERE session_id = (SELECT id FROM session WHERE conversation = $1 AND channel = $2)
                       AND seq >= $3 AND plan_id IS NULL
                   ORDER BY session_id, seq LIMIT $4";
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let found = self.query(sql, &[&conversation, &channel, &small(from), &i64::from(limit)]).await?;
        found.iter().map(|row| sound(rows::entry(row))).collect()
    }

    pub(super) async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        let sql = "SELECT journal.seq, journal.body FROM journal JOIN session ON session.id = journal.session_id
                   WHERE session.conversation = $1 AND session.channel = $2 AND journal.plan_id = $3
                   ORDER BY journal.seq";
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let found = self.query(sql, &[&conversation, &channel, &plan.as_str()]).await?;
        found.iter().map(|row| encode::set_damage_aside(sound(rows::entry(row)))).collect()
    }

    pub(super) async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let sql = include_str!("sql/version_entry.sql");
        let start = i64::from(version_lookup::indexed(version));
        let found = self.query(sql, &[&plan.as_str(), &i64::from(version), &conversation, &channel, &start]).await?;
        found.first().map(|row| sound(rows::entry(row))).transpose()
    }

    pub(super) async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        let sql = "SELECT plan_id, version, seq FROM journal
                   WHERE session_id = (SELECT id FROM session WHERE conversation = $1 AND channel = $2)
                       AND plan_id IS NOT NULL AND version IS NOT NULL";
        let found = self.query(sql, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
        let entry = |row: &Row| {
            let what = || format!("the index of versions of {session}");
            let (plan, version, seq): (String, i64, i64) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
            Ok(VersionIndexEntry {
                plan: PlanId::new(plan).map_err(|refusal| LedgerError::damaged(what(), refusal))?,
                version: u32::try_from(version).map_err(|error| LedgerError::damaged(what(), error))?,
                seq: seq.unsigned_abs(),
            })
        };
        found.iter().map(entry).collect()
    }

    pub(super) async fn stored_plans(
        &self,
        session: &SessionIdentity,
    ) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        let sql = select_plans!(
            "JOIN session ON session.id = plan.session_id
             WHERE session.conversation = $1 AND session.channel = $2 ORDER BY plan.number"
        );
        let found = self.query(sql, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
        let (mut plans, mut damaged) = (BTreeMap::new(), Vec::new());
        for row in &found {
            match encode::set_damage_aside(sound(rows::plan(row, session)))? {
                Ok(plan) => drop(plans.insert(plan.id.clone(), plan)),
                Err(row) => damaged.push(row),
            }
        }
        Ok((plans, damaged))
    }

    pub(super) async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        let entries = "SELECT count(*) FROM journal
                       WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = journal.session_id)
                       GROUP BY session_id ORDER BY session_id LIMIT $1";
        let plans = "SELECT id FROM plan
                     WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = plan.session_id)
                     ORDER BY id LIMIT $1";
        let mut found = Vec::new();
        for row in self.query(entries, &[&ORPHANS]).await? {
            found.push(encode::orphaned_entries(get(&row, 0)?));
        }
        for row in self.query(plans, &[&ORPHANS]).await? {
            found.push(encode::orphaned_plan(get(&row, 0)?));
        }
        let runs = "SELECT plan_id FROM step_run WHERE NOT EXISTS (SELECT 1 FROM plan WHERE plan.id = step_run.plan_id)
                    UNION
                    SELECT plan_id FROM execution WHERE NOT EXISTS (SELECT 1 FROM plan WHERE plan.id = execution.plan_id)
                    ORDER BY plan_id LIMIT $1";
        for row in self.query(runs, &[&ORPHANS]).await? {
            found.push(encode::orphaned_runs(get(&row, 0)?));
        }
        for (sql, what) in ORPHANED {
            for row in self.query(sql, &[]).await? {
                found.extend(orphaned(get(&row, 0)?, what));
            }
        }
        Ok(found)
    }
}

/// The session and its plans as of one commit, while others write. A damaged active plan is left out,
/// unless it is what was asked for.
async fn read_snapshot(
    client: &mut Object,
    mode: StatementMode,
    session: &SessionIdentity,
    plan: Option<&PlanId>,
) -> Result<Snapshot, DatabaseError> {
    let find_session = select_sessions!("WHERE session.conversation = $1 AND session.channel = $2");
    let find_plans = select_plans!("WHERE plan.session_id = $1 AND plan.id = ANY($2::text[])");
    let mut snapshot = Snapshot::new(session.clone());
    let moment =
        client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?;
    let names: [&dyn Parameter; 2] = [&session.conversation.as_str(), &session.channel.as_str()];
    let found = moment.query_as(mode, find_session, &names).await?;
    if let Some(row) = found.first() {
        let opened = rows::stored_session(row)??.session;
        let at_hand = [opened.plan_mode.active_plan.clone(), opened.worked_on().cloned()];
        snapshot.session = Some(opened.into());
        let wanted: Vec<_> = at_hand.iter().flatten().chain(plan).map(PlanId::as_str).collect();
        for row in moment.query_as(mode, find_plans, &[&row.try_get::<_, i64>("id")?, &wanted]).await? {
            let needed = plan.is_none_or(|plan| row.try_get("id").is_ok_and(|id: &str| id == plan.as_str()));
            match encode::set_damage_aside(rows::plan(&row, session)?)? {
                Ok(plan) => drop(snapshot.plans.insert(plan.id.clone(), plan.into())),
                Err(_) if !needed => {}
                Err(row) => return Err(LedgerError::damaged(row.what, row.reason).into()),
            }
        }
    }
    moment.commit().await?;
    Ok(snapshot)
}

/// Tries again while another transaction holds what is needed, and when a connection of the pool turned out to be dead.
pub(super) struct WriteRetry {
    attempts: u32,
    /// An attempt may have been carried out although its answer never came.
    pub(super) answer_lost: bool,
    give_up: Instant,
    pause: Duration,
}

impl WriteRetry {
    pub(super) fn new() -> Self {
        Self { attempts: 0, answer_lost: false, give_up: Instant::now() + LOCK_PATIENCE, pause: FIRST_PAUSE }
    }

    /// Waits until the next attempt may be made, or gives the error back if there is none.
    pub(super) async fn before_next(&mut self, error: DatabaseError) -> Result<(), DatabaseError> {
        self.attempts += 1;
        if is_stale(&error) && self.attempts < ATTEMPTS {
            self.answer_lost = true;
            return Ok(());
        }
        if error.retry_policy() != RetryPolicy::Busy || Instant::now() >= self.give_up {
            return Err(error);
        }
        sleep(self.pause).await;
        self.pause = (2 * self.pause).min(MAX_PAUSE);
        Ok(())
    }
}

async fn write_once(
    client: &mut Object,
    mode: StatementMode,
    sql: &str,
    parameters: &[&dyn Parameter],
) -> Result<Vec<Row>, DatabaseError> {
    let transaction = client.transaction().await?;
    // Sent in one go. The statement is only committed if the version is the right one.
    let (settings, version, rows) = join!(
        transaction.batch_execute(WRITE_SETTINGS),
        transaction.query_as(mode, schema::VERSION, &[]),
        transaction.query_as(mode, sql, parameters),
    );
    settings?;
    schema::check_version(&version?)?;
    let rows = rows?;
    transaction.commit().await?;
    Ok(rows)
}

/// Whether a connection turned out to be dead that the pool took for alive.
pub(super) fn is_stale(failure: &DatabaseError) -> bool {
    matches!(failure, DatabaseError::Database(_)) && failure.retry_policy() == RetryPolicy::Reconnect
}

/// A connection on which something may still be under way does not go back into the pool.
pub(super) fn give_back<T>(client: Object, outcome: &Result<T, DatabaseError>) {
    if let Err(DatabaseError::TimedOut) = outcome {
        drop(Object::take(client));
    }
}

/// The database's and the row's own trouble as one error.
pub(super) fn sound<T>(read: Result<LedgerResult<T>, tokio_postgres::Error>) -> LedgerResult<T> {
    read.map_err(|error| DatabaseError::from(error).to_error())?
}

pub(super) fn get<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: usize) -> LedgerResult<T> {
    row.try_get(column).map_err(|error| DatabaseError::from(error).to_error())
}

/// Numbers past what the database counts to are past everything that is stored.
pub(super) fn small(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
