//! Outcomes and intents are written together, all of them or none; a specialist reports on its own step.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, EndedStep, ExecutionCommand, ProgressReport, StepOutcome};
use planwright_core::ids::{ExecutionId, PlanId};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::plan::execution::StepStatus::{self, Completed, Failed, InProgress, Pending, Skipped, Uncertain};
use planwright_core::refusal::RefusalCode;
use planwright_core::workspace::CallChanges;

use super::steps;
use crate::world::*;

/// Four steps, of which 2 needs 1 and 3 needs 2, that are carried out.
pub(super) fn running_steps() -> World {
    let mut world = World::draft(&["one", "two", "three"]);
    world.agent(add(new_step("four"))).unwrap();
    world.agent(submit()).unwrap();
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world
}

fn ended(steps: &[(&str, StepStatus)]) -> Vec<EndedStep> {
    let ended = |(id, status): &(&str, StepStatus)| EndedStep {
        step: step(id),
        outcome: outcome(*status),
        changes: CallChanges::default(),
        permissions: PermissionCounts::default(),
    };
    steps.iter().map(ended).collect()
}

fn finish(world: &mut World, steps: &[(&str, StepStatus)]) -> Decided {
    let (plan, execution, ended) = (world.active().id.clone(), world.execution(), ended(steps));
    world.send(Actor::system("executor"), Command::Execution(ExecutionCommand::Finish { plan, execution, ended }))
}

fn advance(world: &mut World, steps: &[(&str, StepStatus)], begun: &[&str]) -> Decided {
    let ended = ended(steps);
    let begun = begun.iter().map(|id| step(id)).collect();
    let (plan, execution) = (world.active().id.clone(), world.execution());
    world.send(
        Actor::system("executor"),
        Command::Execution(ExecutionCommand::Advance { plan, execution, ended, begun }),
    )
}

#[test]
fn the_outcome_of_the_last_steps_counts_for_the_end_that_is_written_with_it() {
    for (status, end) in [(Completed, PlanStatus::Completed), (Failed, PlanStatus::PartiallyCompleted)] {
        let mut world = super::running_calls(2);
        advance(&mut world, &[], &["s1"]).unwrap();
        advance(&mut world, &[("s1", Completed)], &["s2"]).unwrap();
        let events = finish(&mut world, &[("s2", status)]).unwrap();
        assert_eq!(events.iter().map(|event| event.name()).collect::<Vec<_>>(), ["step_ended", "execution_finished"]);
        assert_eq!(world.active().status, end);
        assert_eq!(steps(&world), [Completed, status]);
    }
}

#[test]
fn an_end_with_an_outcome_that_does_not_fit_ends_nothing() {
    let mut world = super::running_calls(2);
    advance(&mut world, &[], &["s1"]).unwrap();
    assert_eq!(finish(&mut world, &[("s2", Completed)]).unwrap_err().code, RefusalCode::WrongStatus);
    assert_eq!(world.active().status, PlanStatus::Executing);
    assert_eq!(steps(&world), [InProgress, Pending]);
}

