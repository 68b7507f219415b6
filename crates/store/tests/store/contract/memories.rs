//! Memories: kept with the entry that says so, read through the scopes of a session, and gone with it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use planwright_core::auto::{AutoExecutionContext, RunTarget};
use planwright_core::command::Command;
use planwright_core::ids::{GoalId, MemoryId, RunId, TaskId};
use planwright_core::memory::{MemoryCommand, MemoryItem, MemoryKind, MemoryScope, NewMemory, ScopeChain};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;

use crate::commands::*;
use crate::contract::restore::journal;
use crate::stores::Store;
use crate::verification::assert_whole;

const ONE: &str = "cli:session-one";
const TWO: &str = "web:session-two";

async fn two_sessions(store: &Store) -> Engine {
    let engine = store.engine().await;
    for name in [ONE, TWO] {
        engine.sessions().open(&session(name), &person()).await.unwrap();
    }
    engine
}

async fn save(engine: &Engine, name: &str, content: &str) -> MemoryItem {
    engine.memories().save(&session(name), &person(), NewMemory::by_person(content)).await.unwrap()
}

fn run(name: &str, goal: Option<&str>, task: &str) -> AutoExecutionContext {
    let task = TaskId::new(task).unwrap();
    let target = match goal {
        Some(goal) => RunTarget::Goal { goal: GoalId::new(goal).unwrap(), task },
        None => RunTarget::Task { task },
    };
    AutoExecutionContext::new(session(name), RunId::new("run").unwrap(), target)
}

async fn save_in_run(engine: &Engine, run: &AutoExecutionContext, kind: MemoryKind, content: &str) {
    let new = NewMemory { kind, run: Some(run.clone()), ..NewMemory::by_person(content) };
    engine.memories().save(&run.session, &agent(), new).await.unwrap();
}

/// What is found, the best first, and how many rows of others were dropped.
async fn found(engine: &Engine, chain: &ScopeChain, text: &str) -> (Vec<String>, u64) {
    let search = engine.memories().search(chain, text, 10).await.unwrap();
    assert!(search.damaged.is_empty(), "{:?}", search.damaged);
    (search.found.into_iter().map(|found| found.item.content).collect(), search.blocked)
}

async fn found_in(engine: &Engine, name: &str, text: &str) -> Vec<String> {
    found(engine, &ScopeChain::of_session(&session(name)), text).await.0
}

async fn count(store: &Store, what: &str) -> String {
    store.look(&format!("SELECT CAST(count(*) AS TEXT) FROM {what}")).await
}

pub(crate) async fn a_memory_is_found_in_its_own_session_only(store: &Store) {
    let engine = two_sessions(store).await;
    let item = save(&engine, ONE, "The deploy password rotates on Fridays.").await;
    let elsewhere = store.engine().await;
    for engine in [&engine, &elsewhere] {
        assert_eq!(found_in(engine, ONE, "when does the password rotate?").await, [item.content.as_str()]);
        assert!(found_in(engine, TWO, "when does the password rotate?").await.is_empty());
        let chain = ScopeChain::of_session(&session(TWO));
        assert!(engine.memories().list(&chain, None, 10).await.unwrap().items.is_empty());
        let named = engine.memories().find(&chain, item.id.as_str()).await;
        refused(named, RefusalCode::NotFound);
        refused(engine.memories().forget(&session(TWO), &person(), item.id.clone()).await, RefusalCode::NotFound);
        refused(engine.memories().promote(&session(TWO), &person(), item.id.clone()).await, RefusalCode::NotFound);
        assert_eq!(engine.memories().get(&session(ONE), &item.id).await.unwrap(), item);
        refused(engine.memories().get(&session(TWO), &item.id).await, RefusalCode::NotFound);
    }
    engine.memories().forget(&session(ONE), &person(), item.id.clone()).await.unwrap();
    refused(engine.memories().get(&session(ONE), &item.id).await, RefusalCode::NotFound);
    assert_whole(&engine).await;
}

