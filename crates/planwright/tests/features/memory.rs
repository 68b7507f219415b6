//! Sentences about what is remembered.

use cucumber::{then, when};
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoExecutionContext, RunTarget};
use planwright_core::ids::{GoalId, MemoryId, RunId, TaskId};
use planwright_core::memory::{MemoryKind, MemoryScope, NewMemory, ScopeChain};
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::LedgerError;
use serde_json::{Value, json};

use crate::world::{World, agent, person};

fn run(world: &World, goal: Option<String>, task: String) -> AutoExecutionContext {
    let task = TaskId::new(task).expect("an id");
    let target = match goal {
        Some(goal) => RunTarget::Goal { goal: GoalId::new(goal).expect("an id"), task },
        None => RunTarget::Task { task },
    };
    AutoExecutionContext::new(world.session(), RunId::new("run").expect("an id"), target)
}

async fn save(world: &mut World, by: &Actor, new: NewMemory) {
    let saved = world.engine.memories().save(&world.session(), by, new).await;
    world.answer = saved.map(|item| json!({ "id": item.id })).map_err(LedgerError::into_refusal);
}

async fn save_in_run(world: &mut World, goal: Option<String>, task: String, kind: MemoryKind, content: String) {
    let run = Some(run(world, goal, task));
    save(world, &agent(), NewMemory { kind, run, ..NewMemory::by_person(content) }).await;
    world.answer.as_ref().expect("saved");
}

async fn found(world: &World, chain: &ScopeChain, text: &str) -> Vec<String> {
    let search = world.engine.memories().search(chain, text, 10).await.expect("searched");
    search.found.into_iter().map(|found| found.item.content).collect()
}

/// The one memory of the session.
async fn only(world: &World) -> MemoryId {
    let chain = ScopeChain::of_session(&world.session());
    let listed = world.engine.memories().list(&chain, None, 10).await.expect("listed");
    listed.items.first().expect("something is remembered").item.id.clone()
}

fn answered<T>(outcome: Result<T, LedgerError>) -> Result<Value, Refusal> {
    outcome.map(|_| Value::Null).map_err(LedgerError::into_refusal)
}

#[when(expr = "in {string} the agent remembers {string}")]
async fn remembers(world: &mut World, session: String, content: String) {
    world.look_at(&session);
    world.call("memory_save", json!({ "content": content })).await;
    world.answer.as_ref().expect("saved");
}

#[then(expr = "in {string} a search for {string} finds {string}")]
async fn finds(world: &mut World, session: String, text: String, content: String) {
    world.look_at(&session);
    assert_eq!(found(world, &ScopeChain::of_session(&world.session()), &text).await, [content]);
}

#[then(expr = "in {string} a search for {string} finds nothing")]
async fn finds_nothing(world: &mut World, session: String, text: String) {
    world.look_at(&session);
    assert!(found(world, &ScopeChain::of_session(&world.session()), &text).await.is_empty());
}

#[when(expr = "the task {string} remembers the result {string}")]
async fn task_remembers(world: &mut World, task: String, content: String) {
    save_in_run(world, None, task, MemoryKind::Result, content).await;
}

#[when(expr = "the task {string} of the goal {string} remembers the result {string}")]
async fn goal_task_remembers(world: &mut World, task: String, goal: String, content: String) {
    save_in_run(world, Some(goal), task, MemoryKind::Result, content).await;
}

#[when(expr = "the task {string} of the goal {string} remembers the decision {string}")]
async fn goal_decides(world: &mut World, task: String, goal: String, content: String) {
    save_in_run(world, Some(goal), task, MemoryKind::Decision, content).await;
}

#[when(expr = "in {string} the task {string} of the goal {string} remembers the decision {string}")]
async fn goal_decides_there(world: &mut World, session: String, task: String, goal: String, content: String) {
    world.look_at(&session);
    goal_decides(world, task, goal, content).await;
}

#[then(expr = "the task {string} finds {string} for {string}")]
async fn task_finds(world: &mut World, task: String, content: String, text: String) {
    let chain = ScopeChain::of_run(&run(world, None, task));
    assert_eq!(found(world, &chain, &text).await, [content]);
}

#[then(expr = "the task {string} finds nothing for {string}")]
async fn task_finds_nothing(world: &mut World, task: String, text: String) {
    let chain = ScopeChain::of_run(&run(world, None, task));
    assert!(found(world, &chain, &text).await.is_empty());
}

#[then(expr = "the task {string} of the goal {string} finds {string} for {string}")]
async fn goal_task_finds(world: &mut World, task: String, goal: String, content: String, text: String) {
    let chain = ScopeChain::of_run(&run(world, Some(goal), task));
    assert_eq!(found(world, &chain, &text).await, [content]);
}

#[then(expr = "the task {string} of the goal {string} finds nothing for {string}")]
async fn goal_task_finds_nothing(world: &mut World, task: String, goal: String, text: String) {
    let chain = ScopeChain::of_run(&run(world, Some(goal), task));
    assert!(found(world, &chain, &text).await.is_empty());
}

#[then(expr = "in {string} the task {string} of the goal {string} finds nothing for {string}")]
async fn there_goal_task_finds_nothing(world: &mut World, session: String, task: String, goal: String, text: String) {
    world.look_at(&session);
    goal_task_finds_nothing(world, task, goal, text).await;
}

#[when(expr = "in {string} the agent promotes what is remembered")]
async fn agent_promotes(world: &mut World, session: String) {
    world.look_at(&session);
    let memory = only(world).await;
    world.answer = answered(world.engine.memories().promote(&world.session(), &agent(), memory).await);
}

#[when(expr = "in {string} the person promotes what is remembered")]
async fn person_promotes(world: &mut World, session: String) {
    world.look_at(&session);
    let memory = only(world).await;
    world.engine.memories().promote(&world.session(), &person(), memory).await.expect("promoted");
}

