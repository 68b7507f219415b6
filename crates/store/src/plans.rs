//! Plans of one session, and over all sessions.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use planwright_core::ids::PlanId;
use planwright_core::journal::Entry;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page, PlanAnywhere, PlanStore, PlanSummary};
use planwright_engine::version_index::VersionIndexEntry;

use crate::backend::{Backend, SqlLedger};
use crate::encode::{self, PlanRow};
use crate::overview::{below, is_dated_by_its_row, key_of, listed};
use crate::paging;
use crate::plan_rows::{ExecutionRow, assemble_plan};
use crate::sessions::{SESSION_ID, identity, read_entry};
use crate::sql::{Row, Statement, Value, sql};
use crate::version_lookup;

/// The columns of [`summary`].
const SUMMARY: &str = "plan.number, plan.id, plan.status, plan.style, plan.title, execution.steps,
    execution.updated_at, execution.pause, plan.updated_at";

/// The columns of [`read_plan`], from the tables `plan` and `execution`.
macro_rules! plan_columns {
    () => {
        "plan.number, plan.id, plan.status, plan.style, plan.title, execution.steps, execution.updated_at,
         execution.pause, plan.body"
    };
}
pub(crate) use plan_columns;

/// The entry that made a version, searched from the last entry before it that is in the index.
pub(crate) const VERSION_ENTRY: &str = include_str!("version_entry.sql");

