//! The program ends in the middle of the work on a document.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::input::Approving;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{Completed, InProgress, Pending, Skipped, Uncertain};
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::{TWO, drafted, then};
use crate::planning::report;
use crate::process::Process;
use crate::specialist_scripts::{run_statuses, runs};
use crate::test_tools::{Act, Prop};
use crate::world::{World, newest_message, script};

/// A process approves the plan and dies in the middle of this call, which belongs to the first step.
async fn dies(effect: ToolEffect) -> (World, Prop) {
    let prop = Prop::new("carry", effect, Act::HangOnce);
    let world = drafted(TWO, |setup| setup.tool(&prop)).await;
    let begin = Reply::call("plan_progress", json!({"step": 1, "status": "in_progress"}));
    let model = ScriptedModel::new([begin, Reply::call("carry", json!({"box": 1}))]);
    let process = Process::start(&world, &model).await;
    let plan = world.plan(1).await;
    process.approve(&world.session, &plan, Approving::default());
    prop.called(1).await;
    process.die().await;
    (world, prop)
}

#[tokio::test]
async fn another_process_goes_on_with_the_turn() {
    let (world, prop) = dies(ToolEffect::ReadsOnly).await;
    assert_eq!(run_statuses(&world, 1).await, [InProgress, Pending]);
    then(&world, [report(1), report(2), Reply::text("All is done.")]);
    let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
    assert!(outcome.reply.starts_with("All is done."), "{}", outcome.reply);
    assert_eq!(prop.calls().len(), 2, "what only reads is done again");
    assert!(newest_message(&world.sent(3)).starts_with("[Plan 1 was approved.]"), "it is the same turn");
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn resuming_the_plan_continues_its_turn_and_returns_its_outcome() {
    let (world, _) = dies(ToolEffect::ReadsOnly).await;
    then(&world, [report(1), report(2), Reply::text("All is done.")]);
    let answer = world.send("/plan resume").await;
    assert!(!answer.refused() && answer.reply.contains("All is done."), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn a_change_that_was_cut_off_makes_the_step_uncertain_and_a_person_settles_it() {
    for (choice, replies, expected, status) in [
        ("retry", vec![report(1), report(2), Reply::text("Done.")], [Completed, Completed], PlanStatus::Completed),
        ("skip", vec![report(2), Reply::text("Done.")], [Skipped, Completed], PlanStatus::Completed),
        ("stop", vec![], [Uncertain, Pending], PlanStatus::PartiallyCompleted),
    ] {
        let (world, prop) = dies(ToolEffect::Changes).await;
        then(&world, [Reply::text("I do not know whether I carried it.")]);
        let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
        assert_eq!(outcome.end, Some(TurnEnd::Answered));
        assert_eq!(prop.calls().len(), 1, "it is not done again by itself");
        assert_eq!(run_statuses(&world, 1).await, [Uncertain, Pending]);
        let sent = script(&world.model.last_request());
        assert!(sent.last().unwrap().contains("it is not known whether it was done"), "{sent:?}");
        let asked = world.send("/plan resume").await;
        assert!(asked.refused() && asked.reply.contains("The result of step 1 is unknown"), "{}", asked.reply);
        assert!(asked.reply.contains("/plan resume 1 retry"), "{}", asked.reply);
        assert_eq!(world.model.requests().len(), 3, "nothing is begun");
        then(&world, replies);
        let answer = world.send(&format!("/plan resume {choice}")).await;
        assert!(!answer.refused(), "{choice}: {}", answer.reply);
        assert_eq!(run_statuses(&world, 1).await, expected, "{choice}");
        assert_eq!(world.plan(1).await.status, status, "{choice}");
        if choice == "retry" {
            let attempt = &runs(&world, 1).await[0].attempts[0];
            assert_eq!(attempt.status, Uncertain);
        }
        world.model.assert_finished();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn an_approval_that_was_stored_before_a_crash_is_carried_out_when_it_is_resumed() {
    let world = drafted(TWO, |_| {}).await;
    let begins = |submission: &planwright_engine::ledger::Submission| {
        matches!(
            submission.command,
            planwright_core::command::Command::Turn(planwright_core::command::TurnCommand::BeginDocument { .. })
        )
    };
    let process = Process::hanging(&world, &ScriptedModel::new([]), begins).await;
    process.approve(
        &world.session,
        &world.plan(1).await,
        Approving { note: Some("softly".to_owned()), ..Approving::default() },
    );
    process.hangs().await;
    process.die().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing, "approved and begun in one entry");
    then(&world, [report(1), report(2), Reply::text("All is done.")]);
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("All is done."), "{}", answer.reply);
    let message = newest_message(&world.sent(3));
    assert!(
        message.starts_with("[Plan 1 was approved.]") && message.contains("softly"),
        "nothing was begun yet: {message}"
    );
    assert_eq!(world.plan(1).await.execution.unwrap().number, 1);
    assert!(world.send("/plan approve").await.refused(), "it is approved once");
    world.is_sound().await;
}
