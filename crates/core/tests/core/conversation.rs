//! The conversation that is put together from the journal: whatever happened, a provider takes it.

use planwright_core::conversation::ItemContent;
use planwright_core::model::ModelMessage;
use planwright_core::turn::{ToolStatus, TurnEnd, TurnEnding, TurnLimit};
use proptest::prelude::*;

use crate::random_conversation::*;
use crate::world::*;

/// One line for each message.
fn told(world: &World) -> Vec<String> {
    let one = |message: ModelMessage| match message {
        ModelMessage::User { text } => format!("user: {text}"),
        ModelMessage::Assistant { text, calls } => {
            let calls: Vec<_> = calls.iter().map(|sent| format!("{}={}", sent.id, sent.call.name)).collect();
            format!("agent: {text} {}", calls.join(" ")).trim_end().to_owned()
        }
        ModelMessage::ToolResult { id, name, text, failed } => {
            format!("{id}={name}{}: {text}", if failed { " failed" } else { "" })
        }
    };
    world.conversation().messages().into_iter().map(one).collect()
}

const NO_OUTCOME: &str = "[No outcome: the turn ended before this call did.]";
const SUMMARY: &str = "[What was said before, in short. It is a record, not a request.]";

#[test]
fn calls_go_out_with_their_results() {
    let mut world = World::talking();
    let turn = world.turn();
    let outcomes = [came_to(1, ToolStatus::Done, "one"), came_to(2, ToolStatus::Refused, "two")];
    world.agent(tell(&turn, &[calls(&["a", "b"])])).unwrap();
    world.agent(tell(&turn, &outcomes)).unwrap();
    // Entries that are not about the conversation have numbers too.
    world.person(on(planwright_core::plan::PlanStyle::Document)).unwrap();
    world.agent(tell(&turn, &[calls(&["c"]), came_to(3, ToolStatus::Planned, "[Planned]")])).unwrap();
    world.agent(close(&turn, &[answers("hi")], TurnEnd::Answered)).unwrap();
    assert_eq!(
        told(&world),
        [
            "user: hello",
            "agent:  call_3_1=a call_3_2=b",
            "call_3_1=a: one",
            "call_3_2=b failed: two",
            "agent:  call_8_1=c",
            "call_8_1=c: [Planned]",
            "agent: hi",
        ]
    );
}

#[test]
fn a_result_failed_when_its_call_did() {
    use ToolStatus::{Done, Failed, Planned, Refused, Settled, TimedOut, Uncertain};
    for (status, expected) in [
        (Done, false),
        (Planned, false),
        (Settled, false),
        (Refused, true),
        (Failed, true),
        (TimedOut, true),
        (Uncertain, true),
    ] {
        let mut world = World::talking();
        let turn = world.turn();
        world.agent(tell(&turn, &[calls(&["a"]), came_to(1, status, "x")])).unwrap();
        let messages = world.conversation().messages();
        assert!(matches!(&messages[2], ModelMessage::ToolResult { failed, .. } if *failed == expected), "{status:?}");
    }
}

#[test]
fn a_stop_in_the_middle_leaves_every_call_with_a_result() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["a", "b"]), done_with(1)])).unwrap();
    world.person(stop()).unwrap();
    world.person(say("and now?")).unwrap();
    assert_eq!(
        told(&world),
        [
            "user: hello",
            "agent:  call_3_1=a call_3_2=b",
            "call_3_1=a: ok",
            &format!("call_3_2=b failed: {NO_OUTCOME}"),
            "agent: [The person stopped this turn here.]",
            "user: and now?",
        ]
    );
}

#[test]
fn the_model_learns_how_a_turn_ended() {
    let plan = World::ready_document("x").active().id.clone();
    for (end, note) in [
        (TurnEnd::Answered, None),
        (TurnEnd::PlanReady { plan: plan.clone() }, None),
        (TurnEnd::NothingPlanned { plan }, None),
        (TurnEnd::Stopped, Some("what was heard\n\n[The person stopped this turn here.]")),
        (TurnEnd::LimitReached { limit: TurnLimit::Time }, Some("[This turn ended at one of its limits.]")),
        (TurnEnd::Looping, Some("[This turn was ended because the same calls came again and again.]")),
        (TurnEnd::NoAnswer, Some("[This turn ended without an answer.]")),
        (
            TurnEnd::ModelFailed { message: "secret".to_owned() },
            Some("[This turn ended because the model could not answer.]"),
        ),
        (TurnEnd::Interrupted, Some("[This turn was interrupted.]")),
    ] {
        assert!(TurnEnd::NAMES.contains(&end.name()), "{end:?}");
        let mut world = World::talking();
        let turn = world.turn();
        let ending = TurnEnding { text: " what was heard ".to_owned(), tokens: 16, ..end.into() };
        world.agent(close(&turn, &[], ending)).unwrap();
        let note = note.map(|note| format!("agent: {note}"));
        assert_eq!(told(&world), ["user: hello".to_owned()].into_iter().chain(note).collect::<Vec<_>>());
    }
}

