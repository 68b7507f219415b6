//! A database that lost the end of a journal, as a failover may: the server that saw it stops there.

use std::path::Path;

use planwright_agent::session::input::{Input, Request};
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::LedgerError;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::stores::raw;

use crate::world::{World, person};

/// Makes all tables as they were, as a standby has them that received nothing since.
fn put_back(database: &Path, copy: &Path) {
    let connection = raw(database);
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute("ATTACH ?1 AS before", [copy.to_str().unwrap()]).unwrap();
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let rows = tables.map(|table| {
        let table = table.unwrap();
        format!("DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM before.{table};")
    });
    let rows: String = rows.collect();
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {rows} COMMIT")).unwrap();
}

#[tokio::test]
async fn a_session_whose_journal_lost_entries_is_stopped_and_the_person_is_told() {
    let world = World::new([]).await;
    let model = ScriptedModel::new([Reply::text("One."), Reply::text("Two.")]);
    let engine = world.setup.engine(world.ledger().await).with_journal_witness();
    let agent = world.setup.agent_of(engine.clone(), model.clone());
    let send =
        async |text: &str| agent.submit(Input::typed(text), Request::new(world.place(), person())).outcome().await;
    send("Hello").await.unwrap();
    let left = engine.ledger().session(&world.session).await.unwrap().unwrap().head.seq;
    let copy = world.setup.database().with_extension("copy");
    raw(&world.setup.database()).execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    send("Are you sure?").await.unwrap();
    // Another server went on, and this one saw it.
    let by = person();
    world.engine().sessions().enable_plan_mode(&world.session, &by, PlanStyle::Document).await.unwrap();
    let seen = engine.ledger().session(&world.session).await.unwrap().unwrap().head.seq;
    // Whatever was written there and is there is no reason to stop.
    engine.check_before_work(&world.session, &person()).await.unwrap();
    put_back(&world.setup.database(), &copy);

    let LedgerError::Refused(refusal) = send("Are you there?").await.unwrap_err() else { panic!("it is a refusal") };
    assert_eq!(refusal.code, RefusalCode::Conflict);
    assert!(refusal.message.contains(&format!("ends with entry {left}")), "{refusal}");
    assert!(refusal.message.contains(&format!("saw entry {seen}")), "{refusal}");
    assert_eq!(model.requests().len(), 2, "nothing was begun");
    // The person knows now.
    engine.check_before_work(&world.session, &person()).await.unwrap();
}
