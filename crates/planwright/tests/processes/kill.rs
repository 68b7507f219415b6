//! A process is killed at many points while it writes. What it acknowledged is stored afterwards, each once, and the
//! journal is whole.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use planwright_core::plan::PlanContent;
use planwright_core::plan::reference::PlanReference;
use planwright_core::session::SessionIdentity;
use serde_json::json;

use crate::client::McpClient;
use crate::stores::Store;

const ROUNDS: u32 = 24;
const SENT: u32 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_on_sqlite() {
    rounds(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_on_postgres() {
    rounds(Store::postgres().await).await;
}

async fn rounds(store: Store) {
    let session: SessionIdentity = "mcp:killed-often".parse().unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut cut_off = 0;
    for round in 0..ROUNDS {
        let before = acknowledged.len();
        acknowledged.extend(one_round(&store, round));
        cut_off += usize::from(acknowledged.len() - before < SENT as usize);

        let engine = store.engine().await;
        let plan = engine.plans().find(&session, Some(&"1".parse::<PlanReference>().unwrap())).await.unwrap();
        let history = engine.history().of_plan(&session, &plan.id).await.unwrap();
        let stored: Vec<String> = history
            .versions
            .iter()
            .map(|version| match &version.content {
                PlanContent::Document(document) => document.markdown.clone(),
                other => panic!("a document became {other:?}"),
            })
            .collect();
        let distinct: BTreeSet<_> = stored.iter().cloned().collect();
        assert_eq!(distinct.len(), stored.len(), "nothing is applied twice");
        let lost: Vec<_> = acknowledged.difference(&distinct).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?} was acknowledged and is gone");
        let report = engine.verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "round {round}: {report:?}");
    }
    assert!(cut_off > ROUNDS as usize / 3, "only {cut_off} of {ROUNDS} kills came in the middle of the work");
}

/// Sends many writes at once, kills the process a little later in every round, and gives the texts whose
/// acknowledgement arrived.
fn one_round(store: &Store, round: u32) -> Vec<String> {
    let mut client = McpClient::start(&store.location(), "killed-often", "document");
    let text = |n: u32| format!("# Round {round}, text {n}");
    let mut ids = Vec::new();
    for n in 0..SENT {
        ids.push((client.post("plan_set_content", &json!({ "plan_markdown": text(n) })).unwrap(), text(n)));
    }
    // Some rounds wait for a number of answers, all of them for a moment more, so that the kill falls everywhere.
    let mut answers: Vec<_> = (0..round).filter_map(|_| client.receive()).collect();
    let moment = Instant::now();
    while moment.elapsed() < Duration::from_micros(u64::from(round) * 137 % 1_500) {
        std::hint::spin_loop();
    }
    client.kill();
    answers.extend(client.drain());
    ids.into_iter()
        .filter(|(id, _)| answers.iter().any(|(answered, result)| answered == id && result["isError"] != true))
        .map(|(_, text)| text)
        .collect()
}
