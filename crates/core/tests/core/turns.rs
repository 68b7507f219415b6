//! Turns: what may be recorded and when.

mod machine;
mod purposes;
mod separate_turns;

use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::{ExecutionId, StepId, TurnId};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::refusal::RefusalCode;
use planwright_core::replay::TurnReplay;
use planwright_core::turn::{Purpose, ShownPlan, Turn, TurnEnd, TurnEnding};

use crate::journal::replay;
use crate::random_conversation::*;
use crate::world::*;

/// The turn as the journal has it; `None` if it has not begun or has ended.
fn replayed_turn(world: &World, turn: &TurnId) -> Option<Turn> {
    let mut replay = TurnReplay::new(turn.clone());
    world.entries().iter().for_each(|(_, event)| replay.apply(event));
    replay.into_open()
}

/// The states a turn's command can meet, each with the turn the command names. A plan waits in all of them but the first.
fn states() -> [(&'static str, World, TurnId); 6] {
    let none = TurnId::new("request-9999").unwrap();
    let idle = World::ready_document(TWO_STEPS);
    let mut open = idle.clone();
    open.person(say("hello")).unwrap();
    let turn = open.turn();
    let mut pending = open.clone();
    pending.agent(tell(&turn, &[calls(&["a", "b"])])).unwrap();
    let mut ended = open.clone();
    ended.agent(close(&turn, &[answers("hi")], TurnEnd::Answered)).unwrap();
    let mut another = ended.clone();
    another.person(say("again")).unwrap();
    [
        ("no session", World::unopened(SESSION), none.clone()),
        ("no turn", idle, none),
        ("open", open, turn.clone()),
        ("pending calls", pending, turn.clone()),
        ("ended", ended, turn.clone()),
        ("another one open", another, turn),
    ]
}

/// Events, or the code of the refusal.
fn reply(decided: &Decided) -> String {
    match decided {
        Ok(events) => names(events).join(" "),
        Err(refusal) => refusal.code.as_str().to_owned(),
    }
}

#[test]
fn every_command_in_every_state() {
    let no = ["NOT_FOUND", "WRONG_STATUS", "", "", "WRONG_STATUS", "WRONG_STATUS"];
    let turns = |open: &'static str, pending: &'static str| [no[0], no[1], open, pending, no[4], no[5]];
    let always = |expected: &'static str| ["NOT_FOUND", expected, expected, expected, expected, expected];
    let message = |expected: &'static str| ["NOT_FOUND", expected, "CONFLICT", "CONFLICT", expected, "CONFLICT"];
    let long = "x".repeat(256 * 1024 + 1);
    let shown = ShownPlan {
        plan: World::ready_document("x").active().id.clone(),
        digest: World::ready_document("x").active().digest(),
    };
    let blank = planwright_core::conversation::Compaction { summary: " \n".to_owned(), ..compaction(4, None) };
    type Make<'a> = Box<dyn Fn(&TurnId) -> Command + 'a>;
    let rows: Vec<(&str, Make<'_>, [&str; 6])> = vec![
        ("begin", Box::new(|_| say("hello")), message("turn_begun")),
        ("longest", Box::new(|_| say(&long[1..])), message("turn_begun")),
        ("too long", Box::new(|_| say(&long)), message("LIMIT_EXCEEDED")),
        ("blank", Box::new(|_| say(" \n\t")), message("INVALID_ARGUMENT")),
        ("empty", Box::new(|_| say("")), message("INVALID_ARGUMENT")),
        ("resume", Box::new(resume_turn), turns("turn_resumed", "turn_resumed")),
        ("nothing", Box::new(|turn| tell(turn, &[])), turns("", "")),
        ("reply", Box::new(|turn| tell(turn, &[answers("hi")])), turns("model_replied", "CONFLICT")),
        ("first outcome", Box::new(|turn| tell(turn, &[done_with(1)])), turns("CONFLICT", "tool_ended")),
        ("second outcome", Box::new(|turn| tell(turn, &[done_with(2)])), turns("CONFLICT", "CONFLICT")),
        ("outcome of no call", Box::new(|turn| tell(turn, &[done_with(0)])), turns("CONFLICT", "CONFLICT")),
        ("an outcome twice", Box::new(|turn| tell(turn, &[done_with(1), done_with(1)])), turns("CONFLICT", "CONFLICT")),
        (
            "one outcome too many",
            Box::new(|turn| tell(turn, &[done_with(1), done_with(2), done_with(3)])),
            turns("CONFLICT", "CONFLICT"),
        ),
        (
            "both outcomes",
            Box::new(|turn| tell(turn, &[done_with(1), done_with(2)])),
            turns("CONFLICT", "tool_ended tool_ended"),
        ),
        (
            "reply between outcomes",
            Box::new(|turn| tell(turn, &[done_with(1), answers("hi"), done_with(2)])),
            turns("CONFLICT", "CONFLICT"),
        ),
        (
            "call and outcome",
            Box::new(|turn| tell(turn, &[calls(&["c"]), done_with(1)])),
            turns("model_replied tool_ended", "CONFLICT"),
        ),
        (
            "outcomes, reply and outcome",
            Box::new(|turn| tell(turn, &[done_with(1), done_with(2), calls(&["c"]), done_with(3)])),
            turns("CONFLICT", "tool_ended tool_ended model_replied tool_ended"),
        ),
        ("end", Box::new(|turn| close(turn, &[], TurnEnd::NoAnswer)), turns("turn_ended", "turn_ended")),
        (
            "answer and end",
            Box::new(|turn| close(turn, &[answers("hi")], TurnEnd::Answered)),
            turns("model_replied turn_ended", "CONFLICT"),
        ),
        ("stop", Box::new(|_| stop()), ["NOT_FOUND", "", "turn_ended", "turn_ended", "", "turn_ended"]),
        ("compact", Box::new(|_| compact(compaction(4, None))), always("compacted")),
        ("compact into nothing", Box::new(|_| compact(blank.clone())), always("INVALID_ARGUMENT")),
        ("compact nothing", Box::new(|_| compact(compaction(0, None))), always("CONFLICT")),
        ("show", Box::new(|_| show(&shown)), always("plan_shown")),
    ];
    for (name, make, expected) in rows {
        for ((state, before, turn), expected) in states().into_iter().zip(expected) {
            let mut world = before.clone();
            let decided = world.agent(make(&turn));
            assert_eq!(reply(&decided), expected, "{name}, {state}");
            if decided.is_err() {
                assert_eq!((&world.snapshot, world.head), (&before.snapshot, before.head), "{name}, {state}");
            }
            assert_eq!(world.snapshot.plans, before.snapshot.plans, "{name}, {state}");
            let mode = |world: &World| world.snapshot.session.as_ref().map(|session| session.plan_mode.clone());
            assert_eq!(mode(&world), mode(&before), "{name}, {state}");
            assert_eq!(replay(&world.snapshot.identity, &world.journal).unwrap().0, world.snapshot, "{name}, {state}");
        }
    }
}

/// A turn that waits for the answer to a question: the turn and the question.
fn asking() -> (World, TurnId, TurnId) {
    let mut world = World::planning(PlanStyle::Build);
    world.person(say("hello")).unwrap();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["ask_agent", "b"])])).unwrap();
    let purpose = Purpose::Question { agent: "coder".to_owned(), asked_by: turn.clone() };
    let asked = Command::Turn(TurnCommand::Begin { text: "What is there?".to_owned(), tokens: 4, purpose });
    world.agent(asked).unwrap();
    let open = world.snapshot.session.as_ref().unwrap().turn.clone().unwrap();
    (world, turn, open.question.unwrap().id)
}