pub(crate) async fn a_promoted_memory_is_found_everywhere_until_it_is_taken_back(store: &Store) {
    let engine = two_sessions(store).await;
    let item = save(&engine, ONE, "The office closes at noon on Fridays.").await;
    let copy = engine.memories().promote(&session(ONE), &person(), item.id.clone()).await.unwrap();
    assert_eq!(copy.scope, MemoryScope::Global);
    assert_eq!(engine.memories().get(&session(TWO), &copy.id).await.unwrap(), copy);
    assert_eq!(found_in(&engine, TWO, "office").await, [item.content.as_str()]);
    // The copy and its origin are found as one.
    assert_eq!(found_in(&engine, ONE, "office").await, [item.content.as_str()]);
    engine.memories().undo(&session(ONE), &person()).await.unwrap();
    assert!(found_in(&engine, TWO, "office").await.is_empty());
    assert_eq!(found_in(&engine, ONE, "office").await, [item.content.as_str()]);
    // A person forgets a global memory from any session.
    let again = engine.memories().promote(&session(ONE), &person(), item.id).await.unwrap();
    engine.memories().forget(&session(TWO), &person(), again.id).await.unwrap();
    assert!(found_in(&engine, TWO, "office").await.is_empty());
    engine.memories().undo(&session(TWO), &person()).await.unwrap();
    assert_eq!(found_in(&engine, TWO, "office").await.len(), 1);
    assert_whole(&engine).await;
}

pub(crate) async fn tasks_share_the_scope_of_their_goal_and_nothing_else(store: &Store) {
    let engine = two_sessions(store).await;
    let (first, second) = (run(ONE, Some("goal"), "t1"), run(ONE, Some("goal"), "t2"));
    let (alone, other_goal) = (run(ONE, None, "t3"), run(ONE, Some("another"), "t4"));
    save_in_run(&engine, &first, MemoryKind::Result, "parser result of the first task").await;
    save_in_run(&engine, &second, MemoryKind::Result, "parser result of the second task").await;
    save_in_run(&engine, &first, MemoryKind::Decision, "parser decision of the goal").await;
    save_in_run(&engine, &alone, MemoryKind::Decision, "parser decision of a task of its own").await;
    save_in_run(&engine, &first, MemoryKind::Fact, "parser fact of the session").await;
    for (run, expected) in [
        (&first, vec!["parser decision of the goal", "parser fact of the session", "parser result of the first task"]),
        (
            &second,
            vec!["parser decision of the goal", "parser fact of the session", "parser result of the second task"],
        ),
        (&alone, vec!["parser decision of a task of its own", "parser fact of the session"]),
        (&other_goal, vec!["parser fact of the session"]),
        (&run(TWO, Some("goal"), "t9"), vec![]),
    ] {
        let (mut contents, blocked) = found(&engine, &ScopeChain::of_run(run), "parser").await;
        contents.sort();
        assert_eq!((contents, blocked), (expected.into_iter().map(str::to_owned).collect(), 0), "{run:?}");
    }
    assert_eq!(found_in(&engine, ONE, "parser").await, ["parser fact of the session"]);
    // A person names what a run keeps by its whole id.
    let of_goal = engine.memories().list(&ScopeChain::of_run(&first), None, 10).await.unwrap().items;
    for placed in of_goal {
        assert_eq!(engine.memories().get(&session(ONE), &placed.item.id).await.unwrap(), placed.item);
    }
}

pub(crate) async fn a_row_that_should_not_be_there_is_dropped_and_counted(store: &Store) {
    let engine = two_sessions(store).await;
    // Two sessions have a task of one name.
    let (mine, theirs) = (run(ONE, None, "t1"), run(TWO, None, "t1"));
    save_in_run(&engine, &theirs, MemoryKind::Result, "a parser that belongs to session two").await;
    assert_eq!(found(&engine, &ScopeChain::of_run(&mine), "parser").await, (vec![], 1));
    save_in_run(&engine, &mine, MemoryKind::Result, "a parser that belongs to session one").await;
    let expected = vec!["a parser that belongs to session one".to_owned()];
    assert_eq!(found(&engine, &ScopeChain::of_run(&mine), "parser").await, (expected, 1));

    // A row of session two is moved into the scope of session one.
    save(&engine, ONE, "Our deploy runs at noon.").await;
    save(&engine, TWO, "Their deploy runs at night.").await;
    let scope = |name: &str| format!("(SELECT id FROM memory_scope WHERE scope = 'session:{name}')");
    for table in ["memory_item", "memory_posting"] {
        let moved =
            format!("UPDATE {table} SET scope_id = {}, position = 7 WHERE scope_id = {}", scope(ONE), scope(TWO));
        assert!(store.tamper(&moved).await > 0);
    }
    let chain = ScopeChain::of_session(&session(ONE));
    assert_eq!(found(&engine, &chain, "deploy").await, (vec!["Our deploy runs at noon.".to_owned()], 1));
    let listed = engine.memories().list(&chain, None, 10).await.unwrap();
    assert_eq!((listed.items.len(), listed.blocked), (1, 1));
    // A scope that says nothing readable is not global.
    store.tamper(&format!("UPDATE memory_scope SET scope = 'session:' WHERE id = {}", scope(ONE))).await;
    assert!(found_in(&engine, ONE, "deploy").await.is_empty());
    assert!(found_in(&engine, TWO, "deploy").await.is_empty());
}