#[test]
fn what_ends_is_seen_by_what_begins_and_everything_happens_or_nothing() {
    use RefusalCode::{NotFound, WrongStatus};
    type Row<'a> = (&'a str, &'a [(&'a str, StepStatus)], &'a [&'a str], Result<&'a str, (RefusalCode, &'a str)>);
    let rows: [Row<'_>; 14] = [
        ("nothing", &[], &[], Ok("")),
        ("an end", &[("s1", Completed)], &[], Ok("step_ended")),
        ("a beginning", &[], &["s4"], Ok("step_begun")),
        ("what needs it begins with its end", &[("s1", Completed)], &["s2"], Ok("step_ended step_begun")),
        ("two at once", &[("s1", Completed)], &["s2", "s4"], Ok("step_ended step_begun step_begun")),
        ("it may be skipped unbegun", &[("s1", Failed), ("s4", Skipped)], &[], Ok("step_ended step_ended")),
        ("what needs it waits if it failed", &[("s1", Failed)], &["s2"], Err((WrongStatus, "needs step s1"))),
        ("or was skipped", &[("s1", Skipped)], &["s2"], Err((WrongStatus, "needs step s1"))),
        ("or is under way", &[], &["s2"], Err((WrongStatus, "needs step s1"))),
        ("what only begins is not done", &[("s1", Completed)], &["s2", "s3"], Err((WrongStatus, "needs step s2"))),
        ("it begins once", &[], &["s4", "s4"], Err((WrongStatus, "s4 is IN_PROGRESS already"))),
        ("it ends once", &[("s1", Completed), ("s1", Failed)], &[], Err((WrongStatus, "s1 is COMPLETED already"))),
        ("it is not done unbegun", &[("s1", Completed), ("s4", Completed)], &[], Err((WrongStatus, "s4 is PENDING"))),
        ("there is no such step", &[("s1", Completed)], &["s9"], Err((NotFound, "has no step s9"))),
    ];
    for (name, ended, begun, expected) in rows {
        let mut world = running_steps();
        world.begin("s1").unwrap();
        let before = world.snapshot.clone();
        let decided = advance(&mut world, ended, begun);
        match expected {
            Ok(events) => {
                assert_eq!(names(&decided.unwrap()).join(" "), events, "{name}");
                for (id, status) in ended {
                    let execution = world.active().execution.as_ref().unwrap();
                    assert_eq!(execution.step(&step(id)).unwrap().status, *status, "{name}");
                }
            }
            Err((code, text)) => {
                refused(decided, code, text);
                assert_eq!(world.snapshot, before, "{name}");
            }
        }
    }
}

#[test]
fn only_the_execution_that_is_under_way_moves() {
    let mut world = running_steps();
    let plan = world.active().id.clone();
    let empty = |plan: &PlanId, execution: &ExecutionId| {
        let (plan, execution) = (plan.clone(), execution.clone());
        Command::Execution(ExecutionCommand::Advance { plan, execution, ended: Vec::new(), begun: Vec::new() })
    };
    let (current, other) = (world.execution(), ExecutionId::new("another").unwrap());
    assert_eq!(world.agent(empty(&plan, &current)).unwrap(), []);
    refused(world.agent(empty(&plan, &other)), RefusalCode::WrongStatus, "this execution is over");
    let gone = PlanId::new("gone").unwrap();
    refused(world.agent(empty(&gone, &current)), RefusalCode::NotFound, "There is no plan gone");
    world.finish().unwrap();
    refused(world.agent(empty(&plan, &current)), RefusalCode::WrongStatus, "this execution is over");
    world.start().unwrap();
    refused(world.agent(empty(&plan, &current)), RefusalCode::WrongStatus, "this execution is over");
}

fn report_on(world: &mut World, id: &str, named: Option<usize>, outcome: StepOutcome) -> Decided {
    let (plan, execution) = (world.active().id.clone(), world.execution());
    let report = ProgressReport { step: named, outcome };
    world.agent(Command::Execution(ExecutionCommand::ReportOnStep { plan, execution, step: step(id), report }))
}

#[test]
fn a_specialist_reports_on_a_step_that_is_in_progress() {
    for from in StepStatus::ALL {
        for to in StepStatus::ALL {
            let mut world = running_steps();
            if from != Pending {
                world.begin("s4").unwrap();
            }
            if !matches!(from, Pending | InProgress) {
                world.end("s4", from).unwrap();
            }
            let before = world.snapshot.clone();
            let decided = report_on(&mut world, "s4", None, outcome(to));
            match (from, to) {
                (InProgress, Completed | Failed | Skipped) => {
                    assert_eq!(names(&decided.unwrap()), ["step_ended"]);
                    assert_eq!(steps(&world)[3], to);
                    assert_eq!(world.active().status, PlanStatus::Executing, "the execution ends by itself");
                }
                (InProgress, InProgress) => assert_eq!(names(&decided.unwrap()), ["step_begun"]),
                (InProgress, Pending | Uncertain) => {
                    refused(decided, RefusalCode::InvalidArgument, "in_progress, done, failed or skipped");
                    assert_eq!(world.snapshot, before);
                }
                (Pending | Completed | Failed | Skipped | Uncertain, _) => {
                    refused(decided, RefusalCode::WrongStatus, &format!("Step s4 is {} already", from.as_str()));
                    assert_eq!(world.snapshot, before);
                }
            }
        }
    }
}

