//! A server that is asked to end in the middle of a turn: clients that wait are told, and the next server continues at once.

use crate::journal::{entries, resumed, turns, verify};
use crate::program::{Program, until_logged};
use crate::provider::Provider;
use crate::stores::Store;

const KEY: &str = "session-one";
/// No test waits this long: the lease was given back, so the next server takes it at once.
const LEASE: (&str, &str) = ("PLANWRIGHT_SERVER_LEASE_SECONDS", "3600");

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_handed_over_when_the_model_has_answered_on_sqlite() {
    handed_over(Store::sqlite(), Model::AnswersInTime).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_handed_over_when_the_model_has_answered_on_postgres() {
    handed_over(Store::postgres().await, Model::AnswersInTime).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_handed_over_when_the_model_does_not_answer_on_sqlite() {
    handed_over(Store::sqlite(), Model::Hangs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_handed_over_when_the_model_does_not_answer_on_postgres() {
    handed_over(Store::postgres().await, Model::Hangs).await;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    AnswersInTime,
    Hangs,
}

async fn handed_over(store: Store, model: Model) {
    let provider = Provider::start().await;
    let grace = match model {
        Model::AnswersInTime => ("PLANWRIGHT_SERVER_GRACE_SECONDS", "240"),
        Model::Hangs => ("PLANWRIGHT_SERVER_GRACE_SECONDS", "1"),
    };
    let mut first = Program::asking(&store, &provider, &[LEASE, grace]);
    first.at().open(KEY).await;
    let mut watching = first.at().client().await;
    watching.subscribe(KEY, None).await;
    provider.hold();
    let server = first.at();
    let waiting = tokio::spawn(async move { server.say(KEY, "look around", "once").await });
    provider.wait_for(1, |asked| asked.phrase == "look around").await;
    first.terminate();
    // It got the signal: followers are disconnected first.
    assert_eq!(watching.closed().await, Some(1012));
    if model == Model::AnswersInTime {
        provider.release();
    }
    let told = waiting.await.unwrap().expect("a client that waits is told").with(503);
    assert_eq!(told["code"], "UNAVAILABLE", "{told}");
    assert_eq!(first.ended().await, 0, "{}", first.log());
    provider.release();

    let second = Program::asking(&store, &provider, &[LEASE]);
    let mut watching = second.at().client().await;
    watching.subscribe(KEY, Some(0)).await;
    watching.next_of("turn_ended").await;
    let again = second.at().say(KEY, "look around", "once").await.unwrap().with(200);
    assert_eq!(again["reply"], "done: look around");
    let entries = entries(&store.engine().await, KEY).await;
    assert_eq!(turns(KEY, &entries), ["look around"]);
    assert_eq!(resumed(&entries), 1);
    verify(&store);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_on_is_there_while_another_is_replaced() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let mut leaving = Program::asking(&store, &provider, &[LEASE, ("PLANWRIGHT_SERVER_GRACE_SECONDS", "1")]);
    let staying = Program::asking(&store, &provider, &[LEASE]);
    leaving.at().open(KEY).await;
    let mut watching = staying.at().client().await;
    watching.subscribe(KEY, Some(0)).await;
    provider.hold();
    let server = leaving.at();
    let waiting = tokio::spawn(async move { server.say(KEY, "look around", "once").await });
    provider.wait_for(1, |asked| asked.phrase == "look around").await;
    leaving.terminate();
    waiting.await.unwrap().expect("a client that waits is told").with(503);
    assert_eq!(leaving.ended().await, 0);
    provider.release();
    watching.next_of("turn_resumed").await;
    watching.next_of("turn_ended").await;
    until_logged(&[&staying], "taken_over").await;
}
