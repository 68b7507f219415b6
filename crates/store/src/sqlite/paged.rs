//! A page of a list in the order of time, read from SQLite.

use planwright_engine::ledger::{LedgerResult, Page};
use rusqlite::{Connection, Row, ToSql, params};

use super::TransactionError;
use crate::encode;
use crate::paging::{self, PageEnd, page_end};

/// Reads a page. `sql` has the key that the page begins below as its first parameter and the number of rows as its second;
/// `read` gives the key of a row and its item. A damaged item does not hide the others.
pub(super) fn read_page<T>(
    connection: &Connection,
    sql: &str,
    below: impl ToSql,
    limit: u32,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<(u64, LedgerResult<T>)>,
) -> Result<Page<T>, TransactionError> {
    let mut count = paging::first_read(limit);
    loop {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![below, count], |row| read(row))?;
        let (keys, found): (Vec<_>, Vec<_>) = rows.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        match page_end(&keys, limit, count) {
            PageEnd::After { rows, next } => {
                let mut page = Page { items: Vec::new(), damaged: Vec::new(), next };
                found.into_iter().take(rows).try_for_each(|item| encode::note(&mut page, item))?;
                return Ok(page);
            }
            PageEnd::ReadMore(more) => count = more,
        }
    }
}