#[test]
fn a_specialist_reports_on_its_own_step_and_no_other() {
    for (named, taken) in [(None, true), (Some(4), true), (Some(1), false), (Some(0), false), (Some(9), false)] {
        let mut world = running_steps();
        world.begin("s4").unwrap();
        world.begin("s1").unwrap();
        let decided = report_on(&mut world, "s4", named, outcome(Completed));
        if taken {
            decided.unwrap();
            assert_eq!(steps(&world), [InProgress, Pending, Pending, Completed]);
        } else {
            refused(decided, RefusalCode::PolicyDenied, "Only the step that was given");
        }
    }
    let mut world = running_steps();
    refused(report_on(&mut world, "s9", None, outcome(Completed)), RefusalCode::NotFound, "has no step s9");
    let execution = world.execution();
    world.finish().unwrap();
    let report = ProgressReport { step: None, outcome: outcome(Completed) };
    let late = ExecutionCommand::ReportOnStep { plan: world.active().id.clone(), execution, step: step("s1"), report };
    refused(world.agent(Command::Execution(late)), RefusalCode::WrongStatus, "this execution is over");
}

#[test]
fn notes_and_evidence_of_a_report_are_kept_and_have_a_largest_size() {
    let reply = |status, note: &str, evidence: &str| StepOutcome {
        status,
        note: Some(note.to_owned()),
        evidence: Some(evidence.to_owned()),
    };
    let mut world = running_steps();
    world.begin("s4").unwrap();
    let long = "x".repeat(16 * 1024 + 1);
    for outcome in [reply(Completed, &long, ""), reply(Completed, "", &long)] {
        refused(report_on(&mut world, "s4", None, outcome), RefusalCode::LimitExceeded, "16385 bytes");
    }
    report_on(&mut world, "s4", None, reply(InProgress, "half", "")).unwrap();
    let run = |world: &World| world.active().execution.as_ref().unwrap().steps[3].clone();
    assert_eq!(run(&world).note.as_deref(), Some("half"));
    report_on(&mut world, "s4", None, reply(Completed, "all", "see there")).unwrap();
    assert_eq!((run(&world).note.as_deref(), run(&world).evidence.as_deref()), (Some("all"), Some("see there")));
}

#[test]
fn a_step_that_is_skipped_takes_along_what_needs_it() {
    let mut world = running_steps();
    world.begin("s1").unwrap();
    world.begin("s4").unwrap();
    let skipped = StepOutcome { status: Skipped, note: Some("not wanted".to_owned()), evidence: None };
    assert_eq!(names(&report_on(&mut world, "s1", None, skipped).unwrap()), ["step_ended"; 3]);
    assert_eq!(steps(&world), [Skipped, Skipped, Skipped, InProgress]);
    let notes: Vec<_> = world.active().execution.as_ref().unwrap().steps.iter().map(|run| run.note.clone()).collect();
    assert_eq!(notes[0].as_deref(), Some("not wanted"));
    assert_eq!(notes[1].as_deref(), Some("needs step 1, which is skipped"));
    assert_eq!(notes[2].as_deref(), Some("needs step 2, which is skipped"));
    let mut world = running_steps();
    world.run_step("s1");
    world.begin("s2").unwrap();
    report_on(&mut world, "s2", None, outcome(Skipped)).unwrap();
    assert_eq!(steps(&world), [Completed, Skipped, Skipped, Pending], "what is done stays done");
}
