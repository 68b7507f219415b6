//! Stopped, cancelled, revised, closed while it is worked on, from here and from elsewhere.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::outcome::Answer;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{InProgress, Pending, Uncertain};
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::LedgerResult;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;
use tokio::task::JoinHandle;

use super::{TWO, drafted, then};
use crate::planning::{report, set};
use crate::specialist_scripts::{run_statuses, runs};
use crate::test_tools::{Act, Prop};
use crate::world::{World, newest_message, person};

/// The first step is under way, in the middle of a call.
async fn in_a_call(effect: ToolEffect) -> (World, Prop, JoinHandle<LedgerResult<Answer>>) {
    let prop = Prop::new("carry", effect, Act::HangOnce);
    let world = drafted(TWO, |setup| setup.tool(&prop)).await;
    let begin = Reply::call("plan_progress", json!({"step": 1, "status": "in_progress"}));
    then(&world, [begin, Reply::call("carry", json!({"box": 1}))]);
    let working = world.send_in_background("/plan approve");
    prop.called(1).await;
    (world, prop, working)
}

#[tokio::test]
async fn a_stop_while_the_model_thinks_leaves_the_plan_open() {
    let world = drafted(TWO, |_| {}).await;
    then(&world, [report(1), Reply::text("I carry").then_hang()]);
    let working = world.send_in_background("/plan approve");
    world.model.asked(4).await;
    world.send("/stop").await;
    let answer = working.await.unwrap().unwrap();
    assert_eq!(answer.end, Some(TurnEnd::Stopped));
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Executing);
    then(&world, [report(2), Reply::text("Done.")]);
    world.send("/plan resume").await;
    assert!(newest_message(&world.sent(5)).starts_with("[Go on with plan 1.]"));
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_stop_in_the_middle_of_a_change_makes_the_step_uncertain() {
    for (effect, expected) in
        [(ToolEffect::ReadsOnly, InProgress), (ToolEffect::Repeatable, InProgress), (ToolEffect::Changes, Uncertain)]
    {
        let (world, prop, working) = in_a_call(effect).await;
        world.send("/stop").await;
        assert_eq!(working.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
        assert_eq!(run_statuses(&world, 1).await, [expected, Pending], "{effect:?}");
        assert_eq!((world.plan(1).await.status, prop.calls().len()), (PlanStatus::Executing, 1));
        let answer = world.send("/plan status").await;
        assert!(answer.reply.contains("0 of 2 steps are done"), "{}", answer.reply);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn no_report_is_taken_on_a_step_with_an_unknown_result() {
    let (world, _, working) = in_a_call(ToolEffect::Changes).await;
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    then(&world, [report(1), Reply::text("I may not.")]);
    world.say("Tick it").await;
    let sent = crate::world::script(&world.model.last_request());
    assert!(sent.last().unwrap().contains("WRONG_STATUS"), "{:?}", sent.last());
    assert_eq!(run_statuses(&world, 1).await, [Uncertain, Pending]);
}

/// What a person types while the plan is worked on, and what becomes of it.
const ENDED: [(&str, PlanStatus); 4] = [
    ("/plan cancel", PlanStatus::Cancelled),
    ("/plan revise fly instead", PlanStatus::Superseded),
    ("/plan done", PlanStatus::PartiallyCompleted),
    ("/reset", PlanStatus::Cancelled),
];

#[tokio::test]
async fn what_a_person_ends_stops_the_turn_here() {
    for (command, status) in ENDED {
        let (world, prop, working) = in_a_call(ToolEffect::Changes).await;
        then(&world, [Reply::text("I will.")]);
        let answer = world.send(command).await;
        assert!(!answer.refused(), "{command}: {}", answer.reply);
        assert_eq!(working.await.unwrap().unwrap().end, Some(TurnEnd::Stopped), "{command}");
        assert_eq!(world.plan(1).await.status, status, "{command}");
        assert_eq!(prop.calls().len(), 1, "{command}");
        let asked = if command.contains("revise") { 5 } else { 4 };
        assert_eq!(world.model.requests().len(), asked, "{command}: nothing more is asked");
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none(), "{command}");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn what_a_person_ends_elsewhere_stops_the_turn_here() {
    for (command, status) in ENDED.into_iter().chain([("/stop", PlanStatus::Executing)]) {
        let (world, prop, working) = in_a_call(ToolEffect::Changes).await;
        let model = ScriptedModel::new([Reply::text("I will.")]);
        let other = world.another(&model, "the other").await;
        let answer = other.type_text(&world.place(), &person(), command, &Watcher::none()).await.unwrap();
        assert!(!answer.refused(), "{command}: {}", answer.reply);
        assert_eq!(working.await.unwrap().unwrap().end, Some(TurnEnd::Stopped), "{command}");
        assert_eq!(world.plan(1).await.status, status, "{command}: no late result writes over it");
        assert_eq!((prop.calls().len(), world.model.requests().len()), (1, 4), "{command}");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_turn_about_something_else_is_not_stopped_with_the_plan() {
    let prop = Prop::new("carry", ToolEffect::ReadsOnly, Act::HangOnce);
    let world = drafted(TWO, |setup| setup.tool(&prop)).await;
    // Another plan is the active one, and this one is only parked.
    world.send("/plan off").await;
    then(&world, [Reply::call("carry", json!({})), Reply::text("It goes on.")]);
    let working = world.say_in_background("Look around");
    prop.called(1).await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    let answer = other.type_text(&world.place(), &person(), "/plan cancel 1", &Watcher::none()).await.unwrap();
    assert!(!answer.refused(), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Cancelled);
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_some(), "the turn continues");
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    world.is_sound().await;
}

#[tokio::test]
async fn a_revision_is_drafted_after_the_work_has_stopped() {
    let (world, _, working) = in_a_call(ToolEffect::Changes).await;
    then(&world, [set("- [ ] fly"), Reply::text("Rather fly.")]);
    let answer = world.send("/plan revise fly instead").await;
    working.await.unwrap().unwrap();
    assert_eq!(answer.plan.unwrap().markdown, "- [ ] fly");
    assert_eq!(world.plan(1).await.status, PlanStatus::Superseded);
    assert_eq!(world.plan(2).await.status, PlanStatus::Ready);
    assert_eq!(runs(&world, 2).await, []);
    world.has_a_valid_history();
    world.is_sound().await;
}
