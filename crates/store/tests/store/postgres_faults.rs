//! Servers that go away, refuse, or have been tampered with.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use planwright_core::plan::PlanStyle;
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::TransportChat;
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, LedgerError, SessionStore as _};
use planwright_store::PostgresLedger;
use tokio_postgres::SimpleQueryMessage;

use crate::commands::*;
use crate::contract::concurrency::recorded;
use crate::proxy::{Cut, Proxy};
use crate::stores::{Store, client, server};
use crate::verification::{assert_no_gaps, assert_whole, verify, whats};

async fn fresh() -> (Store, String) {
    let store = Store::postgres().await;
    let Store::Postgres { url, .. } = &store else { unreachable!() };
    let url = url.clone();
    (store, url)
}

async fn engine(url: &str) -> Engine {
    Engine::new(Arc::new(PostgresLedger::open(url).await.unwrap()), Policy::default())
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let reply = unavailable(PostgresLedger::open("postgres:///plans?host=/nowhere/at/all").await, "cannot be reached");
    assert!(reply.contains("\"plans\" at /nowhere/at/all"), "{reply}");
    unavailable(PostgresLedger::open("postgres://127.0.0.1:1/plans").await, "refused");
    let missing = server().replacen("postgres:///postgres", "postgres:///no_such_database", 1);
    unavailable(PostgresLedger::open(&missing).await, "does not exist");
}

/// During a rolling upgrade a newer program has added what this one does not know.
#[tokio::test]
async fn a_newer_schema_that_leaves_room_for_this_program_is_worked_with() {
    let (store, url) = fresh().await;
    let before = engine(&url).await;
    let here = session("cli:k3yk3y8x");
    planning(&before, &here, PlanStyle::Document).await;
    let later =
        "ALTER TABLE session ADD COLUMN mood text; ALTER TABLE journal ADD COLUMN mood text NOT NULL DEFAULT 'calm';
        CREATE TABLE mood (session_id bigint PRIMARY KEY); UPDATE planwright_schema SET version = version + 1";
    client(&url).await.batch_execute(later).await.unwrap();
    // One that runs goes on, and one that starts does.
    draft(&before, &here, set("# Written beside")).await;
    let started = engine(&url).await;
    draft(&started, &here, set("# Written behind")).await;
    started.ledger().check().await.unwrap();
    let lease = started.ledger().acquire_lease(&here, "one", Duration::from_secs(60)).await.unwrap().unwrap();
    assert!(before.ledger().renew_lease(&lease, Duration::from_secs(60)).await.unwrap());
    assert_whole(&started).await;
    // The next version needs something that this program does not write.
    let newest = "UPDATE planwright_schema SET version = version + 1;
        UPDATE planwright_compatibility SET oldest = (SELECT version FROM planwright_schema)";
    client(&url).await.batch_execute(newest).await.unwrap();
    assert!(matches!(store.open().await, Err(LedgerError::TooNew { .. })));
    let refused = before.submit(&here, &agent(), set("# Too late")).await;
    assert!(matches!(refused, Err(LedgerError::TooNew { .. })), "{refused:?}");
}

