//! The outbox on PostgreSQL: a row that another transaction holds is left out and not waited for.

use std::time::Duration;

use planwright_engine::ledger::{NewMessage, TakeMessages, TakeOrder};
use planwright_store::Location;
use tokio::time::timeout;

use crate::commands::at;
use crate::stores::{Store, client};

const LONG: Duration = Duration::from_secs(60);

fn take(owner: &str) -> TakeMessages {
    let (channel, owner) = ("telegram".to_owned(), owner.to_owned());
    TakeMessages { channel, owner, now: at(5), until: at(65), limit: 10, order: TakeOrder::Any }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_another_process_is_taking_is_skipped() {
    let store = Store::postgres().await;
    let (first, second) = (store.ledger().await, store.ledger().await);
    let messages: Vec<_> = (1..=4)
        .map(|number| NewMessage {
            id: format!("m{number}"),
            channel: "telegram".to_owned(),
            target: format!("t{number}"),
            body: "{}".to_owned(),
            due: at(1),
        })
        .collect();
    first.put_messages(&messages, at(1)).await.unwrap();
    let Location::Postgres(address) = store.location() else { panic!("it is PostgreSQL") };
    // A process in the middle of its taking: it has locked two rows and not committed.
    let taking = client(address.url()).await;
    taking.batch_execute("BEGIN; SELECT * FROM outbox WHERE id IN ('m1', 'm3') FOR UPDATE").await.unwrap();
    let ids = |messages: Vec<planwright_engine::ledger::OutboxMessage>| {
        messages.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    let found = timeout(LONG, first.take_messages(&take("first"))).await.expect("it does not wait for the lock");
    assert_eq!(ids(found.unwrap()), ["m2", "m4"]);
    let found = timeout(LONG, second.take_messages(&take("second"))).await.expect("it does not wait for the lock");
    assert_eq!(ids(found.unwrap()), Vec::<String>::new());
    taking.batch_execute("ROLLBACK").await.unwrap();
    // That process died, and another handle takes what it held.
    assert_eq!(ids(second.take_messages(&take("second")).await.unwrap()), ["m1", "m3"]);
    assert_eq!(ids(first.take_messages(&take("first")).await.unwrap()), Vec::<String>::new());
}
