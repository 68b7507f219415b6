//! Durable commits a second at 1, 16 and 256 callers, beside the limits.

use std::time::Duration;

use planwright_store::Location;
use tempfile::TempDir;

use crate::{bare, ledger};

const TIME: Duration = Duration::from_secs(3);
const CALLERS: [usize; 3] = [1, 16, 256];

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    println!("SQLite, {} s each, in {}", TIME.as_secs(), folder.path().display());
    println!(
        "{:>8} {:>12} {:>14} {:>14} {:>18} {:>18}",
        "callers", "flushes/s", "bare group/s", "ledger/s", "ledger / bare", "flush / ledger"
    );
    for callers in CALLERS {
        let flushes = bare::flushes(folder.path(), TIME)?;
        let bare = bare::group_commits(folder.path(), callers, TIME).await?;
        let engine = ledger::open(&Location::Sqlite(folder.path().join(format!("ledger-{callers}.db")))).await?;
        let ours = ledger::set_content(&engine, callers, TIME).await?;
        println!(
            "{callers:>8} {flushes:>12.0} {bare:>14.0} {ours:>14.0} {:>18.2} {:>18.2}",
            ours / bare,
            flushes / ours
        );
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
