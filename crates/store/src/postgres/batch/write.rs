//! Writes the outcome of a batch: one statement for each table, however many commands there were.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::join;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::plan::Plan;
use planwright_engine::ledger::{LedgerResult, is_working, text_for_row};
use tokio_postgres::Error;

use super::session::BatchSession;
use super::{Batch, NewEntry};
use crate::encode::SessionState;
use crate::memory_rows::{MemoryRowChange, RowChange, item_to_text};
use crate::plan_rows::{ExecutionRow, PlanRows};
use crate::postgres::errors::DatabaseError;
use crate::postgres::leases;
use crate::postgres::statement::{FixedStatement, Parameter};
use crate::postgres::writer_connection::WriterConnection;

/// Sends the rows of a batch over one connection.
pub(super) struct RowWriter<'a> {
    connection: &'a WriterConnection,
    has_failed: AtomicBool,
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(connection: &'a WriterConnection) -> Self {
        Self { connection, has_failed: AtomicBool::new(false) }
    }

    /// Whether a statement has failed already. Others may still be under way.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    async fn execute<const N: usize>(
        &self,
        count: usize,
        statement: &FixedStatement,
        parameters: [&dyn Parameter; N],
    ) -> Result<u64, Error> {
        let written = self.connection.execute(count, statement, parameters).await;
        if written.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        written
    }

    /// Returns once all rows are written.
    pub(super) async fn write(&self, batch: &Batch<'_>) -> Result<(), DatabaseError> {
        let entries = EntryColumns::of(&batch.entries);
        let sessions = SessionColumns::of(batch)?;
        let mut plans = Plans::default();
        for session in batch.sessions.values() {
            plans.add(session)?;
        }
        let Plans { made, changed, executions, runs_anew, runs } = &plans;
        let unbegun: Vec<_> = batch
            .sessions
            .values()
            .filter(|session| session.fresh && session.snapshot.session.is_none())
            .filter_map(|session| session.id)
            .collect();
        let leases = LeaseColumns::of(batch);
        let waiting = WaitingColumns::of(batch);
        let texts = TextColumns::of(batch);
        let auto = AutoColumns::of(batch);
        // All of them are sent before the first is answered.
        let own_rows = async {
            join!(
                self.execute(entries.seq.len(), &self.connection.insert_entries, entries.parameters()),
                self.execute(made.id.len(), &self.connection.insert_plans, made.for_insert()),
                self.execute(changed.id.len(), &self.connection.update_plans, changed.for_update()),
                self.execute(executions.plan.len(), &self.connection.set_executions, executions.parameters()),
                self.execute(runs_anew.len(), &self.connection.delete_runs, [runs_anew]),
                self.execute(runs.plan.len(), &self.connection.set_runs, runs.parameters()),
                self.execute(sessions.id.len(), &self.connection.update_sessions, sessions.parameters()),
                self.execute(unbegun.len(), &self.connection.delete_sessions, [&unbegun]),
                self.execute(leases.session_id.len(), &self.connection.set_leases, leases.parameters()),
            )
        };
        let listed_rows = async {
            join!(
                self.execute(waiting.plan.len(), &self.connection.set_waiting, [&waiting.plan, &waiting.since]),
                self.execute(waiting.gone.len(), &self.connection.delete_waiting, [&waiting.gone]),
                self.execute(texts.session_id.len(), &self.connection.set_texts, [&texts.session_id, &texts.text]),
                self.execute(auto.session_id.len(), &self.connection.set_auto, auto.parameters()),
                self.execute(auto.none.len(), &self.connection.delete_auto, [&auto.none]),
            )
        };
        let (written, listed) = join!(own_rows, listed_rows);
        // The statements that change rows fail by themselves if one of the rows is gone.
        in_order(written.into())?;
        in_order(listed.into())?;
        for session in batch.sessions.values() {
            let Some(session_id) = session.id else { continue };
            for row in &session.memories {
                write_memory(self.connection, session_id, row).await?;
            }
        }
        Ok(())
    }
}

/// Fails with the first error of statements that were sent one after another. What follows one that failed fails because of it.
fn in_order<const N: usize, E>(written: [Result<u64, E>; N]) -> Result<(), E> {
    written.into_iter().try_for_each(|written| written.map(drop))
}

/// One statement for each memory: its position depends on the ones before it.
async fn write_memory(
    connection: &WriterConnection,
    session_id: i64,
    row: &MemoryRowChange,
) -> Result<(), DatabaseError> {
    let text = row.text();
    let (id, length) = (row.item.id.as_str(), i64::from(text.length));
    let (terms, frequencies): (Vec<&str>, Vec<i64>) =
        text.terms.iter().map(|(term, frequency)| (term.as_str(), i64::from(*frequency))).unzip();
    match row.change {
        RowChange::Add => {
            let (owner, scope) = (row.owner(session_id), row.item.scope.to_string());
            let body = item_to_text(&row.item)?;
            let parameters: [&dyn Parameter; 7] = [&owner, &scope, &length, &id, &body, &terms, &frequencies];
            connection.execute(1, &connection.add_memory, parameters).await?;
        }
        RowChange::Forget => {
            connection.execute(1, &connection.forget_memory, [&id, &length, &terms]).await?;
        }
        RowChange::Restore => {
            connection.execute(1, &connection.restore_memory, [&id, &length, &terms, &frequencies]).await?;
        }
    }
    Ok(())
}