#[test]
fn a_turn_that_stops_waiting_ends_its_question() {
    let (waiting, turn, question) = asking();
    let goes_on = tell(&turn, &[done_with(1)]);
    let gives_up = close(&turn, &[], TurnEnd::Interrupted);
    for (command, expected) in [(goes_on, "turn_ended tool_ended"), (gives_up, "turn_ended turn_ended")] {
        let mut world = waiting.clone();
        let decided = world.agent(command);
        assert_eq!(reply(&decided), expected);
        let ended = decided.unwrap().into_iter().next();
        assert!(matches!(ended, Some(Event::Turn { id: turn, event: TurnEvent::Ended { .. } }) if turn == question));
        let open = world.snapshot.session.as_ref().unwrap().turn.as_ref();
        assert!(open.is_none_or(|open| open.id == turn && open.question.is_none()));
    }
    // An outcome of the question's own leaves it open.
    let mut world = waiting;
    world.agent(tell(&question, &[calls(&["a"]), done_with(1)])).unwrap();
    assert!(world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().question.is_some());
}

#[test]
fn a_turn_that_carries_a_plan_out_names_the_plan() {
    let plan = World::ready_document("x").active().id.clone();
    let begin = |purpose| Command::Turn(TurnCommand::Begin { text: String::new(), tokens: 0, purpose });
    let step = Purpose::Step {
        plan: plan.clone(),
        execution: ExecutionId::new("execution-1").unwrap(),
        step: StepId::new("s1").unwrap(),
        agent: "coder".to_owned(),
    };
    for purpose in [step, Purpose::Document { plan: plan.clone() }] {
        assert_eq!(begin(purpose).subject(), Some(&plan));
    }
    assert_eq!(begin(Purpose::Answer).subject(), None);
}

