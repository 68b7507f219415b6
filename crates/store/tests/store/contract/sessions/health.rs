//! A store says whether it is well.

use futures::future::join_all;

use crate::commands::*;
use crate::stores::Store;

pub(crate) async fn a_store_that_is_well_says_what_it_is(store: &Store) {
    let facts = store.ledger().await.check().await.unwrap();
    let (kind, told) = match store {
        Store::Sqlite { .. } => ("SQLite 3.", false),
        Store::Postgres { .. } => ("PostgreSQL ", true),
    };
    assert!(facts.kind.starts_with(kind), "{facts:?}");
    assert!(facts.kind.split(' ').count() == 2 && facts.kind.ends_with(|end: char| end.is_ascii_digit()), "{facts:?}");
    assert_eq!((facts.schema.to_string(), facts.told_by_others), (store.schema_version().await, told));
}

pub(crate) async fn many_can_check_while_others_write(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    let callers = (0..40).map(|n| {
        let (ledger, engine) = (ledger.clone(), engine.clone());
        tokio::spawn(async move {
            if n % 2 == 0 {
                drop(ready(&engine, &nth_session(n), "# Plan").await);
            } else {
                drop(ledger.check().await.unwrap());
            }
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
}
