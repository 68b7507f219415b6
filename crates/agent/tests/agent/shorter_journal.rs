//! A database that lost the end of a journal, as a failover may: the server that saw it stops there.

use planwright_agent::session::input::{Input, Request};
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::LedgerError;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::stores::raw;

use crate::world::{World, person};

#[tokio::test]
async fn a_session_whose_journal_lost_entries_is_stopped_and_the_person_is_told() {
    let world = World::new([]).await;
    let model = ScriptedModel::new([Reply::text("One."), Reply::text("Two.")]);
    let engine = world.setup.engine(world.ledger().await).with_journal_witness();
    let agent = world.setup.agent_of(engine.clone(), model.clone());
    let send =
        async |text: &str| agent.submit(Input::typed(text), Request::new(world.place(), person())).outcome().await;
    send("Hello").await.unwrap();
    let seen = engine.ledger().session(&world.session).await.unwrap().unwrap().head.seq;
    // Whatever was written there and is there is no reason to stop.
    engine.check_before_work(&world.session, &person()).await.unwrap();
    let cut = "DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)";
    assert_eq!(raw(&world.setup.database()).execute(cut, []).unwrap(), 1);

    let LedgerError::Refused(refusal) = send("Are you there?").await.unwrap_err() else { panic!("it is a refusal") };
    assert_eq!(refusal.code, RefusalCode::Conflict);
    assert!(refusal.message.contains(&format!("ends with entry {}", seen - 1)), "{refusal}");
    assert!(refusal.message.contains(&format!("saw entry {seen}")), "{refusal}");
    assert_eq!(model.requests().len(), 1, "nothing was begun");
    // The person knows now.
    engine.check_before_work(&world.session, &person()).await.unwrap();
}