pub(crate) async fn what_is_forgotten_is_not_found_until_it_is_restored(store: &Store) {
    let engine = two_sessions(store).await;
    let kept = save(&engine, ONE, "The red till is broken.").await;
    let gone = save(&engine, ONE, "The blue till is broken as well.").await;
    let sizes = "SELECT CAST(items AS TEXT) || ' ' || CAST(words AS TEXT) FROM memory_scope";
    let (before, postings) = (store.look(sizes).await, count(store, "memory_posting").await);
    engine.memories().forget(&session(ONE), &person(), gone.id.clone()).await.unwrap();
    assert_eq!(found_in(&engine, ONE, "till").await, [kept.content.as_str()]);
    assert!(store.look(sizes).await.starts_with("1 "));
    refused(engine.memories().forget(&session(ONE), &person(), gone.id).await, RefusalCode::NotFound);
    engine.memories().undo(&session(ONE), &person()).await.unwrap();
    assert_eq!(found_in(&engine, ONE, "till").await.len(), 2);
    assert_eq!((store.look(sizes).await, count(store, "memory_posting").await), (before, postings));
    // Two undos in a row, through another handle, take both saves back.
    let elsewhere = store.engine().await;
    for left in [1, 0] {
        elsewhere.memories().undo(&session(ONE), &person()).await.unwrap();
        assert_eq!(found_in(&elsewhere, ONE, "till").await.len(), left);
    }
    assert_eq!(count(store, "memory_posting").await, "0");
    refused(engine.memories().undo(&session(ONE), &person()).await, RefusalCode::WrongStatus);
    assert_whole(&engine).await;
}

pub(crate) async fn the_same_request_saves_once(store: &Store) {
    let engine = two_sessions(store).await;
    let new = || Command::Memory(MemoryCommand::Save(Box::new(NewMemory::by_person("Only once."))));
    let send = || engine.ledger().submit(submission(&session(ONE), "the-same", new()));
    let outcomes = join_all((0..8).map(|_| send())).await;
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().unwrap().events.len() == 1));
    assert_eq!(count(store, "memory_item").await, "1");
}

pub(crate) async fn many_save_at_once_and_every_position_is_taken_once(store: &Store) {
    let engine = two_sessions(store).await;
    let other = store.engine().await;
    let content = |n: usize| NewMemory::by_person(format!("fact number {n}"));
    let save = |n: usize| {
        let engine = if n.is_multiple_of(2) { &engine } else { &other };
        let name = if n.is_multiple_of(3) { ONE } else { TWO };
        async move { engine.memories().save(&session(name), &person(), content(n)).await.unwrap() }
    };
    let items = join_all((0..60).map(save)).await;
    assert_eq!(count(store, "memory_item").await, "60");
    // Every one of them can be promoted at the same time, too.
    let promote = |(n, item): (usize, MemoryItem)| {
        let engine = if n % 2 == 0 { &engine } else { &other };
        let name = if n % 3 == 0 { ONE } else { TWO };
        async move { engine.memories().promote(&session(name), &person(), item.id).await.unwrap() }
    };
    join_all(items.into_iter().enumerate().map(promote)).await;
    let positions = "SELECT CAST(max(last_position) AS TEXT) FROM memory_scope WHERE scope = 'global'";
    assert_eq!(store.look(positions).await, "60");
    assert_whole(&engine).await;
}

