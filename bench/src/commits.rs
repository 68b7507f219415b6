//! Durable commits a second at 1, 16 and 256 callers, beside the limits.

use std::time::Duration;

use planwright_store::Location;
use planwright_test_support::stores::Store;
use tempfile::TempDir;

use crate::bare::{self, Rows};
use crate::figures::Kind::{Limit, Other, Rate};
use crate::figures::{self, Kind, Table};
use crate::ledger;

const TIME: Duration = Duration::from_secs(3);
const CALLERS: [usize; 3] = [1, 16, 256];
const SQLITE: [(&str, Kind); 7] = [
    ("flushes/s", Limit),
    ("one row/s", Limit),
    ("same rows/s", Limit),
    ("ledger/s", Rate),
    ("/ one row", Other),
    ("/ same rows", Other),
    ("flush / ledger", Other),
];
const POSTGRES: [(&str, Kind); 3] = [("single rows/s", Limit), ("ledger/s", Rate), ("ledger / rows", Other)];

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    figures::remark(&format!("{} s each, in {}", TIME.as_secs(), folder.path().display()));
    let table = Table::new("commits on SQLite", "callers", &SQLITE);
    for callers in CALLERS {
        let flushes = bare::flushes(folder.path(), TIME)?;
        let one = bare::group_commits(folder.path(), Rows::One, callers, TIME).await?;
        let same = bare::group_commits(folder.path(), Rows::LikeTheLedger, callers, TIME).await?;
        let engine = ledger::open(&Location::Sqlite(folder.path().join(format!("ledger-{callers}.db")))).await?;
        let ours = ledger::set_content(&engine, callers, TIME).await?;
        table.row(callers, [flushes, one, same, ours, ours / one, ours / same, flushes / ours])?;
    }
    let Ok(url) = std::env::var("PLANWRIGHT_TEST_POSTGRES") else {
        return figures::left_out("commits on PostgreSQL", "PLANWRIGHT_TEST_POSTGRES is not set");
    };
    let table = Table::new("commits on PostgreSQL", "callers", &POSTGRES);
    // A schema of its own: the next build may have other tables.
    let engine = ledger::open(&Store::postgres().await.location()).await?;
    for callers in CALLERS {
        let rows = bare::postgres_rows(&url, callers, TIME).await?;
        let ours = ledger::set_content(&engine, callers, TIME).await?;
        table.row(callers, [rows, ours, ours / rows])?;
    }
    Ok(())
}
