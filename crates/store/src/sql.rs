//! The small interface to a database that everything is written over which both stores do in the same way. Statements have
//! the placeholders `?1`, `?2` and so on; what the two languages say differently is a constant of [`Sql`].

use std::borrow::Cow;
use std::fmt::Debug;

use planwright_engine::ledger::{LedgerError, LedgerResult};

/// A statement with its values.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) text: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
}

/// A statement: `sql!("SELECT 1 FROM plan WHERE id = ?1", id)`.
macro_rules! sql {
    ($text:expr $(, $value:expr)* $(,)?) => {
        $crate::sql::Statement { text: $text.into(), values: vec![$($crate::sql::Value::from($value)),*] }
    };
}
pub(crate) use sql;

/// What is bound to a placeholder, or found in a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Vec<u8>),
    /// A text with any character in it. PostgreSQL takes each character but one in a text, so it keeps bytes.
    RawText(Vec<u8>),
    /// For [`Sql::any`].
    Integers(Vec<i64>),
    /// For [`Sql::any`].
    Texts(Vec<String>),
}

macro_rules! values_from {
    ($($type:ty => |$from:ident| $value:expr;)+) => {
        $(impl From<$type> for Value {
            fn from($from: $type) -> Self {
                $value
            }
        })+
    };
}

values_from! {
    bool => |from| Self::Bool(from);
    i64 => |from| Self::Integer(Some(from));
    u16 => |from| Self::Integer(Some(from.into()));
    u32 => |from| Self::Integer(Some(from.into()));
    u64 => |from| Self::Integer(Some(i64::try_from(from).unwrap_or(i64::MAX)));
    Option<i64> => |from| Self::Integer(from);
    &str => |from| Self::Text(Some(from.to_owned()));
    &String => |from| Self::Text(Some(from.clone()));
    String => |from| Self::Text(Some(from));
    Vec<u8> => |from| Self::Bytes(from);
    Vec<i64> => |from| Self::Integers(from);
    Vec<String> => |from| Self::Texts(from);
}

impl Value {
    pub(crate) fn raw_text(text: &str) -> Self {
        Self::RawText(text.as_bytes().to_vec())
    }
}

/// One row of an answer.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    /// The value of a column. One of another type fails the whole query.
    pub(crate) fn get<'a, T: FromValue<'a>>(&'a self, column: usize) -> LedgerResult<T> {
        let unexpected = |reason| LedgerError::Internal(format!("column {column} of a row: {reason}"));
        self.0.get(column).ok_or_else(|| "it is missing".to_owned()).and_then(T::from_value).map_err(unexpected)
    }

    /// The value of a column. One of another type is damage of what the row is about.
    pub(crate) fn read<'a, T: FromValue<'a>>(
        &'a self,
        column: usize,
        what: impl FnOnce() -> String,
    ) -> LedgerResult<T> {
        let read = self.0.get(column).ok_or_else(|| "a column is missing".to_owned()).and_then(T::from_value);
        read.map_err(|reason| LedgerError::damaged(what(), reason))
    }

    /// A text that PostgreSQL keeps as bytes.
    pub(crate) fn raw_text(&self, column: usize, what: impl FnOnce() -> String) -> LedgerResult<Option<String>> {
        match self.0.get(column) {
            Some(Value::Bytes(bytes)) => {
                let text = String::from_utf8(bytes.clone()).map_err(|error| LedgerError::damaged(what(), error))?;
                Ok(Some(text))
            }
            _ => self.get(column),
        }
    }
}

pub(crate) trait FromValue<'a>: Sized {
    /// Fails with the reason if the value is another one.
    fn from_value(value: &'a Value) -> Result<Self, String>;
}

impl<'a> FromValue<'a> for i64 {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        match value {
            Value::Integer(Some(number)) => Ok(*number),
            other => Err(format!("{} where a number should be", kind(other))),
        }
    }
}

impl<'a> FromValue<'a> for u64 {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        i64::from_value(value).and_then(|number| Self::try_from(number).map_err(|error| error.to_string()))
    }
}

