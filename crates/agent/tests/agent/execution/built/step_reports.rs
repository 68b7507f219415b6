//! How a step ends: with a report, and with nothing else.

use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{self, Completed, Failed, Skipped};
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_engine::model::ModelErrorKind;
use planwright_llm::scripted::Reply;
use serde_json::json;

use super::TWO;
use crate::specialist_scripts::{proposed, reported, run_statuses, runs, scripted};
use crate::world::{World, script, statuses};

/// One step, and what its specialist says.
async fn one_step(
    replies: impl IntoIterator<Item = Reply>,
    change: impl FnOnce(&mut planwright_test_support::agent::AgentSetup),
) -> World {
    let world = proposed(&TWO[..1], change).await;
    scripted(&world, "coder", replies);
    world.send("/plan approve").await;
    world
}

async fn last_end(world: &World) -> TurnEnd {
    let ends = world.events().await.into_iter().filter_map(|event| match event {
        Event::Turn { event: TurnEvent::Ended { ending, .. }, .. } => Some(ending.end),
        _ => None,
    });
    ends.last().unwrap()
}

async fn only_note(world: &World) -> String {
    runs(world, 1).await[0].note.clone().unwrap_or_default()
}

#[tokio::test]
async fn a_report_is_the_outcome_with_its_note_and_evidence() {
    for (word, status, plan) in [
        ("done", Completed, PlanStatus::Completed),
        ("failed", Failed, PlanStatus::PartiallyCompleted),
        ("skipped", Skipped, PlanStatus::PartiallyCompleted),
    ] {
        let report = Reply::call("plan_progress", json!({"status": word, "note": "so", "evidence": "see", "step": 1}));
        let world = one_step([report], |_| {}).await;
        let run = &runs(&world, 1).await[0];
        assert_eq!((run.status, run.note.as_deref(), run.evidence.as_deref()), (status, Some("so"), Some("see")));
        assert_eq!(world.plan(1).await.status, plan, "{word}");
        assert_eq!(last_end(&world).await, TurnEnd::Answered);
        world.model.assert_finished();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn in_progress_is_noted_and_the_step_goes_on() {
    let world = one_step([reported("in_progress", "half of it"), reported("done", "all of it")], |_| {}).await;
    let notes: Vec<_> = world
        .events()
        .await
        .into_iter()
        .filter_map(|event| {
            if let Event::Plan { event: PlanEvent::StepBegun { note, .. }, .. } = event { Some(note) } else { None }
        })
        .collect();
    assert_eq!(notes, [None, Some("half of it".to_owned())]);
    assert_eq!(only_note(&world).await, "all of it");
    let answer = script(&world.model.requests_of("coder")[1]).pop().unwrap();
    assert!(answer.starts_with("result plan_progress:") && answer.contains("\"total\":1"), "{answer}");
}

#[tokio::test]
async fn what_is_called_behind_the_report_is_not_run() {
    let late = reported("done", "ok").and_call("write_file", json!({"path": "late.txt", "content": "x"}));
    let world = one_step([late], |_| {}).await;
    assert!(!world.files().join("late.txt").exists());
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn words_are_answered_once_with_how_a_step_ends() {
    let world = one_step([Reply::text("I think it is done."), reported("done", "Now it is.")], |_| {}).await;
    let sent = script(&world.model.requests_of("coder")[1]);
    assert_eq!(sent[1], "model: I think it is done.");
    assert!(sent[2].starts_with("user: [Words alone do not end a step."), "{sent:?}");
    assert_eq!(run_statuses(&world, 1).await, [Completed]);
    world.has_a_valid_history();
}

#[tokio::test]
async fn words_twice_are_a_failure_with_these_words() {
    let world = one_step([Reply::text("I think it is done."), Reply::text("Really, it is.")], |_| {}).await;
    assert_eq!(run_statuses(&world, 1).await, [Failed]);
    let note = only_note(&world).await;
    assert!(note.contains("coder: it did not say how the step ended"), "{note}");
    assert!(note.contains("Really, it is."), "what it said instead is kept: {note}");
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn a_call_between_words_is_a_new_beginning() {
    let replies =
        [Reply::text("Hm."), Reply::call("list_files", json!({})), Reply::text("Hm."), reported("done", "Done.")];
    let world = one_step(replies, |_| {}).await;
    assert_eq!(run_statuses(&world, 1).await, [Completed]);
}

#[tokio::test]
async fn a_specialist_that_does_not_come_to_its_end_has_failed_with_words() {
    let looping = || vec![Reply::call("list_files", json!({})); 9];
    let cases: Vec<(&str, Vec<Reply>, &str)> = vec![
        ("model_failed", vec![Reply::error(ModelErrorKind::Refused, "No credit left.")], "No credit left."),
        ("looping", looping(), "the same thing"),
        ("no_answer", vec![Reply::text(""), Reply::text("  ")], "nothing, twice"),
        (
            "limit_reached",
            (0..9).map(|n| Reply::call("glob_files", json!({"pattern": format!("{n}")}))).collect(),
            "`turn.model_calls`",
        ),
    ];
    for (end, replies, expected) in cases {
        let world = one_step(replies, |setup| setup.policy.turn.model_calls = 7).await;
        assert_eq!(last_end(&world).await.name(), end);
        assert_eq!(run_statuses(&world, 1).await, [Failed], "{end}");
        let note = only_note(&world).await;
        assert!(note.contains(expected) && note.starts_with("coder: it did not come to its end"), "{end}: {note}");
        assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_report_on_another_step_or_with_another_status_is_refused() {
    let wrong = [
        (json!({"status": "done", "step": 2}), "POLICY_DENIED"),
        (json!({"status": "done", "step": 0}), "POLICY_DENIED"),
        (json!({"status": "uncertain"}), "INVALID_ARGUMENT"),
        (json!({"status": "pending"}), "INVALID_ARGUMENT"),
        (json!({"note": "done"}), "INVALID_ARGUMENT"),
        (json!({"status": "done", "note": "x".repeat(20_000)}), "LIMIT_EXCEEDED"),
    ];
    let replies = wrong.iter().map(|(arguments, _)| Reply::call("plan_progress", arguments.clone()));
    let world = proposed(&TWO, |_| {}).await;
    scripted(&world, "coder", replies.chain([reported("failed", "I give up.")]));
    let earlier = statuses(&world.events().await).len();
    world.send("/plan approve").await;
    let sent = script(world.model.requests_of("coder").last().unwrap());
    let answers: Vec<_> = sent.iter().filter(|line| line.starts_with("failed plan_progress")).collect();
    for ((arguments, code), answer) in wrong.iter().zip(&answers) {
        assert!(answer.contains(code), "{arguments}: {answer}");
    }
    let came = statuses(&world.events().await).split_off(earlier);
    assert_eq!(came[..wrong.len()], vec![ToolStatus::Refused; wrong.len()]);
    assert_eq!(run_statuses(&world, 1).await, [Failed, StepStatus::Pending]);
    world.is_sound().await;
}
