//! Statements on SQLite.

use planwright_engine::ledger::LedgerResult;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::Sqlite;
use super::leases::now;
use super::writer::WriterState;
use crate::sql::{Row, Sql, Statement, Value};

/// Only the writer thread writes, so nothing has to be locked.
impl Sql for Sqlite {
    const SKIP_LOCKED: &'static str = "";
    const LOCK_ROW: &'static str = "";
    const NOW: &'static str = now!();
    const NOW_MICROS: &'static str = concat!("(", now!(), " * 1000)");
    const ENDED: &'static str = "0";

    fn from_now(micros: &str) -> String {
        format!("{} + {micros} / 1000", Self::NOW)
    }

    fn any(list: &str) -> String {
        format!("IN (SELECT value FROM json_each({list}))")
    }

    fn contains(text: &str, piece: &str) -> String {
        format!("instr({text}, {piece}) > 0")
    }

    async fn lookup(&self, statement: Statement) -> LedgerResult<Vec<Row>> {
        self.readers.read_inline(move |connection| Ok(run(connection, &statement)?)).await
    }

    async fn query(&self, statement: Statement) -> LedgerResult<Vec<Row>> {
        self.readers.read(move |connection| Ok(run(connection, &statement)?)).await
    }

    async fn query_all(&self, statements: Vec<Statement>) -> LedgerResult<Vec<Vec<Row>>> {
        self.readers.read(move |connection| Ok(run_all(connection, &statements)?)).await
    }

    async fn write_if(
        &self,
        condition: Option<Statement>,
        statements: Vec<Statement>,
    ) -> LedgerResult<Option<Vec<Vec<Row>>>> {
        let write = move |state: &mut WriterState| {
            if let Some(condition) = &condition
                && run(&state.connection, condition)?.is_empty()
            {
                return Ok(None);
            }
            Ok(Some(run_all(&state.connection, &statements)?))
        };
        self.writer.ask(write).await
    }
}

fn run_all(connection: &Connection, statements: &[Statement]) -> rusqlite::Result<Vec<Vec<Row>>> {
    statements.iter().map(|statement| run(connection, statement)).collect()
}

pub(super) fn run(connection: &Connection, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
    #[cfg(test)]
    super::scans::record(&statement.text);
    let mut prepared = connection.prepare_cached(&statement.text)?;
    let columns = prepared.column_count();
    let mut rows = prepared.query(params_from_iter(&statement.values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Row((0..columns).map(|column| row.get_ref(column).map(value)).collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

/// A text that is none is bytes, which is damage where a text should be.
fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Integer(None),
        ValueRef::Integer(number) => Value::Integer(Some(number)),
        ValueRef::Real(number) => Value::Text(Some(number.to_string())),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::from(text),
            Err(_) => Value::Bytes(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let list = |text: serde_json::Result<String>| {
            text.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
        };
        match self {
            Self::Bool(yes) => yes.to_sql(),
            Self::Integer(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
            Self::Bytes(bytes) => bytes.to_sql(),
            Self::RawText(bytes) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(bytes))),
            Self::Integers(list_of) => list(serde_json::to_string(list_of)),
            Self::Texts(list_of) => list(serde_json::to_string(list_of)),
        }
    }
}
