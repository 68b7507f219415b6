//! A store that an earlier version of the program filled.

use std::time::Duration;

use futures::future::join_all;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::session::TransportChat;

use super::damage::{BYSTANDER, here};
use crate::commands::*;
use crate::stores::Store;
use crate::turns::*;
use crate::verifying::{assert_no_gaps, assert_whole};

const LONG: Duration = Duration::from_secs(600);

pub(crate) async fn a_store_of_the_first_version_goes_on(store: &Store) {
    store.make_version_1().await;
    assert_eq!(store.schema_version().await, "1");
    let engine = store.engine().await;
    assert_eq!(store.schema_version().await, "2");
    assert_eq!(assert_whole(&engine).await.chains.len(), 2);
    let plan = engine.active_plan(&here()).await.unwrap();
    assert_eq!((plan.status, plan.display_title().as_str()), (PlanStatus::Approved, "Move"));
    let conversation = engine.ledger().conversation(&here(), 0, 10).await.unwrap();
    assert_eq!(conversation.iter().map(|entry| entry.event.name()).collect::<Vec<_>>(), ["session_opened"]);

    // Everything that is new works on what is old.
    let begun = submission(&here(), "turn", begin("Where were we?"));
    let begun = engine.ledger().submit(taking("anew", LONG, begun)).await.unwrap();
    let lease = begun.lease.unwrap();
    assert_eq!((begun.seq, lease.fence), (6, 3));
    engine.submit(&here(), &person(), resume(&plan.id)).await.unwrap();
    engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap();
    engine.ledger().submit(letting_go(&lease, submission(&here(), "end", end("turn")))).await.unwrap();
    draft(&engine, &session(BYSTANDER), record(2)).await;
    assert_eq!(planning(&engine, &nth_session(1), PlanStyle::Build).await.number, 1);
    let chat = TransportChat("telegram:1".to_owned());
    for session in [&session(BYSTANDER), &here()] {
        engine.ledger().point(&chat, session).await.unwrap();
    }
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 3);
    let lease = engine.ledger().acquire_lease(&here(), "deleting", LONG).await.unwrap().unwrap();
    engine.ledger().delete_session(&lease).await.unwrap();
    assert_eq!(engine.ledger().pointed(&chat).await.unwrap(), Some(session(BYSTANDER)));
    assert_eq!(assert_no_gaps(&engine, &session(BYSTANDER)).await, 5);
    assert_eq!(assert_whole(&engine).await.chains.len(), 2);
}

pub(crate) async fn many_can_bring_a_store_up_to_date_at_once(store: &Store) {
    store.make_version_1().await;
    let chat = TransportChat("telegram:1".to_owned());
    for ledger in join_all((0..8).map(|_| store.open())).await {
        ledger.unwrap().point(&chat, &here()).await.unwrap();
    }
    assert_eq!(store.schema_version().await, "2");
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 2);
}