#[tokio::test]
async fn the_password_is_never_shown() {
    let urls = [
        "postgres://ada:s3cret@127.0.0.1:1/plans",
        "postgres://ada:s3cret@/plans?host=/nowhere",
        "postgres:///plans?host=/nowhere&password=s3cret",
        "postgres://ada:s3cret@127.0.0.1:1/plans?sslmode=require",
        "postgres://ada:s3cret@host/plans?no_such_option=1",
        "postgres://ada:oh?s3cret@127.0.0.1:1/plans",
        "postgres://ada:oh@s3cret@127.0.0.1:1/plans",
        "postgres://ada:s3cret@127.0.0.1:1/plans?sslpassword=s3cret",
        "postgres://ada:s3cret@127.0.0.1:1/plans?sslmode=s3cret",
        "postgres://ada:oh/s3cret@host/plans",
        "postgres://ada:oh#s3cret@host:port/plans",
        "postgres://ada:s3cret",
    ];
    for url in urls {
        let error = PostgresLedger::open(url).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    }
    let (_, url) = fresh().await;
    let ledger = PostgresLedger::open(&format!("{url}&password=s3cret")).await.unwrap();
    assert!(!format!("{ledger:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_read_only_database_can_be_read_and_says_why_not_more() {
    let (store, url) = fresh().await;
    let here = session("cli:k3yk3y8x");
    ready(&store.engine().await, &here, "# Read me").await;
    let url = url.replace("options=", "options=-c%20default_transaction_read_only%3Don%20");
    let read_only = engine(&url).await;
    unavailable(PostgresLedger::open(&url).await.unwrap().check().await, "read-only");
    assert_eq!(read_only.plans().active(&here).await.unwrap().display_title(), "Read me");
    unavailable(read_only.submit(&here, &agent(), set("# Write me")).await, "read-only");
    assert_eq!(read_only.plans().active(&here).await.unwrap().display_title(), "Read me");
}

#[tokio::test]
async fn a_session_that_another_program_locks_does_not_delay_others() {
    let (store, url) = fresh().await;
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    let writer = engine(&url.replace("options=", "options=-c%20lock_timeout%3D300ms%20")).await;
    planning(&writer, &here, PlanStyle::Collect).await;
    planning(&writer, &there, PlanStyle::Collect).await;
    let sitting = client(&url).await;
    sitting.batch_execute("BEGIN; SELECT * FROM session WHERE channel = 'cli' FOR UPDATE").await.unwrap();
    let waiting = (0..20).map(|n| {
        let (writer, session) = (writer.clone(), if n % 4 == 0 { here.clone() } else { there.clone() });
        tokio::spawn(async move {
            let outcome = writer.submit(&session, &agent(), record(n)).await;
            if n % 4 == 0 { drop(unavailable(outcome, "holds the session")) } else { drop(outcome.unwrap()) }
        })
    });
    join_all(waiting).await.into_iter().for_each(Result::unwrap);
    sitting.batch_execute("ROLLBACK").await.unwrap();
    draft(&writer, &here, record(100)).await;
    assert_eq!(writer.plans().active(&here).await.unwrap().content.steps().len(), 1);
    assert_eq!(writer.plans().active(&there).await.unwrap().content.steps().len(), 15);
    assert_whole(&store.engine().await).await;
}

/// Another program locks a session and never releases it. All other sessions are written while the job of that one waits, and
/// it is done once the lock is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_session_waits_alone() {
    let (store, url) = fresh().await;
    let locked = session("cli:k3yk3y8x");
    let writer = engine(&url).await;
    planning(&writer, &locked, PlanStyle::Collect).await;
    let others: Vec<_> = (0..40).map(nth_session).collect();
    for session in &others {
        planning(&writer, session, PlanStyle::Collect).await;
    }
    let sitting = client(&url).await;
    sitting.batch_execute("BEGIN; SELECT * FROM session WHERE channel = 'cli' FOR UPDATE").await.unwrap();
    // Several for the same session, so that their order is seen as well.
    let waiting: Vec<_> = (0..3)
        .map(|n| {
            let (writer, locked) = (writer.clone(), locked.clone());
            let submitted = submission(&locked, &format!("waiting-{n}"), record(n));
            tokio::spawn(async move { writer.ledger().submit(submitted).await.unwrap() })
        })
        .collect();
    for round in 0..5 {
        let writes = others.iter().map(|session| {
            let (writer, session) = (writer.clone(), session.clone());
            tokio::spawn(async move { draft(&writer, &session, record(round)).await })
        });
        join_all(writes).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
        assert!(waiting.iter().all(|job| !job.is_finished()), "a job of the locked session has ended");
    }
    sitting.batch_execute("ROLLBACK").await.unwrap();
    join_all(waiting).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    assert_eq!(recorded(&writer.plans().active(&locked).await.unwrap()), [0, 1, 2].into());
    assert_whole(&store.engine().await).await;
}

/// Another transaction is in the middle of opening a session of the same name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_another_program_is_opening_waits_alone() {
    let (store, url) = fresh().await;
    let writer = engine(&url).await;
    let others: Vec<_> = (0..40).map(nth_session).collect();
    let sitting = client(&url).await;
    let insert = "INSERT INTO session (channel, conversation, head_seq, head_hash, state, last_active)
                  VALUES ('cli', 'k3yk3y8x', 0, '', '', 0)";
    sitting.batch_execute(&format!("BEGIN; {insert}")).await.unwrap();
    let waiting = {
        let writer = writer.clone();
        tokio::spawn(async move { writer.sessions().open(&session("cli:k3yk3y8x"), &person()).await.map(drop) })
    };
    let opened = others.iter().map(|session| {
        let (writer, session) = (writer.clone(), session.clone());
        tokio::spawn(async move { ready(&writer, &session, "# Plan").await })
    });
    join_all(opened).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    assert!(!waiting.is_finished());
    sitting.batch_execute("ROLLBACK").await.unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 41);
}

