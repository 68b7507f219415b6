//! How much there is over all sessions.

use std::time::Duration;

use planwright_core::plan::{Plan, PlanStatus};
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, StoreCounts};

use crate::commands::*;
use crate::contract::concurrency::any_mix_of_commands;
use crate::contract::runs::executing;
use crate::stores::Store;
use crate::turns::*;

const LONG: Duration = Duration::from_secs(600);

pub(crate) async fn everything_is_counted(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    assert_eq!(ledger.counts().await.unwrap(), StoreCounts::default());
    executing(&engine, 2).await;
    for n in 0..3 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    engine.sessions().open(&nth_session(3), &person()).await.unwrap();
    engine.submit(&nth_session(3), &person(), begin("Hello")).await.unwrap();
    engine.submit(&nth_session(0), &person(), off()).await.unwrap();
    let census = StoreCounts { sessions: 5, planning: 3, turns: 1, plans_ready: 3, plans_executing: 1 };
    assert_eq!(ledger.counts().await.unwrap(), census);
    let lease = ledger.acquire_lease(&nth_session(1), "deleting", LONG).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
    engine.submit(&nth_session(3), &person(), stop()).await.unwrap();
    let census = StoreCounts { sessions: 4, planning: 2, turns: 0, plans_ready: 2, plans_executing: 1 };
    assert_eq!(ledger.counts().await.unwrap(), census);
}

/// What stands in columns of its own is what the sessions say.
pub(crate) async fn assert_counts_agree(store: &Store, ledger: &dyn Ledger, engine: &Engine) {
    let mut counted = StoreCounts::default();
    for stored in ledger.sessions(None, 100).await.unwrap().items {
        let (session, name) = (&stored.session, &stored.session.identity.conversation);
        for (column, says) in [("turn_open", session.turn.is_some()), ("planning", session.plan_mode.enabled)] {
            let sql = format!("SELECT CAST(count(*) AS TEXT) FROM session WHERE conversation = '{name}' AND {column}");
            assert_eq!(store.look(&sql).await, u64::from(says).to_string(), "{column} of {name}");
        }
        counted.sessions += 1;
        counted.planning += u64::from(session.plan_mode.enabled);
        counted.turns += u64::from(session.turn.is_some());
        let (plans, _) = engine.ledger().stored_plans(&session.identity).await.unwrap();
        let of = |status| plans.values().filter(|plan| plan.status == status).count() as u64;
        counted.plans_ready += of(PlanStatus::Ready);
        counted.plans_executing += of(PlanStatus::Executing);
        let paused = |plan: &Plan| plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        let works = |plan: &Plan| plan.status == PlanStatus::Executing && !paused(plan);
        let is_unfinished = session.turn.is_some() || plans.values().any(works);
        let listed = ledger.unfinished(None, 100).await.unwrap().items;
        assert_eq!(listed.iter().any(|found| found.session == session.identity), is_unfinished, "{name}");
    }
    assert_eq!(ledger.counts().await.unwrap(), counted);
}

pub(crate) async fn after_any_mix_of_commands_the_counts_agree(store: &Store) {
    any_mix_of_commands(store).await;
    assert_counts_agree(store, store.ledger().await.as_ref(), &store.engine().await).await;
}
