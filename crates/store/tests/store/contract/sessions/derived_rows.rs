//! Memories, their index and the rows of schedules and runs follow from the journal: the check finds every row that does not,
//! and a deleted session leaves no row in any table.

use std::collections::BTreeMap;
use std::time::Duration;

use planwright_core::auto::{AutoCommand, AutoExecutionContext, NewSchedule, RunTarget, StartTarget};
use planwright_core::command::Command;
use planwright_core::ids::{GoalId, RunId, TaskId};
use planwright_core::memory::{MemoryKind, NewMemory, ScopeChain};
use planwright_core::plan::execution::StepStatus;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::Engine;

use crate::commands::*;
use crate::stores::Store;
use crate::turns::*;
use crate::verification::{assert_whole, findings, verify};

pub(super) const HERE: &str = "web:deleted-one";
pub(super) const BYSTANDER: &str = "cli:bystander";

/// A session with memories in every scope of its own, a schedule and a run.
pub(super) async fn remembering(engine: &Engine, name: &str, word: &str) {
    let session = session(name);
    engine.sessions().open(&session, &person()).await.unwrap();
    let schedule = NewSchedule {
        expression: "0 9 * * 1".to_owned(),
        zone: None,
        title: format!("Read about {word}"),
        goal: None,
        max_executions: None,
    };
    engine.auto().schedule(&session, &person(), AutoCommand::AddSchedule(schedule)).await.unwrap();
    engine.auto().add_goal(&session, &person(), format!("Understand {word}")).await.unwrap();
    let start = AutoCommand::Start { target: StartTarget::Current, driver: "here".to_owned() };
    engine.submit(&session, &person(), Command::Auto(start)).await.unwrap();
    engine.auto().write_diary(&session, &person(), format!("Began with {word}.")).await.unwrap();
    let target = RunTarget::Goal { goal: GoalId::new("g1").unwrap(), task: TaskId::new(format!("t-{word}")).unwrap() };
    let run = AutoExecutionContext::new(session.clone(), RunId::new("run").unwrap(), target);
    for kind in [MemoryKind::Fact, MemoryKind::Decision, MemoryKind::Result] {
        let new = NewMemory { kind, run: Some(run.clone()), ..NewMemory::by_person(format!("A {kind} about {word}.")) };
        engine.memories().save(&session, &agent(), new).await.unwrap();
    }
    let chain = ScopeChain::of_run(&run);
    let vectors = engine.ledger().memory_vectors(&chain, "openai:test", 10).await.unwrap();
    assert!(vectors.len() == 3 && vectors.iter().all(|one| one.vector.is_none()), "{vectors:?}");
    let made: Vec<_> = vectors.into_iter().map(|one| (one.memory, vec![0.5, -1.25])).collect();
    engine.ledger().keep_vectors("openai:test", &made).await.unwrap();
    engine.ledger().keep_vectors("openai:test", &made).await.unwrap();
    let vectors = engine.ledger().memory_vectors(&chain, "openai:test", 10).await.unwrap();
    assert!(vectors.iter().all(|one| one.vector.as_deref() == Some(&[0.5, -1.25])), "{vectors:?}");
    let others = engine.ledger().memory_vectors(&chain, "openai:other", 10).await.unwrap();
    assert!(others.iter().all(|one| one.vector.is_none()), "vectors belong to one model");
    let gone = engine.memories().save(&session, &person(), NewMemory::by_person(format!("Old {word}."))).await.unwrap();
    engine.memories().forget(&session, &person(), gone.id).await.unwrap();
}

