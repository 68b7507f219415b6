//! What a turn is for: when one may begin, what its end does to its step, and what stops it.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::ids::{ExecutionId, PlanId, TurnId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus::{self, Completed, Failed, InProgress, Pending, Uncertain};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::{Purpose, ToolStatus, TurnEnd, TurnEnding, TurnLimit};

use super::reply;
use crate::journal::replay;
use crate::random_conversation::*;
use crate::world::*;

pub(super) fn begin(purpose: Purpose) -> Command {
    Command::Turn(TurnCommand::Begin { text: "do it".to_owned(), tokens: 5, purpose })
}

fn system() -> Actor {
    Actor::system("cli")
}

/// A document that is carried out.
fn document() -> World {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world
}

/// Two steps of a proposal that is carried out; the second needs the first, which is in progress.
pub(super) fn built() -> World {
    let mut world = World::draft(&["one", "two"]);
    world.agent(submit()).unwrap();
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world.begin("s1").unwrap();
    world
}

pub(super) fn of_step(world: &World, id: &str) -> Purpose {
    let (plan, execution) = (world.active().id.clone(), world.execution());
    Purpose::Step { plan, execution, step: step(id), agent: "coder".to_owned() }
}

/// The turn for the first step is under way.
fn at_work() -> World {
    let mut world = built();
    let purpose = of_step(&world, "s1");
    world.send(system(), begin(purpose)).unwrap();
    world
}

fn question(asked_by: &TurnId) -> Purpose {
    Purpose::Question { agent: "coder".to_owned(), asked_by: asked_by.clone() }
}

fn first(world: &World) -> StepStatus {
    world.snapshot.plans.values().find_map(|plan| plan.execution.as_ref()).unwrap().steps[0].status
}

