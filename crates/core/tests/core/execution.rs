//! Carrying a plan out: intent, outcome, unknown results, and the reports of an agent that works from a document.

mod advance;
mod pauses;
mod step_by_step;
mod step_model;
mod stuck_steps;

use planwright_core::actor::Actor;
use planwright_core::command::{
    Command, Decision, ExecutionCommand, NewStep, ProgressReport, StepOutcome, StuckChoice,
};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;

use crate::world::*;

use StepStatus::{Completed, Failed, InProgress, Pending, Skipped, Uncertain};

fn approved_document(markdown: &str) -> World {
    let mut world = World::ready_document(markdown);
    world.approve(Selection::All).unwrap();
    world
}

fn approved_calls(steps: usize, selection: Selection) -> World {
    let mut world = World::planning(PlanStyle::Collect);
    for _ in 0..steps {
        world.agent(record_one()).unwrap();
    }
    world.agent(finalize()).unwrap();
    world.approve(selection).unwrap();
    world
}

fn running_calls(steps: usize) -> World {
    let mut world = approved_calls(steps, Selection::All);
    world.start().unwrap();
    world
}

fn steps(world: &World) -> Vec<StepStatus> {
    world.active().execution.as_ref().unwrap().steps.iter().map(|run| run.status).collect()
}

fn settle(world: &mut World, id: &str, choice: StuckChoice) -> Decided {
    let plan = world.active().id.clone();
    world.person(Command::Decide(Decision::Settle { plan, step: step(id), choice }))
}

/// A step in every status it can have in an execution.
fn with_step_in(status: StepStatus) -> World {
    let mut world = running_calls(2);
    if status != Pending {
        world.begin("s1").unwrap();
    }
    if !matches!(status, Pending | InProgress) {
        world.end("s1", status).unwrap();
    }
    assert_eq!(steps(&world)[0], status);
    world
}

#[test]
fn a_step_begins_once() {
    for status in StepStatus::ALL {
        let mut world = with_step_in(status);
        let begun = world.begin("s1");
        if status == Pending {
            assert_eq!(names(&begun.unwrap()), ["step_begun"]);
            assert_eq!(steps(&world), [InProgress, Pending]);
        } else {
            refused(begun, RefusalCode::WrongStatus, &format!("Step s1 is {} already.", status.as_str()));
        }
    }
}

#[test]
fn an_outcome_is_written_once_and_never_over_another() {
    for from in StepStatus::ALL {
        for to in StepStatus::ALL {
            let mut world = with_step_in(from);
            let allowed = match from {
                InProgress => to != InProgress,
                Pending => matches!(to, Skipped | Failed),
                Completed | Failed | Skipped | Uncertain => false,
            };
            let ended = world.end("s1", to);
            if allowed {
                ended.unwrap();
                assert_eq!(steps(&world)[0], to);
                let finished = world.active().execution.as_ref().unwrap().steps[0].finished_at;
                assert_eq!(finished.is_some(), to.is_settled(), "{from:?} to {to:?}");
            } else {
                refused(ended, RefusalCode::WrongStatus, "already");
                assert_eq!(steps(&world)[0], from);
            }
        }
    }
}

#[test]
fn a_step_that_is_not_there_is_not_found() {
    let mut world = running_calls(1);
    refused(world.begin("s2"), RefusalCode::NotFound, "has no step s2");
    refused(world.end("s2", Failed), RefusalCode::NotFound, "has no step s2");
}

#[test]
fn what_was_left_out_is_skipped_and_says_why() {
    let mut world = approved_calls(3, Selection::Skip([2].into()));
    world.start().unwrap();
    assert_eq!(steps(&world), [Pending, Skipped, Pending]);
    let note = world.active().execution.as_ref().unwrap().steps[1].note.clone();
    assert_eq!(note.as_deref(), Some("left out by the approval"));
    world.run_step("s1");
    world.run_step("s3");
    world.finish().unwrap();
    assert_eq!(world.active().status, PlanStatus::Completed);
}