/// There are fewer connections for readers than calls that wait for the locked session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_for_a_locked_session_keep_no_connection() {
    let (_store, url) = fresh().await;
    let locked = session("cli:k3yk3y8x");
    let ledger: Arc<dyn Ledger> = Arc::new(PostgresLedger::open(&url).await.unwrap());
    let writer = Engine::new(ledger.clone(), Policy::default());
    ready(&writer, &locked, "# Locked").await;
    ready(&writer, &nth_session(1), "# Free").await;
    let lease = ledger.acquire_lease(&locked, "me", Duration::from_secs(600)).await.unwrap().unwrap();
    let sitting = client(&url).await;
    sitting.batch_execute("BEGIN; SELECT * FROM session WHERE channel = 'cli' FOR UPDATE").await.unwrap();
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let (ledger, locked) = (ledger.clone(), locked.clone());
            tokio::spawn(async move { ledger.acquire_lease(&locked, "me", Duration::from_secs(600)).await })
        })
        .collect();
    let deleting = {
        let (ledger, lease) = (ledger.clone(), lease.clone());
        tokio::spawn(async move { ledger.delete_session(&lease).await })
    };
    for _ in 0..50 {
        assert_eq!(writer.plans().active(&nth_session(1)).await.unwrap().display_title(), "Free");
        ledger.point(&TransportChat("telegram:1".to_owned()), &nth_session(1)).await.unwrap();
    }
    assert!(waiting.iter().all(|call| !call.is_finished()) && !deleting.is_finished());
    sitting.batch_execute("ROLLBACK").await.unwrap();
    deleting.await.unwrap().unwrap();
    for call in join_all(waiting).await {
        // Either of them may come first.
        match call.unwrap() {
            Ok(Some(_)) => {}
            outcome => drop(refused(outcome, RefusalCode::NotFound)),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_not_writable() {
    let (store, url) = fresh().await;
    let ledger = PostgresLedger::open(&url).await.unwrap();
    ledger.check_writable().await.unwrap();
    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END$$;
                CREATE TRIGGER full_disk BEFORE INSERT ON journal EXECUTE FUNCTION full_disk()";
    client(&url).await.batch_execute(full).await.unwrap();
    unavailable(ledger.submit(submission(&session("cli:k3yk3y8x"), "open", open())).await, "disk is full");
    unavailable(ledger.check_writable().await, "disk is full");
    store.tamper("DROP TRIGGER full_disk ON journal").await;
    ledger.submit(submission(&session("cli:k3yk3y8x"), "open", open())).await.unwrap();
    ledger.check_writable().await.unwrap();
}

/// The entry of one version is found by an index, however many there are.
#[tokio::test]
async fn a_version_is_looked_up_by_an_index() {
    let (store, url) = fresh().await;
    drop(store.engine().await);
    let client = client(&url).await;
    client.batch_execute("SET enable_seqscan = off").await.unwrap();
    let sql = include_str!("../../src/version_entry.sql").replace('?', "$");
    client.batch_execute(&format!("PREPARE version_entry AS {sql}")).await.unwrap();
    client.batch_execute("SET plan_cache_mode = force_generic_plan").await.unwrap();
    let rows = client.simple_query("EXPLAIN EXECUTE version_entry ('plan', 40, 'k3yk3y8x', 'cli', 32)").await.unwrap();
    let plan: Vec<_> = rows
        .iter()
        .filter_map(|row| match row {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
        .collect();
    assert!(plan.iter().any(|line| line.contains("journal_version")), "{plan:#?}");
}

/// The line breaks while the transaction ends, so that it is unknown whether it was committed. The call still ends as if
/// nothing had happened, and its work is done once.
async fn lose_the_end_of(cut: Cut) {
    let (store, url) = fresh().await;
    let proxy = Proxy::start(&url, cut);
    let here = session("cli:k3yk3y8x");
    let direct = store.engine().await;
    planning(&direct, &here, PlanStyle::Collect).await;
    let through = engine(&proxy.url(&url)).await;
    for round in 0..3 {
        proxy.cut_next(1);
        let callers = (0..10).map(|n| {
            let (through, here) = (through.clone(), here.clone());
            tokio::spawn(async move { through.submit(&here, &agent(), record(10 * round + n)).await.unwrap() })
        });
        for committed in join_all(callers).await {
            assert_eq!(names(&committed.unwrap().events), ["step_recorded"]);
        }
        assert_eq!(proxy.cuts_left(), 0, "the line was not cut, so nothing was tried");
    }
    let plan = direct.plans().active(&here).await.unwrap();
    assert_eq!(recorded(&plan), (0..30).collect());
    assert_eq!(plan.content.steps().len(), 30);
    assert_eq!(assert_no_gaps(&direct, &here).await, 33);
    assert_whole(&direct).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_not_made_twice() {
    lose_the_end_of(Cut::AfterCommit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_never_arrived_is_made() {
    lose_the_end_of(Cut::BeforeCommit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_killed_lose_nothing_and_double_nothing() {
    let (store, url) = fresh().await;
    let name = url.rsplit_once("application_name=").unwrap().1.to_owned();
    let victim = engine(&url).await;
    let here = session("cli:k3yk3y8x");
    planning(&victim, &here, PlanStyle::Collect).await;
    let (progress, mut made) = tokio::sync::mpsc::unbounded_channel();
    // By another name, so that it does not kill itself.
    let admin = client(&server()).await;
    let killer = tokio::spawn(async move {
        let (mut killed, mut batch) = (0, Vec::new());
        // After a few calls each time, so that there is always something under way and something gets done.
        while made.recv_many(&mut batch, 10).await > 0 {
            if batch.len() >= 10 {
                batch.clear();
                let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
                killed += admin.execute(sql, &[&name]).await.unwrap();
            }
        }
        killed
    });
    let callers = (0..12).map(|caller| {
        let (victim, here, progress) = (victim.clone(), here.clone(), progress.clone());
        tokio::spawn(async move {
            let mut acknowledged = BTreeSet::new();
            for n in 0..25 {
                let n = caller * 25 + n;
                match victim.submit(&here, &agent(), record(n)).await {
                    Ok(_) => drop(acknowledged.insert(n as u64)),
                    Err(LedgerError::Unavailable(_)) => {}
                    Err(error) => panic!("{error:?}"),
                }
                progress.send(()).unwrap();
                // Looking may fail as well, but not with nonsense.
                match victim.sessions().snapshot(&here).await {
                    Ok(_) | Err(LedgerError::Unavailable(_)) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            acknowledged
        })
    });
    let acknowledged: BTreeSet<_> = join_all(callers).await.into_iter().flat_map(Result::unwrap).collect();
    drop(progress);
    let killed = killer.await.unwrap();
    assert!(killed > 20, "only {killed} connections were killed");
    let engine = store.engine().await;
    let plan = engine.plans().active(&here).await.unwrap();
    assert_eq!(recorded(&plan).len(), plan.content.steps().len(), "a step was recorded twice");
    assert!(recorded(&plan).is_superset(&acknowledged), "an acknowledged step is missing");
    assert!(acknowledged.len() > 200, "only {} calls came through", acknowledged.len());
    assert_no_gaps(&engine, &here).await;
    assert_whole(&engine).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_away_is_unavailable_and_welcome_back() {
    let (store, url) = fresh().await;
    let proxy = Proxy::start(&url, Cut::BeforeCommit);
    let through = engine(&proxy.url(&url)).await;
    let here = session("cli:k3yk3y8x");
    planning(&through, &here, PlanStyle::Collect).await;
    let proxy = proxy.stop().await;
    let began = Instant::now();
    let callers = (0..10).map(|n| {
        let (through, here) = (through.clone(), here.clone());
        tokio::spawn(async move { drop(unavailable(through.submit(&here, &agent(), record(n)).await, "reached")) })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    // All of them wait together, not one after the other.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    unavailable(through.sessions().snapshot(&here).await, "reached");

    let _proxy = proxy.start_again(&url);
    draft(&through, &here, record(100)).await;
    assert_eq!(recorded(&through.plans().active(&here).await.unwrap()), [100].into());
    assert_whole(&store.engine().await).await;
}

#[tokio::test]
async fn a_damaged_end_of_a_journal_is_reported_and_never_overwritten() {
    for tampering in ["head_seq = -1", "head_hash = 'short'", "head_seq = 0, head_hash = ''"] {
        let (store, _) = fresh().await;
        let engine = store.engine().await;
        let here = session("cli:k3yk3y8x");
        ready(&engine, &here, "# Plan").await;
        store.tamper(&format!("UPDATE session SET {tampering}")).await;
        let row = "SELECT head_seq::text || encode(head_hash, 'hex') || state FROM session";
        let kept = store.look(row).await;
        damaged(engine.submit(&here, &agent(), set("# More")).await, "session cli:k3yk3y8x");
        damaged(engine.sessions().snapshot(&here).await, "session cli:k3yk3y8x");
        assert_eq!(engine.sessions().list(None, 10).await.unwrap().damaged.len(), 1);
        assert_eq!(store.look(row).await, kept, "{tampering}");
    }
}

/// The session's row names the last entry, so a row that names another one is not believed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_names_another_end_takes_nothing() {
    let (store, _) = fresh().await;
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let plan = ready(&engine, &here, "# Plan").await;
    for (change, back) in [
        ("head_seq = 5", "head_seq = 4"),
        ("head_seq = 3", "head_seq = 4"),
        ("head_seq = -1", "head_seq = 4"),
        ("head_hash = sha256(head_hash)", "head_hash = (SELECT hash FROM journal WHERE seq = 4)"),
        ("head_hash = ''::bytea", "head_hash = (SELECT hash FROM journal WHERE seq = 4)"),
    ] {
        store.tamper(&format!("UPDATE session SET {change}")).await;
        damaged(engine.ledger().session(&here).await, "session cli:k3yk3y8x");
        damaged(engine.submit(&here, &agent(), set("# Over it")).await, "session cli:k3yk3y8x");
        damaged(engine.submit(&here, &person(), approve(&plan)).await, "session cli:k3yk3y8x");
        assert_eq!(whats(&verify(&engine).await.damaged), ["session cli:k3yk3y8x"], "{change}");
        store.tamper(&format!("UPDATE session SET {back}")).await;
        assert_whole(&engine).await;
    }
    draft(&engine, &here, set("# After all")).await;
    assert_no_gaps(&engine, &here).await;
}

/// A write would fork the journal, so it is not made; those of others are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_put_back_to_an_earlier_end_fails_alone() {
    let (store, _) = fresh().await;
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    ready(&engine, &here, "# Plan").await;
    draft(&engine, &here, set("# Plan again")).await;
    let hash = "head_hash = (SELECT hash FROM journal WHERE session_id = session.id AND seq = 4)";
    store.tamper(&format!("UPDATE session SET head_seq = 4, {hash}")).await;
    let callers = (0..40).map(|n| {
        let (engine, here) = (engine.clone(), here.clone());
        tokio::spawn(async move {
            if n % 4 == 0 {
                damaged(engine.submit(&here, &agent(), set("# Forked")).await, "session cli:k3yk3y8x");
            } else {
                ready(&engine, &nth_session(n), "# Fine").await;
            }
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    let report = verify(&engine).await;
    assert!(report.damaged[0].reason.contains("past entry 4"), "{report:?}");
    for n in (0..40).filter(|n| n % 4 != 0) {
        assert_no_gaps(&engine, &nth_session(n)).await;
    }
}
