//! Sentences about runs of the agent by itself.

use std::time::Duration;

use cucumber::{then, when};
use planwright_core::auto::{AutoRun, AutoState, RunState};
use planwright_core::memory::ScopeChain;
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::RunsFilter;
use tokio::time::timeout;

use crate::world::World;

/// Longer than anything takes, unless it is for ever.
const LONG: Duration = Duration::from_secs(20);

async fn state(world: &World) -> AutoState {
    world.engine.auto().state(&world.session()).await.expect("a session")
}

async fn until(world: &World, number: u32, wanted: impl Fn(&AutoRun) -> bool) -> AutoRun {
    let found = async {
        loop {
            let state = state(world).await;
            if let Some(run) = state.runs.iter().find(|run| run.number == number && wanted(run)) {
                return run.clone();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, found).await.expect("it comes to that")
}

#[then(expr = "run {int} ends as {string}")]
async fn ends_as(world: &mut World, number: u32, end: String) {
    let run = until(world, number, |run| !run.is_open()).await;
    assert_eq!(run.state.name(), end);
}

#[then(expr = "run {int} is paused because {string}")]
async fn is_paused(world: &mut World, number: u32, why: String) {
    let run = until(world, number, |run| !run.is_running()).await;
    assert!(matches!(&run.state, RunState::Paused { reason, .. } if reason.to_string() == why), "{run:?}");
}

#[then(expr = "run {int} stands in the inbox")]
async fn in_the_inbox(world: &mut World, number: u32) {
    let (runs, _) = world.engine.inbox().runs().await.expect("listed");
    assert!(runs.iter().any(|waiting| waiting.session == world.session() && waiting.run.number == number));
}

#[then(expr = "in {string} there are no runs")]
async fn no_runs(world: &mut World, session: String) {
    world.look_at(&session);
    assert!(state(world).await.runs.is_empty());
}

#[then(expr = "the task of run {int} finds {string} for {string}")]
async fn task_finds(world: &mut World, number: u32, content: String, text: String) {
    let state = state(world).await;
    let run = state.runs.iter().find(|run| run.number == number).expect("a run");
    let found = world.engine.memories().search(&ScopeChain::of_run(&run.context), &text, 10).await.expect("searched");
    let found: Vec<_> = found.found.into_iter().map(|found| found.item.content).collect();
    assert_eq!(found, [content]);
}

#[when(expr = "the model is thinking about reply {int}")]
async fn thinking(world: &mut World, number: usize) {
    timeout(LONG, world.talk.model.asked(number)).await.expect("it is asked");
}

#[then(expr = "the model was asked {int} time in all")]
fn asked(world: &mut World, times: usize) {
    assert_eq!(world.talk.model.requests().len(), times);
}

/// The process ends where it stands; its lease runs out, and another one takes over what it left.
#[when("the process of the run dies")]
async fn dies(world: &mut World) {
    world.talk.agent(&world.engine).drain(Duration::ZERO).await;
    world.restart().await;
    let session = world.session();
    use crate::talk::Talk as _;
    let agent = world.talk.agent(&world.engine);
    agent.resume(&session, &crate::talk::Watcher::none()).await.expect("resumed");
}

#[when(expr = "the person goes to {string}")]
fn goes_to(world: &mut World, session: String) {
    world.look_at(&session);
}

#[then(expr = "the person is refused with {word}")]
fn refused(world: &mut World, code: String) {
    let refusal: Option<Refusal> = world.talk.answer().refusal.map(|code| Refusal::new(code, String::new()));
    assert_eq!(refusal.map(|refusal| refusal.code.to_string()), Some(code));
}

#[then("no run of the session is driven any more")]
async fn not_driven(world: &mut World) {
    let (agent, session) = (world.talk.agent(&world.engine), world.session());
    let over = async {
        while agent.drives(&session) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, over).await.expect("its driver ends");
}

#[then(expr = "no run of {string} is driven any more")]
async fn none_of_it_driven(world: &mut World, session: String) {
    world.look_at(&session);
    not_driven(world).await;
}

#[when(expr = "the person writes {string} into the tasks of {string}")]
async fn adds_a_task(world: &mut World, title: String, session: String) {
    let session = session.parse().expect("a session");
    world.engine.auto().add_task(&session, &crate::world::person(), title, None).await.expect("added");
    let stored = world.engine.ledger().session(&session).await.expect("readable").expect("a session");
    world.kept = Some(Box::new(stored));
}

/// The journal, the index of due and running sessions, and whatever else a row of it could be.
#[then(expr = "nothing of {string} is left in the store")]
async fn nothing_left(world: &mut World, session: String) {
    let session = session.parse().expect("a session");
    let ledger = world.engine.ledger();
    assert!(ledger.journal(&session, 0, 10).await.is_ok_and(|entries| entries.is_empty()));
    for which in [RunsFilter::Running, RunsFilter::Waiting] {
        let page = ledger.sessions_with_runs(which, None, 10).await.expect("listed");
        assert!(page.items.iter().all(|stored| stored.session.identity != session), "{which:?}");
    }
    assert!(ledger.orphans().await.expect("read").is_empty());
}

#[then(expr = "{string} is as it was")]
async fn as_it_was(world: &mut World, session: String) {
    let session = session.parse().expect("a session");
    let stored = world.engine.ledger().session(&session).await.expect("readable").expect("it is there");
    let kept = world.kept.as_ref().expect("it was looked at");
    assert_eq!((&stored.session, &stored.head), (&kept.session, &kept.head));
}

#[then("the person's chat is bound to the session they are in")]
async fn is_bound(world: &mut World) {
    let bound = world.engine.ledger().active_session(&crate::conversation::transport()).await.expect("readable");
    assert_eq!(bound, Some(world.session()));
}
