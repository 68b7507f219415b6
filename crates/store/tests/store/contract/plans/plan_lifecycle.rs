//! The finer rules of a plan's life, with the store in between.

use std::sync::Arc;

use planwright_core::command::{Command, Decision, EndedStep, ExecutionCommand, StepOutcome, StuckChoice, TurnCommand};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::model::ModelReply;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Purpose, TurnInput};
use planwright_engine::Engine;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::assert_whole;

fn here() -> SessionIdentity {
    session("cli:k3yk3y8x")
}

fn ask(plan: &PlanId, feedback: &str) -> Command {
    Command::Decide(Decision::Revise { plan: plan.clone(), feedback: feedback.to_owned() })
}

async fn decide(engine: &Engine, command: Command) -> Arc<Plan> {
    let id = command.subject().unwrap().clone();
    engine.submit(&here(), &person(), command).await.unwrap();
    engine.plans().get(&here(), &id).await.unwrap()
}

pub(crate) async fn the_same_text_again_changes_nothing(store: &Store) {
    let engine = store.engine().await;
    let plan = ready(&engine, &here(), "# Same\n\n- [ ] one").await;
    let before = engine.ledger().session(&here()).await.unwrap().unwrap().head;
    for _ in 0..3 {
        let again = draft(&engine, &here(), set("# Same\n\n- [ ] one")).await;
        assert_eq!((again.events.len(), again.seq, active(&again)), (0, before.seq, plan.clone()));
    }
    assert_eq!(engine.ledger().session(&here()).await.unwrap().unwrap().head, before);
    let other = draft(&engine, &here(), set("# Same\n\n- [ ] two")).await;
    assert_eq!(active(&other).version, 2);
    assert_whole(&engine).await;
}

pub(crate) async fn what_was_asked_first_still_stands_after_a_second_revision(store: &Store) {
    let engine = store.engine().await;
    let plan = ready(&engine, &here(), "# Plan\n\n1. One").await;
    decide(&engine, ask(&plan.id, "be brief")).await;
    let asked = decide(&engine, ask(&plan.id, "and be kind")).await;
    let feedback = asked.feedback.as_ref().unwrap().text.clone();
    assert!(feedback.contains("be brief") && feedback.contains("and be kind"), "{feedback:?}");
    // A new text answers all of it.
    assert_eq!(active(&draft(&engine, &here(), set("# Plan\n\n1. Kind")).await).feedback, None);
    assert_whole(&engine).await;
}

pub(crate) async fn a_parked_draft_that_is_revised_is_worked_on_again(store: &Store) {
    for style in PlanStyle::ALL {
        let store = &store.another().await;
        let engine = store.engine().await;
        let plan = planning(&engine, &here(), style).await;
        if style == PlanStyle::Collect {
            draft(&engine, &here(), record(1)).await;
        }
        engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();
        let revised = decide(&engine, ask(&plan.id, "look at the tests, too")).await;
        assert_eq!((revised.number, revised.status), (1, PlanStatus::Collecting));
        assert_eq!(revised.feedback.as_ref().unwrap().text, "look at the tests, too");
        let mode = engine.sessions().snapshot(&here()).await.unwrap().session.unwrap().plan_mode.clone();
        assert_eq!((mode.enabled, mode.style, mode.active_plan), (true, style, Some(plan.id.clone())));
        assert_eq!(engine.plans().list(&here(), None, 10).await.unwrap().items.len(), 1);
        assert_whole(&engine).await;
    }
}

pub(crate) async fn a_commit_tells_which_plan_was_active_before(store: &Store) {
    let engine = store.engine().await;
    let plan = ready(&engine, &here(), "# Plan\n\n1. One").await;
    let off = engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();
    let before = off.plan_mode_before.unwrap();
    assert_eq!((before.enabled, before.active_plan.as_ref()), (true, Some(&plan.id)));
    assert_eq!(off.snapshot.active(), None);
    assert_eq!(off.snapshot.plan(&plan.id), Some(plan.as_ref()), "the plan that was left is shown");
    let again = engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();
    let before = again.plan_mode_before.unwrap();
    assert_eq!((again.events.len(), before.enabled, before.active_plan), (0, false, None));
}

pub(crate) async fn a_parked_document_goes_on_where_it_stood(store: &Store) {
    let engine = store.engine().await;
    let plan = ready(&engine, &here(), "- [ ] one\n- [ ] two\n- [ ] three").await;
    decide(&engine, approve(&plan)).await;
    decide(&engine, resume(&plan.id)).await;
    let running = active(&engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap());
    assert_eq!(running.status, PlanStatus::Executing);
    engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();

    let resumed = engine.submit(&here(), &person(), resume(&plan.id)).await.unwrap();
    assert_eq!(names(&resumed.events), ["execution_resumed", "plan_mode_enabled"]);
    let steps = |plan: &Plan| plan.execution.as_ref().map(|execution| execution.steps.clone());
    assert_eq!(steps(&active(&resumed)), steps(&running));
    for _ in 0..2 {
        engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap();
    }
    let ended = engine.plans().get(&here(), &plan.id).await.unwrap();
    assert_eq!((ended.status, ended.execution.as_ref().unwrap().number), (PlanStatus::Completed, 1));
    assert_whole(&engine).await;
}

