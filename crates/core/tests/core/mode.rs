//! Plan mode: on, off, done and reset, and what each makes of the plan.

use planwright_core::command::{Command, SessionCommand};
use planwright_core::ids::PlanId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;

use crate::world::*;

#[test]
fn a_session_opens_once() {
    let mut world = World::unopened(SESSION);
    assert_eq!(names(&world.person(open()).unwrap()), ["session_opened"]);
    assert_eq!(world.person(open()).unwrap(), []);
    assert!(!world.enabled());
}

#[test]
fn a_new_key_is_not_a_short_one() {
    refused(World::unopened("cli:short").person(open()), RefusalCode::NotFound, "a new key has 8 to 64 letters");
    for command in [on(PlanStyle::Document), ensure(None), off(), done(), reset()] {
        refused(World::unopened(SESSION).person(command), RefusalCode::NotFound, "There is no session cli:k3yk3y8x.");
    }
}

#[test]
fn on_makes_a_plan_and_makes_it_active() {
    for style in PlanStyle::ALL {
        let mut world = World::new();
        assert_eq!(names(&world.person(on(style)).unwrap()), ["plan_created", "plan_mode_enabled"]);
        assert!(world.enabled());
        let plan = world.active();
        assert_eq!((plan.style(), plan.status, plan.number), (style, PlanStatus::Collecting, 1));
    }
}

#[test]
fn an_empty_plan_is_used_again() {
    for style in PlanStyle::ALL {
        let mut world = World::planning(style);
        assert_eq!(world.person(on(style)).unwrap(), []);
        assert_eq!(world.snapshot.plans.len(), 1);
    }
}

#[test]
fn an_empty_plan_of_another_style_is_cancelled() {
    let mut world = World::planning(PlanStyle::Document);
    let events = world.person(on(PlanStyle::Collect)).unwrap();
    assert_eq!(names(&events), ["plan_cancelled", "plan_created", "plan_mode_enabled"]);
    assert_eq!(world.statuses(), [PlanStatus::Cancelled, PlanStatus::Collecting]);
}

#[test]
fn an_empty_plan_that_was_parked_is_used_again_or_cancelled() {
    let on_again = |style, parked: &PlanId| {
        Command::Session(SessionCommand::EnablePlanMode { style, parked: Some(parked.clone()) })
    };
    for style in PlanStyle::ALL {
        let mut world = World::planning(style);
        let first = world.active().id.clone();
        for _ in 0..5 {
            world.person(off()).unwrap();
            assert_eq!(names(&world.person(on_again(style, &first)).unwrap()), ["plan_mode_enabled"]);
            assert_eq!((world.active().id.clone(), world.snapshot.plans.len()), (first.clone(), 1));
        }
    }
    let mut world = World::planning(PlanStyle::Document);
    let first = world.active().id.clone();
    world.person(off()).unwrap();
    let events = world.person(on_again(PlanStyle::Build, &first)).unwrap();
    assert_eq!(names(&events), ["plan_cancelled", "plan_created", "plan_mode_enabled"]);
    // One with something in it stays parked, whatever the command says.
    let mut world = World::ready_document("x");
    let first = world.active().id.clone();
    world.person(off()).unwrap();
    let events = world.person(on_again(PlanStyle::Document, &first)).unwrap();
    assert_eq!(names(&events), ["plan_created", "plan_mode_enabled"]);
}

#[test]
fn a_plan_with_something_in_it_is_parked_by_a_new_one() {
    let mut world = World::ready_document("x");
    world.person(on(PlanStyle::Document)).unwrap();
    assert_eq!(world.statuses(), [PlanStatus::Ready, PlanStatus::Collecting]);
    assert_eq!(world.active().number, 2);
}

#[test]
fn off_parks_the_plan_as_it_is() {
    for (world, status) in [
        (World::planning(PlanStyle::Document), PlanStatus::Collecting),
        (World::ready_document("x"), PlanStatus::Ready),
        (World::draft(&["a"]), PlanStatus::Collecting),
    ] {
        let mut world = world;
        let before = world.active().clone();
        assert_eq!(names(&world.person(off()).unwrap()), ["plan_mode_disabled"]);
        assert!(!world.enabled());
        assert_eq!(world.snapshot.active(), None);
        assert_eq!(world.plan(&before.id), &before);
        assert_eq!(before.status, status);
        assert_eq!(world.person(off()).unwrap(), [], "off twice is off once");
    }
}

#[test]
fn a_parked_plan_never_comes_back_by_itself() {
    for leave in [off(), done()] {
        let mut world = World::ready_document("x");
        let parked = world.active().id.clone();
        world.person(leave).unwrap();
        for again in [on(PlanStyle::Document), ensure(None), ensure(Some(PlanStyle::Document))] {
            let mut world = world.clone();
            world.person(again).unwrap();
            assert_ne!(world.active().id, parked);
            assert!(world.active().is_empty());
        }
    }
}

