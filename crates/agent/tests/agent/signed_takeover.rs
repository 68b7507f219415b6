//! A signed approval is checked again when another process takes the work over.

use planwright_agent::session::input::{Approving, Input, Request};
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::presence::Presence;
use planwright_engine::approvals::Approvals;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::process::Process;
use crate::takeover::Keeper;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

const PASSPHRASE: &str = "correct horse battery";

/// A plan of two calls that an approver signed. Its process died in the first call.
async fn left(first: &Prop, second: &Prop) -> World {
    let reply = Reply::call("first", json!({})).and_call("second", json!({}));
    let world = World::with(ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]), |setup| {
        setup.tool(first);
        setup.tool(second);
        setup.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    })
    .await;
    let approvals = approvals(&world);
    approvals.add(&person(), "ada", PASSPHRASE, None).await.unwrap();
    let ada = approvals.unlock(&person(), "ada", PASSPHRASE).await.unwrap();
    approvals.add(&person(), "bob", PASSPHRASE, Some(&ada)).await.unwrap();
    let by = Actor::person("ada", "cli").recognised(Presence::verified("ada"));
    for text in ["/plan on collect", "Plan it"] {
        let request = Request::new(world.place(), by.clone());
        world.agent.submit(Input::typed(text), request).outcome().await.unwrap();
    }
    let plan = world.plan(1).await;
    let mut approving = Approving::default();
    approving.signature = Some(approvals.sign(&ada, &plan, plan.digest(), &approving).await.unwrap());
    let process = Process::start(&world, &ScriptedModel::new([])).await;
    process.approve_as(&by, &plan, approving);
    first.called(1).await;
    process.die().await;
    world
}

fn approvals(world: &World) -> Approvals {
    world.engine().approvals()
}

fn tools() -> (Prop, Prop) {
    (Prop::new("first", ToolEffect::ReadsOnly, Act::HangOnce), Prop::changing("second"))
}

#[tokio::test]
async fn a_signature_that_is_still_valid_permits_the_rest() {
    let (first, second) = tools();
    let world = left(&first, &second).await;
    let keeper = Keeper::start(&world, &ScriptedModel::new([])).await;
    keeper
        .sees(&world.session, |event| matches!(event, Event::Plan { event: PlanEvent::ExecutionFinished { .. }, .. }))
        .await;
    keeper.end().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!((first.calls().len(), second.calls().len()), (2, 1));
}

#[tokio::test]
async fn the_signature_of_an_approver_who_was_removed_permits_nothing_more() {
    let (first, second) = tools();
    let world = left(&first, &second).await;
    let bob = approvals(&world).unlock(&person(), "bob", PASSPHRASE).await.unwrap();
    approvals(&world).remove(&person(), "ada", &bob).await.unwrap();
    let keeper = Keeper::start(&world, &ScriptedModel::new([])).await;
    keeper
        .sees(&world.session, |event| matches!(event, Event::Plan { event: PlanEvent::ExecutionPaused { .. }, .. }))
        .await;
    keeper.end().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    assert_eq!((first.calls().len(), second.calls().len()), (1, 0), "nothing was called after the take-over");
    let by = Actor::person("bob", "cli").recognised(bob.presence());
    let resume = Input::typed("/plan resume 1");
    let outcome = world.agent.submit(resume, Request::new(world.place(), by)).outcome().await.unwrap();
    let answer = outcome.answer().expect("an answer");
    assert!(answer.refused() && answer.reply.contains("`ada` is not an approver"), "{}", answer.reply);
    assert_eq!(second.calls().len(), 0);
}
