//! Statements on PostgreSQL.

use planwright_engine::ledger::LedgerResult;
use tokio_postgres::types::{ToSql, Type};

use super::Postgres;
use super::rows::found;
use super::statement::{NumberedStatement, Parameter};
use crate::sql::{Row, Sql, Statement, Value};

impl Sql for Postgres {
    const SKIP_LOCKED: &'static str = "FOR UPDATE SKIP LOCKED";
    const LOCK_ROW: &'static str = "FOR UPDATE";
    const NOW: &'static str = "clock_timestamp()";
    const NOW_MICROS: &'static str = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)";
    const ENDED: &'static str = "to_timestamp(0)";

    fn from_now(micros: &str) -> String {
        format!("clock_timestamp() + interval '1 microsecond' * CAST(CAST({micros} AS bigint) AS float8)")
    }

    fn any(list: &str) -> String {
        format!("= ANY({list})")
    }

    fn contains(text: &str, piece: &str) -> String {
        format!("strpos({text}, {piece}) > 0")
    }

    async fn lookup(&self, statement: Statement) -> LedgerResult<Vec<Row>> {
        self.query(statement).await
    }

    async fn query(&self, statement: Statement) -> LedgerResult<Vec<Row>> {
        let rows = self.query_all(vec![statement]).await?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    async fn query_all(&self, statements: Vec<Statement>) -> LedgerResult<Vec<Vec<Row>>> {
        found(self.clients.query_all(&numbered(statements)).await?)
    }

    async fn write_if(
        &self,
        condition: Option<Statement>,
        statements: Vec<Statement>,
    ) -> LedgerResult<Option<Vec<Vec<Row>>>> {
        let condition = condition.map(NumberedStatement::from);
        self.clients.write_if(condition.as_ref(), &numbered(statements)).await?.map(found).transpose()
    }

    async fn query_apart(&self, statement: Statement) -> LedgerResult<Vec<Row>> {
        let rows = found(self.beats.query_all(&[statement.into()]).await?)?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    async fn write_if_apart(
        &self,
        condition: Option<Statement>,
        statement: Statement,
    ) -> LedgerResult<Option<Vec<Vec<Row>>>> {
        let condition = condition.map(NumberedStatement::from);
        self.beats.write_if(condition.as_ref(), &[statement.into()]).await?.map(found).transpose()
    }
}

fn numbered(statements: Vec<Statement>) -> Vec<NumberedStatement> {
    statements.into_iter().map(NumberedStatement::from).collect()
}

impl Parameter for Value {
    fn sql_type(&self) -> Type {
        match self {
            Self::Bool(_) => Type::BOOL,
            Self::Integer(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) | Self::RawText(_) => Type::BYTEA,
            Self::Integers(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
        }
    }

    fn value(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Bool(yes) => yes,
            Self::Integer(number) => number,
            Self::Text(text) => text,
            Self::Bytes(bytes) | Self::RawText(bytes) => bytes,
            Self::Integers(list) => list,
            Self::Texts(list) => list,
        }
    }
}
