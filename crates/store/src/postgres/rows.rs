//! Single rows, read the same way by writers and readers. Of two results, the outer one is the database's, the inner one says
//! whether the row makes sense.

use planwright_core::journal::{Entry, Head};
use planwright_core::plan::Plan;
use planwright_core::session::{Session, SessionIdentity};
use planwright_engine::ledger::{LedgerError, LedgerResult, StoredSession};
use tokio_postgres::Error;
use tokio_postgres::types::Type;

use super::errors::DatabaseError;
use crate::encode::{self, PlanRow};
use crate::plan_rows::{ExecutionRow, assemble_plan};
use crate::sessions;
use crate::sql::{self, Value};

pub(super) type Read<T> = Result<LedgerResult<T>, Error>;
type Row = tokio_postgres::Row;

macro_rules! session_columns {
    () => {
        "session.id, session.channel || ':' || session.conversation, session.state, session.head_seq, session.head_hash,
         journal.seq, journal.hash, session.last_active"
    };
}

macro_rules! session_tables {
    () => {
        "session LEFT JOIN journal ON journal.session_id = session.id
             AND journal.seq = (SELECT max(seq) FROM journal WHERE session_id = session.id)"
    };
}

pub(super) const SESSION_COLUMNS: &str = session_columns!();
pub(super) const SESSION_TABLES: &str = session_tables!();

/// The sessions that `$among` is true of, the most recently active first. The last moment that a number of microseconds names
/// exactly is in the year 2255.
macro_rules! recent {
    ($among:literal) => {
        concat!(
            "SELECT ",
            session_columns!(),
            ", CAST(extract(epoch FROM session.written_at) * 1000000 AS bigint) FROM ",
            session_tables!(),
            " WHERE ",
            $among,
            " AND session.written_at < to_timestamp(0)
                 + interval '1 microsecond' * CAST(least(CAST(?1 AS bigint), 9007199254740991) AS float8)
             ORDER BY session.written_at DESC, session.id DESC LIMIT ?2"
        )
    };
}

pub(super) const RECENT_SESSIONS: &str = recent!("true");
pub(super) const FOUND_SESSIONS: &str = recent!("session.id = ANY(?3)");

/// A session by its name.
pub(super) const FIND_SESSION: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM ",
    session_tables!(),
    " WHERE session.conversation = $1 AND session.channel = $2"
);

/// The answers to statements, each with all of its rows.
pub(super) fn found(answers: Vec<Vec<Row>>) -> LedgerResult<Vec<Vec<sql::Row>>> {
    let rows = |rows: Vec<Row>| rows.iter().map(row).collect::<Result<Vec<_>, _>>();
    let found = answers.into_iter().map(rows).collect::<Result<_, _>>();
    found.map_err(|error| DatabaseError::from(error).to_error())
}

/// A row with all of its values.
pub(super) fn row(row: &Row) -> Result<sql::Row, Error> {
    const NOTHING: Value = Value::Integer(None);
    let value = |(column, described): (usize, &tokio_postgres::Column)| {
        Ok(match *described.type_() {
            Type::BOOL => row.try_get::<_, Option<bool>>(column)?.map_or(NOTHING, Value::Bool),
            Type::INT4 => Value::Integer(row.try_get::<_, Option<i32>>(column)?.map(i64::from)),
            Type::INT8 => Value::Integer(row.try_get(column)?),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column)?.map_or(NOTHING, Value::Bytes),
            _ => Value::Text(row.try_get(column)?),
        })
    };
    Ok(sql::Row(row.columns().iter().enumerate().map(value).collect::<Result<_, Error>>()?))
}

/// What a session is called, whether or not it may be called so.
pub(super) fn name(row: &Row) -> Result<String, Error> {
    Ok(format!("{}:{}", row.try_get::<_, &str>("channel")?, row.try_get::<_, &str>("conversation")?))
}

pub(super) fn identity(row: &Row) -> Read<SessionIdentity> {
    let name = name(row)?;
    Ok(name.parse().map_err(|error| LedgerError::damaged(format!("session {name}"), error)))
}

/// A session as its row has it.
pub(super) struct SessionRow<'a> {
    pub(super) state: &'a str,
    pub(super) head: (i64, &'a [u8]),
    /// Where its journal really ends; a session without a single entry has no such place.
    pub(super) end: Option<(i64, &'a [u8])>,
}

impl SessionRow<'_> {
    pub(super) fn read(&self, identity: &SessionIdentity) -> LedgerResult<(Session, Head)> {
        let what = || format!("session {identity}");
        let head = encode::head(what, self.head.0, self.head.1)?;
        let found = self.end.map_or(Ok(Head::START), |(seq, hash)| encode::head(what, seq, hash))?;
        found.check_end(&head).map_err(|damage| LedgerError::damaged(what(), damage))?;
        let session = encode::session_from_text(what, self.state)?;
        if session.identity != *identity {
            return Err(LedgerError::damaged(what(), format!("it says that it is session {}", session.identity)));
        }
        Ok((session, head))
    }
}

pub(super) fn stored_session(row: &sql::Row) -> LedgerResult<StoredSession> {
    let identity = sessions::identity(row, 1)?;
    let end = row.get::<Option<i64>>(5)?.zip(row.get::<Option<&[u8]>>(6)?);
    let read = SessionRow { state: row.get(2)?, head: (row.get(3)?, row.get(4)?), end };
    let (session, head) = read.read(&identity)?;
    let last_active = encode::timestamp(|| format!("session {identity}"), row.get(7)?)?;
    Ok(StoredSession { session, head, last_active })
}

/// A plan whose rows and content say the same.
pub(super) fn plan(row: &Row, session: &SessionIdentity) -> Read<Plan> {
    let (id, number, body): (&str, i64, &str) = (row.try_get("id")?, row.try_get("number")?, row.try_get("body")?);
    let (status, style, title) = (row.try_get("status")?, row.try_get("style")?, row.try_get("title")?);
    let what = || format!("plan {number} of {session}");
    let execution = execution(row)?;
    let (positions, runs): (Vec<i64>, Vec<&str>) = (row.try_get("positions")?, row.try_get("runs")?);
    Ok(encode::plan_from_text(what, body).and_then(|plan| {
        encode::check_plan_row(what, &plan, &PlanRow { id, session, number, status, style, title })?;
        assemble_plan(what, plan, execution.as_ref(), positions.into_iter().zip(runs))
    }))
}

/// What the row of a plan's execution says, if there is one.
fn execution(row: &Row) -> Result<Option<ExecutionRow>, Error> {
    let (steps, updated_at): (Option<i64>, Option<String>) = (row.try_get("steps")?, row.try_get("changed_at")?);
    let pause: Option<String> = row.try_get("pause")?;
    Ok(steps.zip(updated_at).map(|(steps, updated_at)| ExecutionRow { steps, updated_at, pause }))
}

pub(super) fn entry(row: &Row) -> Read<Entry> {
    let (seq, body): (i64, &str) = (row.try_get("seq")?, row.try_get("body")?);
    Ok(encode::entry_from_text(|| format!("journal entry {seq}"), body))
}