#[test]
fn each_purpose_in_each_state() {
    let (document, built) = (document(), built());
    let mut parked = document.clone();
    parked.person(off()).unwrap();
    let mut talking = built.clone();
    talking.person(say("hello")).unwrap();
    let mut asked = talking.clone();
    let asker = asked.turn();
    asked.agent(begin(question(&asker))).unwrap();
    let mut ended = built.clone();
    ended.end("s1", Completed).unwrap();
    let mut over = built.clone();
    over.finish().unwrap();
    let states = [
        ("document", &document),
        ("parked", &parked),
        ("built", &built),
        ("talking", &talking),
        ("asked", &asked),
        ("step ended", &ended),
        ("execution over", &over),
        ("at work", &at_work()),
    ];
    let of_document = |_: &World| Purpose::Document { plan: document.active().id.clone() };
    let of_first = |world: &World| match world.snapshot.active().is_some_and(|plan| plan.style() == PlanStyle::Build) {
        true => of_step(world, "s1"),
        false => of_step(&built, "s1"),
    };
    let of_second = |world: &World| match of_first(world) {
        Purpose::Step { plan, execution, agent, .. } => Purpose::Step { plan, execution, step: step("s2"), agent },
        other => other,
    };
    let of_an_unknown_agent = |world: &World| match of_first(world) {
        Purpose::Step { plan, execution, step, .. } => {
            Purpose::Step { plan, execution, step, agent: "plumber".to_owned() }
        }
        other => other,
    };
    let of_another = |world: &World| match of_first(world) {
        Purpose::Step { plan, step, agent, .. } => {
            Purpose::Step { plan, execution: ExecutionId::new("earlier").unwrap(), step, agent }
        }
        other => other,
    };
    let asking = |_: &World| question(&asker);
    let asked_by_an_unknown_turn = |_: &World| question(&TurnId::new("unknown-turn").unwrap());
    let of_no_plan = |_: &World| Purpose::Document { plan: PlanId::new("gone").unwrap() };
    type Make<'a> = &'a dyn Fn(&World) -> Purpose;
    // Documents and proposals are made by the same requests here, so each is found under the name of the other.
    const WRONG: &str = "WRONG_STATUS";
    const BUSY: &str = "CONFLICT";
    let idle = |document, parked, built, ended| [document, parked, built, BUSY, BUSY, ended, ended, BUSY];
    let rows: [(&str, Make<'_>, [&str; 8]); 9] = [
        ("answer", &|_| Purpose::Answer, idle("yes", "yes", "yes", "yes")),
        ("document", &of_document, idle("yes", WRONG, WRONG, WRONG)),
        ("no plan", &of_no_plan, idle("NOT_FOUND", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND")),
        ("step", &of_first, idle(WRONG, WRONG, "yes", WRONG)),
        ("another step", &of_second, idle(WRONG, WRONG, WRONG, WRONG)),
        (
            "a step of an unknown agent",
            &of_an_unknown_agent,
            idle("UNKNOWN_AGENT", "UNKNOWN_AGENT", "UNKNOWN_AGENT", "UNKNOWN_AGENT"),
        ),
        ("another execution", &of_another, idle(WRONG, WRONG, WRONG, WRONG)),
        ("question", &asking, [BUSY, BUSY, BUSY, "yes", BUSY, BUSY, BUSY, BUSY]),
        ("a question of an unknown turn", &asked_by_an_unknown_turn, [BUSY; 8]),
    ];
    for (name, make, expected) in rows {
        for ((state, before), expected) in states.into_iter().zip(expected) {
            let mut world = before.clone();
            let purpose = make(&world);
            let decided = world.send(system(), begin(purpose.clone()));
            let expected = if expected == "yes" { "turn_begun" } else { expected };
            assert_eq!(reply(&decided), expected, "{name}, {state}: {decided:?}");
            if decided.is_err() {
                assert_eq!(world.snapshot, before.snapshot, "{name}, {state}");
            } else {
                let open = world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap();
                let begun = open.question.as_deref().unwrap_or(open);
                assert_eq!(begun.purpose, purpose, "{name}, {state}");
            }
            assert_eq!(replay(&world.snapshot.identity, &world.journal).unwrap().0, world.snapshot, "{name}, {state}");
        }
    }
}

#[test]
fn only_steps_of_a_proposal_are_given_to_specialists() {
    let mut collected = World::planning(PlanStyle::Collect);
    for command in [record_one(), finalize()] {
        collected.agent(command).unwrap();
    }
    collected.approve(Selection::All).unwrap();
    collected.start().unwrap();
    for mut world in [collected, document()] {
        world.begin("s1").unwrap();
        let decided = world.send(system(), begin(of_step(&world, "s1")));
        refused(decided, RefusalCode::WrongStatus, "this step is not the one to do");
    }
}

#[test]
fn a_question_is_not_the_topic_and_goes_with_the_turn_that_asks() {
    let mut world = World::talking();
    let asker = world.turn();
    world.agent(begin(question(&asker))).unwrap();
    let session = |world: &World| world.snapshot.opened().unwrap().clone();
    let asked = session(&world).turn.unwrap().question.unwrap().id;
    assert_ne!(asked, asker);
    assert_eq!(session(&world).topic.as_deref(), Some("hello"));
    world.agent(tell(&asked, &[calls(&["a", "b"]), done_with(1)])).unwrap();
    let open = session(&world).turn.unwrap();
    assert_eq!((open.calls, open.ended), (0, 0), "calls are counted where they are made");
    assert_eq!(open.question.map(|question| (question.calls, question.ended)), Some((2, 1)));
    world.agent(close(&asked, &[done_with(2), answers("so")], TurnEnd::Answered)).unwrap();
    assert!(session(&world).turn.unwrap().question.is_none(), "and the turn that asks continues");
    refused(world.agent(tell(&asked, &[answers("late")])), RefusalCode::WrongStatus, "This turn has ended.");
    world.agent(begin(question(&asker))).unwrap();
    assert_eq!(names(&world.person(stop()).unwrap()), ["turn_ended", "turn_ended"]);
    assert_eq!(session(&world).turn, None);
    world.agent(close(&asker, &[], TurnEnd::Answered)).unwrap_err();
}

#[test]
fn what_the_end_of_a_turn_does_to_its_step() {
    let limit = TurnEnd::LimitReached { limit: TurnLimit::Time };
    let failed = TurnEnd::ModelFailed { message: "no".to_owned() };
    let plan = PlanId::new("p").unwrap();
    for (end, certain, phrase) in [
        (TurnEnd::Stopped, Pending, "stopped in the middle"),
        (TurnEnd::Interrupted, Uncertain, "interrupted too often"),
        (TurnEnd::Answered, Failed, "did not say how the step ended"),
        (TurnEnd::PlanReady { plan: plan.clone() }, Failed, "did not say how the step ended"),
        (TurnEnd::NothingPlanned { plan }, Failed, "did not say how the step ended"),
        (limit, Failed, "did not come to its end"),
        (TurnEnd::Looping, Failed, "did not come to its end"),
        (TurnEnd::NoAnswer, Failed, "did not come to its end"),
        (failed, Failed, "did not come to its end"),
    ] {
        let mut world = at_work();
        let turn = world.turn();
        let ending = TurnEnding { text: "as I said".to_owned(), ..end.clone().into() };
        let events = world.agent(close(&turn, &[], ending)).unwrap();
        assert_eq!(names(&events), ["step_ended", "turn_ended"], "{end:?}");
        assert_eq!(first(&world), certain, "{end:?}");
        let run = world.active().execution.as_ref().unwrap().steps[0].clone();
        let note = run.note.clone().unwrap();
        assert!(note.starts_with("coder: ") && note.contains(phrase) && note.ends_with(". as I said"), "{note}");

        let mut doubtful = at_work();
        let inputs = [calls(&["a"]), came_to(1, ToolStatus::Uncertain, "who knows")];
        doubtful.agent(close(&doubtful.turn(), &inputs, end.clone())).unwrap();
        assert_eq!(first(&doubtful), Uncertain, "{end:?}: it is unknown whether its call was carried out");
    }
}

#[test]
fn a_step_that_was_reported_is_left_as_it_is() {
    for status in [Completed, Failed, StepStatus::Skipped, Uncertain, Pending] {
        let mut world = at_work();
        world.end("s1", status).unwrap();
        let turn = world.turn();
        assert_eq!(names(&world.agent(close(&turn, &[], TurnEnd::Answered)).unwrap()), ["turn_ended"]);
        assert_eq!(first(&world), status);
    }
}

#[test]
fn words_instead_of_a_report_are_kept_and_cut_to_a_size() {
    let mut world = at_work();
    let turn = world.turn();
    world.agent(close(&turn, &[answers("It is done, I think.")], TurnEnd::Answered)).unwrap();
    let note = |world: &World| world.active().execution.as_ref().unwrap().steps[0].note.clone().unwrap();
    assert_eq!(note(&world), "coder: it did not say how the step ended. It is done, I think.");
    let mut world = at_work();
    let turn = world.turn();
    world.agent(close(&turn, &[answers(&"ż".repeat(20_000))], TurnEnd::Answered)).unwrap();
    assert!(note(&world).len() < 9_000, "{}", note(&world).len());
}

#[test]
fn a_stop_with_a_call_under_way_leaves_the_step_uncertain() {
    for (inputs, expected) in [
        (vec![], Pending),
        (vec![calls(&["a"])], Uncertain),
        (vec![calls(&["a"]), done_with(1)], Pending),
        (vec![calls(&["a", "b"]), done_with(1)], Uncertain),
        (vec![answers("hm")], Pending),
    ] {
        let mut world = at_work();
        let turn = world.turn();
        world.agent(tell(&turn, &inputs)).unwrap();
        assert_eq!(names(&world.person(stop()).unwrap()), ["step_ended", "turn_ended"]);
        assert_eq!(first(&world), expected, "{inputs:?}");
    }
}

#[test]
fn a_step_of_a_document_is_doubted_with_the_call_that_belongs_to_it() {
    let uncertain = || came_to(1, ToolStatus::Uncertain, "who knows");
    for purposed in [true, false] {
        let mut world = document();
        let plan = world.active().id.clone();
        let purpose = if purposed { Purpose::Document { plan } } else { Purpose::Answer };
        world.send(system(), begin(purpose)).unwrap();
        let turn = world.turn();
        world.agent(tell(&turn, &[calls(&["a"])])).unwrap();
        let mut before = world.clone();
        assert_eq!(
            names(&before.agent(tell(&turn, &[uncertain()])).unwrap()),
            ["tool_ended"],
            "no step is in progress"
        );
        world.agent(report(Some(1), InProgress)).unwrap();
        let events = world.agent(tell(&turn, &[uncertain()])).unwrap();
        assert_eq!(names(&events), ["tool_ended", "step_ended"], "purposed {purposed}");
        assert_eq!(first(&world), Uncertain);
        let note = world.active().execution.as_ref().unwrap().steps[0].note.clone();
        assert_eq!(note.as_deref(), Some("who knows"));
    }
}

/// Who works on what when a person ends a plan.
#[test]
fn the_turn_on_a_plan_that_a_person_ends_is_stopped_first() {
    let talking = |mut world: World| {
        world.person(say("hello")).unwrap();
        world
    };
    let carrying_out = |mut world: World| {
        let plan = world.active().id.clone();
        world.send(system(), begin(Purpose::Document { plan })).unwrap();
        world
    };
    let step_stopped = "step_ended turn_ended";
    let mut ready = World::ready_document(TWO_STEPS);
    ready.person(say("hello")).unwrap();
    for (name, world, stopped) in [
        ("a document's turn", carrying_out(document()), "turn_ended"),
        ("a message while a document is carried out", talking(document()), "turn_ended"),
        ("a step's turn", at_work(), step_stopped),
        ("a message while steps are carried out", talking(built()), ""),
        ("a message while a document waits", ready, ""),
    ] {
        let plan = world.active().id.clone();
        let executing = world.active().status == PlanStatus::Executing;
        for (command, always) in [(cancel(&plan), true), (revise(&plan, "less"), executing), (done(), executing)] {
            let mut here = world.clone();
            let events = names(&here.person(command.clone()).unwrap()).join(" ");
            let expected = if always || executing { stopped } else { "" };
            assert!(events.starts_with(expected), "{name}: {events}");
            assert_eq!(events.contains("turn_ended"), !expected.is_empty(), "{name}: {events}");
            let open = here.snapshot.session.as_ref().unwrap().turn.is_some();
            assert_eq!(open, expected.is_empty(), "{name}: {events}");
            assert_eq!(replay(&here.snapshot.identity, &here.journal).unwrap().0, here.snapshot, "{name}");
        }
        let mut here = world.clone();
        here.person(reset()).unwrap();
        assert!(here.snapshot.session.as_ref().unwrap().turn.is_none(), "{name}: a reset ends everything");
    }
}

#[test]
fn an_agent_that_rewrites_the_plan_it_works_on_is_not_stopped() {
    let mut world = document();
    let plan = world.active().id.clone();
    world.send(system(), begin(Purpose::Document { plan })).unwrap();
    let events = world.agent(set("- [ ] another way")).unwrap();
    assert!(names(&events).contains(&"plan_superseded"), "{:?}", names(&events));
    assert!(!names(&events).contains(&"turn_ended"), "{:?}", names(&events));
    assert!(world.snapshot.session.as_ref().unwrap().turn.is_some());
}

#[test]
fn a_plan_without_a_turn_is_ended_without_stopping_one() {
    let mut world = document();
    let parked = world.active().id.clone();
    world.person(on(PlanStyle::Document)).unwrap();
    world.person(say("hello")).unwrap();
    let events = world.person(cancel(&parked)).unwrap();
    assert_eq!(names(&events), ["plan_cancelled"]);
    assert!(matches!(&events[0], Event::Plan { id: plan, event: PlanEvent::Cancelled { .. } } if *plan == parked));
    assert!(world.snapshot.session.as_ref().unwrap().turn.is_some());
}