#[test]
fn leaving_many_times_leaves_nothing_that_counts() {
    let mut world = World::new();
    for _ in 0..20 {
        world.person(on(PlanStyle::Document)).unwrap();
        world.person(off()).unwrap();
    }
    world.person(on(PlanStyle::Document)).unwrap();
    world.agent(set("x")).unwrap();
    assert_eq!(world.active().number, 21);
}

#[test]
fn done_ends_plan_work_by_what_is_there() {
    let mut executing = World::ready_document(TWO_STEPS);
    executing.approve(Selection::All).unwrap();
    let approved = executing.clone();
    executing.start().unwrap();
    let mut finished = executing.clone();
    finished.run_step("s1");
    finished.run_step("s2");
    for (mut world, events, status) in [
        (World::planning(PlanStyle::Document), vec!["plan_cancelled", "plan_mode_disabled"], PlanStatus::Cancelled),
        (World::ready_document("x"), vec!["plan_mode_disabled"], PlanStatus::Ready),
        (approved, vec!["plan_mode_disabled"], PlanStatus::Approved),
        (executing, vec!["execution_finished", "plan_mode_disabled"], PlanStatus::PartiallyCompleted),
        (finished, vec!["execution_finished", "plan_mode_disabled"], PlanStatus::Completed),
        (World::draft(&["a"]), vec!["plan_mode_disabled"], PlanStatus::Collecting),
    ] {
        assert_eq!(names(&world.person(done()).unwrap()), events);
        assert_eq!(world.statuses(), [status]);
        assert!(!world.enabled() && world.snapshot.active().is_none());
        assert_eq!(world.person(done()).unwrap(), []);
    }
}

#[test]
fn reset_cancels_the_active_plan_and_leaves_the_mode() {
    let mut executing = World::ready_document(TWO_STEPS);
    executing.approve(Selection::All).unwrap();
    executing.start().unwrap();
    for mut world in [World::planning(PlanStyle::Collect), World::ready_document("x"), executing] {
        let events = world.person(reset()).unwrap();
        assert_eq!(names(&events), ["plan_cancelled", "plan_mode_disabled", "conversation_reset"]);
        assert_eq!(world.statuses(), [PlanStatus::Cancelled]);
        assert!(world.only_plan().execution.as_ref().is_none_or(|execution| execution.finished_at.is_some()));
        assert!(!world.enabled());
        assert_eq!(names(&world.person(reset()).unwrap()), ["conversation_reset"]);
    }
}

#[test]
fn reset_leaves_parked_and_finished_plans_alone() {
    let mut world = World::ready_document("x");
    world.person(off()).unwrap();
    world.person(reset()).unwrap();
    assert_eq!(world.statuses(), [PlanStatus::Ready]);
    let mut rejected = World::ready_document("x");
    let id = rejected.active().id.clone();
    rejected.person(reject(&id)).unwrap();
    assert_eq!(names(&rejected.person(reset()).unwrap()), ["plan_mode_disabled", "conversation_reset"]);
    assert_eq!(rejected.statuses(), [PlanStatus::Rejected]);
}

#[test]
fn ensuring_plan_work_keeps_a_plan_that_is_alive() {
    let mut world = World::ready_document("x");
    assert_eq!(world.person(ensure(None)).unwrap(), []);
    assert_eq!(world.person(ensure(Some(PlanStyle::Document))).unwrap(), []);
    world.person(ensure(Some(PlanStyle::Collect))).unwrap();
    assert_eq!((world.active().style(), world.active().number), (PlanStyle::Collect, 2));
    assert_eq!(world.person(ensure(None)).unwrap(), [], "without a style it stays with the one it has");
}

#[test]
fn ensuring_plan_work_begins_anew_after_a_plan_has_ended() {
    let mut world = World::ready_document("x");
    let id = world.active().id.clone();
    world.person(cancel(&id)).unwrap();
    refused(world.agent(set("y")), RefusalCode::WrongStatus, "it is finished");
    world.person(ensure(None)).unwrap();
    assert_eq!(world.statuses(), [PlanStatus::Cancelled, PlanStatus::Collecting]);
    world.agent(set("y")).unwrap();
}

#[test]
fn a_successor_is_active_in_place_of_the_plan_it_supersedes() {
    let mut world = World::ready_document("x");
    world.approve(Selection::All).unwrap();
    world.agent(set("y")).unwrap();
    assert_eq!(world.active().number, 2);
    assert!(world.enabled());
}
