//! What a person says about a step that it stopped at, while the execution waits and after it ended.

use planwright_core::command::{Command, Decision, StuckChoice};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus::{self, Completed, Failed, Pending, Skipped, Uncertain};
use planwright_core::refusal::RefusalCode;

use super::advance::running_steps;
use super::{settle, steps};
use crate::world::*;

/// Four steps, of which 2 needs 1 and 3 needs 2; the first has this outcome.
fn stuck(status: StepStatus) -> World {
    let mut world = running_steps();
    world.begin("s1").unwrap();
    world.end("s1", status).unwrap();
    world
}

#[test]
fn while_it_waits_and_after_it_ended() {
    use PlanStatus::{Executing, PartiallyCompleted as Partial};
    use StuckChoice::{Retry, Skip, Stop};
    const LEFT: [StepStatus; 4] = [Skipped, Skipped, Skipped, Pending];
    const AGAIN: [StepStatus; 4] = [Pending; 4];
    for (status, ended, choice, events, after, plan) in [
        (Uncertain, false, Retry, "step_ended", AGAIN, Executing),
        (Uncertain, false, Skip, "step_ended step_ended step_ended", LEFT, Executing),
        (Uncertain, false, Stop, "execution_finished", [Uncertain, Pending, Pending, Pending], Partial),
        (Uncertain, true, Retry, "execution_started", AGAIN, Executing),
        (Uncertain, true, Skip, "execution_started", LEFT, Executing),
        (Uncertain, true, Stop, "", [Uncertain, Pending, Pending, Pending], Partial),
        (Failed, true, Retry, "execution_started", AGAIN, Executing),
        (Failed, true, Skip, "execution_started", LEFT, Executing),
        (Failed, true, Stop, "", [Failed, Pending, Pending, Pending], Partial),
    ] {
        let mut world = stuck(status);
        if ended {
            world.finish().unwrap();
        }
        let decided = settle(&mut world, "s1", choice).unwrap();
        assert_eq!(names(&decided).join(" "), events, "{status:?} {ended} {choice:?}");
        assert_eq!(steps(&world), after, "{status:?} {ended} {choice:?}");
        assert_eq!(world.active().status, plan, "{status:?} {ended} {choice:?}");
        let run = world.active().execution.as_ref().unwrap().steps[0].clone();
        if choice == Retry {
            assert_eq!(run.attempts.last().unwrap().status, status, "what came of it is remembered");
        }
        if choice == Skip {
            assert_eq!(run.note.as_deref(), Some("skipped, as a person decided"));
        }
    }
}

#[test]
fn what_is_skipped_leaves_what_is_done() {
    for ended in [false, true] {
        let mut world = running_steps();
        world.run_step("s1");
        world.run_step("s4");
        world.begin("s2").unwrap();
        world.end("s2", Uncertain).unwrap();
        if ended {
            world.finish().unwrap();
        }
        settle(&mut world, "s2", StuckChoice::Skip).unwrap();
        assert_eq!(steps(&world), [Completed, Skipped, Skipped, Completed]);
        if ended {
            assert_eq!(world.active().status, PlanStatus::Completed, "nothing is left to do");
        }
    }
}

#[test]
fn a_plan_of_nothing_but_skipped_steps_ends_with_the_decision() {
    let mut world = World::draft(&["one"]);
    world.agent(submit()).unwrap();
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world.begin("s1").unwrap();
    world.end("s1", Failed).unwrap();
    world.finish().unwrap();
    let events = settle(&mut world, "s1", StuckChoice::Skip).unwrap();
    assert_eq!(names(&events), ["execution_started", "execution_finished"]);
    assert_eq!(world.active().status, PlanStatus::PartiallyCompleted, "no step done is never complete");
}

#[test]
fn a_parked_document_is_worked_on_again_once_it_is_settled() {
    for choice in [StuckChoice::Retry, StuckChoice::Skip] {
        let mut world = World::ready_document(TWO_STEPS);
        world.approve(Selection::All).unwrap();
        world.start().unwrap();
        world.begin("s1").unwrap();
        world.end("s1", Uncertain).unwrap();
        world.finish().unwrap();
        let plan = world.active().id.clone();
        world.person(off()).unwrap();
        let settle = Decision::Settle { plan: plan.clone(), step: step("s1"), choice };
        let events = world.person(Command::Decide(settle)).unwrap();
        assert_eq!(names(&events), ["execution_started", "plan_mode_enabled"], "{choice:?}");
        assert_eq!(world.active().id, plan);
    }
}

#[test]
fn only_a_person_settles_it_and_only_a_step_that_is_there() {
    let mut world = stuck(Uncertain);
    let plan = world.active().id.clone();
    for choice in StuckChoice::ALL {
        let settle = Command::Decide(Decision::Settle { plan: plan.clone(), step: step("s1"), choice });
        let before = world.snapshot.clone();
        refused(world.agent(settle.clone()), RefusalCode::PolicyDenied, "Only a person decides");
        refused(world.send(policy_actor(), settle), RefusalCode::PolicyDenied, "Only a person decides");
        assert_eq!(world.snapshot, before);
        refused(settle_unknown(&mut world, choice), RefusalCode::WrongStatus, "Step s9 of plan 1 is not one");
    }
    let mut failed = stuck(Failed);
    refused(settle(&mut failed, "s1", StuckChoice::Retry), RefusalCode::WrongStatus, "is not one that it stopped at");
}

fn settle_unknown(world: &mut World, choice: StuckChoice) -> Decided {
    settle(world, "s9", choice)
}

#[test]
fn of_many_attempts_the_latest_are_remembered() {
    let mut world = stuck(Uncertain);
    for n in 1..=5 {
        settle(&mut world, "s1", StuckChoice::Retry).unwrap();
        world.begin("s1").unwrap();
        world.end("s1", if n % 2 == 0 { Uncertain } else { Pending }).unwrap();
        if n % 2 == 1 {
            world.begin("s1").unwrap();
            world.end("s1", Uncertain).unwrap();
        }
    }
    assert_eq!(world.active().execution.as_ref().unwrap().steps[0].attempts.len(), 3);
}
