//! Pages of a list in the order of time, the newest first. A page begins below the key of the item that was last on the
//! page before, so that a write between two pages moves only the item that is written.
//!
//! The key is a number that a client sends back. Items with the same key are not told apart by it, so they are always on
//! the same page.

use std::cmp::Reverse;

use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{LedgerResult, Page};

use crate::encode;
use crate::sql::{Row, Sql, Statement};

/// Reads a page. `statement` asks for so many rows, `read` gives the key of a row and its item. A damaged item does not hide
/// the others.
pub(crate) async fn read_page<T: Send>(
    sql: &impl Sql,
    statement: impl Fn(u32) -> Statement + Send + Sync,
    limit: u32,
    read: impl Fn(&Row) -> LedgerResult<(u64, LedgerResult<T>)> + Send + Sync,
) -> LedgerResult<Page<T>> {
    read_merged_page(sql, |count| vec![statement(count)], limit, read).await
}

/// Reads a page of several lists, each in the order of the keys.
pub(crate) async fn read_merged_page<T: Send>(
    sql: &impl Sql,
    statements: impl Fn(u32) -> Vec<Statement> + Send + Sync,
    limit: u32,
    read: impl Fn(&Row) -> LedgerResult<(u64, LedgerResult<T>)> + Send + Sync,
) -> LedgerResult<Page<T>> {
    let mut count = first_read(limit);
    loop {
        let mut statements = statements(count);
        let lists = match statements.len() {
            1 => vec![sql.query(statements.remove(0)).await?],
            _ => sql.query_all(statements).await?,
        };
        let several = lists.len() > 1;
        let mut read = lists.iter().flatten().map(&read).collect::<LedgerResult<Vec<_>>>()?;
        if several {
            // What is behind the last row of one list may come before the rows of another one that are left out here.
            read.sort_by_key(|(key, _)| Reverse(*key));
            read.truncate(count as usize);
        }
        let (keys, items): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        match page_end(&keys, limit, count) {
            PageEnd::After { rows, next } => {
                let mut page = Page { items: Vec::new(), damaged: Vec::new(), next };
                items.into_iter().take(rows).try_for_each(|item| encode::note(&mut page, item))?;
                return Ok(page);
            }
            PageEnd::ReadMore(more) => count = more,
        }
    }
}

/// A page of rows in the order of their first column, a number that the next page continues from.
pub(crate) fn walked_page<T>(
    rows: &[Row],
    limit: u32,
    read: impl Fn(&Row) -> LedgerResult<T>,
) -> LedgerResult<Page<T>> {
    let last = rows.last().filter(|_| rows.len() == limit as usize);
    let next = last.map(|row| row.get::<i64>(0)).transpose()?.map(i64::cast_unsigned);
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next };
    rows.iter().try_for_each(|row| encode::note(&mut page, read(row)))?;
    Ok(page)
}

/// The number that the next page of [`walked_page`] continues behind.
pub(crate) fn walked_from(after: Option<u64>) -> i64 {
    after.map_or(i64::MIN, u64::cast_signed)
}

/// How many rows are read for a page: one more tells whether another page follows.
fn first_read(limit: u32) -> u32 {
    limit.saturating_add(1)
}

/// Where a page ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageEnd {
    /// After so many rows. `next` is the key that the next page begins below.
    After { rows: usize, next: Option<u64> },
    /// More rows have to be read first: so many.
    ReadMore(u32),
}

/// The end of a page whose rows have these keys, if `read` rows were asked for. A key that is out of order, which only a
/// damaged row has, counts as the one before or after it.
fn page_end(keys: &[u64], limit: u32, read: u32) -> PageEnd {
    let limit = limit as usize;
    let falling = |least: &mut u64, key: &u64| {
        *least = (*least).min(*key);
        Some(*least)
    };
    let keys: Vec<_> = keys.iter().scan(u64::MAX, falling).collect();
    let all = PageEnd::After { rows: keys.len(), next: None };
    let Some(over) = keys.get(limit).copied() else { return all };
    let next_from = |rows: usize| keys.get(rows.wrapping_sub(1)).copied();
    let whole = keys[..limit].iter().rposition(|key| *key != over).map_or(0, |last| last + 1);
    if whole > 0 {
        return PageEnd::After { rows: whole, next: next_from(whole) };
    }
    // The first items have one key, and they are more than a page.
    match keys.iter().position(|key| *key != over) {
        Some(rows) => PageEnd::After { rows, next: next_from(rows) },
        None if keys.len() < read as usize => all,
        None => PageEnd::ReadMore(read.saturating_mul(2)),
    }
}

/// The key that a page begins below. Position 0 is the beginning, the same as none.
pub(crate) fn below(after: Option<u64>) -> LedgerResult<i64> {
    match after {
        None | Some(0) => Ok(i64::MAX),
        Some(key) => i64::try_from(key).map_err(|_| Refusal::invalid("This is not the `next` of a page.").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_between_two_keys() {
        let end = |rows, next| PageEnd::After { rows, next };
        assert_eq!(page_end(&[], 2, 3), end(0, None));
        assert_eq!(page_end(&[9, 8], 2, 3), end(2, None));
        assert_eq!(page_end(&[9, 8, 7], 2, 3), end(2, Some(8)));
        assert_eq!(page_end(&[9, 8, 8], 2, 3), end(1, Some(9)), "items with one key stay together");
        assert_eq!(page_end(&[9, 9, 9], 2, 3), PageEnd::ReadMore(6));
        assert_eq!(page_end(&[9, 9, 9, 8, 8, 7], 2, 6), end(3, Some(9)), "also if they are more than a page");
        assert_eq!(page_end(&[9, 9, 9], 2, 6), end(3, None));
        assert_eq!(page_end(&[9, 0, 0], 2, 3), end(1, Some(9)));
        assert_eq!(page_end(&[0, 9, 8], 2, 3), PageEnd::ReadMore(6), "nothing is hidden behind a damaged row");
    }
}
