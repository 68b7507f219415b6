//! Whether a write costs the same in a store with 10 and with 100,000 plans.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::plan::PlanStyle;
use planwright_engine::Engine;
use planwright_engine::core as planwright_core;
use planwright_store::Location;
use tempfile::TempDir;

use crate::figures::Kind::{Other, Rate};
use crate::figures::Table;
use crate::ledger;

const TIME: Duration = Duration::from_secs(3);
const FEW: usize = 10;
const MANY: usize = 100_000;
const SESSIONS: usize = 1_000;

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    let table = Table::new("size", "plans", &[("1 caller/s", Rate), ("256 callers/s", Rate), ("file, MiB", Other)]);
    for (plans, sessions) in [(FEW, 1), (MANY, SESSIONS)] {
        let file = folder.path().join(format!("plans-{plans}.db"));
        let engine = ledger::open(&Location::Sqlite(file.clone())).await?;
        fill(&engine, plans, sessions).await?;
        let one = ledger::set_content(&engine, 1, TIME).await?;
        let many = ledger::set_content(&engine, 256, TIME).await?;
        let size = std::fs::metadata(&file)?.len() as f64 / f64::from(1 << 20);
        table.row(plans, [one, many, size])?;
    }
    Ok(())
}

/// Plans of ordinary size, spread over the sessions, the same way an agent makes them.
async fn fill(engine: &Engine, plans: usize, sessions: usize) -> anyhow::Result<()> {
    let all = ledger::sessions(engine, sessions).await?;
    let each = plans / sessions;
    let work = (0..sessions).map(|n| {
        let (engine, all) = (engine.clone(), Arc::clone(&all));
        async move {
            for _ in 0..each {
                let draft = planwright_core::command::DraftCommand::SetContent {
                    markdown: ledger::another_text(),
                    title: None,
                };
                let command = planwright_core::command::Command::Draft(draft);
                engine.submit(&all[n], &ledger::agent(), command).await?;
                engine.sessions().enable_plan_mode(&all[n], &ledger::agent(), PlanStyle::Document).await?;
            }
            anyhow::Ok(())
        }
    });
    for outcome in futures::future::join_all(work).await {
        outcome?;
    }
    Ok(())
}
