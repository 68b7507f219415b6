//! What processes that share a store still know of each other when files and servers fail them.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{
    Claim, ClaimedRequest, LeaseStore as _, Ledger, LedgerResult, SessionStore as _, StoreChange,
};
use planwright_store::PostgresLedger;
use tokio::time::timeout;

use crate::commands::*;
use crate::contract::changes::{follow, next, wait_for};
use crate::contract::damage::here;
use crate::contract::restore::{assert_same, journal, restore_all, rich};
use crate::proxy::{Cut, Proxy};
use crate::stores::{Store, client, raw, server};
use crate::verification::assert_whole;

const LONG: Duration = Duration::from_secs(600);
/// Only reached if something never comes.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn submit_opening(ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<()> {
    let request = format!("open-{}", session.conversation);
    ledger.submit(submission(session, &request, open())).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_known_is_told_as_such() {
    let store = Store::sqlite();
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    for n in 0..3 {
        submit_opening(other.as_ref(), &nth_session(n)).await.unwrap();
    }
    let mut changes = follow(ledger.as_ref()).await;
    for doing in [
        // More was deleted than is remembered.
        "INSERT INTO deleted_session (id, name, journal_end) VALUES (700, 'web:session-00700', 0)",
        // The file belongs to another program.
        "DELETE FROM journal WHERE id = (SELECT max(id) FROM journal)",
        "INSERT INTO deleted_session (name, journal_end) VALUES ('nonsense', 99)",
    ] {
        store.tamper(doing).await;
        loop {
            // What has to do with the tampering before may be told of once more.
            match next(&mut changes).await {
                StoreChange::Anywhere => break,
                StoreChange::Session(_) => {}
            }
        }
    }
    submit_opening(other.as_ref(), &nth_session(5)).await.unwrap();
    assert!(!wait_for(&mut changes, &nth_session(5)).await.contains(&StoreChange::Anywhere));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_program_locks_fails_the_check() {
    let store = Store::sqlite();
    let ledger = store.ledger().await;
    ledger.check().await.unwrap();
    let planwright_store::Location::Sqlite(file) = store.location() else { unreachable!() };
    let sitting = raw(&file);
    sitting.execute_batch("BEGIN IMMEDIATE").unwrap();
    unavailable(ledger.check().await, "nothing could be written");
    sitting.execute_batch("ROLLBACK").unwrap();
    ledger.check().await.unwrap();
}

async fn fresh() -> (Store, String) {
    let store = Store::postgres().await;
    let Store::Postgres { url, .. } = &store else { unreachable!() };
    let url = url.clone();
    (store, url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_continues_after_the_connection_was_cut() {
    let (store, url) = fresh().await;
    let proxy = Proxy::start(&url, Cut::BeforeCommit);
    let (ledger, other) = (PostgresLedger::open(&proxy.url(&url)).await.unwrap(), store.ledger().await);
    let mut changes = follow(&ledger).await;
    let proxy = proxy.stop().await;
    unavailable(ledger.check().await, "");
    submit_opening(other.as_ref(), &nth_session(1)).await.unwrap();
    let _proxy = proxy.start_again(&url);
    while next(&mut changes).await != StoreChange::Anywhere {}
    ledger.check().await.unwrap();
    submit_opening(other.as_ref(), &nth_session(2)).await.unwrap();
    wait_for(&mut changes, &nth_session(2)).await;
}

/// An announcement arrives before a poll could have found the write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_announced_and_announcements_are_heard() {
    let (store, url) = fresh().await;
    let ledger = store.ledger().await;
    let mut changes = follow(ledger.as_ref()).await;
    let channel = store.look("SELECT 'planwright_' || md5(current_schema())").await;
    let announce = async |payload: &str| {
        store.look(&format!("SELECT pg_notify('{channel}', '{payload}')::text")).await;
    };
    announce("somebody web:session-00001 web:session-00002").await;
    for n in 1..=2 {
        assert_eq!(next(&mut changes).await, StoreChange::Session(nth_session(n)));
    }
    announce("somebody who talks nonsense").await;
    assert_eq!(next(&mut changes).await, StoreChange::Anywhere);

    let (listener, mut line) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|context| line.poll_message(context)).await {
            if let tokio_postgres::AsyncMessage::Notification(announced) = message {
                heard.send(announced.payload().to_owned()).unwrap();
            }
        }
    });
    let mut hear = async || timeout(TIMEOUT, hears.recv()).await.expect("nothing was announced").unwrap();
    listener.batch_execute(&format!("LISTEN {channel}")).await.unwrap();
    submit_opening(ledger.as_ref(), &here()).await.unwrap();
    assert!(hear().await.ends_with(" cli:k3yk3y8x"));
    // Deleting is announced as well, and nothing else is.
    let lease = ledger.acquire_lease(&here(), "deleting", LONG).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
    submit_opening(ledger.as_ref(), &nth_session(3)).await.unwrap();
    assert!(hear().await.ends_with(" cli:k3yk3y8x"));
    assert!(hear().await.ends_with(" web:session-00003"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_never_announced_is_found() {
    let (store, _) = fresh().await;
    let ledger = store.ledger().await;
    for n in 0..3 {
        submit_opening(ledger.as_ref(), &nth_session(n)).await.unwrap();
    }
    let mut changes = follow(ledger.as_ref()).await;
    store.tamper("UPDATE session SET written_at = clock_timestamp() WHERE conversation = 'session-00001'").await;
    assert_eq!(next(&mut changes).await, StoreChange::Session(nth_session(1)));
    let gone = "INSERT INTO deleted_session (channel, conversation, deleted_at)
                VALUES ('web', 'session-00002', clock_timestamp())";
    store.tamper(gone).await;
    assert_eq!(next(&mut changes).await, StoreChange::Session(nth_session(2)));
}

/// A database without `NOTIFY`, as some have that only speak PostgreSQL's protocol.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_notifications_what_others_write_is_found() {
    let (_store, url) = fresh().await;
    let name = url.rsplit_once("application_name=").unwrap().1;
    let admin = client(&server()).await;
    let notify = "FUNCTION pg_catalog.pg_notify(text, text)";
    let say = async |sql: &str| admin.batch_execute(sql).await.unwrap();
    say(&format!("CREATE ROLE {name} LOGIN; ALTER SCHEMA {name} OWNER TO {name}")).await;
    say(&format!("GRANT EXECUTE ON {notify} TO {name}; REVOKE EXECUTE ON {notify} FROM PUBLIC")).await;
    let url = url.replace("user=postgres", &format!("user={name}"));

    let losing = PostgresLedger::open(&url).await.unwrap();
    assert!(losing.check().await.unwrap().told_by_others);
    submit_opening(&losing, &nth_session(1)).await.unwrap();
    say(&format!("REVOKE EXECUTE ON {notify} FROM {name}")).await;
    let (ledger, other) = (PostgresLedger::open(&url).await.unwrap(), PostgresLedger::open(&url).await.unwrap());
    let facts = ledger.check().await.unwrap();
    say(&format!("GRANT EXECUTE ON {notify} TO PUBLIC")).await;
    assert!(!facts.told_by_others);

    let mut changes = follow(&ledger).await;
    submit_opening(&other, &nth_session(2)).await.unwrap();
    wait_for(&mut changes, &nth_session(2)).await;
    let lease = other.acquire_lease(&nth_session(2), "deleting", LONG).await.unwrap().unwrap();
    other.delete_session(&lease).await.unwrap();
    wait_for(&mut changes, &nth_session(2)).await;
    // The right is lost in the middle of it: what is committed is answered, and found.
    say(&format!("REVOKE EXECUTE ON {notify} FROM PUBLIC")).await;
    let answered = submit_opening(&losing, &nth_session(3)).await;
    let again = submit_opening(&losing, &nth_session(4)).await;
    say(&format!("GRANT EXECUTE ON {notify} TO PUBLIC")).await;
    answered.unwrap();
    again.unwrap();
    wait_for(&mut changes, &nth_session(3)).await;
}

async fn restore_through(cut: Cut) {
    let origin = Store::sqlite();
    rich(&origin).await;
    let entries = journal(origin.ledger().await.as_ref(), &here()).await;
    let (store, url) = fresh().await;
    let proxy = Proxy::start(&url, cut);
    let ledger = PostgresLedger::open(&proxy.url(&url)).await.unwrap();
    let mut changes = follow(&ledger).await;
    proxy.cut_next(1);
    ledger.restore(&here(), Arc::new(entries.clone())).await.unwrap();
    assert_eq!(proxy.cuts_left(), 0);
    wait_for(&mut changes, &here()).await;
    assert_same(&origin, &store, &here()).await;
    assert_whole(&store.engine().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restoration_whose_answer_is_lost_is_not_refused() {
    restore_through(Cut::AfterCommit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restoration_that_never_arrived_is_made() {
    restore_through(Cut::BeforeCommit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_whose_answer_is_lost_is_new_all_the_same() {
    for cut in [Cut::AfterCommit, Cut::BeforeCommit] {
        let (store, url) = fresh().await;
        let proxy = Proxy::start(&url, cut);
        let (ledger, other) = (PostgresLedger::open(&proxy.url(&url)).await.unwrap(), store.ledger().await);
        let request = |key: &str| ClaimedRequest { key: key.to_owned(), fingerprint: "asked".to_owned() };
        // The statement is prepared with this one.
        ledger.claim(&request("before"), at(1), LONG).await.unwrap();
        proxy.cut_next(1);
        assert_eq!(ledger.claim(&request(crate::proxy::CUT_HERE), at(2), LONG).await.unwrap(), Claim::New);
        assert_eq!(proxy.cuts_left(), 0);
        let known = other.claim(&request(crate::proxy::CUT_HERE), at(3), LONG).await.unwrap();
        assert_eq!(known, Claim::Begun { at: at(2) });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_from_one_kind_of_store_to_the_other_and_back() {
    let (origin, server, back) = (Store::sqlite(), Store::postgres().await, Store::sqlite());
    rich(&origin).await;
    restore_all(&origin, &server).await;
    assert_same(&origin, &server, &here()).await;
    ready(&server.engine().await, &here(), "# Written over there").await;
    restore_all(&server, &back).await;
    assert_same(&server, &back, &here()).await;
    for store in [&origin, &server, &back] {
        assert_whole(&store.engine().await).await;
    }
    ready(&back.engine().await, &here(), "# And here").await;
    assert_whole(&back.engine().await).await;
}