pub(crate) async fn a_deleted_session_leaves_no_memory_behind(store: &Store) {
    let engine = two_sessions(store).await;
    let item = save(&engine, ONE, "The key is under the mat.").await;
    save_in_run(&engine, &run(ONE, Some("goal"), "t1"), MemoryKind::Decision, "a decision of the goal").await;
    save_in_run(&engine, &run(ONE, Some("goal"), "t1"), MemoryKind::Result, "a result of the task").await;
    save(&engine, TWO, "The bystander stays.").await;
    let (bystander, postings) = (count(store, "memory_item").await, count(store, "memory_posting").await);
    assert_eq!(bystander, "4");
    let promoted = engine.memories().promote(&session(ONE), &person(), item.id).await.unwrap();
    let lease =
        engine.ledger().acquire_lease(&session(ONE), "deleting", Duration::from_secs(60)).await.unwrap().unwrap();
    engine.ledger().delete_session(&lease).await.unwrap();
    assert_eq!(
        (count(store, "memory_scope").await, count(store, "memory_item").await),
        ("2".to_owned(), "2".to_owned())
    );
    assert!(count(store, "memory_posting").await.parse::<u64>().unwrap() < postings.parse::<u64>().unwrap());
    let left = "memory_posting WHERE scope_id NOT IN (SELECT id FROM memory_scope)";
    assert_eq!(count(store, left).await, "0");
    // What a person promoted stays, and says where it comes from.
    assert_eq!(found_in(&engine, TWO, "key mat").await, [promoted.content.as_str()]);
    // A session of the same name begins with nothing.
    engine.sessions().open(&session(ONE), &person()).await.unwrap();
    let own = engine.memories().list(&ScopeChain::of_session(&session(ONE)), None, 10).await.unwrap();
    assert_eq!(own.items.iter().map(|placed| &placed.item.id).collect::<Vec<_>>(), [&promoted.id]);
}

pub(crate) async fn a_restored_session_has_its_memories(store: &Store) {
    let engine = two_sessions(store).await;
    let item = save(&engine, ONE, "The red till is broken.").await;
    let gone = save(&engine, ONE, "The blue till was sold.").await;
    let promoted = engine.memories().promote(&session(ONE), &person(), item.id).await.unwrap();
    engine.memories().forget(&session(ONE), &person(), gone.id).await.unwrap();
    let ledger = store.ledger().await;
    let entries = journal(ledger.as_ref(), &session(ONE)).await;
    let other = store.another().await;
    other.ledger().await.restore(&session(ONE), Arc::new(entries.clone())).await.unwrap();
    let restored = other.engine().await;
    let chain = ScopeChain::of_session(&session(ONE));
    for text in ["till", "red", "blue", "sold"] {
        assert_eq!(found(&restored, &chain, text).await, found(&engine, &chain, text).await, "{text}");
    }
    restored.memories().undo(&session(ONE), &person()).await.unwrap();
    assert_eq!(found_in(&restored, ONE, "sold").await.len(), 1);
    // Back into the store where the global copy outlived the session.
    let lease =
        engine.ledger().acquire_lease(&session(ONE), "deleting", Duration::from_secs(60)).await.unwrap().unwrap();
    engine.ledger().delete_session(&lease).await.unwrap();
    ledger.restore(&session(ONE), Arc::new(entries)).await.unwrap();
    assert_eq!(count(store, &format!("memory_item WHERE id = '{}'", promoted.id)).await, "1");
    assert_eq!(found_in(&engine, ONE, "red till").await.len(), 1);
}

pub(crate) async fn memories_are_listed_in_pages_the_newest_first(store: &Store) {
    let engine = two_sessions(store).await;
    for n in 0..5 {
        save(&engine, ONE, &format!("fact {n}")).await;
    }
    let chain = ScopeChain::of_session(&session(ONE));
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = engine.memories().list(&chain, before, 2).await.unwrap();
        seen.extend(page.items.into_iter().map(|placed| placed.item.content));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["fact 4", "fact 3", "fact 2", "fact 1", "fact 0"]);
}

pub(crate) async fn every_character_of_a_memory_comes_back(store: &Store) {
    let engine = two_sessions(store).await;
    let odd = "ä漢🦀 \0\u{202e}\u{1}\\u0000 \"quotes\" 'and' $1 % _ naïve";
    let item = save(&engine, ONE, odd).await;
    assert_eq!(item.content, odd);
    for text in ["漢", "naïve", "quotes"] {
        assert_eq!(found_in(&engine, ONE, text).await, [odd], "{text}");
    }
    let by_id = engine.memories().find(&ScopeChain::of_session(&session(ONE)), item.id.short()).await.unwrap();
    assert_eq!(by_id, item);
    let missing = MemoryId::new("no-such-memory").unwrap();
    refused(engine.memories().forget(&session(ONE), &person(), missing).await, RefusalCode::NotFound);
    assert_whole(&engine).await;
}

pub(crate) async fn a_session_that_is_not_there_remembers_nothing(store: &Store) {
    let engine = store.engine().await;
    let nowhere: SessionIdentity = session("cli:nowhere1");
    let saved = engine.memories().save(&nowhere, &person(), NewMemory::by_person("Nothing.")).await;
    refused(saved, RefusalCode::NotFound);
    assert_eq!(count(store, "memory_item").await, "0");
}
