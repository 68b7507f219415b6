//! The outcome of an interrupted turn reaches the person, also when they did not ask for it.

use planwright_agent::session::progress::Progress;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::process::Process;
use crate::talk::Talk as _;
use crate::world::World;

#[tokio::test]
async fn a_plan_of_an_interrupted_turn_counts_as_shown_only_once_it_was_the_answer() {
    let world = World::new([Reply::text("First."), Reply::text("Second.")]).await;
    world.send("/plan on").await;
    let set = Reply::call("plan_set_content", json!({"plan_markdown": "# Delete everything"}));
    let model = ScriptedModel::new([set, Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "Plan it");
    model.asked(2).await;
    process.die().await;
    let (second, progress) = world.watch("Are you there?").await;
    let first = progress.iter().find_map(|one| match one {
        Progress::Finished(outcome) => Some(outcome),
        _ => None,
    });
    let first = first.expect("it is told what the first turn came to");
    assert_eq!((first.reply.as_str(), second.reply.as_str()), ("First.", "Second."));
    assert!(first.plan.is_some());
    assert_eq!(second.plan.map(|card| card.markdown), Some("# Delete everything".to_owned()));
    world.send("/plan approve").await;
    assert!(world.plan(1).await.approval.is_some());
    world.is_sound().await;
}

#[tokio::test]
async fn the_client_that_asked_has_seen_the_plan() {
    let world = World::new([Reply::text("First.")]).await;
    world.send("/plan on").await;
    let set = Reply::call("plan_set_content", json!({"plan_markdown": "# One"}));
    let model = ScriptedModel::new([set, Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "Plan it");
    model.asked(2).await;
    process.die().await;
    let outcome = world.agent.resume(&world.session, &Default::default()).await.unwrap().unwrap();
    assert!(outcome.plan.is_some());
    world.send("/plan approve").await;
    assert!(world.plan(1).await.approval.is_some());
}
