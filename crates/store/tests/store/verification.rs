//! Whether a store is whole, by the engine's own check.

use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::DamagedRow;
use planwright_engine::verifier::{ChainReport, VerifyReport};

pub(crate) async fn verify(engine: &Engine) -> VerifyReport {
    engine.verifier().verify_all(|_| ()).await.unwrap()
}

pub(crate) async fn assert_whole(engine: &Engine) -> VerifyReport {
    let report = verify(engine).await;
    assert!(report.is_whole(), "{report:#?}");
    report
}

/// What the check says about one session.
pub(crate) async fn chain(engine: &Engine, session: &SessionIdentity) -> ChainReport {
    let report = verify(engine).await;
    report.chains.into_iter().find(|chain| chain.session == *session).expect("the session was not checked")
}

/// What the damaged rows are.
pub(crate) fn whats(rows: &[DamagedRow]) -> Vec<&str> {
    rows.iter().map(|row| row.what.as_str()).collect()
}

/// Everything that the check found, in words that name the session.
pub(crate) fn findings(report: &VerifyReport) -> Vec<String> {
    let row = |row: &DamagedRow| format!("{}: {}", row.what, row.reason);
    let mut found: Vec<_> = report.damaged.iter().map(row).collect();
    for chain in &report.chains {
        found.extend(chain.damage.iter().map(|damage| format!("journal of {}: {damage}", chain.session)));
        found.extend(chain.disagreements.iter().map(row));
    }
    found
}

/// All numbers of a session's journal, which must be 1, 2, 3 and so on.
pub(crate) async fn assert_no_gaps(engine: &Engine, session: &SessionIdentity) -> u64 {
    let entries = engine.ledger().journal(session, 0, 100_000).await.unwrap();
    let numbers: Vec<_> = entries.iter().map(|entry| entry.seq).collect();
    let expected: Vec<_> = (1..=entries.len() as u64).collect();
    assert_eq!(numbers, expected);
    let head = engine.ledger().session(session).await.unwrap().unwrap().head;
    assert_eq!(head.seq, entries.len() as u64);
    head.seq
}
