//! Durable commits a second at 1, 16 and 256 callers, beside the limits.

use std::time::Duration;

use planwright_store::Location;
use tempfile::TempDir;

use crate::bare::{self, Rows};
use crate::ledger;

const TIME: Duration = Duration::from_secs(3);
const CALLERS: [usize; 3] = [1, 16, 256];

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    println!("SQLite, {} s each, in {}", TIME.as_secs(), folder.path().display());
    let head =
        ["callers", "flushes/s", "one row/s", "same rows/s", "ledger/s", "/ one row", "/ same rows", "flush / ledger"];
    println!("{}", head.map(|name| format!("{name:>16}")).concat());
    for callers in CALLERS {
        let flushes = bare::flushes(folder.path(), TIME)?;
        let one = bare::group_commits(folder.path(), Rows::One, callers, TIME).await?;
        let same = bare::group_commits(folder.path(), Rows::LikeTheLedger, callers, TIME).await?;
        let engine = ledger::open(&Location::Sqlite(folder.path().join(format!("ledger-{callers}.db")))).await?;
        let ours = ledger::set_content(&engine, callers, TIME).await?;
        let rates = [callers as f64, flushes, one, same, ours].map(|rate| format!("{rate:>16.0}"));
        let ratios = [ours / one, ours / same, flushes / ours].map(|ratio| format!("{ratio:>16.2}"));
        println!("{}{}", rates.concat(), ratios.concat());
    }
    let Ok(url) = std::env::var("PLANWRIGHT_TEST_POSTGRES") else {
        println!("\nPostgreSQL is left out: PLANWRIGHT_TEST_POSTGRES is not set.");
        return Ok(());
    };
    println!("\nPostgreSQL");
    println!("{:>8} {:>16} {:>14} {:>18}", "callers", "single rows/s", "ledger/s", "ledger / rows");
    let engine = ledger::open(&Location::Postgres(url.clone())).await?;
    for callers in CALLERS {
        let rows = bare::postgres_rows(&url, callers, TIME).await?;
        let ours = ledger::set_content(&engine, callers, TIME).await?;
        println!("{callers:>8} {rows:>16.0} {ours:>14.0} {:>18.2}", ours / rows);
    }
    Ok(())
}
