//! Where a text stands in the store: every column of every table is looked through. So a person can see that nothing is left of what was
//! deleted.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use planwright_engine::ledger::LedgerResult;

use crate::backend::{Backend, SqlLedger};
use crate::sessions::count;
use crate::sql::{Statement, Value, sql};

#[async_trait]
pub trait TextSearch: fmt::Debug + Send + Sync + 'static {
    /// The tables that have the text somewhere, each with the number of rows. What lists are searched by is in small letters, so the
    /// text is looked for in both ways. Reads the whole store.
    async fn tables_with(&self, text: &str) -> LedgerResult<BTreeMap<String, u64>>;
}

/// The conditions on one table, each about a column.
#[derive(Debug, Default)]
struct TableConditions {
    conditions: Vec<String>,
    has_bytes: bool,
}

#[async_trait]
impl<B: Backend> TextSearch for SqlLedger<B> {
    async fn tables_with(&self, text: &str) -> LedgerResult<BTreeMap<String, u64>> {
        let mut tables = BTreeMap::<String, TableConditions>::new();
        for row in self.0.query(sql!(B::ALL_COLUMNS)).await? {
            let (table, column, is_bytes): (String, &str, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let column = format!("\"{column}\"");
            let table = tables.entry(table).or_default();
            if is_bytes == 1 {
                table.has_bytes = true;
                table.conditions.push(format!("position(?3 IN {column}) > 0"));
            } else {
                table.conditions.push(B::contains(&column, "?1"));
                table.conditions.push(B::contains(&column, "?2"));
            }
        }
        let mut found = BTreeMap::new();
        for (table, TableConditions { conditions, has_bytes }) in tables {
            let mut values = vec![Value::from(text), Value::from(text.to_lowercase())];
            if has_bytes {
                values.push(Value::Bytes(text.as_bytes().to_vec()));
            }
            // A table that has bytes only is asked in the same words.
            let conditions = conditions.join(" OR ");
            let statement = format!(
                "SELECT count(*) FROM \"{table}\" WHERE ({conditions}) AND CAST(?1 AS text) IS NOT NULL AND CAST(?2 AS text) IS NOT NULL"
            );
            let rows = count(&self.0, Statement { text: statement.into(), values }).await?;
            if rows > 0 {
                found.insert(table, rows);
            }
        }
        Ok(found)
    }
}