#[test]
fn a_turn_is_named_after_the_request_that_began_it() {
    let mut world = World::new();
    let events = world.person(say("  hello ")).unwrap();
    let expected = Event::Turn {
        id: TurnId::new("request-0002").unwrap(),
        event: TurnEvent::Begun { text: "  hello ".to_owned(), tokens: 8, purpose: Purpose::Answer },
    };
    assert_eq!(events, [expected]);
}

#[test]
fn an_open_turn_counts_its_calls() {
    let mut world = World::talking();
    let turn = world.turn();
    let counts = |world: &World| {
        let open = world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap();
        (open.calls, open.ended, open.resumed)
    };
    assert_eq!(counts(&world), (0, 0, 0));
    world.agent(tell(&turn, &[calls(&["a", "b"])])).unwrap();
    assert_eq!(counts(&world), (2, 0, 0));
    world.agent(tell(&turn, &[done_with(1)])).unwrap();
    assert_eq!(counts(&world), (2, 1, 0));
    for times in 1..4 {
        world.agent(resume_turn(&turn)).unwrap();
        assert_eq!(counts(&world), (2, 1, times));
    }
    world.agent(tell(&turn, &[done_with(2), calls(&["c"]), done_with(3)])).unwrap();
    assert_eq!(counts(&world), (3, 3, 3));
}

#[test]
fn nothing_is_recorded_after_the_end() {
    for end in [stop(), reset(), close(&World::talking().turn(), &[], TurnEnd::Interrupted)] {
        let mut world = World::talking();
        let turn = world.turn();
        world.agent(tell(&turn, &[calls(&["a"])])).unwrap();
        world.person(end).unwrap();
        for late in [tell(&turn, &[done_with(1)]), close(&turn, &[], TurnEnd::Answered), resume_turn(&turn)] {
            refused(world.agent(late), RefusalCode::WrongStatus, "This turn has ended.");
        }
        assert_eq!(world.person(stop()).unwrap(), [], "there is nothing left to stop");
        world.person(say("and now?")).unwrap();
        assert_ne!(world.turn(), turn);
    }
}

