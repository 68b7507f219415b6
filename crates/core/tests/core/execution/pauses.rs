//! When an execution waits for a person, and when it does not any more.

use planwright_core::actor::Actor;
use planwright_core::choices::is_worked_on;
use planwright_core::command::{Command, ExecutionCommand, TurnCommand};
use planwright_core::ids::TurnId;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus::{Completed, Failed, InProgress};
use planwright_core::plan::execution::{Pause, StepStatus};
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::{Purpose, TurnEnd, TurnEnding};

use crate::random_conversation::say;
use crate::world::*;

/// A document of two steps that is carried out.
fn executing() -> World {
    let mut world = World::ready_document("- [ ] one\n- [ ] two");
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world
}

fn begin_document(world: &mut World) -> Decided {
    let purpose = Purpose::Document { plan: world.active().id.clone() };
    let begin = TurnCommand::Begin { text: "Go on".to_owned(), tokens: 2, purpose };
    world.send(Actor::system("server"), Command::Turn(begin))
}

fn end_turn(world: &mut World, end: TurnEnd) -> Decided {
    let turn: TurnId = world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().id.clone();
    let record = TurnCommand::Record { turn, inputs: Vec::new(), ending: Some(TurnEnding::from(end)) };
    world.send(Actor::system("server"), Command::Turn(record))
}

fn idle_turns(world: &World) -> Option<u32> {
    let execution = world.active().execution.as_ref().unwrap();
    execution.paused_since().map(|_| execution.idle_turns())
}

#[test]
fn every_end_of_a_turn_pauses_the_document_it_left_open() {
    let ends = [
        TurnEnd::Answered,
        TurnEnd::Stopped,
        TurnEnd::Looping,
        TurnEnd::NoAnswer,
        TurnEnd::ModelFailed { message: "400".to_owned() },
        TurnEnd::Interrupted,
    ];
    for end in ends {
        let mut world = executing();
        begin_document(&mut world).unwrap();
        assert_eq!(idle_turns(&world), None);
        assert_eq!(names(&end_turn(&mut world, end.clone()).unwrap()), ["turn_ended", "execution_paused"], "{end:?}");
        assert_eq!(idle_turns(&world), Some(1), "{end:?}");
    }
}

#[test]
fn a_document_that_is_over_is_not_paused() {
    let mut world = executing();
    begin_document(&mut world).unwrap();
    world.agent(report(Some(1), Completed)).unwrap();
    world.agent(report(Some(2), Completed)).unwrap();
    assert_eq!(names(&end_turn(&mut world, TurnEnd::Answered).unwrap()), ["turn_ended"]);
}

#[test]
fn a_document_that_was_parked_during_its_turn_is_paused_too() {
    for parking in [on(PlanStyle::Collect), off()] {
        let mut world = executing();
        let plan = world.active().id.clone();
        begin_document(&mut world).unwrap();
        world.person(parking).unwrap();
        end_turn(&mut world, TurnEnd::Answered).unwrap();
        assert!(world.plan(&plan).execution.as_ref().unwrap().paused_since().is_some());
    }
}

#[test]
fn a_document_that_is_parked_before_its_turn_began_is_paused() {
    for parking in [on(PlanStyle::Collect), off()] {
        let mut world = executing();
        let plan = world.active().id.clone();
        let events = world.person(parking).unwrap();
        assert_eq!(names(&events).last(), Some(&"execution_paused"));
        assert!(world.plan(&plan).execution.as_ref().unwrap().paused_since().is_some());
    }
}

#[test]
fn a_turn_does_not_begin_for_a_document_that_moved_since_it_was_looked_at() {
    let mut world = executing();
    let begin = |world: &mut World, seen: Option<Pause>| {
        let plan = world.active().id.clone();
        let begin = TurnCommand::BeginDocument { text: "Go on".to_owned(), tokens: 2, plan, seen };
        world.send(Actor::system("server"), Command::Turn(begin))
    };
    begin(&mut world, None).unwrap();
    end_turn(&mut world, TurnEnd::Answered).unwrap();
    refused(begin(&mut world, None), RefusalCode::WrongStatus, "another process has worked on it since");
    let seen = world.active().execution.as_ref().unwrap().pause;
    begin(&mut world, seen).unwrap();
}

#[test]
fn idle_turns_add_up_until_a_step_moves_or_a_person_speaks() {
    let mut world = executing();
    for expected in 1..=2 {
        begin_document(&mut world).unwrap();
        end_turn(&mut world, TurnEnd::Answered).unwrap();
        assert_eq!(idle_turns(&world), Some(expected));
    }
    refused(begin_document(&mut world), RefusalCode::LimitExceeded, "2 turns in a row");
    // A person's message is answered, and the count begins anew.
    world.person(say("And?")).unwrap();
    end_turn(&mut world, TurnEnd::Answered).unwrap();
    assert_eq!(idle_turns(&world), Some(0));
    begin_document(&mut world).unwrap();
    world.agent(report(Some(1), InProgress)).unwrap();
    assert_eq!(idle_turns(&world), None, "a step that moves lifts the pause");
    end_turn(&mut world, TurnEnd::Answered).unwrap();
    assert_eq!(idle_turns(&world), Some(1));
}

