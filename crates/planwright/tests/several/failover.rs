//! A primary that dies under load and a synchronous standby that is promoted: nothing that was acknowledged is lost, nothing is done
//! twice, and the servers find the new primary by themselves.

use planwright_test_support::postgres_server::{PostgresServer, ServerTls};
use tokio::task::JoinSet;

use crate::journal::{entries, turns, verify};
use crate::program::{Address, Program};
use crate::provider::Provider;
use crate::stores::Store;
use crate::world::TIMEOUT;

const SESSIONS: usize = 6;
const MESSAGES: usize = 12;
/// The message of each session before which the primary dies.
const DIES_BEFORE: usize = 4;

fn key(n: usize) -> String {
    format!("session-{n}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_dies_under_load_loses_nothing_that_was_acknowledged() {
    fail_over(PostgresServer::kill).await;
}

/// It keeps its connections, so nothing fails on them. The servers give them up once they find the new primary.
#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_freezes_under_load_loses_nothing_that_was_acknowledged() {
    fail_over(PostgresServer::freeze).await;
}

async fn fail_over(lose: impl FnOnce(&PostgresServer)) {
    let primary = PostgresServer::start(ServerTls::Off).await;
    let standby = primary.standby().await;
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", primary.port, standby.port);
    let url = format!("postgres://postgres@{hosts}/plans?target_session_attrs=read-write&connect_timeout=2");
    let store = Store::Postgres { url, direct: standby.socket_url("plans") };
    let provider = Provider::start().await;
    let servers: Vec<_> = (0..2).map(|_| Program::asking(&store, &provider, &[])).collect();
    let at: Vec<Address> = servers.iter().map(Program::at).collect();
    for n in 0..SESSIONS {
        at[n % 2].open(&key(n)).await;
    }
    let (reached, mut is_reached) = tokio::sync::mpsc::unbounded_channel();
    let mut talking = JoinSet::new();
    for n in 0..SESSIONS {
        let (server, reached) = (at[n % 2], reached.clone());
        talking.spawn(async move {
            for message in 0..MESSAGES {
                if message == DIES_BEFORE {
                    let _ = reached.send(());
                }
                let reply = until_answered(server, &key(n), message).await;
                assert_eq!(reply, format!("done: look {message}"));
            }
        });
    }
    drop(reached);
    is_reached.recv().await.unwrap();
    lose(&primary);
    standby.promote();
    tokio::time::timeout(TIMEOUT, async { while talking.join_next().await.transpose().unwrap().is_some() {} })
        .await
        .expect("everyone is answered");
    let engine = store.engine().await;
    for n in 0..SESSIONS {
        let expected: Vec<_> = (0..MESSAGES).map(|message| format!("look {message}")).collect();
        assert_eq!(turns(&key(n), &entries(&engine, &key(n)).await), expected, "each once, in order");
    }
    verify(&store);
}

/// Sends a message under its name until it is answered. In between there may be no answer, and 503.
async fn until_answered(server: Address, key: &str, message: usize) -> String {
    loop {
        match server.say(key, &format!("look {message}"), &format!("message-{message}")).await {
            Some(answer) if answer.status == 503 || answer.status == 409 => tokio::task::yield_now().await,
            Some(answer) => return answer.with(200)["reply"].as_str().unwrap().to_owned(),
            None => {}
        }
    }
}