#[test]
fn the_end_is_what_was_done() {
    use PlanStatus::{Completed as All, PartiallyCompleted as Some};
    for (first, second, expected) in [
        (Completed, Completed, All),
        (Completed, Skipped, All),
        (Skipped, Skipped, Some),
        (Completed, Failed, Some),
        (Completed, Pending, Some),
        (Completed, InProgress, Some),
        (Completed, Uncertain, Some),
        (Failed, Failed, Some),
        (Pending, Pending, Some),
    ] {
        let mut world = running_calls(2);
        for (id, status) in [("s1", first), ("s2", second)] {
            if status != Pending {
                world.begin(id).unwrap();
            }
            if !matches!(status, Pending | InProgress) {
                world.end(id, status).unwrap();
            }
        }
        world.finish().unwrap();
        assert_eq!(world.active().status, expected, "{first:?} {second:?}");
        assert!(world.active().execution.as_ref().unwrap().finished_at.is_some());
    }
}

#[test]
fn a_document_that_was_parked_goes_on_where_it_stood() {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    world.agent(report(Some(1), Completed)).unwrap();
    let id = world.active().id.clone();
    refused(world.person(resume(&id)), RefusalCode::WrongStatus, "a second execution cannot begin");
    world.person(off()).unwrap();
    let events = world.person(resume(&id)).unwrap();
    assert_eq!(names(&events), ["execution_resumed", "plan_mode_enabled"]);
    assert_eq!(steps(&world), [Completed, Pending]);
}

#[test]
fn a_text_whose_every_step_is_ticked_leaves_nothing_to_do() {
    for begin in [report(None, Completed), report(Some(1), InProgress)] {
        let mut world = World::ready_document("- [x] one\n- [X] two\n");
        world.approve(Selection::All).unwrap();
        world.agent(begin).unwrap();
        assert_eq!(world.active().status, PlanStatus::Completed);
    }
}

#[test]
fn a_step_waits_for_those_it_needs() {
    let mut world = World::draft(&["a", "b"]);
    world.agent(add(NewStep { needs: vec![step("s1")], ..new_step("c") })).unwrap();
    world.agent(submit()).unwrap();
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    refused(world.begin("s3"), RefusalCode::WrongStatus, "needs step s1, which is not done");
    world.run_step("s1");
    world.begin("s3").unwrap();
}

#[test]
fn what_is_said_when_a_step_begins_is_kept() {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    let outcome = StepOutcome { status: InProgress, note: Some("looking".to_owned()), evidence: None };
    world.agent(Command::Execution(ExecutionCommand::Report(ProgressReport { step: None, outcome }))).unwrap();
    assert_eq!(world.active().execution.as_ref().unwrap().steps[0].note.as_deref(), Some("looking"));
}

#[test]
fn a_resumed_plan_keeps_what_is_done_and_never_repeats_what_may_have_been() {
    for (before, after) in [
        (Pending, Pending),
        (InProgress, Uncertain),
        (Completed, Completed),
        (Failed, Pending),
        (Skipped, Skipped),
        (Uncertain, Uncertain),
    ] {
        let mut world = with_step_in(before);
        world.finish().unwrap();
        let id = world.active().id.clone();
        assert_eq!(world.active().status, PlanStatus::PartiallyCompleted);
        world.person(resume(&id)).unwrap();
        assert_eq!(steps(&world), [after, Pending], "{before:?}");
        assert_eq!(world.active().execution.as_ref().unwrap().number, 2);
    }
}

#[test]
fn an_agent_at_a_document_goes_on_with_the_step_it_was_at() {
    let mut world = approved_document(TWO_STEPS);
    world.agent(report(None, InProgress)).unwrap();
    world.finish().unwrap();
    world.start().unwrap();
    assert_eq!(steps(&world), [Pending, Pending]);
}

#[test]
fn skipping_the_last_open_step_ends_the_execution() {
    let mut world = running_calls(2);
    world.run_step("s1");
    world.begin("s2").unwrap();
    world.end("s2", Uncertain).unwrap();
    let settled = settle(&mut world, "s2", StuckChoice::Skip).unwrap();
    assert_eq!(names(&settled), ["step_ended", "execution_finished"]);
    assert_eq!(world.active().status, PlanStatus::Completed);
}

#[test]
fn an_unknown_result_waits_for_a_person() {
    for (choice, events, after) in [
        (StuckChoice::Retry, "step_ended", Pending),
        (StuckChoice::Skip, "step_ended", Skipped),
        (StuckChoice::Stop, "execution_finished", Uncertain),
    ] {
        let mut world = with_step_in(Uncertain);
        refused(world.begin("s1"), RefusalCode::WrongStatus, "UNCERTAIN");
        refused(world.end("s1", Completed), RefusalCode::WrongStatus, "UNCERTAIN");
        assert_eq!(names(&settle(&mut world, "s1", choice).unwrap()), [events]);
        assert_eq!(steps(&world)[0], after);
        let stopped = choice == StuckChoice::Stop;
        let status = if stopped { PlanStatus::PartiallyCompleted } else { PlanStatus::Executing };
        assert_eq!(world.active().status, status);
    }
}