/// The pause that a turn left stays until a step moves. It is none while the next turn is open.
#[test]
fn a_plan_is_worked_on_while_a_turn_is_open_for_it() {
    let mut world = executing();
    let works = |world: &World| is_worked_on(world.active(), world.snapshot.session.as_ref().unwrap());
    assert!(!works(&world), "no turn has begun");
    for _ in 0..2 {
        begin_document(&mut world).unwrap();
        assert!(works(&world));
        end_turn(&mut world, TurnEnd::Answered).unwrap();
        assert!(!works(&world) && world.active().is_paused());
    }
    // A message works for no plan in particular.
    world.person(say("And?")).unwrap();
    assert!(!works(&world) && world.active().is_paused());
}

#[test]
fn a_person_lifts_the_brake_by_resuming() {
    let mut world = executing();
    for _ in 0..2 {
        begin_document(&mut world).unwrap();
        end_turn(&mut world, TurnEnd::Answered).unwrap();
    }
    let plan = world.active().id.clone();
    refused(world.agent(resume(&plan)), RefusalCode::PolicyDenied, "");
    assert_eq!(names(&world.person(resume(&plan)).unwrap()), ["execution_resumed"]);
    begin_document(&mut world).unwrap();
}

#[test]
fn the_setting_says_how_often_the_system_asks_by_itself() {
    for nudges in [0, 1, 4] {
        let mut world = executing();
        world.policy.nudges = nudges;
        for _ in 0..=nudges {
            begin_document(&mut world).unwrap();
            end_turn(&mut world, TurnEnd::Answered).unwrap();
        }
        refused(begin_document(&mut world), RefusalCode::LimitExceeded, "turns in a row");
    }
}

#[test]
fn to_pause_what_is_paused_or_over_changes_nothing() {
    let mut world = executing();
    let (plan, execution) = (world.active().id.clone(), world.execution());
    let pause = Command::Execution(ExecutionCommand::Pause { plan, execution });
    assert_eq!(names(&world.person(pause.clone()).unwrap()), ["execution_paused"]);
    assert_eq!(world.person(pause.clone()).unwrap(), []);
    world.finish().unwrap();
    refused(world.person(pause), RefusalCode::WrongStatus, "is over");
}

/// Each turn of these ends with the same report as the one before, with another note, or back and forth.
#[test]
fn only_a_report_that_takes_a_step_further_than_ever_is_progress() {
    let again: [(&str, &[(usize, StepStatus)]); 4] = [
        ("the same step in progress", &[(1, InProgress)]),
        ("the same step done", &[(1, Completed)]),
        ("done, reopened and done", &[(1, InProgress), (1, Completed)]),
        ("failed and done in turns", &[(1, Failed), (1, Completed)]),
    ];
    for (what, reports) in again {
        let mut world = executing();
        let mut turns = 0;
        while begin_document(&mut world).is_ok() {
            turns += 1;
            assert!(turns < 10, "{what}: the system goes on for ever");
            for (step, status) in reports {
                world.agent(report_with_note(*step, *status, &format!("turn {turns}"))).unwrap();
            }
            end_turn(&mut world, TurnEnd::Answered).unwrap();
        }
        assert_eq!(turns, 2, "{what}: one turn that moved the step, and one nudge");
        assert_eq!(idle_turns(&world), Some(2), "{what}");
    }
}

#[test]
fn every_step_that_moves_earns_another_turn() {
    let steps: String = (0..20).map(|step| format!("- [ ] step {step}\n")).collect();
    let mut world = World::ready_document(&steps);
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    for step in 1..=19 {
        begin_document(&mut world).unwrap();
        world.agent(report(Some(step), Completed)).unwrap();
        end_turn(&mut world, TurnEnd::Answered).unwrap();
        assert_eq!(idle_turns(&world), Some(1), "step {step}");
    }
}

#[test]
fn an_execution_has_a_hard_limit_of_turns_and_a_person_allows_as_many_again() {
    let steps: String = (0..20).map(|step| format!("- [ ] step {step}\n")).collect();
    let mut world = World::ready_document(&steps);
    world.policy.plan_turns = 3;
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    let plan = world.active().id.clone();
    for round in 0..2 {
        for turn in 1..=3 {
            begin_document(&mut world).unwrap();
            world.agent(report(Some(round * 3 + turn), Completed)).unwrap();
            end_turn(&mut world, TurnEnd::Answered).unwrap();
        }
        refused(begin_document(&mut world), RefusalCode::LimitExceeded, "`plan.turns`");
        world.person(resume(&plan)).unwrap();
    }
}
