//! How statements are sent: prepared once for each connection or, behind a pooler that hands every transaction to another
//! server connection, unnamed and with the types of their parameters.

use deadpool_postgres::Transaction;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use super::target::PooledReader;
use crate::sql::{self, Value};

/// A statement with PostgreSQL's placeholders, `$1` for `?1`.
#[derive(Debug)]
pub(super) struct NumberedStatement {
    text: String,
    values: Vec<Value>,
}

impl From<sql::Statement> for NumberedStatement {
    fn from(statement: sql::Statement) -> Self {
        Self { text: statement.text.replace('?', "$"), values: statement.values }
    }
}

impl NumberedStatement {
    pub(super) async fn run(&self, client: &impl PooledClient, mode: StatementMode) -> Result<Vec<Row>, Error> {
        let parameters: Vec<_> = self.values.iter().map(|value| value as &dyn Parameter).collect();
        client.query_as(mode, &self.text, &parameters).await
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementMode {
    Prepared,
    Unnamed,
}

/// A value for a statement, whose type is known without asking the server.
pub(super) trait Parameter: Sync {
    fn sql_type(&self) -> Type;
    fn value(&self) -> &(dyn ToSql + Sync);
}

macro_rules! parameters {
    ($($rust:ty => $sql:ident),+ $(,)?) => {
        $(impl Parameter for $rust {
            fn sql_type(&self) -> Type {
                Type::$sql
            }

            fn value(&self) -> &(dyn ToSql + Sync) {
                self
            }
        })+
    };
}

parameters! {
    i32 => INT4,
    i64 => INT8,
    f64 => FLOAT8,
    bool => BOOL,
    &str => TEXT,
    String => TEXT,
    &[u8] => BYTEA,
    Vec<bool> => BOOL_ARRAY,
    Vec<i64> => INT8_ARRAY,
    Vec<Option<i64>> => INT8_ARRAY,
    Vec<f64> => FLOAT8_ARRAY,
    Vec<&str> => TEXT_ARRAY,
    Vec<String> => TEXT_ARRAY,
    Vec<Option<&str>> => TEXT_ARRAY,
    Vec<Option<String>> => TEXT_ARRAY,
    Vec<&[u8]> => BYTEA_ARRAY,
}

fn untyped<'a>(parameters: &[&'a dyn Parameter]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|parameter| parameter.value()).collect()
}

fn typed<'a>(parameters: &[&'a dyn Parameter]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    parameters.iter().map(|parameter| (parameter.value(), parameter.sql_type())).collect()
}

/// Sends a statement that is used once or rarely.
pub(super) async fn query(client: &Client, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, Error> {
    client.query_typed(sql, &typed(parameters)).await
}

/// The number of rows that the statement wrote.
pub(super) async fn execute(client: &Client, sql: &str, parameters: &[&dyn Parameter]) -> Result<u64, Error> {
    client.execute_typed(sql, &typed(parameters)).await
}

/// A connection of the pool, or a transaction on one.
pub(super) trait PooledClient {
    async fn query_as(&self, mode: StatementMode, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, Error>;
}

impl PooledClient for PooledReader {
    async fn query_as(&self, mode: StatementMode, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, Error> {
        match mode {
            StatementMode::Prepared => self.query(&self.prepare_cached(sql).await?, &untyped(parameters)).await,
            StatementMode::Unnamed => self.query_typed(sql, &typed(parameters)).await,
        }
    }
}

impl PooledClient for Transaction<'_> {
    async fn query_as(&self, mode: StatementMode, sql: &str, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, Error> {
        match mode {
            StatementMode::Prepared => self.query(&self.prepare_cached(sql).await?, &untyped(parameters)).await,
            StatementMode::Unnamed => self.query_typed(sql, &typed(parameters)).await,
        }
    }
}

/// A statement that one connection sends again and again.
#[derive(Debug)]
pub(super) enum FixedStatement {
    Prepared(Statement),
    Unnamed(&'static str),
}

impl FixedStatement {
    pub(super) async fn new(client: &Client, mode: StatementMode, sql: &'static str) -> Result<Self, Error> {
        match mode {
            StatementMode::Prepared => client.prepare(sql).await.map(Self::Prepared),
            StatementMode::Unnamed => Ok(Self::Unnamed(sql)),
        }
    }

    pub(super) async fn query(&self, client: &Client, parameters: &[&dyn Parameter]) -> Result<Vec<Row>, Error> {
        match self {
            Self::Prepared(statement) => client.query(statement, &untyped(parameters)).await,
            Self::Unnamed(sql) => client.query_typed(sql, &typed(parameters)).await,
        }
    }

    pub(super) async fn execute(&self, client: &Client, parameters: &[&dyn Parameter]) -> Result<u64, Error> {
        match self {
            Self::Prepared(statement) => client.execute(statement, &untyped(parameters)).await,
            Self::Unnamed(sql) => client.execute_typed(sql, &typed(parameters)).await,
        }
    }
}