#[test]
fn only_where_it_stopped_it_is_settled() {
    for status in StepStatus::ALL.into_iter().filter(|status| *status != Uncertain) {
        let mut world = with_step_in(status);
        refused(
            settle(&mut world, "s1", StuckChoice::Retry),
            RefusalCode::WrongStatus,
            "Step s1 of plan 1 is not one that it stopped at.",
        );
    }
    let mut over = with_step_in(Uncertain);
    over.finish().unwrap();
    // An execution that stopped there begins again, and remembers what was known.
    settle(&mut over, "s1", StuckChoice::Retry).unwrap();
    let run = &over.active().execution.as_ref().unwrap().steps[0];
    assert_eq!((run.status, run.attempts.len(), run.attempts[0].status), (Pending, 1, Uncertain));
    let mut ready = World::ready_document("x");
    refused(settle(&mut ready, "s1", StuckChoice::Retry), RefusalCode::WrongStatus, "it cannot be executed");
}

mod reports {
    use super::*;

    #[test]
    fn the_first_begins_the_execution_and_the_last_ends_it() {
        let mut world = approved_document(TWO_STEPS);
        assert_eq!(names(&world.agent(report(None, InProgress)).unwrap()), ["execution_started", "step_begun"]);
        assert_eq!(steps(&world), [InProgress, Pending]);
        assert_eq!(names(&world.agent(report(None, Completed)).unwrap()), ["step_ended"]);
        let events = world.agent(report(None, Completed)).unwrap();
        assert_eq!(names(&events), ["step_ended", "execution_finished"]);
        assert_eq!(world.active().status, PlanStatus::Completed);
        refused(world.agent(report(None, Completed)), RefusalCode::WrongStatus, "this one is COMPLETED");
    }

    #[test]
    fn one_step_done_at_once_begins_and_ends_it() {
        let mut world = approved_document("Just do it.");
        let events = world.agent(report(None, Completed)).unwrap();
        assert_eq!(names(&events), ["execution_started", "step_ended", "execution_finished"]);
        assert_eq!(world.active().status, PlanStatus::Completed);
    }

    #[test]
    fn failing_or_skipping_is_not_completing() {
        for status in [Failed, Skipped] {
            let mut world = approved_document("Just do it.");
            world.agent(report(None, status)).unwrap();
            assert_eq!(world.active().status, PlanStatus::PartiallyCompleted);
        }
    }

    #[test]
    fn steps_are_named_or_found() {
        let mut world = approved_document("1. a\n2. b\n3. c");
        world.agent(report(Some(2), InProgress)).unwrap();
        world.agent(report(None, Completed)).unwrap();
        assert_eq!(steps(&world), [Pending, Completed, Pending], "the one in progress");
        world.agent(report(None, Completed)).unwrap();
        assert_eq!(steps(&world), [Completed, Completed, Pending], "else the first one open");
        for position in [0, 4, usize::MAX] {
            refused(world.agent(report(Some(position), Completed)), RefusalCode::NotFound, "the plan has steps 1 to 3");
        }
    }

    #[test]
    fn a_tick_in_the_approved_text_counts_as_done() {
        let mut world = approved_document("- [x] a\n- [ ] b");
        world.agent(report(None, Completed)).unwrap();
        assert_eq!(steps(&world), [Completed, Completed]);
        let first = &world.active().execution.as_ref().unwrap().steps[0];
        assert_eq!(first.note.as_deref(), Some("ticked in the approved text"));
        assert_eq!(world.active().status, PlanStatus::Completed);
    }

    #[test]
    fn the_approved_text_is_never_edited() {
        let mut world = approved_document(TWO_STEPS);
        let digest = world.active().digest();
        world.agent(report(None, Completed)).unwrap();
        world.agent(report(None, Failed)).unwrap();
        assert_eq!(world.active().digest(), digest);
    }

