//! Sentences about work that runs while something else happens, and about processes that end in the middle of it.

use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use cucumber::{given, then, when};
use planwright_agent::session::outcome::Answer;
use planwright_agent::{Agent, AgentOptions};
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use planwright_llm::scripted::Reply;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::conversation::place;
use crate::world::{World, person};

/// The process that ends.
pub(crate) const MORTAL: &str = "the one that ends";

/// Longer than anything takes, unless it is for ever.
const LONG: Duration = Duration::from_secs(20);

/// What was typed and is not answered yet, in the order in which it was typed.
pub(crate) type UnderWay = Vec<JoinHandle<LedgerResult<Answer>>>;

#[given("the model hangs")]
fn hangs(world: &mut World) {
    world.talk.script.push(Reply::hang());
}

#[given(regex = r#"^when it is released the model calls "(\w+)" with '(.*)'$"#)]
fn calls_later(world: &mut World, tool: String, arguments: String) {
    let gate = world.talk.stage.gate.clone();
    world.talk.script.push(Reply::call(tool, serde_json::from_str(&arguments).expect("JSON")).behind(&gate));
}

#[given(expr = "when it is released the model answers {string}")]
fn answers_later(world: &mut World, text: String) {
    let gate = world.talk.stage.gate.clone();
    world.talk.script.push(Reply::text(text).behind(&gate));
}

/// Types it without waiting for the answer.
pub(crate) fn begin(world: &mut World, text: &str) {
    let (agent, place, text) = (world.talk.agent(&world.engine), place(world), text.to_owned());
    let typing = async move { agent.type_text(&place, &person(), &text, &Watcher::none()).await };
    world.under_way.push(tokio::spawn(typing));
}

#[when(expr = "the person types {string} and does not wait")]
async fn types_on(world: &mut World, text: String) {
    begin(world, &text);
    // Inputs are served in the order they arrive.
    tokio::task::yield_now().await;
}

#[when(expr = "the person types {string} and {string} is being called")]
pub(crate) async fn until_called(world: &mut World, text: String, tool: String) {
    let wanted = world.talk.stage.times(&tool) + 1;
    begin(world, &text);
    timeout(LONG, world.talk.stage.called(&tool, wanted)).await.expect("it is called");
}

/// Waits until the model thinks about the reply with this number, counted from what was typed.
#[when(expr = "the person types {string} and the model is thinking about reply {int}")]
pub(crate) async fn until_asked(world: &mut World, text: String, number: usize) {
    let wanted = world.talk.model.requests().len() + number;
    begin(world, &text);
    timeout(LONG, world.talk.model.asked(wanted)).await.expect("it is asked");
}

/// The agent works in another session of the person. It takes a whole turn, so whatever does not have to wait has
/// had the time to go on.
#[when(expr = "in the session {string} a person says {string}")]
async fn elsewhere_says(world: &mut World, session: String, text: String) {
    let agent = world.talk.agent(&world.engine);
    let session = session.parse().expect("a session");
    world.engine.sessions().open(&session, &person()).await.expect("opened");
    let outcome = agent.send(&session, &person(), &text, &Watcher::none()).await.expect("answered");
    world.talk.answer = Some(outcome.into());
}

#[when("what was under way ends")]
#[then("what was under way ends")]
pub(crate) async fn ends(world: &mut World) {
    for work in std::mem::take(&mut world.under_way) {
        let answer = timeout(LONG, work).await.expect("it ends").expect("nothing broke").expect("answered");
        world.talk.answer = Some(answer);
    }
}

/// With an answer or without one.
#[then("the turn under way ends")]
async fn ends_somehow(world: &mut World) {
    assert!(!world.under_way.is_empty(), "something is under way");
    for work in std::mem::take(&mut world.under_way) {
        let _ = timeout(LONG, work).await.expect("it ends").expect("nothing broke");
    }
}

#[then("it is still under way")]
fn still(world: &mut World) {
    assert!(!world.under_way.is_empty() && world.under_way.iter().all(|work| !work.is_finished()));
}

#[when(expr = "in another process the person types {string}")]
async fn elsewhere(world: &mut World, text: String) {
    let engine = Engine::new(world.store.ledger().await, world.policy.clone());
    let agent = world.talk.another_agent(&engine, AgentOptions::new("the other one"));
    let answer = agent.type_text(&place(world), &person(), &text, &Watcher::none()).await.expect("answered");
    world.talk.answer = Some(answer);
}

#[when(expr = "the person types {string} and Planwright is killed while {string} is being called")]
async fn killed_in_call(world: &mut World, text: String, tool: String) {
    let wanted = world.talk.stage.times(&tool) + 1;
    let called = world.talk.stage.called(&tool, wanted);
    killed(world, &text, called).await;
}

#[when(expr = "the person types {string} and Planwright is killed while the model is thinking about reply {int}")]
async fn killed_in_thought(world: &mut World, text: String, number: usize) {
    let model = world.talk.model.clone();
    let wanted = model.requests().len() + number;
    killed(world, &text, async move { model.asked(wanted).await }).await;
}

/// A process of its own, which ends where it stands; afterwards Planwright is started anew.
async fn killed(world: &mut World, text: &str, when: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let agent = mortal(world, &runtime).await;
    let (place, text) = (place(world), text.to_owned());
    let work = runtime.spawn(async move { agent.type_text(&place, &person(), &text, &Watcher::none()).await });
    timeout(LONG, when).await.expect("it comes to that");
    assert!(!work.is_finished(), "it is in the middle of it");
    let end = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(LONG));
    end.await.expect("it ended");
    world.restart().await;
}

async fn mortal(world: &mut World, runtime: &Runtime) -> Agent {
    let (location, policy): (_, Policy) = (world.store.location(), world.policy.clone());
    let open = async move { Engine::new(planwright_store::open(&location).await.expect("opened"), policy) };
    let engine = runtime.spawn(open).await.expect("opened");
    world.talk.another_agent(&engine, AgentOptions::new(MORTAL))
}

/// What a process does when it enters a session.
#[when("Planwright continues what was interrupted")]
async fn goes_on(world: &mut World) {
    let agent = world.talk.agent(&world.engine);
    let answer = match agent.resume(&world.session(), &Watcher::none()).await.expect("resumed") {
        Some(outcome) => Some(outcome.into()),
        None => agent.resume_plan(&place(world), &person(), &Watcher::none()).await.expect("resumed"),
    };
    world.talk.answer = answer;
}

#[then("there was nothing to go on with")]
fn nothing(world: &mut World) {
    assert!(world.talk.answer.is_none());
}
