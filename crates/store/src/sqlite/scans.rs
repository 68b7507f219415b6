//! What is asked about all sessions reads what it shows, however many sessions there are: SQLite says of each statement how it
//! finds its rows.
#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

use std::cell::RefCell;
use std::time::Duration;

use planwright_core::plan::PlanStatus;
use planwright_engine::ledger::{LeaseStore as _, PlanStore as _, RunsFilter, SessionStore as _};
use rusqlite::Connection;

use super::connection;
use crate::SqliteLedger;

thread_local! {
    static STATEMENTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a statement that this thread carries out.
pub(super) fn record(text: &str) {
    STATEMENTS.with_borrow_mut(|statements| statements.push(text.to_owned()));
}

fn recorded() -> Vec<String> {
    STATEMENTS.with_borrow_mut(std::mem::take)
}

/// Tables that have a row for each session, plan or entry that there ever was.
const GROWING: [&str; 9] =
    ["session", "journal", "plan", "execution", "step_run", "waiting_plan", "auto_session", "lease", "pointer"];

/// Indexes that have the rows of what goes on now and no others.
const SMALL: [&str; 6] = [
    "session_turn_open",
    "session_asks_person",
    "session_has_agents",
    "execution_working",
    "auto_session_running",
    "auto_session_waits",
];

fn steps(connection: &Connection, text: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
    let values = vec![rusqlite::types::Value::Integer(1); statement.parameter_count()];
    let steps = statement.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
    steps.map(Result::unwrap).collect()
}

/// Whether a step reads rows that are not asked for.
fn reads_all(step: &str) -> bool {
    let mut words = step.split(' ');
    let (verb, table) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_small = || SMALL.iter().any(|index| step.contains(&format!(" {index}")));
    let walks = step.contains("PRIMARY KEY (rowid>?)");
    GROWING.contains(&table) && (verb == "SCAN" || walks) && !is_small()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn lists_over_all_sessions_read_what_they_show() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    let ledger = SqliteLedger::open(&file).await.unwrap();
    let ended = [PlanStatus::Completed, PlanStatus::PartiallyCompleted, PlanStatus::Rejected, PlanStatus::Cancelled];
    recorded();
    // What an idle server asks each second.
    ledger.unfinished(None, 256).await.unwrap();
    ledger.lease_owners(None, Duration::from_secs(60)).await.unwrap();
    ledger.sessions_with_runs(RunsFilter::Running, None, 128).await.unwrap();
    // What is shown first.
    ledger.asking(None, 256).await.unwrap();
    ledger.sessions_with_runs(RunsFilter::Waiting, None, 256).await.unwrap();
    ledger.waiting_plans(None, 64).await.unwrap();
    ledger.sessions(None, 64).await.unwrap();
    ledger.plans_anywhere(&ended, None, 64).await.unwrap();
    ledger.plans_anywhere(&[PlanStatus::Ready], None, 64).await.unwrap();
    // What a person's decision is compared with.
    ledger.sessions_with_agents(None, 256).await.unwrap();
    let statements = recorded();
    assert_eq!(statements.len(), 9 + ended.len(), "{statements:#?}");
    let connection = connection::open(&file).unwrap();
    for text in &statements {
        let steps = steps(&connection, text);
        let wrong: Vec<_> = steps.iter().filter(|step| reads_all(step)).collect();
        assert!(wrong.is_empty(), "{text}\n{wrong:#?}");
        // The list of recent sessions sorts a number of them that does not grow.
        let sorts = steps.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY");
        assert!(!sorts || text.contains("LIMIT ?2 + 2048"), "{text}\n{steps:#?}");
    }
}

/// A walk visits every session, and a check of the test itself: it is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_walk_reads_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    let ledger = SqliteLedger::open(&file).await.unwrap();
    recorded();
    ledger.walk_sessions(None, 10).await.unwrap();
    ledger.count_sessions().await.unwrap();
    let connection = connection::open(&file).unwrap();
    let statements = recorded();
    assert_eq!(statements.len(), 2);
    for text in statements {
        assert!(steps(&connection, &text).iter().any(|step| reads_all(step)), "{text}");
    }
}