impl<'a> FromValue<'a> for u32 {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        i64::from_value(value).and_then(|number| Self::try_from(number).map_err(|error| error.to_string()))
    }
}

impl<'a> FromValue<'a> for bool {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        match value {
            Value::Bool(yes) => Ok(*yes),
            other => i64::from_value(other).map(|number| number != 0),
        }
    }
}

impl<'a> FromValue<'a> for &'a str {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        match value {
            Value::Text(Some(text)) => Ok(text),
            other => Err(format!("{} where a text should be", kind(other))),
        }
    }
}

impl<'a> FromValue<'a> for String {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        <&str>::from_value(value).map(str::to_owned)
    }
}

impl<'a> FromValue<'a> for &'a [u8] {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            other => Err(format!("{} where bytes should be", kind(other))),
        }
    }
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    fn from_value(value: &'a Value) -> Result<Self, String> {
        match value {
            Value::Integer(None) | Value::Text(None) => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(None) | Value::Text(None) => "nothing",
        Value::Bool(_) => "a yes or no",
        Value::Integer(_) => "a number",
        Value::Text(_) => "a text",
        Value::Bytes(_) | Value::RawText(_) => "bytes",
        Value::Integers(_) | Value::Texts(_) => "a list",
    }
}

/// A database.
pub(crate) trait Sql: Debug + Send + Sync + 'static {
    /// Behind a `SELECT` of rows that the statement changes: of several processes that ask at once, each gets others.
    const SKIP_LOCKED: &'static str;
    /// Behind a `SELECT` of a row that must not go before the transaction ends.
    const LOCK_ROW: &'static str;
    /// The database's clock, as `lease.expires_at` has it.
    const NOW: &'static str;
    /// The database's clock in microseconds.
    const NOW_MICROS: &'static str;
    /// The `lease.expires_at` of a lease that was given back.
    const ENDED: &'static str;

    /// So many microseconds from now, as `lease.expires_at` has it. `micros` is a placeholder.
    fn from_now(micros: &str) -> String;

    /// The condition that a column has one of the values of a list, behind the column: `format!("id {}", B::any("?1"))`.
    fn any(list: &str) -> String;

    /// The condition that a text has this piece in it.
    fn contains(text: &str, piece: &str) -> String;

    /// Reads a few rows by their keys.
    fn lookup(&self, statement: Statement) -> impl Future<Output = LedgerResult<Vec<Row>>> + Send;

    /// Reads rows.
    fn query(&self, statement: Statement) -> impl Future<Output = LedgerResult<Vec<Row>>> + Send;

    /// Reads with several statements what was there at one moment.
    fn query_all(&self, statements: Vec<Statement>) -> impl Future<Output = LedgerResult<Vec<Vec<Row>>>> + Send;

    /// Carries statements out in one transaction, which waits for rows that others hold and is on disk when it is answered.
    /// `None` if `condition` returned no row: then nothing else is done.
    fn write_if(
        &self,
        condition: Option<Statement>,
        statements: Vec<Statement>,
    ) -> impl Future<Output = LedgerResult<Option<Vec<Vec<Row>>>>> + Send;

    /// Reads rows without waiting for other work.
    fn query_apart(&self, statement: Statement) -> impl Future<Output = LedgerResult<Vec<Row>>> + Send {
        self.query(statement)
    }

    /// Carries a statement out as [`Self::write_if`] does, without waiting for other work.
    fn write_if_apart(
        &self,
        condition: Option<Statement>,
        statement: Statement,
    ) -> impl Future<Output = LedgerResult<Option<Vec<Vec<Row>>>>> + Send {
        self.write_if(condition, vec![statement])
    }

    /// Carries statements out in one transaction.
    fn write_all(&self, statements: Vec<Statement>) -> impl Future<Output = LedgerResult<Vec<Vec<Row>>>> + Send {
        async { Ok(self.write_if(None, statements).await?.unwrap_or_default()) }
    }

    /// Carries out one statement that writes.
    fn write(&self, statement: Statement) -> impl Future<Output = LedgerResult<Vec<Row>>> + Send {
        async { Ok(self.write_all(vec![statement]).await?.into_iter().next().unwrap_or_default()) }
    }
}