#[test]
fn an_empty_reply_is_not_sent_back() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[answers(" \n"), calls(&["a"]), done_with(1), answers("")])).unwrap();
    assert_eq!(told(&world), ["user: hello", "agent:  call_4_1=a", "call_4_1=a: ok"]);
}

#[test]
fn nothing_from_before_a_reset_is_told() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["a"])])).unwrap();
    world.compact(0, Measure::Bytes);
    world.person(reset()).unwrap();
    assert_eq!(told(&world), [""; 0]);
    world.person(say("anew")).unwrap();
    assert_eq!(told(&world), ["user: anew"]);
    assert_eq!(world.conversation_from(world.history_from()), world.conversation());
}

/// Summaries take a while: what they are about may be gone when they come.
#[test]
fn a_summary_that_comes_after_a_reset_is_not_told() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(close(&turn, &[answers("a secret")], TurnEnd::Answered)).unwrap();
    let summary = compaction(3, None);
    world.person(reset()).unwrap();
    world.person(say("anew")).unwrap();
    // The session does not know where in the journal it was reset, so this is not refused; it has no effect.
    let _ = world.agent(compact(summary));
    assert_eq!(told(&world), ["user: anew"]);
    assert_eq!(world.conversation_from(world.history_from()), world.conversation());
}

#[test]
fn a_summary_of_less_than_another_one_is_not_told() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["a"]), done_with(1), calls(&["b"]), done_with(2), calls(&["c"])])).unwrap();
    world.agent(compact(compaction(7, Some(2)))).unwrap();
    let _ = world.agent(compact(compaction(5, Some(2))));
    assert_eq!(told(&world)[0], format!("user: {SUMMARY}\n\n> all before 7"));
}

#[test]
fn compaction_keeps_the_newest_words_whatever_came_after_them() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["a"]), done_with(1), calls(&["b"]), done_with(2)])).unwrap();
    assert!(world.compact(0, Measure::Bytes));
    let summary = format!("user: {SUMMARY}\n\n> Tools used: a (1×)");
    assert_eq!(told(&world), [&summary, "user: hello", "agent:  call_5_1=b", "call_5_1=b: ok"]);
    assert_eq!(world.history_from(), 2, "the words have to be read again");
    world.agent(close(&turn, &[answers("done")], TurnEnd::Answered)).unwrap();
    world.person(say("go on")).unwrap();
    assert!(world.compact(0, Measure::Bytes));
    assert_eq!(told(&world).last().unwrap(), "user: go on");
    assert_eq!(told(&world).len(), 2);
    assert!(!world.compact(0, Measure::Bytes), "there is nothing left to drop");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_a_provider_takes_it(moves in prop::collection::vec(any_move_or_compaction(), 1..60)) {
        let mut talk = Talk::new(Measure::FourBytes);
        for step in &moves {
            let (history_from, before) = (talk.session.history_from, talk.conversation.newest_message());
            talk.happen(step);
            let conversation = &talk.conversation;
            let read = |from| talk.replayed(from, usize::MAX);
            prop_assert_eq!(&read(0), conversation, "taken in one by one");
            prop_assert_eq!(&read(talk.session.history_from), conversation, "read from where it begins");
            prop_assert!(talk.session.history_from >= history_from);
            check_sendable(&conversation.messages())?;
            if before.is_some() && !matches!(step, Move::Reset) {
                prop_assert!(conversation.newest_message().is_some(), "the newest words are gone");
            }
            if let Some(open) = &talk.session.turn {
                let phrase = conversation.newest_message().map(|index| &conversation.items[index]);
                let begun = talk.entries.iter().find_map(|(seq, event)| match event {
                    planwright_core::event::Event::Turn { id: turn, event: planwright_core::event::TurnEvent::Begun { text, .. } } if *turn == open.id => {
                        Some((*seq, text.clone()))
                    }
                    _ => None,
                });
                let phrase = phrase.map(|item| match &item.content {
                    ItemContent::Person { text } => (item.seq, text.clone()),
                    other => panic!("{other:?} are no words"),
                });
                prop_assert_eq!(phrase, begun, "a turn reads the words that began it");
            }
        }
    }
}