pub(super) async fn write_entries(
    connection: &WriterConnection,
    entries: &[NewEntry<'_>],
) -> Result<(), DatabaseError> {
    let columns = EntryColumns::of(entries);
    connection.execute(entries.len(), &connection.insert_entries, columns.parameters()).await?;
    Ok(())
}

#[derive(Default)]
struct EntryColumns<'a> {
    session_id: Vec<i64>,
    seq: Vec<i64>,
    plan: Vec<Option<&'a str>>,
    request: Vec<Option<&'a str>>,
    version: Vec<Option<i64>>,
    body: Vec<&'a str>,
    hash: Vec<&'a [u8]>,
}

impl<'a> EntryColumns<'a> {
    fn of(entries: &'a [NewEntry<'a>]) -> Self {
        let mut columns = Self::default();
        for entry in entries {
            columns.session_id.push(entry.session_id);
            columns.seq.push(entry.seq as i64);
            columns.plan.push(entry.plan.as_ref().map(PlanId::as_str));
            columns.request.push(entry.request.map(RequestId::as_str));
            columns.version.push(entry.version.map(i64::from));
            columns.body.push(&entry.body);
            columns.hash.push(&entry.hash);
        }
        columns
    }

    fn parameters(&self) -> [&dyn Parameter; 7] {
        [&self.session_id, &self.seq, &self.plan, &self.request, &self.version, &self.body, &self.hash]
    }
}

#[derive(Default)]
struct SessionColumns<'a> {
    id: Vec<i64>,
    head_seq: Vec<i64>,
    head_hash: Vec<&'a [u8]>,
    state: Vec<String>,
    last_active: Vec<i64>,
    turn_open: Vec<bool>,
    planning: Vec<bool>,
    asks_person: Vec<bool>,
    has_agents: Vec<bool>,
}

impl<'a> SessionColumns<'a> {
    fn of(batch: &'a Batch<'_>) -> LedgerResult<Self> {
        let mut columns = Self::default();
        for session in batch.sessions.values() {
            let (Some(id), Some(opened), Some(at)) = (session.id, &session.snapshot.session, session.last_active)
            else {
                continue;
            };
            columns.id.push(id);
            columns.head_seq.push(session.head.seq as i64);
            columns.head_hash.push(&session.head.hash.0);
            let state = SessionState::of(opened)?;
            columns.state.push(state.text);
            columns.last_active.push(at.as_microsecond());
            columns.turn_open.push(state.turn_open);
            columns.planning.push(state.planning);
            columns.asks_person.push(state.asks_person);
            columns.has_agents.push(state.has_agents);
        }
        Ok(columns)
    }

    fn parameters(&self) -> [&dyn Parameter; 9] {
        let Self { id, head_seq, head_hash, state, last_active, turn_open, planning, asks_person, has_agents } = self;
        [id, head_seq, head_hash, state, last_active, turn_open, planning, asks_person, has_agents]
    }
}

/// All that is written of plans.
#[derive(Default)]
struct Plans<'a> {
    made: PlanColumns<'a>,
    changed: PlanColumns<'a>,
    executions: ExecutionColumns<'a>,
    /// The plans whose runs before this go.
    runs_anew: Vec<&'a str>,
    runs: RunColumns<'a>,
}

