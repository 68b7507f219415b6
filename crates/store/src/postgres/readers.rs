//! Reading, beside the writers and never in their way.

use std::collections::BTreeMap;
use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{Candidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page, PlanSummary, StoredSession};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row};

use super::connect::Target;
use super::errors::{Failure, Remedy, words};
use super::rows;
use crate::encode;

const READ: Duration = Duration::from_secs(30);
/// A pooled connection may have died unnoticed; a read can simply be done again.
pub(super) const ATTEMPTS: u32 = 3;
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
}

impl Readers {
    pub(super) fn new(target: &Target) -> LedgerResult<Self> {
        Ok(Self { pool: target.pool()?, target: target.clone() })
    }

    pub(super) async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> LedgerResult<Vec<Row>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.try_query(sql, parameters).await {
                Err(failure) if is_stale(&failure) && attempts < ATTEMPTS => {}
                outcome => return outcome.map_err(|failure| failure.to_error()),
            }
        }
    }

    async fn try_query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        let client = self.client().await?;
        let work = async {
            let statement = client.prepare_cached(sql).await?;
            Ok(client.query(&statement, parameters).await?)
        };
        let outcome = timeout(READ, work).await.unwrap_or(Err(Failure::TimedOut));
        give_back(client, &outcome);
        outcome
    }

    pub(super) async fn client(&self) -> Result<Object, Failure> {
        let unreachable = |why: String| Failure::Unreachable(format!("{} cannot be reached: {why}", self.target));
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => unreachable(words(&error)),
            PoolError::Timeout(_) => unreachable("it does not answer".to_owned()),
            error => unreachable(error.to_string()),
        })
    }

    pub(super) async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let sql = select_sessions!("WHERE session.conversation = $1 AND session.channel = $2");
        let found = self.query(sql, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
        found.first().map(|row| sound(rows::stored_session(row))).transpose()
    }

    pub(super) async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let sql = select_sessions!("ORDER BY session.written_at DESC, session.id DESC LIMIT $1 OFFSET $2");
        let offset = after.unwrap_or(0);
        let found = self.query(sql, &[&i64::from(limit), &small(offset)]).await?;
        let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
        for row in &found {
            encode::note(&mut page, sound(rows::stored_session(row)))?;
        }
        page.next = (found.len() == limit as usize).then_some(offset + u64::from(limit));
        Ok(page)
    }

    pub(super) async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        let sql = "SELECT channel, conversation FROM session WHERE conversation = $1 ORDER BY channel";
        let found = self.query(sql, &[&key.as_str()]).await?;
        found.iter().map(|row| sound(rows::identity(row))).collect()
    }

    pub(super) async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.try_desk(session, plan).await {
                Err(failure) if is_stale(&failure) && attempts < ATTEMPTS => {}
                outcome => return outcome.map_err(|failure| failure.to_error()),
            }
        }
    }

    async fn try_desk(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> Result<Snapshot, Failure> {
        let mut client = self.client().await?;
        let outcome = timeout(READ, read_desk(&mut client, session, plan)).await.unwrap_or(Err(Failure::TimedOut));
        give_back(client, &outcome);
        outcome
    }

    pub(super) async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<Candidate>> {
        let sql = "SELECT plan.id, plan.number FROM plan JOIN session ON session.id = plan.session_id
                   WHERE session.conversation = $1 AND session.channel = $2
                       AND (plan.number = $3 OR position($4::text IN plan.id) > 0)
                   ORDER BY plan.number = $3 DESC, plan.id = $4 DESC, plan.number LIMIT 10";
        // Numbers begin at 1, and no id has a space in it.
        let number = reference.number().map_or(0, i64::from);
        let piece = reference.piece().unwrap_or_else(|| " ".to_owned());
        let found =
            self.query(sql, &[&session.conversation.as_str(), &session.channel.as_str(), &number, &piece]).await?;
        let candidate = |row: &Row| {
            let (id, number): (String, i64) = (get(row, 0)?, get(row, 1)?);
            Ok(Candidate { id: PlanId::new(id)?, number: u32::try_from(number).unwrap_or(u32::MAX) })
        };
        found.iter().map(candidate).collect()
    }

    pub(super) async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        let sql = "SELECT session.channel, session.conversation FROM plan JOIN session ON session.id = plan.session_id
                   WHERE plan.id = $1";
        let found = self.query(sql, &[&plan.as_str()]).await?;
        found.first().map(|row| sound(rows::identity(row))).transpose()
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
        found.iter().map(|row| rows::sealed_entry(row).map_err(|error| Failure::from(error).to_error())).collect()
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

    pub(super) async fn plan_journal(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Vec<Entry>> {
        let sql = "SELECT journal.seq, journal.body FROM journal JOIN session ON session.id = journal.session_id
                   WHERE session.conversation = $1 AND session.channel = $2 AND journal.plan_id = $3
                   ORDER BY journal.seq";
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let found = self.query(sql, &[&conversation, &channel, &plan.as_str()]).await?;
        found.iter().map(|row| sound(rows::entry(row))).collect()
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
        Ok(found)
    }
}

/// The session and its plans as they were at one moment, whoever writes meanwhile. A damaged active plan is left off,
/// unless it is what was asked for.
async fn read_desk(client: &mut Object, session: &SessionIdentity, plan: Option<&PlanId>) -> Result<Snapshot, Failure> {
    let find_session = select_sessions!("WHERE session.conversation = $1 AND session.channel = $2");
    let find_plans = select_plans!("WHERE plan.session_id = $1 AND plan.id = ANY($2::text[])");
    let mut snapshot = Snapshot::new(session.clone());
    let moment =
        client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?;
    let statement = moment.prepare_cached(find_session).await?;
    let found = moment.query_opt(&statement, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
    if let Some(row) = found {
        let opened = rows::stored_session(&row)??.session;
        let at_hand = [opened.plan_mode.active_plan.clone(), opened.worked_on().cloned()];
        snapshot.session = Some(opened);
        let wanted: Vec<_> = at_hand.iter().flatten().chain(plan).map(PlanId::as_str).collect();
        let statement = moment.prepare_cached(find_plans).await?;
        for row in moment.query(&statement, &[&row.try_get::<_, i64>("id")?, &wanted]).await? {
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

/// Whether a connection turned out to be dead that the pool took for alive.
pub(super) fn is_stale(failure: &Failure) -> bool {
    matches!(failure, Failure::Database(_)) && failure.remedy() == Remedy::Reconnect
}

/// A connection on which something may still be under way does not go back into the pool.
pub(super) fn give_back<T>(client: Object, outcome: &Result<T, Failure>) {
    if let Err(Failure::TimedOut) = outcome {
        drop(Object::take(client));
    }
}

/// The database's and the row's own trouble as one error.
pub(super) fn sound<T>(read: Result<LedgerResult<T>, tokio_postgres::Error>) -> LedgerResult<T> {
    read.map_err(|error| Failure::from(error).to_error())?
}

pub(super) fn get<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: usize) -> LedgerResult<T> {
    row.try_get(column).map_err(|error| Failure::from(error).to_error())
}

/// Numbers past what the database counts to are past everything that is stored.
pub(super) fn small(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
