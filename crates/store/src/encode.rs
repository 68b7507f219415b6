//! State as it is stored: JSON text, which keeps every character there is and can be read without this program.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::journal::{Entry, EntryHash, Head};
use planwright_core::plan::Plan;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::visible::quoted;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page, SessionFlags, text_for_row};

/// A plan without the runs of its execution, which have rows of their own.
pub(crate) fn plan_to_text(plan: &Plan) -> LedgerResult<String> {
    let mut plan = Cow::Borrowed(plan);
    if plan.execution.is_some() {
        plan.to_mut().execution.iter_mut().for_each(|execution| execution.steps.clear());
    }
    serde_json::to_string(&plan)
        .map_err(|error| LedgerError::Internal(format!("plan {} cannot be written: {error}", plan.id)))
}

pub(crate) fn plan_from_text(what: impl FnOnce() -> String, text: &str) -> LedgerResult<Plan> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

/// A session as it is stored, and what of it has columns of its own, where it can be found and counted.
#[derive(Debug)]
pub(crate) struct SessionState {
    pub(crate) text: String,
    pub(crate) turn_open: bool,
    pub(crate) asks_person: bool,
    pub(crate) planning: bool,
    pub(crate) has_agents: bool,
}

impl SessionState {
    pub(crate) fn of(session: &Session) -> LedgerResult<Self> {
        let text = serde_json::to_string(session).map_err(|error| {
            LedgerError::Internal(format!("session {} cannot be written: {error}", session.identity))
        })?;
        let SessionFlags { turn_open, asks_person, planning, has_agents } = SessionFlags::of(session);
        Ok(Self { text, turn_open, asks_person, planning, has_agents })
    }

    /// What an earlier version of the program wrote, which had no such columns. `None` if it cannot be read: then nothing
    /// is known about it.
    pub(crate) fn earlier(text: &str) -> Option<Self> {
        Self::of(&serde_json::from_str(text).ok()?).ok()
    }
}

pub(crate) fn session_from_text(what: impl FnOnce() -> String, text: &str) -> LedgerResult<Session> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

pub(crate) fn entry_from_text(what: impl FnOnce() -> String, text: &str) -> LedgerResult<Entry> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

/// What stands beside a plan's content in its row, where lists and searches find it.
#[derive(Debug)]
pub(crate) struct PlanRow<'a> {
    pub(crate) id: &'a str,
    /// The session whose plan the row is.
    pub(crate) session: &'a SessionIdentity,
    pub(crate) number: i64,
    pub(crate) status: &'a str,
    pub(crate) style: &'a str,
    pub(crate) title: &'a str,
}

/// Holds a plan's row against its content.
pub(crate) fn check_plan_row(what: impl FnOnce() -> String, plan: &Plan, row: &PlanRow<'_>) -> LedgerResult<()> {
    let pairs = [
        ("plan", row.id.to_owned(), plan.id.to_string()),
        ("session", row.session.to_string(), plan.session.to_string()),
        ("number", row.number.to_string(), plan.number.to_string()),
        ("status", row.status.to_owned(), plan.status.to_string()),
        ("style", row.style.to_owned(), plan.style().to_string()),
        ("title", text_for_row(row.title), text_for_row(&plan.display_title())),
    ];
    match pairs.into_iter().find(|(_, row, content)| row != content) {
        Some((name, row, content)) => {
            let reason = format!("its row says {name} {}, its content {}", quoted(&row), quoted(&content));
            Err(LedgerError::damaged(what(), reason))
        }
        None => Ok(()),
    }
}

/// The end of a chain as its row says it.
pub(crate) fn head(what: impl FnOnce() -> String, seq: i64, hash: &[u8]) -> LedgerResult<Head> {
    match (u64::try_from(seq), <[u8; 32]>::try_from(hash)) {
        (Ok(seq), Ok(hash)) => Ok(Head { seq, hash: EntryHash(hash) }),
        _ => Err(LedgerError::damaged(what(), "the end of its journal is not recorded properly")),
    }
}

pub(crate) fn timestamp(what: impl FnOnce() -> String, micros: i64) -> LedgerResult<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|error| LedgerError::damaged(what(), error))
}

/// A time in microseconds.
pub(crate) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// Entries that no session leads to any more.
pub(crate) fn orphaned_entries(count: i64) -> DamagedRow {
    let entries = if count == 1 { "entry" } else { "entries" };
    orphan(format!("{count} journal {entries} of a session that has no row"))
}

/// A plan that no session leads to any more.
pub(crate) fn orphaned_plan(id: &str) -> DamagedRow {
    orphan(format!("plan {id} of a session that has no row"))
}

fn orphan(what: String) -> DamagedRow {
    DamagedRow { what, reason: "the session's row is missing".to_owned() }
}

/// Outcomes of steps that no plan leads to any more.
pub(crate) fn orphaned_runs(plan: &str) -> DamagedRow {
    let what = format!("outcomes of plan {plan} that has no row");
    DamagedRow { what, reason: "the plan's row is missing".to_owned() }
}

/// Copies an error for another caller that waits for the same work.
pub(crate) fn copy_error(error: &LedgerError) -> LedgerError {
    match error {
        LedgerError::Refused(refusal) => LedgerError::Refused(refusal.clone()),
        LedgerError::Leased(lease) => LedgerError::Leased(lease.clone()),
        LedgerError::Fenced(lease) => LedgerError::Fenced(lease.clone()),
        LedgerError::Unavailable(message) => LedgerError::Unavailable(message.clone()),
        LedgerError::TooNew { found, known } => LedgerError::TooNew { found: *found, known: *known },
        LedgerError::Damaged { what, reason } => LedgerError::damaged(what.clone(), reason),
        LedgerError::Internal(message) => LedgerError::Internal(message.clone()),
    }
}

/// Puts a row on the page, or its damage beside it.
pub(crate) fn note<T>(page: &mut Page<T>, read: LedgerResult<T>) -> LedgerResult<()> {
    match set_damage_aside(read)? {
        Ok(item) => page.items.push(item),
        Err(damaged) => page.damaged.push(damaged),
    }
    Ok(())
}

/// Separates a damaged row, which must not fail the others, from every other error.
pub(crate) fn set_damage_aside<T>(read: LedgerResult<T>) -> LedgerResult<Result<T, DamagedRow>> {
    match read {
        Ok(item) => Ok(Ok(item)),
        Err(LedgerError::Damaged { what, reason }) => Ok(Err(DamagedRow { what, reason })),
        Err(error) => Err(error),
    }
}
