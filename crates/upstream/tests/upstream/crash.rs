//! A process that dies between the intent of an upstream call and its outcome.

use planwright_core::plan::execution::StepStatus;
use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::world::{World, person};

fn block() -> Reply {
    Reply::call("test__block", json!({}))
}

/// Runs what a person types in a runtime of its own, which is dropped in the middle of the call like a process that is
/// killed: nothing of it writes any more.
fn killed_in_the_middle(world: &World, typed: &str) {
    use planwright_test_support::talk::{Talk as _, Watcher};
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (agent, place, text) = (world.agent.clone(), world.place(), typed.to_owned());
    runtime.spawn(async move { agent.type_text(&place, &person(), &text, &Watcher::none()).await });
    let calls = || world.calls().iter().filter(|line| line.starts_with("block")).count();
    for _ in 0..3_000 {
        if calls() == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(calls(), 1, "the call was not made");
    runtime.shutdown_background();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_a_plan_without_an_outcome_is_uncertain_and_not_made_again() {
    let world = World::accepted([block(), Reply::call("plan_finalize", json!({})), Reply::text("Ready.")]).await;
    world.send("/plan on collect").await;
    world.send("Do it").await;
    tokio::task::block_in_place(|| killed_in_the_middle(&world, "/plan approve"));
    let other = world.another([]).await;
    use planwright_test_support::talk::{Talk as _, Watcher};
    other.agent.resume_plan(&other.place(), &person(), &Watcher::none()).await.unwrap();
    let plan = other.agent.engine().plans().find(&other.session, Some(&"1".parse().unwrap())).await.unwrap();
    assert_eq!(plan.execution.as_ref().unwrap().steps[0].status, StepStatus::Uncertain);
    assert_eq!(other.calls().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_turn_without_an_outcome_is_uncertain_and_not_made_again() {
    let world = World::accepted([block()]).await;
    tokio::task::block_in_place(|| killed_in_the_middle(&world, "Do it"));
    let other = world.another([Reply::text("I do not know.")]).await;
    use planwright_test_support::talk::{Talk as _, Watcher};
    let resumed = other.agent.resume(&other.session, &Watcher::none()).await.unwrap();
    assert_eq!(resumed.unwrap().reply, "I do not know.");
    assert!(other.results().contains("not known whether it was done"), "{}", other.results());
    assert_eq!(other.calls().len(), 1);
}
