//! A specialist that needs permission in the middle of its step: the step waits, over a restart too, and goes on with the answer.

use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::specialist_scripts::{proposed, reported, run_statuses, scripted, step};
use crate::test_tools::Prop;
use crate::world::World;

/// A tool of an upstream server: nothing but a rule or a person permits it.
const SEND: &str = "post__send";

/// The coder sends a letter in the first of two steps, and the step waits for the person.
async fn asked(tool: &Prop) -> World {
    let steps = [step("Write to Ada", "coder", &[]), step("Read the answer", "tester", &[1])];
    let world = proposed(&steps, |setup| setup.tool(tool)).await;
    scripted(&world, "coder", [Reply::call(SEND, json!({"to": "ada"})), reported("done", "Sent.")]);
    scripted(&world, "tester", [reported("done", "Read.")]);
    let waits = world.send("/plan approve").await;
    assert!(waits.ask.is_some() && waits.reply.contains("\"to\": \"ada\""), "{}", waits.reply);
    assert!(tool.calls().is_empty());
    assert_eq!(run_statuses(&world, 1).await, [StepStatus::InProgress, StepStatus::Pending]);
    world
}

async fn code(world: &World) -> String {
    world.engine().sessions().get(&world.session).await.unwrap().waiting_ask().expect("an ask").code()
}

#[tokio::test]
async fn a_step_that_asks_goes_on_with_the_answer_after_a_restart() {
    let tool = Prop::changing(SEND);
    let world = asked(&tool).await.restart().await;
    let code = code(&world).await;
    world.send(&format!("/allow {code}")).await;
    assert_eq!(tool.calls().len(), 1);
    assert_eq!(run_statuses(&world, 1).await, [StepStatus::Completed, StepStatus::Completed]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!(world.model.requests_of("coder").len(), 2, "the first request is not made again");
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_that_is_denied_its_call_reports_itself() {
    let tool = Prop::changing(SEND);
    let world = asked(&tool).await;
    world.send("/deny write her tomorrow").await;
    assert!(tool.calls().is_empty());
    let told = format!("{:?}", world.model.requests_of("coder")[1].messages);
    assert!(told.contains("did not permit") && told.contains("write her tomorrow"), "{told}");
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed, "the specialist reported its step as done");
}
