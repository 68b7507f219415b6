//! An approved document is carried out in the conversation: a turn works from the text and reports on its steps.

mod crashes;
mod stops;

use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{Completed, Failed, InProgress, Pending, Skipped};
use planwright_core::turn::{Purpose, ToolStatus, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::json;

use crate::ledger::HangingLedger;
use crate::planning::{report, set};
use crate::specialist_scripts::{names_since, reported, run_statuses, runs};
use crate::talk::{Talk as _, Watcher};
use crate::world::{World, newest_message, person, script, statuses, tool_names};

const TWO: &str = "# Move\n\n- [ ] pack\n- [ ] drive";

/// A document that waits for the person.
async fn drafted(markdown: &str, change: impl FnOnce(&mut AgentSetup)) -> World {
    let world = World::with(ScriptedModel::new([set(markdown), Reply::text("Ready.")]), change).await;
    world.send("/plan on").await;
    world.say("Plan the move").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    world
}

fn then(world: &World, replies: impl IntoIterator<Item = Reply>) {
    replies.into_iter().for_each(|reply| world.model.then(reply));
}

#[tokio::test]
async fn the_approval_begins_a_turn_that_says_what_to_do_and_with_which_note() {
    let world = drafted(TWO, |_| {}).await;
    then(&world, [report(1), report(2), Reply::text("All is done.")]);
    let answer = world.send("/plan approve -- mind the piano").await;
    assert!(answer.decided.as_ref().unwrap().contains("Plan 1 is approved"));
    assert!(answer.reply.starts_with("All is done."), "{}", answer.reply);
    assert_eq!(answer.end, Some(TurnEnd::Answered));
    let first = world.sent(3);
    let message = newest_message(&first);
    assert!(message.starts_with("[Plan 1 was approved.] Carry it out: read it with `plan_get`"), "{message}");
    assert!(message.ends_with("Their note:\n> mind the piano"), "{message}");
    assert_eq!(script(&first)[0], "user: Plan the move", "it is one conversation");
    assert!(tool_names(&first).contains(&"plan_progress") && tool_names(&first).contains(&"write_file"));
    let events = world.events().await;
    let expected = [
        "plan_approved",
        "execution_started",
        "turn_begun",
        "model_replied",
        "step_ended",
        "tool_ended",
        "model_replied",
        "step_ended",
        "execution_finished",
        "tool_ended",
        "model_replied",
        "turn_ended",
    ];
    assert_eq!(names_since(&events, "plan_approved"), expected);
    let plan = world.plan(1).await;
    let purpose = events.iter().rev().find_map(|event| match event {
        Event::Turn { event: TurnEvent::Begun { purpose, .. }, .. } => Some(purpose.clone()),
        _ => None,
    });
    assert_eq!(purpose, Some(Purpose::Document { plan: plan.id.clone() }));
    assert_eq!(plan.status, PlanStatus::Completed);
    world.model.assert_finished();
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn progress_lies_over_the_text_and_never_in_it() {
    let world = drafted("- [ ] one\n- [x] two\n- [ ] three\n- [ ] four", |_| {}).await;
    let evidence = json!({"step": 1, "status": "done", "note": "I did", "evidence": "see one.txt"});
    then(
        &world,
        [
            Reply::call("plan_progress", json!({"step": 1, "status": "in_progress", "note": "at it"})),
            Reply::call("plan_progress", evidence),
            reported("skipped", "not needed"),
            reported("failed", "no petrol"),
            Reply::text("Not all of it."),
        ],
    );
    let before = world.plan(1).await;
    let answer = world.send("/plan approve").await;
    let after = world.plan(1).await;
    assert_eq!((after.markdown(), after.digest(), after.version), (before.markdown(), before.digest(), 1));
    assert_eq!(run_statuses(&world, 1).await, [Completed, Completed, Skipped, Failed]);
    let runs = runs(&world, 1).await;
    assert_eq!((runs[0].note.as_deref(), runs[0].evidence.as_deref()), (Some("I did"), Some("see one.txt")));
    assert_eq!(runs[1].note.as_deref(), Some("ticked in the approved text"));
    assert_eq!(after.status, PlanStatus::PartiallyCompleted);
    assert!(answer.reply.contains("2 of 4 steps are done"), "{}", answer.reply);
    let result = script(&world.sent(5)).pop().unwrap();
    assert!(result.contains("\"done\":2") && result.contains("\"total\":4"), "{result}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_turn_that_ends_early_leaves_the_plan_open_and_it_goes_on_when_resumed() {
    let world = drafted(TWO, |setup| setup.policy.nudges = 0).await;
    then(&world, [report(1), Reply::text("I pause.")]);
    let answer = world.send("/plan approve").await;
    assert!(answer.reply.contains("1 of 2 steps are done"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    then(&world, [report(2), Reply::text("Done.")]);
    world.send("/plan resume").await;
    let message = newest_message(&world.sent(5));
    assert!(message.starts_with("[Go on with plan 1.] Carry it out"), "{message}");
    let plan = world.plan(1).await;
    assert_eq!((plan.status, plan.execution.unwrap().number), (PlanStatus::Completed, 1));
    world.is_sound().await;
}

#[tokio::test]
async fn a_parked_document_is_worked_on_again_when_it_is_resumed() {
    let world = drafted(TWO, |_| {}).await;
    then(&world, [report(1), Reply::text("I pause.")]);
    world.send("/plan approve").await;
    world.send("/plan off").await;
    then(&world, [report(2), Reply::text("Done.")]);
    world.send("/plan resume 1").await;
    assert!(world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
    let plan = world.plan(1).await;
    assert_eq!((plan.status, plan.execution.unwrap().number), (PlanStatus::Completed, 1));
    world.is_sound().await;
}

#[tokio::test]
async fn what_failed_is_told_and_done_anew_when_it_is_resumed() {
    let world = drafted(TWO, |_| {}).await;
    let failed = Reply::call("plan_progress", json!({"step": 1, "status": "failed", "note": "no boxes"}));
    then(&world, [failed, report(2), Reply::text("Half of it.")]);
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    then(&world, [report(1), Reply::text("Now all.")]);
    world.send("/plan resume").await;
    let plan = world.plan(1).await;
    let execution = plan.execution.unwrap();
    assert_eq!((plan.status, execution.number), (PlanStatus::Completed, 2));
    assert_eq!(execution.steps[0].attempts[0].note.as_deref(), Some("no boxes"));
    world.is_sound().await;
}

#[tokio::test]
async fn rewriting_the_text_settles_the_turn_and_nothing_more_is_done() {
    let world = drafted(TWO, |_| {}).await;
    let rewrite = set("- [ ] fly").and_call("write_file", json!({"path": "late.txt", "content": "x"}));
    then(&world, [report(1), rewrite]);
    let answer = world.send("/plan approve").await;
    let (old, new) = (world.plan(1).await, world.plan(2).await);
    assert_eq!((old.status, new.status), (PlanStatus::Superseded, PlanStatus::Ready));
    assert_eq!(answer.end, Some(TurnEnd::PlanReady { plan: new.id.clone() }));
    let card = answer.plan.unwrap();
    assert_eq!((card.number, card.markdown.as_str()), (2, "- [ ] fly"), "the person is shown the new one");
    assert!(!world.files().join("late.txt").exists());
    assert_eq!(statuses(&world.events().await).last(), Some(&ToolStatus::Settled));
    assert_eq!(old.execution.unwrap().steps[0].status, Completed, "what was done stays known");
    assert!(world.send("/plan resume 1").await.refused());
    then(&world, [report(1), Reply::text("I flew.")]);
    let answer = world.send("/plan approve").await;
    assert!(answer.decided.is_some(), "it was shown, so it can be approved: {}", answer.reply);
    assert_eq!(world.plan(2).await.status, PlanStatus::Completed);
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn a_document_whose_every_step_is_ticked_is_complete_at_once() {
    let world = drafted("- [x] one\n- [x] two", |_| {}).await;
    let answer = world.send("/plan approve").await;
    assert!(answer.reply.contains("**COMPLETED**") && answer.reply.contains("2 done"), "{}", answer.reply);
    assert_eq!(world.model.requests().len(), 2, "the model is not asked to do anything");
    let names = names_since(&world.events().await, "plan_approved");
    assert_eq!(names, ["plan_approved", "execution_started", "execution_finished"]);
    assert!(world.send("/plan resume").await.refused());
    world.is_sound().await;
}

#[tokio::test]
async fn done_closes_it_by_what_was_done() {
    for (reports, status) in [(1, PlanStatus::PartiallyCompleted), (0, PlanStatus::PartiallyCompleted)] {
        let world = drafted(TWO, |_| {}).await;
        then(&world, (1..=reports).map(report).chain([Reply::text("I pause.")]));
        world.send("/plan approve").await;
        assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
        let answer = world.send("/plan done").await;
        assert!(answer.reply.contains("Plan work is off."), "{}", answer.reply);
        let plan = world.plan(1).await;
        assert_eq!(plan.status, status);
        assert!(plan.execution.unwrap().finished_at.is_some());
        assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
        then(&world, (reports + 1..=2).map(report).chain([Reply::text("Now all.")]));
        world.send("/plan resume 1").await;
        assert_eq!(world.plan(1).await.status, PlanStatus::Completed, "and it can be taken up again");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_document_without_a_list_is_one_step() {
    let world = drafted("Just move.", |_| {}).await;
    then(&world, [Reply::call("plan_progress", json!({"status": "in_progress"})), Reply::text("I am at it.")]);
    world.send("/plan approve").await;
    assert_eq!(run_statuses(&world, 1).await, [InProgress]);
    then(&world, [reported("done", "moved"), Reply::text("Done.")]);
    world.say("Go on").await;
    assert_eq!(run_statuses(&world, 1).await, [Completed]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
}

#[tokio::test]
async fn a_report_on_a_step_that_is_not_there_is_refused_and_changes_nothing() {
    let world = drafted(TWO, |_| {}).await;
    then(&world, [report(3), report(0), Reply::text("There are only two.")]);
    world.send("/plan approve").await;
    let sent = script(&world.model.last_request());
    assert!(sent.iter().filter(|line| line.contains("NOT_FOUND")).count() == 2, "{sent:?}");
    assert_eq!(run_statuses(&world, 1).await, [Pending, Pending]);
}

/// The person's turn resets the count of idle turns, and the reminder is nevertheless not the approval once more.
#[tokio::test]
async fn a_reminder_after_a_persons_own_turn_does_not_repeat_the_approval() {
    let mut world = drafted(TWO, |setup| setup.policy.nudges = 1).await;
    let is_pause = |event: &Event| matches!(event.plan_event(), Some(PlanEvent::ExecutionPaused { .. }));
    let ledger = HangingLedger::after(world.ledger().await, move |committed| committed.events.iter().any(is_pause));
    world.agent = world.setup.agent(ledger.clone(), world.model.clone());
    then(&world, [Reply::text("Which colour?"), report(1), report(2), Reply::text("Done.")]);
    let approving = world.send_in_background("/plan approve");
    ledger.0.hangs().await;
    let other = world.another(&ScriptedModel::new([Reply::text("Good.")]), "other").await;
    other.send(&world.session, &person(), "Blue", &Watcher::none()).await.unwrap();
    ledger.0.wake();
    assert!(approving.await.unwrap().unwrap().reply.contains("Done."));
    let events = world.events().await;
    let begun = events.iter().filter_map(|event| match event {
        Event::Turn { event: TurnEvent::Begun { text, .. }, .. } => Some(text.as_str()),
        _ => None,
    });
    let begun: Vec<_> = begun.skip(1).map(|text| text.split(']').next().unwrap()).collect();
    assert_eq!(begun, ["[Plan 1 was approved.", "Blue", "[Go on with plan 1."]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}