pub(crate) async fn a_document_with_every_step_ticked_is_complete_when_it_starts(store: &Store) {
    let engine = store.engine().await;
    for reported in [false, true] {
        let plan = ready(&engine, &here(), &format!("# {reported}\n\n- [x] one\n- [x] two")).await;
        decide(&engine, approve(&plan)).await;
        if reported {
            engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap();
        } else {
            engine.submit(&here(), &person(), resume(&plan.id)).await.unwrap();
        }
        let ended = store.engine().await.plans().get(&here(), &plan.id).await.unwrap();
        assert_eq!(ended.status, PlanStatus::Completed, "reported: {reported}");
        assert!(ended.execution.as_ref().unwrap().finished_at.is_some());
    }
    assert_whole(&engine).await;
}

pub(crate) async fn a_step_a_person_skipped_stays_skipped(store: &Store) {
    for style in [PlanStyle::Collect, PlanStyle::Build] {
        let store = &store.another().await;
        let engine = store.engine().await;
        planning(&engine, &here(), style).await;
        let commands = match style {
            PlanStyle::Build => vec![goal("three things"), add("one"), add("two"), add("three"), submit()],
            PlanStyle::Collect | PlanStyle::Document => vec![record(1), record(2), record(3), finalize()],
        };
        for command in commands {
            draft(&engine, &here(), command).await;
        }
        let plan = engine.plans().active(&here()).await.unwrap();
        decide(&engine, approve(&plan)).await;
        run(&engine, ExecutionCommand::Start { plan: plan.id.clone() }).await;
        step(&engine, &plan.id, "s1", StepStatus::Completed).await;
        step(&engine, &plan.id, "s2", StepStatus::Uncertain).await;
        let (skipped, choice) = (StepId::new("s2").unwrap(), StuckChoice::Skip);
        decide(&engine, Command::Decide(Decision::Settle { plan: plan.id.clone(), step: skipped, choice })).await;
        let execution = execution(&engine, &plan.id).await;
        run(&engine, ExecutionCommand::Finish { plan: plan.id.clone(), execution, ended: Vec::new() }).await;

        let resumed = decide(&engine, resume(&plan.id)).await;
        let execution = resumed.execution.as_ref().unwrap();
        let statuses: Vec<_> = execution.steps.iter().map(|run| run.status).collect();
        assert_eq!((resumed.status, execution.number), (PlanStatus::Executing, 2));
        assert_eq!(statuses, [StepStatus::Completed, StepStatus::Skipped, StepStatus::Pending], "{style}");
        assert_whole(&engine).await;
    }
}

pub(crate) async fn a_turn_for_a_step_of_a_parked_plan_has_the_plan_at_hand(store: &Store) {
    let engine = store.engine().await;
    planning(&engine, &here(), PlanStyle::Build).await;
    for command in [goal("one thing"), add("one"), submit()] {
        draft(&engine, &here(), command).await;
    }
    let plan = engine.plans().active(&here()).await.unwrap();
    engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();
    decide(&engine, approve(&plan)).await;
    run(&engine, ExecutionCommand::Start { plan: plan.id.clone() }).await;
    let (execution, step) = (execution(&engine, &plan.id).await, StepId::new("s1").unwrap());
    let (ended, begun) = (Vec::new(), vec![step.clone()]);
    run(&engine, ExecutionCommand::Advance { plan: plan.id.clone(), execution: execution.clone(), ended, begun }).await;

    // Nothing is known of the plan here but what the store lays out.
    let engine = store.engine().await;
    let purpose = Purpose::Step { plan: plan.id.clone(), execution, step, agent: "coder".to_owned() };
    let begin = TurnCommand::Begin { text: "Do it".to_owned(), tokens: 2, purpose };
    let begun = engine.submit(&here(), &agent(), Command::Turn(begin)).await.unwrap();
    assert!(begun.snapshot.plan(&plan.id).is_some());
    let turn = begun.snapshot.open_turn().unwrap().id.clone();
    let reply = ModelReply { text: "Hm.".to_owned(), ..ModelReply::default() };
    let (inputs, ending) = (vec![TurnInput::Replied { reply, tokens: 1 }], None);
    let record = TurnCommand::Record { turn, inputs, ending };
    let recorded = engine.submit(&here(), &agent(), Command::Turn(record)).await.unwrap();
    assert!(recorded.snapshot.plan(&plan.id).is_some(), "what the turn may do depends on it");
    let stopped = store.engine().await.submit(&here(), &person(), Command::Turn(TurnCommand::Stop)).await.unwrap();
    assert_eq!(names(&stopped.events), ["step_ended", "turn_ended"]);
    assert_whole(&engine).await;
}

async fn run(engine: &Engine, command: ExecutionCommand) {
    engine.submit(&here(), &agent(), Command::Execution(command)).await.unwrap();
}

async fn execution(engine: &Engine, plan: &PlanId) -> planwright_core::ids::ExecutionId {
    engine.plans().get(&here(), plan).await.unwrap().execution.as_ref().unwrap().id.clone()
}

/// Begins a step and ends it.
async fn step(engine: &Engine, plan: &PlanId, step: &str, status: StepStatus) {
    let (execution, step) = (execution(engine, plan).await, StepId::new(step).unwrap());
    let advance =
        |ended, begun| ExecutionCommand::Advance { plan: plan.clone(), execution: execution.clone(), ended, begun };
    run(engine, advance(Vec::new(), vec![step.clone()])).await;
    let outcome = StepOutcome { status, note: None, evidence: None };
    run(
        engine,
        advance(
            vec![EndedStep {
                step,
                outcome,
                changes: planwright_core::workspace::CallChanges::default(),
                permissions: planwright_core::plan::execution::PermissionCounts::default(),
            }],
            Vec::new(),
        ),
    )
    .await;
}
