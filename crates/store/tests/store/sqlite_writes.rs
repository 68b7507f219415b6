//! How much a commit writes to the file.

use std::path::Path;
use std::sync::Arc;

use planwright_core::command::{Command, ExternalCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_engine::Engine;
use planwright_store::SqliteLedger;
use serde_json::json;

use crate::commands::*;

/// A page in the log, with its header.
const FRAME: u64 = 8_192 + 24;

fn log_size(file: &Path) -> u64 {
    std::fs::metadata(file.with_extension("db-wal")).unwrap().len()
}

/// The session, the entry and the two indexes of entries. What says that plan work is on has an index, which stays as it is.
#[tokio::test]
async fn a_commit_writes_no_index_of_what_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    let engine = Engine::new(Arc::new(SqliteLedger::open(&file).await.unwrap()), Policy::default());
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Document).await;
    let refused = || {
        let refusal = Refusal::policy_denied("not a call of the plan");
        Command::External(ExternalCommand::RecordRefused { tool: "up__pay".to_owned(), arguments: json!({}), refusal })
    };
    let mut pages = Vec::new();
    for _ in 0..5 {
        let before = log_size(&file);
        engine.submit(&here, &agent(), refused()).await.unwrap();
        pages.push((log_size(&file) - before) / FRAME);
    }
    // A page that is full is split.
    assert_eq!(pages.iter().min(), Some(&4), "{pages:?}");
}
