//! Stopped, cancelled, revised, reset: nothing is begun afterwards, and what may have been done is not done again.

use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{Completed, Pending, Uncertain};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::TWO;
use crate::specialist_scripts::{proposed, reported, run_statuses, runs, scripted, told};
use crate::talk::Talk as _;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person, script};

/// A plan whose first step is under way: its specialist is in the middle of this call.
async fn in_a_call(effect: ToolEffect) -> (World, Prop, tokio::task::JoinHandle<()>) {
    let prop = Prop::new("hammer", effect, Act::HangOnce);
    let world = proposed(&TWO, |setup| setup.tool(&prop)).await;
    scripted(&world, "coder", [Reply::call("hammer", json!({"nail": 1}))]);
    let working = world.send_in_background("/plan approve");
    prop.called(1).await;
    let working = tokio::spawn(async move { drop(working.await.unwrap().unwrap()) });
    (world, prop, working)
}

/// A plan that is carried out, while the model thinks.
async fn thinking()
-> (World, tokio::task::JoinHandle<planwright_engine::ledger::LedgerResult<planwright_agent::session::outcome::Answer>>)
{
    let world = proposed(&TWO, |_| {}).await;
    scripted(&world, "coder", [Reply::text("Let me see").then_hang()]);
    let working = world.send_in_background("/plan approve");
    world.model.asked(3).await;
    (world, working)
}

async fn finish(world: &World) {
    scripted(world, "coder", [reported("done", "1")]);
    scripted(world, "tester", [reported("done", "2")]);
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("2 done"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_that_is_stopped_while_the_model_thinks_is_done_anew() {
    let (world, working) = thinking().await;
    world.send("/stop").await;
    let answer = working.await.unwrap().unwrap();
    assert!(answer.reply.contains("PARTIALLY") && answer.reply.contains("2 not begun"), "{}", answer.reply);
    assert_eq!(run_statuses(&world, 1).await, [Pending, Pending]);
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    finish(&world).await;
    let message = told(&world.model.requests_of("coder")[1]);
    assert!(message.contains("Earlier attempts") && message.contains("stopped in the middle"), "{message}");
}

#[tokio::test]
async fn a_step_that_is_stopped_in_what_may_be_done_again_is_done_anew() {
    for effect in [ToolEffect::ReadsOnly, ToolEffect::Repeatable] {
        let (world, prop, working) = in_a_call(effect).await;
        world.send("/stop").await;
        working.await.unwrap();
        assert_eq!(run_statuses(&world, 1).await, [Pending, Pending], "{effect:?}");
        finish(&world).await;
        assert_eq!(prop.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_step_that_is_stopped_in_the_middle_of_a_change_waits_for_a_person() {
    let (world, prop, working) = in_a_call(ToolEffect::Changes).await;
    world.send("/stop").await;
    working.await.unwrap();
    assert_eq!(run_statuses(&world, 1).await, [Uncertain, Pending]);
    let answer = world.send("/plan resume").await;
    assert!(answer.refused() && answer.reply.contains("The result of step 1 is unknown"), "{}", answer.reply);
    assert_eq!((prop.calls().len(), world.model.requests_of("coder").len()), (1, 1), "nothing is begun");
    scripted(&world, "coder", [reported("done", "It was done.")]);
    scripted(&world, "tester", [reported("done", "2")]);
    let answer = world.send("/plan resume retry").await;
    assert!(answer.reply.contains("2 done"), "{}", answer.reply);
    let message = told(&world.model.requests_of("coder")[1]);
    assert!(message.contains("Earlier attempts") && message.contains("its result is unknown"), "{message}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_with_an_unknown_result_can_be_skipped_or_ends_the_plan() {
    for (choice, expected) in [("skip", "2 skipped"), ("stop", "1 uncertain")] {
        let (world, _, working) = in_a_call(ToolEffect::Changes).await;
        world.send("/stop").await;
        working.await.unwrap();
        let answer = world.send(&format!("/plan resume 1 {choice}")).await;
        assert!(!answer.refused() && answer.reply.contains(expected), "{choice}: {}", answer.reply);
        assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted, "{choice}");
        assert!(world.model.requests_of("tester").is_empty());
        world.is_sound().await;
    }
}

#[tokio::test]
async fn messages_wait_until_the_plan_is_carried_out() {
    let gate = planwright_llm::scripted::Gate::closed();
    let world = proposed(&TWO, |_| {}).await;
    scripted(&world, "coder", [reported("done", "1").behind(&gate)]);
    scripted(&world, "tester", [reported("done", "2")]);
    world.model.then(Reply::text("Now I hear you."));
    let working = world.send_in_background("/plan approve");
    world.model.asked(3).await;
    let asking = world.say_in_background("Hello?");
    tokio::task::yield_now().await;
    gate.open();
    assert!(working.await.unwrap().unwrap().reply.contains("2 done"));
    assert_eq!(asking.await.unwrap().unwrap().reply, "Now I hear you.");
    assert_eq!(world.model.requests_of("").len(), 3);
    assert_eq!(world.model.recorded().last().unwrap().label, "", "the message came last");
}

#[tokio::test]
async fn what_a_person_ends_is_ended_with_the_step_and_nothing_is_written_over_it() {
    for (command, status) in [
        ("/plan cancel", PlanStatus::Cancelled),
        ("/plan revise make it smaller", PlanStatus::Superseded),
        ("/plan done", PlanStatus::PartiallyCompleted),
        ("/reset", PlanStatus::Cancelled),
    ] {
        let (world, prop, working) = in_a_call(ToolEffect::Changes).await;
        world.model.then(Reply::text("I will."));
        let answer = world.send(command).await;
        assert!(!answer.refused(), "{command}: {}", answer.reply);
        working.await.unwrap();
        assert_eq!(world.plan(1).await.status, status, "{command}");
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none(), "{command}");
        assert_eq!((prop.calls().len(), world.model.requests_of("tester").len()), (1, 0), "{command}");
        let runs = runs(&world, 1).await;
        assert_eq!((runs[0].status, runs[1].status), (Uncertain, Pending), "{command}");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn another_process_ends_it_and_it_stops_within_moments() {
    for (command, status) in [
        ("/plan cancel", PlanStatus::Cancelled),
        ("/plan revise make it smaller", PlanStatus::Superseded),
        ("/plan done", PlanStatus::PartiallyCompleted),
        ("/stop", PlanStatus::PartiallyCompleted),
    ] {
        let (world, _, working) = in_a_call(ToolEffect::Changes).await;
        let model = ScriptedModel::new([Reply::text("I will.")]);
        let other = world.another(&model, "the other").await;
        let answer = other.type_text(&world.place(), &person(), command, &crate::talk::Watcher::none()).await;
        assert!(!answer.unwrap().refused(), "{command}");
        working.await.unwrap();
        assert_eq!(world.plan(1).await.status, status, "{command}");
        assert_eq!(run_statuses(&world, 1).await[0], Uncertain, "{command}");
        assert!(world.model.requests_of("tester").is_empty(), "{command}");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn the_conversation_after_a_stop_has_nothing_of_the_step() {
    let (world, working) = thinking().await;
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    world.model.then(Reply::text("Yes?"));
    world.say("Still there?").await;
    let heard = script(&world.model.last_request());
    assert!(heard.iter().all(|line| !line.contains("Let me see") && !line.contains("stopped this turn")), "{heard:#?}");
    finish(&world).await;
    assert_eq!(run_statuses(&world, 1).await, [Completed, Completed]);
}
