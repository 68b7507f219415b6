//! A PgBouncer in transaction mode between this program and the server: each transaction gets another server connection.

use std::sync::Arc;

use futures::future::join_all;
use planwright_core::plan::PlanStyle;
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::{LeaseStore as _, SessionStore as _, StoreChange};
use planwright_store::{Location, Pooler, PostgresLedger, inspect};

use crate::commands::*;
use crate::contract::concurrency::recorded;
use crate::stores::{Store, client};
use crate::verification::assert_whole;

/// Its address, and the one of the server itself.
async fn fresh() -> (String, String) {
    match Store::pgbouncer().await {
        Store::Postgres { url, direct } => (url, direct),
        Store::Sqlite { .. } => unreachable!("PgBouncer is no file"),
    }
}

/// The parameters that name the server for `LISTEN`.
fn listening_at(direct: &str) -> String {
    let (_, folder) = direct.split_once("host=").unwrap();
    format!("&listen_host={}&listen_port=5432", folder.split('&').next().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_is_told_from_a_server() {
    let (url, direct) = fresh().await;
    let listen = listening_at(&direct);
    for (url, pooler) in [
        (direct.clone(), Pooler::None),
        (url.clone(), Pooler::WithoutListen),
        (format!("{url}{listen}"), Pooler::WithDirectListen),
    ] {
        assert_eq!(inspect(&Location::Postgres(url.into())).await.unwrap().pooler, pooler);
    }
    let wrong = format!("{url}{}", listen.replace("5432", "6432"));
    unavailable(PostgresLedger::open(&wrong).await, "leads to a connection pooler as well");
}

/// What several processes do at once: they read, write, take sessions and look for what others wrote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_processes_work_through_one_pooler() {
    let (url, _) = fresh().await;
    let ledgers = join_all((0..4).map(|_| PostgresLedger::open(&url))).await;
    let ledgers: Vec<_> = ledgers.into_iter().map(|ledger| Arc::new(ledger.unwrap())).collect();
    let first = Engine::new(ledgers[0].clone(), Policy::default());
    let shared = session("cli:k3yk3y8x");
    planning(&first, &shared, PlanStyle::Collect).await;
    let callers = (0..12).map(|caller| {
        let (ledger, shared) = (ledgers[caller % 4].clone(), shared.clone());
        tokio::spawn(async move {
            let engine = Engine::new(ledger.clone(), Policy::default());
            for n in 0..8 {
                draft(&engine, &shared, record(caller * 8 + n)).await;
                let own = ready(&engine, &nth_session(caller * 8 + n), "# Own").await;
                assert_eq!(engine.plans().get(&own.session, &own.id).await.unwrap(), own);
                let lease = ledger.acquire_lease(&own.session, "me", std::time::Duration::from_secs(60)).await;
                ledger.release_lease(&lease.unwrap().unwrap()).await.unwrap();
                engine.sessions().list(None, 5).await.unwrap();
                ledger.counts().await.unwrap();
                ledger.check().await.unwrap();
            }
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    assert_eq!(recorded(&first.plans().active(&shared).await.unwrap()), (0..96).collect());
    assert_eq!(assert_whole(&first).await.chains.len(), 97);
}

/// Settings of a connection would stay on the server's side, where other programs get them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_setting_is_left_on_the_connections_of_others() {
    let (url, _) = fresh().await;
    let engine = Engine::new(Arc::new(PostgresLedger::open(&url).await.unwrap()), Policy::default());
    let writes = (0..20).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move { ready(&engine, &nth_session(n), "# Plan").await })
    });
    join_all(writes).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    drop(engine);
    // All server connections that there are.
    let mut held = Vec::new();
    for _ in 0..3 {
        let client = client(&url).await;
        client.batch_execute("BEGIN").await.unwrap();
        held.push(client);
    }
    for client in held {
        let sql = "SELECT current_setting('enable_seqscan') || current_setting('lock_timeout')
                       || current_setting('plan_cache_mode') || count(*)::text FROM pg_prepared_statements";
        let rows = client.query_typed(sql, &[]).await.unwrap();
        assert_eq!(rows[0].get::<_, &str>(0), "on0auto0");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_announced_by_the_server_itself() {
    let (url, direct) = fresh().await;
    let writer = PostgresLedger::open(&url).await.unwrap();
    assert!(!writer.check().await.unwrap().told_by_others);
    let listener = PostgresLedger::open(&format!("{url}{}", listening_at(&direct))).await.unwrap();
    assert!(listener.check().await.unwrap().told_by_others);
    let mut changes = listener.changes();
    // It has begun to listen.
    assert_eq!(changes.recv().await.unwrap(), StoreChange::Anywhere);
    let here = session("cli:k3yk3y8x");
    writer.submit(submission(&here, "open", open())).await.unwrap();
    assert_eq!(changes.recv().await.unwrap(), StoreChange::Session(here));
    let listening =
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN planwright_%' OR query LIKE '%written_at%'";
    let rows = client(&direct).await.query(listening, &[]).await.unwrap();
    assert!(rows[0].get::<_, i64>(0) > 0);
}