#[when(expr = "in {string} the person forgets what is remembered")]
async fn person_forgets(world: &mut World, session: String) {
    world.look_at(&session);
    let memory = only(world).await;
    world.engine.memories().forget(&world.session(), &person(), memory).await.expect("forgotten");
}

#[when(expr = "in {string} the person takes the last change of the memory back")]
async fn takes_back(world: &mut World, session: String) {
    world.look_at(&session);
    world.engine.memories().undo(&world.session(), &person()).await.expect("taken back");
}

#[when(expr = "a person saves {string} in the scope {string}")]
async fn saves_in_scope(world: &mut World, content: String, scope: String) {
    match scope.parse::<MemoryScope>() {
        Ok(scope) => {
            let new = NewMemory { scope: Some(scope), ..NewMemory::by_person(content) };
            save(world, &person(), new).await;
        }
        Err(refusal) => world.answer = Err(refusal),
    }
}

/// The id of the offer with these words.
async fn offered(world: &World, content: &str) -> MemoryId {
    let offers = world.engine.memories().offers(&world.session()).await.expect("listed");
    let found = offers.iter().find(|offer| offer.content == content);
    found.unwrap_or_else(|| panic!("it is not offered: {offers:?}")).id.clone()
}

#[when(expr = "the person accepts the offer {string}")]
async fn accepts(world: &mut World, content: String) {
    let offer = offered(world, &content).await;
    crate::conversation::types(world, format!("/memory accept {}", offer.short())).await;
}

#[when(expr = "the person declines the offer {string}")]
async fn declines(world: &mut World, content: String) {
    let offer = offered(world, &content).await;
    crate::conversation::types(world, format!("/memory decline {offer}")).await;
}

#[when(expr = "the agent accepts the offer {string}")]
async fn agent_accepts(world: &mut World, content: String) {
    let offer = offered(world, &content).await;
    world.call("memory_save", json!({ "content": "", "offer": offer })).await;
    world.answer.as_ref().expect("saved");
}

fn scope_of(world: &World, what: &str) -> MemoryScope {
    let named = what.split('"').nth(1).unwrap_or_default();
    match what.split(' ').nth(1) {
        Some("session") => MemoryScope::of_session(&world.session()),
        Some("goal") => MemoryScope::of_goal(&world.session(), &GoalId::new(named).expect("an id")),
        Some("task") => MemoryScope::of_task(&TaskId::new(named).expect("an id")),
        other => panic!("{other:?} has no scope"),
    }
}

#[then(regex = r#"^the scope of (the (?:session|goal "\w+"|task "\w+")) is "(.+)"$"#)]
fn has_scope(world: &mut World, what: String, scope: String) {
    assert_eq!(scope_of(world, &what).to_string(), scope);
}

#[then(regex = r#"^"(.+)" is read as the scope of (the (?:session|goal "\w+"|task "\w+"))$"#)]
fn is_read_as(world: &mut World, scope: String, what: String) {
    assert_eq!(scope.parse::<MemoryScope>(), Ok(scope_of(world, &what)));
}

fn chain_of(world: &World, reader: &str) -> ScopeChain {
    match reader {
        "GOAL_RUN" => ScopeChain::of_run(&run(world, Some("G1".to_owned()), "T1".to_owned())),
        "TASK_RUN" => ScopeChain::of_run(&run(world, None, "T1".to_owned())),
        _ => ScopeChain::of_session(&world.session()),
    }
}

#[then(regex = r#"^an? (GOAL_RUN|TASK_RUN|ordinary turn) reads "(.+)"$"#)]
fn reads(world: &mut World, reader: String, scopes: String) {
    let chain = chain_of(world, &reader);
    assert_eq!(chain.scopes().iter().map(MemoryScope::level).collect::<Vec<_>>().join(" -> "), scopes);
}

#[when(expr = "in {string} a person promoted {string}")]
async fn promoted(world: &mut World, session: String, content: String) {
    world.look_at(&session);
    let new = NewMemory::by_person(content);
    let item = world.engine.memories().save(&world.session(), &person(), new).await.expect("saved");
    world.engine.memories().promote(&world.session(), &person(), item.id.clone()).await.expect("promoted");
    // Only the copy for every session is left.
    world.engine.memories().forget(&world.session(), &person(), item.id).await.expect("forgotten");
}

/// The scopes of what is found in the store, the first found first.
#[then(regex = r#"^an? (GOAL_RUN|TASK_RUN|ordinary turn) finds for "(.+)" in this order "(.+)"$"#)]
async fn finds_in_order(world: &mut World, reader: String, text: String, scopes: String) {
    let chain = chain_of(world, &reader);
    let search = world.engine.memories().search(&chain, &text, 10).await.expect("searched");
    let found: Vec<_> = search.found.iter().map(|found| found.item.scope.level()).collect();
    assert_eq!(found.join(" -> "), scopes, "{:#?}", search.found);
    assert!(search.found.is_sorted_by(|one, next| one.score >= next.score), "{:#?}", search.found);
}

#[then(expr = "the task {string} of the goal {string} finds {int} memories for {string}")]
async fn goal_task_finds_many(world: &mut World, task: String, goal: String, count: usize, text: String) {
    let chain = ScopeChain::of_run(&run(world, Some(goal), task));
    assert_eq!(found(world, &chain, &text).await.len(), count);
}

#[then(expr = "the task {string} finds {int} memories for {string}")]
async fn task_finds_many(world: &mut World, task: String, count: usize, text: String) {
    let chain = ScopeChain::of_run(&run(world, None, task));
    assert_eq!(found(world, &chain, &text).await.len(), count);
}
