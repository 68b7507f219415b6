//! Stopped, cancelled, taken over, killed: nothing is begun afterwards, and nothing that may have been done is done again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::input::{Input, Request, Worker};
use planwright_core::command::{Command, Decision, ExecutionCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::ids::RequestId;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{Leasing, Submission};
use planwright_llm::scripted::ScriptedModel;
use serde_json::json;

use super::{approved, runs};
use crate::ledger::HangingLedger;
use crate::process::Process;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

async fn two_calls(effect: ToolEffect) -> (World, Prop, Prop) {
    let (prop, last) = (Prop::new("prop", effect, Act::HangOnce), Prop::changing("last"));
    let world = approved(&[("prop", json!({})), ("last", json!({}))], |setup| {
        setup.tool(&prop);
        setup.tool(&last);
    })
    .await;
    (world, prop, last)
}

#[tokio::test]
async fn a_stop_ends_it_at_once_and_it_can_be_resumed() {
    let (world, prop, last) = two_calls(ToolEffect::Repeatable).await;
    let working = world.send_in_background("/plan resume");
    prop.called(1).await;
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    assert_eq!(runs(&world).await, [StepStatus::Pending, StepStatus::Pending]);
    assert!(last.calls().is_empty());
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!((prop.calls().len(), last.calls().len()), (2, 1));
    world.is_sound().await;
}

#[tokio::test]
async fn what_changes_things_and_was_stopped_in_the_middle_is_uncertain_and_waits() {
    let (world, prop, last) = two_calls(ToolEffect::Changes).await;
    let working = world.send_in_background("/plan resume");
    prop.called(1).await;
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    assert_eq!(runs(&world).await, [StepStatus::Uncertain, StepStatus::Pending]);
    let answer = world.send("/plan resume").await;
    assert!(answer.refused() && answer.reply.contains("The result of step 1 is unknown"), "{}", answer.reply);
    assert!(answer.reply.contains("stopped in the middle"), "what is known is told: {}", answer.reply);
    assert_eq!((prop.calls().len(), last.calls().len()), (1, 0), "nothing is begun");
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    let answer = world.send("/plan resume skip").await;
    assert!(answer.reply.contains("1 done, 1 skipped"), "{}", answer.reply);
    assert_eq!((prop.calls().len(), last.calls().len()), (1, 1));
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn a_plan_that_is_cancelled_elsewhere_stays_cancelled() {
    let (world, prop, last) = two_calls(ToolEffect::Repeatable).await;
    let working = world.send_in_background("/plan resume");
    prop.called(1).await;
    let other = world.another(&ScriptedModel::new([]), "another").await;
    let plan = world.plan(1).await;
    other.engine().plans().cancel(&world.session, &person(), &plan.id, None).await.unwrap();
    world.agent.stop_here(&world.session).await;
    working.await.unwrap().unwrap();
    assert_eq!(world.plan(1).await.status, PlanStatus::Cancelled, "no late outcome writes over it");
    assert!(last.calls().is_empty());
    world.is_sound().await;
}

/// A process that dies while the first call is made.
async fn dies(effect: ToolEffect) -> (World, Prop, Prop) {
    let (world, prop, last) = two_calls(effect).await;
    let process = Process::start(&world, &ScriptedModel::new([])).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    prop.called(1).await;
    process.die().await;
    (world, prop, last)
}

#[tokio::test]
async fn another_process_goes_on_and_makes_again_what_may_be_made_again() {
    for effect in [ToolEffect::ReadsOnly, ToolEffect::Repeatable] {
        let (world, prop, last) = dies(effect).await;
        let answer = world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap();
        assert!(answer.unwrap().reply.contains("2 done"));
        assert_eq!((prop.calls().len(), last.calls().len()), (2, 1));
        assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn what_must_not_be_made_twice_is_uncertain_after_a_crash() {
    let (world, prop, last) = dies(ToolEffect::Changes).await;
    let again = async || world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await;
    assert!(again().await.unwrap().unwrap().reply.contains("step 1 is uncertain"));
    assert_eq!((prop.calls().len(), last.calls().len()), (1, 0));
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    assert!(again().await.unwrap().is_none(), "it waits for a person and does not go on by itself");
    world.is_sound().await;
}

#[tokio::test]
async fn a_call_that_failed_before_a_crash_still_ends_it() {
    let last = Prop::changing("last");
    let calls = [("read_file", json!({"path": "missing.txt"})), ("last", json!({}))];
    let world = approved(&calls, |setup| setup.tool(&last)).await;
    let finishes =
        |submission: &Submission| matches!(submission.command, Command::Execution(ExecutionCommand::Finish { .. }));
    let process = Process::hanging(&world, &ScriptedModel::new([]), finishes).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    process.hangs().await;
    process.die().await;
    world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap();
    assert_eq!(runs(&world).await, [StepStatus::Failed, StepStatus::Pending]);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    assert!(last.calls().is_empty());
}

#[tokio::test]
async fn every_point_of_a_crash_leaves_each_call_made_once_or_again_because_it_may() {
    // After its start, an execution of two calls submits: begin, end and begin, end and finish.
    for point in 1..=3 {
        let prop = Prop::new("prop", ToolEffect::Repeatable, Act::Answer(json!({})));
        let world = approved(&[("prop", json!({"n": 1})), ("prop", json!({"n": 2}))], |setup| setup.tool(&prop)).await;
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let hangs = move |submission: &Submission| {
            let counts = matches!(
                submission.command,
                Command::Execution(ExecutionCommand::Advance { .. } | ExecutionCommand::Finish { .. })
            );
            counts && seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 == point
        };
        let process = Process::hanging(&world, &ScriptedModel::new([]), hangs).await;
        process.carry_out(&world.session, &world.plan(1).await.id);
        process.hangs().await;
        process.die().await;
        world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap();
        assert_eq!(world.plan(1).await.status, PlanStatus::Completed, "point {point}");
        for n in [1, 2] {
            let made = prop.calls().iter().filter(|call| **call == json!({"n": n})).count();
            assert!((1..=2).contains(&made), "point {point}: call {n} was made {made} times");
        }
        world.is_sound().await;
    }
}

/// The entry with the outcome of the last call ends the execution, too.
#[tokio::test]
async fn the_last_outcome_and_the_end_are_written_together() {
    let prop = Prop::changing("prop");
    let mut world = approved(&[("prop", json!({"n": 1})), ("prop", json!({"n": 2}))], |setup| setup.tool(&prop)).await;
    let submitted = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&submitted);
    let ledger = HangingLedger::new(world.ledger().await, move |submission| {
        match &submission.command {
            Command::Execution(ExecutionCommand::Advance { ended, begun, .. }) => {
                seen.lock().unwrap().push(("advance", ended.len(), begun.len()));
            }
            Command::Execution(ExecutionCommand::Finish { ended, .. }) => {
                seen.lock().unwrap().push(("finish", ended.len(), 0))
            }
            _ => {}
        }
        false
    });
    world.agent = world.setup.agent(ledger, world.model.clone());
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!(*submitted.lock().unwrap(), [("advance", 0, 1), ("advance", 1, 1), ("finish", 1, 0)]);
    let free = world.ledger().await.acquire_lease(&world.session, "another", Duration::from_secs(1)).await.unwrap();
    assert!(free.is_some(), "the end gives the session up");
    world.is_sound().await;
}

/// The lease comes with the resumption, in one transaction, and no other entry takes it.
#[tokio::test]
async fn a_resumption_takes_the_lease_with_its_own_entry() {
    let last = Prop::changing("last");
    let mut world = approved(&[("last", json!({}))], |setup| setup.tool(&last)).await;
    let taken_with = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&taken_with);
    let ledger = HangingLedger::new(world.ledger().await, move |submission| {
        if matches!(submission.leasing, Leasing::Take { .. }) {
            seen.lock().unwrap().push(matches!(submission.command, Command::Decide(Decision::Resume { .. })));
        }
        false
    });
    world.agent = world.setup.agent(ledger, world.model.clone());
    world.send("/plan resume").await;
    assert_eq!(*taken_with.lock().unwrap(), [true]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn a_resumption_that_is_sent_again_begins_nothing_and_keeps_no_lease() {
    let failing = Prop::new("failing", ToolEffect::Changes, Act::Refuse(Refusal::invalid("No.")));
    let world = approved(&[("failing", json!({}))], |setup| setup.tool(&failing)).await;
    let plan = world.plan(1).await.id.clone();
    let resume = async || {
        let input =
            Input::ResumePlan { plan: plan.clone(), choice: None, after_step: None, worker: Worker::ThisProcess };
        let request = Request::new(world.place(), person()).named(Some(RequestId::new("once").unwrap()));
        world.agent.submit(input, request).outcome().await.unwrap()
    };
    resume().await;
    let first = world.plan(1).await;
    assert_eq!((first.status, failing.calls().len()), (PlanStatus::PartiallyCompleted, 1));
    resume().await;
    assert_eq!(failing.calls().len(), 1);
    assert_eq!(world.plan(1).await.execution, first.execution);
    let free = world.ledger().await.acquire_lease(&world.session, "another", Duration::from_secs(1)).await.unwrap();
    assert!(free.is_some());
}
