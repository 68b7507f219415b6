//! Which session is meant on a transport.

use std::time::Duration;

use futures::future::join_all;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::Engine;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::assert_whole;

fn chat(name: &str) -> TransportChat {
    TransportChat(name.to_owned())
}

/// That many sessions.
async fn opened<const N: usize>(engine: &Engine) -> [SessionIdentity; N] {
    let sessions = std::array::from_fn(nth_session);
    for session in &sessions {
        engine.sessions().open(session, &person()).await.unwrap();
    }
    sessions
}

async fn delete(engine: &Engine, session: &SessionIdentity) {
    let lease = engine.ledger().acquire_lease(session, "deleting", Duration::from_secs(60)).await.unwrap().unwrap();
    engine.ledger().delete_session(&lease).await.unwrap();
}

pub(crate) async fn the_session_chosen_last_is_meant(store: &Store) {
    let (engine, other) = (store.engine().await, store.ledger().await);
    let [one, two, three] = opened(&engine).await;
    let (here, there) = (chat("telegram:12345"), chat("telegram:1234"));
    assert_eq!(other.active_session(&here).await.unwrap(), None);
    for session in [&one, &two, &three, &one, &one, &two] {
        engine.ledger().point(&here, session).await.unwrap();
        assert_eq!(other.active_session(&here).await.unwrap().as_ref(), Some(session));
        assert_eq!(other.active_session(&there).await.unwrap(), None);
    }
    other.point(&there, &three).await.unwrap();
    assert_eq!(engine.ledger().active_session(&there).await.unwrap(), Some(three));
    assert_eq!(store.engine().await.ledger().active_session(&here).await.unwrap(), Some(two));
    assert_whole(&engine).await;
}

pub(crate) async fn a_pointer_falls_back_when_its_session_is_deleted(store: &Store) {
    let engine = store.engine().await;
    let [one, two, three] = opened(&engine).await;
    let (here, there) = (chat("telegram:1"), chat("telegram:2"));
    for session in [&three, &one, &two, &three] {
        engine.ledger().point(&here, session).await.unwrap();
    }
    engine.ledger().point(&there, &three).await.unwrap();
    let active_session = async |chat: &TransportChat| engine.ledger().active_session(chat).await.unwrap();
    delete(&engine, &three).await;
    assert_eq!((active_session(&here).await.as_ref(), active_session(&there).await), (Some(&two), None));
    // A new session of the same name is another one, and no transport points to it.
    engine.sessions().open(&three, &person()).await.unwrap();
    assert_eq!((active_session(&here).await.as_ref(), active_session(&there).await), (Some(&two), None));
    delete(&engine, &one).await;
    assert_eq!(active_session(&here).await, Some(two.clone()));
    engine.ledger().point(&here, &three).await.unwrap();
    assert_eq!(active_session(&here).await, Some(three.clone()));
    for session in [&three, &two] {
        delete(&engine, session).await;
    }
    assert_eq!(active_session(&here).await, None);
}

pub(crate) async fn a_session_that_is_not_there_cannot_be_chosen(store: &Store) {
    let engine = store.engine().await;
    let [one] = opened(&engine).await;
    let here = chat("telegram:1");
    engine.ledger().point(&here, &one).await.unwrap();
    let elsewhere = session(&format!("cli:{}", one.conversation));
    for nowhere in [&elsewhere, &nth_session(7)] {
        refused(engine.ledger().point(&here, nowhere).await, RefusalCode::NotFound);
    }
    assert_eq!(engine.ledger().active_session(&here).await.unwrap(), Some(one));
}

pub(crate) async fn a_transport_may_have_any_name_that_fits(store: &Store) {
    let engine = store.engine().await;
    let [one, two] = opened(&engine).await;
    let names =
        ["", " ", "-100200", "a:b", "A:B", "żółć 🧑‍🚀\u{202e}", "'; DROP TABLE pointer; --", "%", "_", "line\nend\u{1}"];
    let longest = "é".repeat(100);
    for name in names.into_iter().chain([longest.as_str()]) {
        assert_eq!(engine.ledger().active_session(&chat(name)).await.unwrap(), None, "{name:?}");
        engine.ledger().point(&chat(name), &one).await.unwrap();
        engine.ledger().point(&chat(name), &two).await.unwrap();
        assert_eq!(engine.ledger().active_session(&chat(name)).await.unwrap().as_ref(), Some(&two), "{name:?}");
    }
    for (name, code) in
        [(format!("{longest}x"), RefusalCode::LimitExceeded), ("a\0b".to_owned(), RefusalCode::InvalidArgument)]
    {
        refused(engine.ledger().point(&chat(&name), &one).await, code);
        assert_eq!(engine.ledger().active_session(&chat(&name)).await.unwrap(), None);
    }
}

pub(crate) async fn many_can_choose_at_once(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let sessions: [_; 8] = opened(&engines[0]).await;
    let here = chat("telegram:1");
    let chosen = (0..80).map(|n| {
        let (engine, here, session) = (engines[n % 2].clone(), here.clone(), sessions[n % 8].clone());
        tokio::spawn(async move { engine.ledger().point(&here, &session).await.unwrap() })
    });
    join_all(chosen).await.into_iter().for_each(Result::unwrap);
    let active_session = engines[1].ledger().active_session(&here).await.unwrap().unwrap();
    assert!(sessions.contains(&active_session));
    for session in &sessions {
        engines[0].ledger().point(&here, session).await.unwrap();
        assert_eq!(engines[1].ledger().active_session(&here).await.unwrap().as_ref(), Some(session));
    }
}

pub(crate) async fn every_choice_is_told_in_its_order(store: &Store) {
    let engine = store.engine().await;
    let ledger = store.ledger().await;
    assert_eq!(ledger.pointers().await.unwrap(), []);
    let [one, two, three] = opened(&engine).await;
    let (here, there) = (chat("telegram:1"), chat("telegram:2"));
    for session in [&one, &two, &three, &one] {
        engine.ledger().point(&here, session).await.unwrap();
    }
    engine.ledger().point(&there, &two).await.unwrap();
    let told = ledger.pointers().await.unwrap();
    let on = |chat: &TransportChat| -> Vec<_> {
        told.iter().filter(|(transport, _)| transport == chat).map(|(_, session)| session.clone()).collect()
    };
    assert_eq!((on(&here), on(&there)), (vec![two.clone(), three.clone(), one.clone()], vec![two.clone()]));
    assert_eq!(told.len(), 4);
    // Chosen again in that order, the same is meant everywhere.
    let other = store.another().await;
    let (engine, restored) = (other.engine().await, other.ledger().await);
    opened::<3>(&engine).await;
    for (transport, session) in &told {
        restored.point(transport, session).await.unwrap();
    }
    assert_eq!(restored.active_session(&here).await.unwrap(), Some(one.clone()));
    delete(&engine, &one).await;
    assert_eq!(restored.active_session(&here).await.unwrap(), Some(three));
    assert_eq!(restored.pointers().await.unwrap().len(), 3);
}