#[async_trait]
impl<B: Backend> PlanStore for SqlLedger<B> {
    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        let contains = B::contains("id", "?4");
        let statement = format!(
            "SELECT id, number FROM plan WHERE session_id = {SESSION_ID} AND (number = ?3 OR {contains})
             ORDER BY number = ?3 DESC, id = ?4 DESC, number LIMIT 10"
        );
        // Numbers begin at 1, and no id has a space in it.
        let number = reference.number().map_or(0, i64::from);
        let piece = reference.piece().unwrap_or_else(|| " ".to_owned());
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let rows = self.0.query(sql!(statement, conversation, channel, number, piece)).await?;
        let candidate = |row: &Row| Some(PlanCandidate { id: plan_id(row, 0).ok()?, number: row.get(1).ok()? });
        // A plan whose id or number cannot be read does not hide the others; the list of plans names it.
        Ok(rows.iter().filter_map(candidate).collect())
    }

    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        let statement = "SELECT session.channel || ':' || session.conversation
                         FROM plan JOIN session ON session.id = plan.session_id WHERE plan.id = ?1";
        let rows = self.0.lookup(sql!(statement, plan.as_str())).await?;
        rows.first().map(|row| identity(row, 0)).transpose()
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        let statement = format!(
            "SELECT {SUMMARY} FROM plan LEFT JOIN execution ON execution.plan_id = plan.id
             WHERE plan.session_id = {SESSION_ID} AND plan.number < ?3 ORDER BY plan.number DESC LIMIT ?4"
        );
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let statement = sql!(statement, conversation, channel, before.unwrap_or(u64::MAX), limit);
        let rows = if limit <= INLINE_ROWS { self.0.lookup(statement).await? } else { self.0.query(statement).await? };
        let mut page = paging::walked_page(&rows, limit, |row| summary(row, session))?;
        page.next = page.next.filter(|number| *number > 1);
        Ok(page)
    }

    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        let statement =
            format!("SELECT seq, body FROM journal WHERE session_id = {SESSION_ID} AND plan_id = ?3 ORDER BY seq");
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let rows = self.0.query(sql!(statement, conversation, channel, plan.as_str())).await?;
        rows.iter().map(|row| encode::set_damage_aside(read_entry(row))).collect()
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let start = version_lookup::indexed(version);
        let rows = self.0.lookup(sql!(VERSION_ENTRY, plan.as_str(), version, conversation, channel, start)).await?;
        rows.first().map(read_entry).transpose()
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        let statement = format!(
            "SELECT plan_id, version, seq FROM journal
             WHERE session_id = {SESSION_ID} AND plan_id IS NOT NULL AND version IS NOT NULL"
        );
        let rows = self.0.query(sql!(statement, session.conversation.as_str(), session.channel.as_str())).await?;
        let what = || format!("the index of versions of {session}");
        let entry = |row: &Row| {
            let plan = PlanId::new(row.read::<&str>(0, what)?).map_err(|error| LedgerError::damaged(what(), error))?;
            Ok(VersionIndexEntry { plan, version: row.read(1, what)?, seq: row.read(2, what)? })
        };
        rows.iter().map(entry).collect()
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        const COLUMNS: &str = plan_columns!();
        let plans = format!(
            "SELECT {COLUMNS}, plan.updated_at FROM plan LEFT JOIN execution ON execution.plan_id = plan.id
             WHERE plan.session_id = {SESSION_ID} ORDER BY plan.number"
        );
        let runs = format!(
            "SELECT plan_id, position, body FROM step_run
             WHERE plan_id IN (SELECT id FROM plan WHERE session_id = {SESSION_ID}) ORDER BY plan_id, position"
        );
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let read = vec![sql!(plans, conversation, channel), sql!(runs, conversation, channel)];
        let [rows, runs] = self.0.query_all(read).await?.try_into().unwrap_or_default();
        let mut runs_of: BTreeMap<&str, Vec<(i64, &str)>> = BTreeMap::new();
        for run in &runs {
            let what = || "outcomes of steps".to_owned();
            runs_of.entry(run.read(0, what)?).or_default().push((run.read(1, what)?, run.read(2, what)?));
        }
        let (mut plans, mut damaged) = (BTreeMap::new(), Vec::new());
        for row in &rows {
            let runs = row.get(1).ok().and_then(|id: &str| runs_of.remove(id)).unwrap_or_default();
            let read = read_plan(row, session, runs).and_then(|plan| check_changed_at(row, plan));
            match encode::set_damage_aside(read)? {
                Ok(plan) => drop(plans.insert(plan.id.clone(), plan)),
                Err(row) => damaged.push(row),
            }
        }
        Ok((plans, damaged))
    }

    async fn plans_anywhere(
        &self,
        statuses: &[PlanStatus],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanAnywhere>> {
        if statuses.is_empty() {
            return Ok(Page { items: Vec::new(), damaged: Vec::new(), next: None });
        }
        // One statement for each status, in the order of an index: together they would be sorted, however many there are.
        let mut lists = Vec::new();
        for status in statuses.iter().copied() {
            let below = match is_dated_by_its_row(status) {
                true => Value::from(paging::below(after)?),
                false => Value::from(below(after)?),
            };
            lists.push((plans_of_status::<B>(status), below));
        }
        let statements = |count: u32| lists.iter().map(|(text, below)| list_statement(text, below, count)).collect();
        paging::read_merged_page(&self.0, statements, limit, |row| Ok((key(row)?, plan_anywhere(row)))).await
    }

    async fn waiting_plans(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<PlanAnywhere>> {
        // A row whose plan is gone is damage, and does not make the page end earlier.
        let text = format!(
            "SELECT {SUMMARY}, {ITS_SESSION}, waiting_plan.changed_at
             FROM waiting_plan LEFT JOIN plan ON plan.id = waiting_plan.plan_id
                 LEFT JOIN session ON session.id = plan.session_id LEFT JOIN execution ON execution.plan_id = plan.id
             WHERE waiting_plan.changed_at < ?1
             ORDER BY waiting_plan.changed_at DESC, waiting_plan.plan_id DESC LIMIT ?2"
        );
        let below = paging::below(after)?;
        let statement = |count| sql!(text.clone(), below, count);
        paging::read_page(&self.0, statement, limit, |row| Ok((key(row)?, plan_anywhere(row)))).await
    }
}

/// The columns behind [`SUMMARY`] of a plan in a list over all sessions. The key of its place in the list follows.
const ITS_SESSION: &str = "session.channel || ':' || session.conversation, session.state";

/// The plans of one status, the one that changed last first: of those that changed before `?1` at most `?2`.
fn plans_of_status<B: Backend>(status: PlanStatus) -> String {
    let (changed, among) = match is_dated_by_its_row(status) {
        true => ("plan.updated_at", concat!("AND ", listed!())),
        false => (B::PLAN_CHANGED, ""),
    };
    format!(
        "SELECT {SUMMARY}, {ITS_SESSION}, {changed}
         FROM plan JOIN session ON session.id = plan.session_id LEFT JOIN execution ON execution.plan_id = plan.id
         WHERE plan.status = '{status}' {among} AND {changed} < ?1 ORDER BY {changed} DESC, plan.id DESC LIMIT ?2"
    )
}

fn list_statement(text: &str, below: &Value, count: u32) -> Statement {
    Statement { text: text.to_owned().into(), values: vec![below.clone(), count.into()] }
}

/// The key of a plan's place in a list: when it changed last, in microseconds.
fn key(row: &Row) -> LedgerResult<u64> {
    match row.get::<i64>(11) {
        Ok(micros) => Ok(u64::try_from(micros).unwrap_or(0)),
        Err(_) => Ok(key_of(row.get(11)?)),
    }
}

/// Holds the time in a plan's row, by which lists are in order, against the one in its content.
fn check_changed_at(row: &Row, plan: Plan) -> LedgerResult<Plan> {
    let what = || format!("plan {} of {}", plan.number, plan.session);
    let (body, column): (&str, i64) = (row.read(8, what)?, row.read(9, what)?);
    let content = encode::plan_from_text(what, body)?.updated_at.as_microsecond();
    if content != column {
        let reason = format!("its row says that it was changed at {column}, its content at {content}");
        return Err(LedgerError::damaged(what(), reason));
    }
    Ok(plan)
}

/// A page of at most so many rows is read on the current thread.
const INLINE_ROWS: u32 = 64;

fn plan_anywhere(row: &Row) -> LedgerResult<PlanAnywhere> {
    let number: i64 = row.read(0, || "a plan".to_owned())?;
    let name: &str = row.read(9, || "a session".to_owned())?;
    let what = || format!("plan {number} of {name}");
    let session: SessionIdentity = name.parse().map_err(|error| LedgerError::damaged(what(), error))?;
    let plan = summary(row, &session)?;
    let state = encode::session_from_text(what, row.read(10, what)?)?;
    let works_on = [&state.plan_mode.active_plan, &state.round];
    let active = works_on.contains(&&Some(plan.id.clone()));
    Ok(PlanAnywhere { session, plan, active })
}

fn plan_id(row: &Row, column: usize) -> LedgerResult<PlanId> {
    Ok(PlanId::new(row.get::<&str>(column)?)?)
}

fn summary(row: &Row, session: &SessionIdentity) -> LedgerResult<PlanSummary> {
    let number: i64 = row.read(0, || format!("a plan of {session}"))?;
    let what = || format!("plan {number} of {session}");
    let word = |column| row.read(column, what).map(serde_json::Value::String);
    let damaged = |error: serde_json::Error| LedgerError::damaged(what(), error);
    Ok(PlanSummary {
        id: plan_id(row, 1).map_err(|error| LedgerError::damaged(what(), error))?,
        number: row.read(0, what)?,
        status: serde_json::from_value(word(2)?).map_err(damaged)?,
        style: serde_json::from_value(word(3)?).map_err(damaged)?,
        title: row.read(4, what)?,
        updated_at: match execution(row, what)? {
            Some(execution) => execution.updated_at(what)?,
            None => encode::timestamp(what, row.read(8, what)?)?,
        },
    })
}

/// What the row of a plan's execution says, if there is one.
fn execution(row: &Row, what: impl Fn() -> String) -> LedgerResult<Option<ExecutionRow>> {
    let Some(steps) = row.read(5, &what)? else { return Ok(None) };
    Ok(Some(ExecutionRow { steps, updated_at: row.read(6, &what)?, pause: row.read(7, what)? }))
}

/// A plan from all of its rows, which say the same as its content.
pub(crate) fn read_plan<T: AsRef<str>>(
    row: &Row,
    session: &SessionIdentity,
    runs: impl IntoIterator<Item = (i64, T)>,
) -> LedgerResult<Plan> {
    let number: i64 = row.read(0, || format!("a plan of {session}"))?;
    let what = || format!("plan {number} of {session}");
    let text = |column| row.read::<&str>(column, what);
    let plan = encode::plan_from_text(what, text(8)?)?;
    let columns = PlanRow { id: text(1)?, session, number, status: text(2)?, style: text(3)?, title: text(4)? };
    encode::check_plan_row(what, &plan, &columns)?;
    assemble_plan(what, plan, execution(row, what)?.as_ref(), runs)
}
