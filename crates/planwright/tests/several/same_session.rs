//! Two servers at one session at the same time: one after the other.

use crate::client::Client;
use crate::journal::{entries, resumed, turns, verify};
use crate::program::Program;
use crate::provider::Provider;
use crate::stores::Store;

const KEY: &str = "session-one";

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_take_turns_in_a_session_on_sqlite() {
    take_turns(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_take_turns_in_a_session_on_postgres() {
    take_turns(Store::postgres().await).await;
}

async fn take_turns(store: Store) {
    let provider = Provider::start().await;
    let lease = [("PLANWRIGHT_SERVER_LEASE_SECONDS", "3600")];
    let (one, other) = (Program::asking(&store, &provider, &lease), Program::asking(&store, &provider, &lease));
    one.at().open(KEY).await;
    let (mut at_one, mut at_other) = (one.at().client().await, other.at().client().await);
    for client in [&mut at_one, &mut at_other] {
        client.subscribe(KEY, None).await;
    }
    for round in 0..3 {
        provider.hold();
        let before = provider.asked().len();
        let (left, right) = (format!("look left {round}"), format!("look right {round}"));
        let (at, phrase) = (one.at(), left.clone());
        let first = tokio::spawn(async move { at.say(KEY, &phrase, &phrase.replace(' ', "-")).await });
        let (at, phrase) = (other.at(), right.clone());
        let second = tokio::spawn(async move { at.say(KEY, &phrase, &phrase.replace(' ', "-")).await });
        provider.wait_for(before + 1, |_| true).await;
        // The other one says that it waits, and asks nothing.
        tokio::select! {
            () = waits(&mut at_one) => {}
            () = waits(&mut at_other) => {}
        }
        assert_eq!(provider.asked().len(), before + 1, "both are at work");
        provider.release();
        assert_eq!(first.await.unwrap().unwrap().with(200)["reply"], format!("done: {left}"));
        assert_eq!(second.await.unwrap().unwrap().with(200)["reply"], format!("done: {right}"));
    }
    let entries = entries(&store.engine().await, KEY).await;
    let mut begun = turns(KEY, &entries);
    assert_eq!(resumed(&entries), 0);
    begun.sort();
    let reply = ["left", "right"].iter().flat_map(|side| (0..3).map(move |round| format!("look {side} {round}")));
    assert_eq!(begun, reply.collect::<Vec<_>>());
    verify(&store);
}

/// A client at this server is told that another process works on the session.
async fn waits(client: &mut Client) {
    while client.next_of("progress").await["progress"]["type"] != "waiting" {}
}