    #[test]
    fn notes_and_evidence_are_kept_and_have_a_largest_size() {
        let with = |note: &str, evidence: &str| {
            let mut outcome = outcome(Completed);
            (outcome.note, outcome.evidence) = (Some(note.to_owned()), Some(evidence.to_owned()));
            Command::Execution(ExecutionCommand::Report(ProgressReport { step: None, outcome }))
        };
        let mut world = approved_document(TWO_STEPS);
        for command in [with(&"x".repeat(16 * 1024 + 1), ""), with("", &"x".repeat(16 * 1024 + 1))] {
            refused(world.agent(command), RefusalCode::LimitExceeded, "The report has 16385 bytes");
        }
        world.agent(with("it went well", "commit abc")).unwrap();
        let first = &world.active().execution.as_ref().unwrap().steps[0];
        assert_eq!((first.note.as_deref(), first.evidence.as_deref()), (Some("it went well"), Some("commit abc")));
    }

    #[test]
    fn some_reports_make_no_sense() {
        for status in [Pending, Uncertain] {
            let mut world = approved_document(TWO_STEPS);
            refused(
                world.agent(report(None, status)),
                RefusalCode::InvalidArgument,
                "in_progress, done, failed or skipped",
            );
            assert_eq!(world.active().status, PlanStatus::Approved);
        }
    }

    #[test]
    fn they_belong_to_a_document_that_is_approved() {
        let mut ready = World::ready_document(TWO_STEPS);
        refused(
            ready.agent(report(None, Completed)),
            RefusalCode::WrongStatus,
            "approved or executing; this one is READY",
        );
        let mut calls = running_calls(1);
        refused(
            calls.agent(report(None, Completed)),
            RefusalCode::PolicyDenied,
            "does not belong to plans of style collect",
        );
        let mut off_again = approved_document(TWO_STEPS);
        off_again.person(off()).unwrap();
        refused(off_again.agent(report(None, Completed)), RefusalCode::PolicyDenied, "only while plan work is on");
    }

    #[test]
    fn an_agent_does_not_settle_an_unknown_result() {
        let mut world = approved_document(TWO_STEPS);
        world.start().unwrap();
        world.begin("s1").unwrap();
        world.end("s1", Uncertain).unwrap();
        for named in [None, Some(1)] {
            refused(
                world.agent(report(named, Completed)),
                RefusalCode::WrongStatus,
                "a person decides how to continue",
            );
        }
        world.agent(report(Some(2), Completed)).unwrap();
        assert_eq!(world.active().status, PlanStatus::Executing);
    }
}

#[test]
fn resuming_a_parked_document_makes_it_active() {
    let mut world = approved_document(TWO_STEPS);
    let id = world.active().id.clone();
    world.person(off()).unwrap();
    world.person(resume(&id)).unwrap();
    assert!(world.enabled());
    assert_eq!((&world.active().id, world.active().status), (&id, PlanStatus::Executing));
}

#[test]
fn resuming_a_parked_collected_plan_does_not_record_again() {
    let mut world = approved_calls(1, Selection::All);
    let id = world.active().id.clone();
    world.person(off()).unwrap();
    world.person(resume(&id)).unwrap();
    assert!(!world.enabled());
    assert_eq!(world.plan(&id).status, PlanStatus::Executing);
}

#[test]
fn progress_counts_and_names_the_next_step() {
    let mut world = approved_document("1. a\n2. b\n3. c");
    world.start().unwrap();
    let progress = |world: &World| {
        let progress = world.active().execution.as_ref().unwrap().progress();
        let next = progress.next.map(|next| format!("{} {}", next.step, next.description));
        (progress.done, progress.total, next.unwrap_or_default())
    };
    assert_eq!(progress(&world), (0, 3, "1 a".to_owned()));
    world.run_step("s1");
    assert_eq!(progress(&world), (1, 3, "2 b".to_owned()));
    world.end("s2", Skipped).unwrap();
    assert_eq!(progress(&world), (1, 3, "3 c".to_owned()));
    world.run_step("s3");
    assert_eq!(progress(&world), (2, 3, String::new()));
}

#[test]
fn nothing_runs_in_a_session_that_is_not_there() {
    let plan = planwright_core::ids::PlanId::new("x").unwrap();
    let start = Command::Execution(ExecutionCommand::Start { plan });
    let decided = World::unopened(SESSION).send(Actor::system("executor"), start.clone());
    refused(decided, RefusalCode::NotFound, "There is no session");
    refused(World::new().send(Actor::system("executor"), start), RefusalCode::NotFound, "There is no plan x");
}