pub(crate) async fn the_check_finds_rows_that_do_not_follow_from_the_journal(store: &Store) {
    let engine = store.engine().await;
    remembering(&engine, HERE, "zebras").await;
    remembering(&engine, BYSTANDER, "okapis").await;
    let kept =
        engine.memories().save(&session(HERE), &person(), NewMemory::by_person("Zebras are striped.")).await.unwrap();
    let copy = engine.memories().promote(&session(HERE), &person(), kept.id.clone()).await.unwrap();
    // Another session forgets the global copy, which its own journal says.
    engine.memories().forget(&session(BYSTANDER), &person(), copy.id).await.unwrap();
    assert_whole(&engine).await;
    let own = "(SELECT id FROM memory_scope WHERE session_id <> 0 AND scope = 'session:web:deleted-one')";
    let cases = [
        (
            format!("UPDATE memory_scope SET items = items + 1 WHERE id IN {own}"),
            format!("UPDATE memory_scope SET items = items - 1 WHERE id IN {own}"),
            "the counts of the memories of web:deleted-one",
        ),
        (
            format!("UPDATE memory_posting SET frequency = frequency + 1 WHERE term = 'stripe' AND scope_id IN {own}"),
            format!("UPDATE memory_posting SET frequency = frequency - 1 WHERE term = 'stripe' AND scope_id IN {own}"),
            "the index of memory ",
        ),
        (
            format!("UPDATE memory_item SET body = replace(body, 'striped', 'spotted') WHERE scope_id IN {own}"),
            format!("UPDATE memory_item SET body = replace(body, 'spotted', 'striped') WHERE scope_id IN {own}"),
            "memory ",
        ),
        (
            format!(
                "INSERT INTO memory_posting (scope_id, term, position, frequency, length)
                 SELECT id, 'ghost', 999, 1, 1 FROM memory_scope WHERE id IN {own}"
            ),
            "DELETE FROM memory_posting WHERE term = 'ghost'".to_owned(),
            "the index of the memories of web:deleted-one",
        ),
        (
            "UPDATE auto_session SET due_at = due_at + 1".to_owned(),
            "UPDATE auto_session SET due_at = due_at - 1".to_owned(),
            "the row of the schedules and runs of web:deleted-one",
        ),
        (
            "INSERT INTO auto_session SELECT 4711, due_at, running, waits, 0 FROM auto_session LIMIT 1".to_owned(),
            "DELETE FROM auto_session WHERE session_id = 4711".to_owned(),
            "1 rows of schedules and runs that belong to nothing",
        ),
    ];
    for (damage, repair, expected) in cases {
        assert!(store.tamper(&damage).await > 0, "{damage}");
        let report = verify(&store.engine().await).await;
        assert!(!report.is_whole(), "{damage}");
        let found = findings(&report);
        assert!(found.iter().any(|finding| finding.starts_with(expected)), "{damage}: {found:#?}");
        store.tamper(&repair).await;
        assert_whole(&store.engine().await).await;
    }
    store.tamper("DELETE FROM auto_session").await;
    let found = findings(&verify(&store.engine().await).await);
    assert_eq!(found.len(), 2, "{found:#?}");
}

/// Every row of every table that the schema has, as text.
async fn dump(store: &Store) -> BTreeMap<String, String> {
    let sqlite = matches!(store, Store::Sqlite { .. });
    let tables = if sqlite {
        "SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    } else {
        "SELECT string_agg(table_name, ' ') FROM information_schema.tables WHERE table_schema = current_schema()"
    };
    let mut dump = BTreeMap::new();
    for table in store.look(tables).await.split(' ') {
        let rows = if sqlite {
            let columns = "SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') FROM pragma_table_info";
            let columns = store.look(&format!("{columns}('{table}')")).await;
            format!(
                "SELECT coalesce(group_concat(line, char(10)), '') FROM (SELECT {columns} AS line FROM \"{table}\" ORDER BY 1)"
            )
        } else {
            format!("SELECT coalesce(string_agg(line::text, E'\\n' ORDER BY line::text), '') FROM \"{table}\" AS line")
        };
        dump.insert(table.to_owned(), store.look(&rows).await);
    }
    assert!(dump.len() > 10, "{dump:#?}");
    dump
}

pub(crate) async fn a_deleted_session_leaves_no_row_in_any_table(store: &Store) {
    let engine = store.engine().await;
    remembering(&engine, BYSTANDER, "okapis").await;
    let before = dump(store).await;
    let here: SessionIdentity = session(HERE);
    remembering(&engine, HERE, "zebras").await;
    let plan = ready(&engine, &here, "1. zebras\n2. more zebras").await;
    engine.submit(&here, &person(), approve(&plan)).await.unwrap();
    engine.submit(&here, &agent(), report(StepStatus::Completed)).await.unwrap();
    engine.submit(&here, &person(), begin("Hello, zebras")).await.unwrap();
    engine.ledger().point(&TransportChat("telegram:zebras".to_owned()), &here).await.unwrap();
    let written = dump(store).await;
    let touched: Vec<_> =
        written.iter().filter(|(table, rows)| before[*table] != **rows).map(|(table, _)| table).collect();
    for table in [
        "auto_session",
        "execution",
        "journal",
        "memory_item",
        "memory_posting",
        "memory_scope",
        "memory_vector",
        "plan",
        "pointer",
    ] {
        assert!(touched.iter().any(|touched| *touched == table), "nothing of it is in {table}: {touched:?}");
    }
    let held = engine.ledger().acquire_lease(&here, "deleting", Duration::from_secs(600)).await.unwrap().unwrap();
    engine.ledger().delete_session(&held).await.unwrap();
    for (table, rows) in dump(store).await {
        // The trace of a deletion names the session, for processes that show it.
        if table != "deleted_session" {
            assert_eq!(rows, before[&table], "{table}");
            assert!(!rows.contains("zebra") && !rows.contains("deleted-one"), "{table}: {rows}");
        }
    }
    assert_whole(&store.engine().await).await;
}
