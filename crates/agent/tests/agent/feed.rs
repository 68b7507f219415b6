//! A session followed live: every entry once, in order, from any process and however often the reader reconnects.

use std::sync::Arc;

use planwright_core::command::{Command, SessionCommand};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::plan::PlanStyle;
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::feed::{Feed, FeedItem, Follower};
use planwright_engine::ledger::{Lease, Ledger};
use planwright_test_support::agent::AgentSetup;
use tempfile::TempDir;

use crate::world::{person, session};

struct Stage {
    folder: TempDir,
    engine: Engine,
    feed: Feed,
}

impl Stage {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        let engine = Engine::new(ledger.clone(), Policy::default());
        Self { folder, engine, feed: Feed::start(ledger) }
    }

    /// Another process on the same store.
    async fn another(&self) -> Engine {
        Engine::new(ledger(&self.folder).await, Policy::default())
    }

    async fn opened(&self, key: &str) -> SessionIdentity {
        let session = session(key);
        self.engine.sessions().open(&session, &person()).await.unwrap();
        session
    }
}

async fn ledger(folder: &TempDir) -> Arc<dyn Ledger> {
    AgentSetup::new(folder.path()).ledger().await
}

/// Turns plan work on and off, so many times: an entry or more each.
async fn write(engine: &Engine, session: &SessionIdentity, times: usize) {
    for _ in 0..times {
        engine.sessions().enable_plan_mode(session, &person(), PlanStyle::Document).await.unwrap();
        engine.sessions().disable_plan_mode(session, &person()).await.unwrap();
    }
}

async fn entry(follower: &mut Follower) -> u64 {
    match follower.next().await.unwrap() {
        FeedItem::Entry(entry) => {
            assert_eq!(entry.session, *follower.session());
            entry.seq
        }
        FeedItem::Gone => panic!("the session is gone"),
    }
}

async fn head(engine: &Engine, session: &SessionIdentity) -> u64 {
    engine.ledger().session(session).await.unwrap().unwrap().head.seq
}

#[tokio::test]
async fn several_writers_in_two_processes_and_a_reader_who_comes_and_goes_miss_nothing() {
    let stage = Stage::new().await;
    let session = stage.opened("session-one").await;
    let other = stage.opened("session-two").await;
    let mut writers = Vec::new();
    for engine in [stage.engine.clone(), stage.another().await, stage.engine.clone()] {
        let (session, other) = (session.clone(), other.clone());
        writers.push(tokio::spawn(async move {
            for _ in 0..20 {
                write(&engine, &session, 1).await;
                write(&engine, &other, 1).await;
            }
        }));
    }
    let (last, at_work) = (stage.another().await, session.clone());
    let end = tokio::spawn(async move {
        for writer in writers {
            writer.await.unwrap();
        }
        last.submit(&at_work, &person(), one_entry()).await.unwrap();
    });
    let mut seen = 0;
    let mut stays = [1, 5, 2, 30, 3, 1, 8].into_iter().cycle();
    'reading: loop {
        let mut follower = stage.feed.follow(&session, seen).await.unwrap();
        for _ in 0..stays.next().unwrap() {
            let FeedItem::Entry(entry) = follower.next().await.unwrap() else { panic!("the session is gone") };
            assert_eq!((&entry.session, entry.seq), (&session, seen + 1));
            seen = entry.seq;
            if matches!(entry.event, Event::Session(SessionEvent::ConversationReset { .. })) {
                break 'reading;
            }
        }
    }
    end.await.unwrap();
    assert_eq!(seen, head(&stage.engine, &session).await);
    let mut follower = stage.feed.follow(&session, 0).await.unwrap();
    for seq in 1..=head(&stage.engine, &session).await {
        assert_eq!(entry(&mut follower).await, seq);
    }
}

#[tokio::test]
async fn dropping_the_future_loses_no_entry() {
    let stage = Stage::new().await;
    let session = stage.opened("session-one").await;
    let mut follower = stage.feed.follow(&session, 1).await.unwrap();
    for seq in 2..=20 {
        // Asked, and given up at once, again and again.
        for _ in 0..3 {
            tokio::select! {
                biased;
                _ = follower.next() => panic!("nothing was written"),
                () = tokio::task::yield_now() => {}
            }
        }
        stage.engine.submit(&session, &person(), one_entry()).await.unwrap();
        assert_eq!(entry(&mut follower).await, seq);
    }
}

#[tokio::test]
async fn a_session_that_nobody_follows_any_more_is_forgotten() {
    let stage = Stage::new().await;
    for key in ["session-one", "session-two", "session-three"] {
        let session = stage.opened(key).await;
        let first = stage.feed.follow(&session, 0).await.unwrap();
        let second = stage.feed.watch(&session);
        assert_eq!(stage.feed.watched(), (2, 1));
        drop(first);
        assert_eq!(stage.feed.watched(), (1, 1), "the second one still follows");
        drop(second);
        assert_eq!(stage.feed.watched(), (0, 0));
    }
}

/// Something that writes exactly one entry.
fn one_entry() -> Command {
    Command::Session(SessionCommand::Reset { history_from: 0 })
}

#[tokio::test]
async fn a_session_that_is_deleted_is_gone_also_when_another_begins_under_its_key() {
    let stage = Stage::new().await;
    let elsewhere = stage.another().await;
    for again in [false, true] {
        let session = stage.opened("session-one").await;
        write(&stage.engine, &session, 3).await;
        let mut at_end = stage.feed.follow(&session, head(&stage.engine, &session).await).await.unwrap();
        let mut at_beginning = stage.feed.follow(&session, 0).await.unwrap();
        assert_eq!(entry(&mut at_beginning).await, 1);
        let lease = lease(&elsewhere, &session).await;
        elsewhere.ledger().delete_session(&lease).await.unwrap();
        if again {
            elsewhere.sessions().open(&session, &person()).await.unwrap();
            write(&elsewhere, &session, 10).await;
        }
        assert_eq!(at_end.next().await.unwrap(), FeedItem::Gone);
    }
}

async fn lease(engine: &Engine, session: &SessionIdentity) -> Lease {
    let time = std::time::Duration::from_secs(60);
    engine.ledger().acquire_lease(session, "who deletes", time).await.unwrap().unwrap()
}

#[tokio::test]
async fn what_is_not_there_cannot_be_followed() {
    let stage = Stage::new().await;
    let session = stage.opened("session-one").await;
    let refused = stage.feed.follow(&session, 2).await.unwrap_err();
    assert_eq!(refused.code(), RefusalCode::InvalidArgument);
    let refused = stage.feed.follow(&crate::world::session("no-such-session"), 0).await.unwrap_err();
    assert_eq!(refused.code(), RefusalCode::NotFound);
}