#[test]
fn a_reset_in_the_middle_of_a_turn_leaves_nothing_of_it() {
    let mut world = World::ready_document(TWO_STEPS);
    world.person(say("hello")).unwrap();
    let turn = world.turn();
    let plan = world.active();
    let shown = ShownPlan { plan: plan.id.clone(), digest: plan.digest() };
    world.agent(tell(&turn, &[calls(&["a"])])).unwrap();
    world.person(show(&shown)).unwrap();
    let events = world.person(reset()).unwrap();
    assert_eq!(names(&events), ["turn_ended", "plan_cancelled", "plan_mode_disabled", "conversation_reset"]);
    let session = world.snapshot.session.as_ref().unwrap();
    assert_eq!((&session.turn, &session.shown, &session.topic), (&None, &None, &None));
}

#[test]
fn what_was_shown_is_remembered_once() {
    let mut world = World::ready_document(TWO_STEPS);
    let shown = |world: &World| ShownPlan { plan: world.active().id.clone(), digest: world.active().digest() };
    let remembered = |world: &World| world.snapshot.session.as_ref().unwrap().shown.clone();
    let first = shown(&world);
    assert_eq!(names(&world.person(show(&first)).unwrap()), ["plan_shown"]);
    assert_eq!(world.person(show(&first)).unwrap(), []);
    world.agent(set("another text")).unwrap();
    let second = shown(&world);
    world.person(say("show it")).unwrap();
    let turn = world.turn();
    let ending = TurnEnding { shown: Some(second.clone()), ..TurnEnd::Answered.into() };
    world.agent(close(&turn, &[answers("here")], ending)).unwrap();
    assert_eq!(remembered(&world), Some(second.clone()));
    assert_eq!(world.person(show(&second)).unwrap(), [], "the answer showed it");
    world.person(say("thanks")).unwrap();
    let turn = world.turn();
    world.agent(close(&turn, &[answers("ok")], TurnEnd::Answered)).unwrap();
    assert_eq!(remembered(&world), Some(second), "an answer that shows none changes nothing");
    world.approve(Selection::All).unwrap();
}

#[test]
fn compaction_only_goes_forward() {
    let mut world = World::talking();
    assert_eq!(world.history_from(), 0);
    for (kept_from, pinned, history_from) in [
        (2, None, Some(2)),
        (2, None, None),
        (1, None, None),
        (9, Some(2), Some(2)),
        (12, Some(1), None),
        (12, Some(9), Some(9)),
        (20, None, Some(20)),
        (19, None, None),
        (21, Some(19), None),
    ] {
        let before = world.history_from();
        let decided = world.agent(compact(compaction(kept_from, pinned)));
        match history_from {
            Some(_) => assert_eq!(names(&decided.unwrap()), ["compacted"]),
            None => {
                refused(decided, RefusalCode::Conflict, "compacted further already");
            }
        }
        assert_eq!(world.history_from(), history_from.unwrap_or(before), "{kept_from} {pinned:?}");
    }
}

#[test]
fn the_topic_is_the_first_line_that_was_said() {
    let sixty = "ż".repeat(60);
    for (text, topic) in [
        ("hello", "hello"),
        ("\n\n  hello \nworld", "hello "),
        (sixty.as_str(), sixty.as_str()),
        (&format!("{sixty}x"), &format!("{sixty}…")),
        (&format!("{} x", &sixty[..118]), &format!("{}…", &sixty[..118])),
    ] {
        let mut world = World::new();
        world.person(say(text)).unwrap();
        let of = |world: &World| world.snapshot.session.as_ref().unwrap().topic.clone();
        assert_eq!(of(&world).unwrap().trim_end(), topic.trim_end());
        world.person(stop()).unwrap();
        world.person(say("something else")).unwrap();
        assert_eq!(of(&world).unwrap().trim_end(), topic.trim_end(), "later words do not change it");
        world.person(reset()).unwrap();
        assert_eq!(of(&world), None);
        world.person(say("anew")).unwrap();
        assert_eq!(of(&world).as_deref(), Some("anew"));
    }
}