impl<'a> Plans<'a> {
    fn add(&mut self, session: &'a BatchSession) -> LedgerResult<()> {
        let Some(session_id) = session.id else { return Ok(()) };
        for (id, rewrite) in &session.changed {
            let Some(plan) = session.snapshot.plan(id) else { continue };
            let rows = PlanRows::of(plan, rewrite)?;
            if let Some(execution) = rows.execution() {
                self.executions.push(id, execution, is_working(plan));
            }
            if rows.runs_anew {
                self.runs_anew.push(id.as_str());
            }
            for (position, body) in rows.runs {
                self.runs.push(id, position, body);
            }
            if let Some(body) = rows.body {
                let columns = if session.made.contains(id) { &mut self.made } else { &mut self.changed };
                columns.push(session_id, plan, body);
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct ExecutionColumns<'a> {
    plan: Vec<&'a str>,
    steps: Vec<i64>,
    updated_at: Vec<String>,
    pause: Vec<Option<String>>,
    working: Vec<bool>,
}

impl<'a> ExecutionColumns<'a> {
    fn push(&mut self, plan: &'a PlanId, row: ExecutionRow, working: bool) {
        self.plan.push(plan.as_str());
        self.steps.push(row.steps);
        self.updated_at.push(row.updated_at);
        self.pause.push(row.pause);
        self.working.push(working);
    }

    fn parameters(&self) -> [&dyn Parameter; 5] {
        [&self.plan, &self.steps, &self.updated_at, &self.pause, &self.working]
    }
}

/// What a search for sessions looks through.
#[derive(Default)]
struct TextColumns {
    session_id: Vec<i64>,
    text: Vec<String>,
}

impl TextColumns {
    fn of(batch: &Batch<'_>) -> Self {
        let mut columns = Self::default();
        for session in batch.sessions.values() {
            let (Some(id), Some(text)) = (session.id, &session.search_text) else { continue };
            columns.session_id.push(id);
            columns.text.push(text_for_row(text));
        }
        columns
    }
}

#[derive(Default)]
struct WaitingColumns<'a> {
    plan: Vec<&'a str>,
    since: Vec<i64>,
    /// The plans that wait no more.
    gone: Vec<&'a str>,
}

impl<'a> WaitingColumns<'a> {
    fn of(batch: &'a Batch<'_>) -> Self {
        let mut columns = Self::default();
        for (plan, since) in batch.sessions.values().flat_map(|session| &session.waiting) {
            match since {
                Some(since) => {
                    columns.plan.push(plan.as_str());
                    columns.since.push(*since);
                }
                None => columns.gone.push(plan.as_str()),
            }
        }
        columns
    }
}

#[derive(Default)]
struct RunColumns<'a> {
    plan: Vec<&'a str>,
    position: Vec<i64>,
    body: Vec<String>,
}

impl<'a> RunColumns<'a> {
    fn push(&mut self, plan: &'a PlanId, position: i64, body: String) {
        self.plan.push(plan.as_str());
        self.position.push(position);
        self.body.push(body);
    }

    fn parameters(&self) -> [&dyn Parameter; 3] {
        [&self.plan, &self.position, &self.body]
    }
}

#[derive(Default)]
struct PlanColumns<'a> {
    id: Vec<&'a str>,
    session_id: Vec<i64>,
    number: Vec<i64>,
    status: Vec<&'static str>,
    style: Vec<&'static str>,
    title: Vec<String>,
    body: Vec<String>,
    updated_at: Vec<i64>,
}

impl<'a> PlanColumns<'a> {
    fn push(&mut self, session_id: i64, plan: &'a Plan, body: String) {
        self.id.push(plan.id.as_str());
        self.session_id.push(session_id);
        self.number.push(plan.number.into());
        self.status.push(plan.status.as_str());
        self.style.push(plan.style().as_str());
        self.title.push(text_for_row(&plan.display_title()));
        self.body.push(body);
        self.updated_at.push(plan.updated_at.as_microsecond());
    }

    fn for_insert(&self) -> [&dyn Parameter; 8] {
        [&self.id, &self.session_id, &self.number, &self.status, &self.style, &self.title, &self.body, &self.updated_at]
    }

    fn for_update(&self) -> [&dyn Parameter; 6] {
        [&self.id, &self.session_id, &self.status, &self.title, &self.body, &self.updated_at]
    }
}

#[derive(Default)]
struct AutoColumns {
    session_id: Vec<i64>,
    due_at: Vec<Option<i64>>,
    running: Vec<bool>,
    waits: Vec<bool>,
    /// The sessions that need no row any more.
    none: Vec<i64>,
}

impl AutoColumns {
    fn of(batch: &Batch<'_>) -> Self {
        let mut columns = Self::default();
        for session in batch.sessions.values() {
            let (Some(id), Some(row)) = (session.id, session.auto) else { continue };
            if row.is_empty() {
                columns.none.push(id);
                continue;
            }
            columns.session_id.push(id);
            columns.due_at.push(row.due_at);
            columns.running.push(row.running);
            columns.waits.push(row.waits);
        }
        columns
    }

    fn parameters(&self) -> [&dyn Parameter; 4] {
        [&self.session_id, &self.due_at, &self.running, &self.waits]
    }
}

#[derive(Default)]
struct LeaseColumns<'a> {
    session_id: Vec<i64>,
    owner: Vec<&'a str>,
    fence: Vec<i64>,
    micros: Vec<f64>,
}

impl<'a> LeaseColumns<'a> {
    fn of(batch: &'a Batch<'_>) -> Self {
        let mut columns = Self::default();
        for session in batch.sessions.values() {
            let (Some(id), Some(holder), Some(runs)) = (session.id, &session.holder, session.lease_runs) else {
                continue;
            };
            columns.session_id.push(id);
            columns.owner.push(&holder.owner);
            columns.fence.push(holder.fence as i64);
            columns.micros.push(leases::micros(runs));
        }
        columns
    }

    fn parameters(&self) -> [&dyn Parameter; 4] {
        [&self.session_id, &self.owner, &self.fence, &self.micros]
    }
}
