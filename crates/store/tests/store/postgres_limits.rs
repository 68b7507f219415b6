//! Time limits of a server: they answer no commit as done that its standby did not confirm, and end a read that takes too long.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_store::PostgresLedger;
use planwright_test_support::postgres_server::{PostgresServer, ServerTls};
use tokio_postgres::Client;

use crate::commands::*;
use crate::stores::client;

/// Longer than the time limit of the server.
const WAITS_FOR_STANDBY: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND clock_timestamp() - query_start > interval '400 milliseconds'";

/// Waits until so many commits have waited for the standby for longer than the limit. None of them is answered meanwhile.
async fn wait_for(admin: &Client, count: i64, is_answered: impl Fn() -> bool) {
    while admin.query_one(WAITS_FOR_STANDBY, &[]).await.unwrap().get::<_, i64>(0) < count {
        assert!(!is_answered(), "it is answered, and no standby has it");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_of_the_server_answers_no_commit_that_waits_for_a_standby() {
    let server = PostgresServer::start(ServerTls::Off).await;
    let admin = client(&server.socket_url("plans")).await;
    admin.batch_execute("ALTER ROLE ada SET statement_timeout = '100ms'").await.unwrap();
    let url = server.url("ada:s3cret", "127.0.0.1", "sslmode=disable");
    let ledger = Arc::new(PostgresLedger::open(&url).await.unwrap());
    let engine = Engine::new(ledger, Policy::default());
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();

    admin.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'").await.unwrap();
    admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    while admin.query_one("SHOW synchronous_standby_names", &[]).await.unwrap().get::<_, &str>(0) != "nobody" {
        tokio::task::yield_now().await;
    }
    let (opening, leasing, leased_one) = (engine.clone(), engine.clone(), here.clone());
    let opened = tokio::spawn(async move { opening.sessions().open(&nth_session(2), &person()).await });
    let leased =
        tokio::spawn(async move { leasing.ledger().acquire_lease(&leased_one, "one", Duration::from_secs(60)).await });
    wait_for(&admin, 2, || opened.is_finished() || leased.is_finished()).await;
    admin.batch_execute("ALTER SYSTEM RESET synchronous_standby_names").await.unwrap();
    admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    assert!(!opened.await.unwrap().unwrap().events.is_empty());
    assert!(leased.await.unwrap().unwrap().is_some());
    engine.sessions().get(&here).await.unwrap();
}

/// The owner of the database chose how long a read may take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_takes_too_long_is_ended_by_the_server() {
    let server = PostgresServer::start(ServerTls::Off).await;
    let url = server.url("ada:s3cret", "127.0.0.1", "sslmode=disable&options=-c%20statement_timeout%3D200ms");
    let engine = Engine::new(Arc::new(PostgresLedger::open(&url).await.unwrap()), Policy::default());
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let admin = client(&server.socket_url("plans")).await;
    admin.batch_execute("BEGIN; LOCK TABLE session IN ACCESS EXCLUSIVE MODE").await.unwrap();
    unavailable(engine.ledger().session(&here).await, "did not answer in time");
    admin.batch_execute("ROLLBACK").await.unwrap();
    assert!(engine.ledger().session(&here).await.unwrap().is_some());
}
