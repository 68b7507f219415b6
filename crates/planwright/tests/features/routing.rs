//! Sentences about where people are: pointers of transports, and clients that follow sessions.

use std::collections::BTreeMap;
use std::time::Duration;

use cucumber::{given, then, when};
use planwright_agent::AgentOptions;
use planwright_agent::session::input::ChatLocation;
use planwright_agent::session::outcome::Answer;
use planwright_core::refusal::Refusal;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_engine::feed::{Feed, FeedItem, Follower};
use planwright_engine::ledger::LedgerResult;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::conversation::{place, transport};
use crate::talk::{Talk as _, Watcher};
use crate::world::{World, person};

/// Longer than anything takes, unless it is for ever.
const LONG: Duration = Duration::from_secs(20);

/// The clients of a scenario, by name, with the sessions that each follows.
#[derive(Default)]
pub(crate) struct Clients {
    feed: Option<Feed>,
    following: BTreeMap<String, Vec<Follower>>,
    /// The message of the first client that is not answered yet. It waits in a task, as in a connection.
    waiting: Option<JoinHandle<LedgerResult<Answer>>>,
}

#[given(expr = "the person is in {string}")]
async fn is_in(world: &mut World, session: String) {
    world.look_at(&session);
    let agent = world.talk.agent(&world.engine);
    agent.chats().enter(&transport(), &world.session(), &person()).await.expect("entered");
}

#[when(expr = "the person types {string} and {string} at the same time")]
async fn both(world: &mut World, first: String, second: String) {
    let here = place(world);
    at_once(world, (&here, &first), (&here, &second)).await;
}

#[when(expr = "the person types {string} here and {string} at another place in {string} at the same time")]
async fn at_two_places(world: &mut World, first: String, second: String, session: String) {
    let there = ChatLocation::new(TransportChat("telegram:ann".to_owned()), session.parse().expect("a session"));
    at_once(world, (&place(world), &first), (&there, &second)).await;
}

async fn at_once(world: &mut World, first: (&ChatLocation, &str), second: (&ChatLocation, &str)) {
    let (agent, by, unwatched) = (world.talk.agent(&world.engine), person(), Watcher::none());
    let hear = |(place, text): (&ChatLocation, &str)| {
        let (agent, place, text, by, unwatched) =
            (agent.clone(), place.clone(), text.to_owned(), by.clone(), unwatched.clone());
        tokio::spawn(async move { agent.type_text(&place, &by, &text, &unwatched).await })
    };
    let (first, second) = tokio::join!(hear(first), hear(second));
    for answer in [first, second] {
        let answer = answer.expect("nothing broke").expect("answered");
        assert!(!answer.refused(), "{}", answer.reply);
    }
}

#[when(expr = "in another process the session {string} is deleted")]
async fn deleted_elsewhere(world: &mut World, session: String) {
    let engine = Engine::new(world.store.ledger().await, world.policy.clone());
    let agent = world.talk.another_agent(&engine, AgentOptions::new("the other one"));
    agent.delete(&session.parse().expect("a session"), &person()).await.expect("deleted");
}

/// Without looking where the pointer is now.
#[when(expr = "the person types {string} where they still are")]
async fn types_there(world: &mut World, text: String) {
    let agent = world.talk.agent(&world.engine);
    let outcome = agent.type_text(&place(world), &person(), &text, &Watcher::none()).await;
    world.answer = match outcome {
        Ok(answer) => answer.refusal.map_or(Ok(Value::Null), |code| Err(Refusal::new(code, answer.reply))),
        Err(error) => Err(error.into_refusal()),
    };
}

#[then(expr = "there is no session {string}")]
async fn no_session(world: &mut World, session: String) {
    let session: SessionIdentity = session.parse().expect("a session");
    assert!(world.engine.ledger().session(&session).await.expect("readable").is_none());
}

#[given(expr = "a client follows {string} and {string}")]
async fn follows(world: &mut World, one: String, other: String) {
    follow(world, "first", [one, other]).await;
}

#[given(expr = "another client follows {string} and {string}")]
async fn another_follows(world: &mut World, one: String, other: String) {
    follow(world, "other", [one, other]).await;
}

async fn follow(world: &mut World, client: &str, sessions: [String; 2]) {
    if world.clients.feed.is_none() {
        world.clients.feed = Some(Feed::start(world.store.ledger().await));
    }
    let feed = world.clients.feed.clone().expect("a feed");
    for session in sessions {
        let session = session.parse().expect("a session");
        let head = feed.head(&session).await.expect("a head");
        let follower = feed.follow(&session, head).await.expect("followed");
        world.clients.following.entry(client.to_owned()).or_default().push(follower);
    }
}

#[when(expr = "the first client sends {string} and the model is thinking about reply {int}")]
async fn sends(world: &mut World, text: String, number: usize) {
    let wanted = world.talk.model.requests().len() + number;
    let (agent, place) = (world.talk.agent(&world.engine), place(world));
    let typing = async move { agent.type_text(&place, &person(), &text, &Watcher::none()).await };
    world.clients.waiting = Some(tokio::spawn(typing));
    timeout(LONG, world.talk.model.asked(wanted)).await.expect("it is asked");
}

/// Everything that waits for the client is dropped: what it follows and, if it asked something, the answer.
#[when("the first client disconnects")]
async fn disconnects(world: &mut World) {
    let gone = world.clients.following.remove("first").expect("it was connected");
    assert_eq!(gone.len(), 2);
    if let Some(waiting) = world.clients.waiting.take() {
        waiting.abort();
        assert!(waiting.await.expect_err("it waited for its answer").is_cancelled());
    }
}

#[when("the other client disconnects")]
async fn other_disconnects(world: &mut World) {
    assert_eq!(world.clients.following.remove("other").expect("it was connected").len(), 2);
}

#[then(expr = "{int} sessions of clients are followed")]
fn are_followed(world: &mut World, count: usize) {
    assert_eq!(world.clients.feed.as_ref().expect("a feed").watched(), (count, 2));
}

#[then("nothing is followed any more")]
fn nothing_is_followed(world: &mut World) {
    assert_eq!(world.clients.feed.as_ref().expect("a feed").watched(), (0, 0));
}

#[then(expr = "the model's answer {string} is stored in {string}")]
async fn is_stored(world: &mut World, text: String, session: String) {
    let session = session.parse().expect("a session");
    let entries = world.engine.ledger().conversation(&session, 0, 100).await.expect("readable");
    let events: Vec<_> = entries.iter().map(|entry| serde_json::to_value(&entry.event).expect("JSON")).collect();
    assert!(events.iter().any(|event| event["reply"]["text"] == *text), "{events:#?}");
    assert_eq!(events.last().expect("events")["end"]["kind"], "answered", "{events:#?}");
}

#[then(expr = "the other client is told of {string} in {string}")]
async fn is_told(world: &mut World, event: String, session: String) {
    let followers = world.clients.following.get_mut("other").expect("it is connected");
    let follower = followers.iter_mut().find(|one| one.session().to_string() == session).expect("followed");
    let told = async {
        loop {
            match follower.next().await.expect("readable") {
                FeedItem::Entry(entry) if entry.event.name() == event => return,
                FeedItem::Entry(_) => {}
                FeedItem::Gone => panic!("the session is gone"),
            }
        }
    };
    timeout(LONG, told).await.expect("it is told");
}
