//! The turn's state machine: what it says comes next, and where it ends.

use std::collections::BTreeSet;
use std::time::Duration;

use planwright_core::ids::TurnId;
use planwright_core::model::Usage;
use planwright_core::turn::{
    Effect, EndReason, PendingCall, Purpose, ToolStatus, Turn, TurnEnd, TurnInput, TurnLimit, TurnLimits,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::replayed_turn;
use crate::random_conversation::*;
use crate::world::*;

pub(super) fn limits() -> TurnLimits {
    TurnLimits {
        model_calls: 6,
        tool_calls: 5,
        tokens: 1000,
        time: Duration::from_secs(60),
        repetitions: 2,
        ..TurnLimits::default()
    }
}

pub(super) fn turn_after(inputs: &[TurnInput]) -> Turn {
    let mut turn = Turn::new(TurnId::new("t").unwrap(), Purpose::Answer);
    inputs.iter().for_each(|input| turn.apply(input));
    turn
}

pub(super) fn used(tokens: u64) -> TurnInput {
    let usage = Usage { input_tokens: tokens, output_tokens: 0 };
    let reply = planwright_core::model::ModelReply { usage, ..reply("", &[call("a", "{}")]) };
    replied(reply, Measure::Bytes)
}

pub(super) fn over(end: TurnEnd) -> Effect {
    Effect::End(EndReason::Because(end))
}

fn at_limit(limit: TurnLimit) -> Effect {
    over(TurnEnd::LimitReached { limit })
}

pub(super) fn run(number: u32, name: &str) -> Effect {
    Effect::RunTool(PendingCall { number, call: call(name, "{}") })
}

#[test]
fn what_comes_next() {
    let text_and_call = || replied(reply("let me see", &[call("a", "{}")]), Measure::Bytes);
    let other = |n: u32| replied(reply("", &[call("a", &format!("{{\"n\":{n}}}"))]), Measure::Bytes);
    let settled = |n| came_to(n, ToolStatus::Settled, "ready");
    let failed = |n| came_to(n, ToolStatus::Failed, "no");
    let a = || calls(&["a"]);
    let rows: Vec<(&str, Vec<TurnInput>, Effect)> = vec![
        ("the beginning", vec![], Effect::CallModel),
        ("an answer", vec![answers("hi")], over(TurnEnd::Answered)),
        ("text beside a call is no answer", vec![text_and_call()], run(1, "a")),
        ("nor is it one afterwards", vec![text_and_call(), done_with(1)], Effect::CallModel),
        ("the first of several", vec![calls(&["a", "b", "c"])], run(1, "a")),
        ("the second", vec![calls(&["a", "b", "c"]), done_with(1)], run(2, "b")),
        ("the third, whatever the others came to", vec![calls(&["a", "b", "c"]), done_with(1), failed(2)], run(3, "c")),
        (
            "all have an outcome",
            vec![calls(&["a", "b", "c"]), done_with(1), failed(2), done_with(3)],
            Effect::CallModel,
        ),
        (
            "calls are counted over all replies",
            vec![calls(&["a", "b"]), done_with(1), done_with(2), calls(&["c"])],
            run(3, "c"),
        ),
        ("nothing said once", vec![answers(" \n")], Effect::CallModel),
        ("nothing said twice", vec![answers(""), answers(" ")], over(TurnEnd::NoAnswer)),
        ("nothing said, then something", vec![answers(""), answers("hi")], over(TurnEnd::Answered)),
        ("nothing said, but not in a row", vec![answers(""), a(), done_with(1), answers("")], Effect::CallModel),
        ("a call made again", vec![a(), done_with(1), a(), done_with(2), a()], run(3, "a")),
        (
            "a call made again too often is not run",
            vec![a(), done_with(1), a(), done_with(2), a(), done_with(3), a()],
            over(TurnEnd::Looping),
        ),
        (
            "another call in between",
            vec![a(), done_with(1), a(), done_with(2), other(1), done_with(3), a()],
            run(4, "a"),
        ),
        (
            "the same tool with other arguments",
            vec![other(1), done_with(1), other(2), done_with(2), other(3), done_with(3), other(4), done_with(4)],
            Effect::CallModel,
        ),
        (
            "more calls are other calls",
            vec![a(), done_with(1), a(), done_with(2), a(), done_with(3), calls(&["a", "b"])],
            run(4, "a"),
        ),
        ("a plan tool ends it", vec![a(), settled(1)], Effect::End(EndReason::Planned)),
        (
            "and what was called beside it is left",
            vec![calls(&["a", "b"]), settled(1)],
            Effect::End(EndReason::Planned),
        ),
        ("also after others", vec![calls(&["a", "b", "c"]), done_with(1), settled(2)], Effect::End(EndReason::Planned)),
        ("a recorded call does not end it", vec![a(), came_to(1, ToolStatus::Planned, "[Planned]")], Effect::CallModel),
        ("tokens up to the limit", vec![used(500), done_with(1), used(500), done_with(2)], Effect::CallModel),
        ("tokens past the limit", vec![used(500), done_with(1), used(501), done_with(2)], at_limit(TurnLimit::Tokens)),
        ("but what was called is still run", vec![used(5000)], run(1, "a")),
        (
            "as many calls as there may be",
            vec![calls(&["a", "b", "c", "d", "e"]), done_with(1), done_with(2), done_with(3), done_with(4)],
            run(5, "e"),
        ),
        (
            "one call too many",
            vec![
                calls(&["a", "b", "c", "d", "e", "f"]),
                done_with(1),
                done_with(2),
                done_with(3),
                done_with(4),
                done_with(5),
            ],
            at_limit(TurnLimit::ToolCalls),
        ),
        (
            "the last call of the model",
            [1, 2, 3, 4, 5].into_iter().flat_map(|n| [other(n), done_with(n)]).collect(),
            Effect::CallModel,
        ),
        (
            "one reply too many",
            vec![a(), done_with(1), answers(""), a(), done_with(2), answers(""), a(), done_with(3), answers("")],
            at_limit(TurnLimit::ModelCalls),
        ),
        (
            "an answer at the limit",
            vec![a(), done_with(1), answers(""), a(), done_with(2), answers(""), a(), done_with(3), answers("hi")],
            over(TurnEnd::Answered),
        ),
    ];
    for (name, inputs, expected) in rows {
        let turn = turn_after(&inputs);
        let next = turn.next(&limits(), Duration::ZERO);
        assert_eq!(next, expected, "{name}");
        assert_eq!(turn.next(&limits(), limits().time), expected, "{name}: the time is just up to the limit");
        assert_eq!(turn, turn_after(&inputs), "asking changes nothing");
        let late = turn.next(&limits(), limits().time + Duration::from_millis(1));
        let ended = matches!(next, Effect::End(EndReason::Planned | EndReason::Because(TurnEnd::Answered)))
            || inputs.is_empty();
        assert_eq!(late, if ended { next } else { at_limit(TurnLimit::Time) }, "{name}, late");
    }
}

#[test]
fn a_limit_is_explained_with_the_setting_that_changes_it() {
    for (limit, setting, number) in [
        (TurnLimit::ModelCalls, "`turn.model_calls`", "6"),
        (TurnLimit::ToolCalls, "`turn.tool_calls`", "5"),
        (TurnLimit::Tokens, "`turn.tokens`", "1000"),
        (TurnLimit::Time, "`turn.seconds`", "60"),
    ] {
        let message = limits().describe(limit);
        assert!(message.contains(setting) && message.contains(number) && message.contains("`go on`"), "{message}");
    }
}

#[test]
fn a_finished_turn_is_not_taken_up_by_a_replay() {
    for (end, open) in [(stop(), false), (reset(), false), (resume_turn(&World::talking().turn()), true)] {
        let mut world = World::talking();
        let turn = world.turn();
        world.agent(tell(&turn, &[calls(&["a"])])).unwrap();
        world.person(end).unwrap();
        assert_eq!(replayed_turn(&world, &turn).is_some(), open);
    }
}

/// What a model and its tools might do next, and how long it takes them.
#[derive(Debug, Clone)]
struct Chance {
    text: &'static str,
    calls: Vec<&'static str>,
    tokens: u64,
    status: ToolStatus,
    seconds: u64,
    crash: bool,
}

fn any_chance() -> impl Strategy<Value = Chance> {
    let text = prop_oneof![9 => Just(""), 4 => Just("let me see"), 1 => Just(" ")];
    let calls = prop_oneof![
        1 => Just(Vec::new()),
        6 => prop::collection::vec(prop::sample::select(vec!["a", "b"]), 1..4),
    ];
    (text, calls, 0..60_u64, any_status(), 0..3_u64, prop::bool::weighted(0.05)).prop_map(
        |(text, calls, tokens, status, seconds, crash)| Chance { text, calls, tokens, status, seconds, crash },
    )
}

fn any_limits() -> impl Strategy<Value = TurnLimits> {
    (0..8_u32, 0..12_u32, 0..300_u64, 0..30_u64, 0..4_u32).prop_map(
        |(model_calls, tool_calls, tokens, seconds, repetitions)| TurnLimits {
            model_calls,
            tool_calls,
            tokens,
            time: Duration::from_secs(seconds),
            repetitions,
            ..TurnLimits::default()
        },
    )
}

/// Plays a turn to its end, through the rules and with its journal.
fn play(chances: &[Chance], limits: &TurnLimits) -> Result<EndReason, TestCaseError> {
    let mut world = World::talking();
    let id = world.turn();
    let mut turn = Turn::new(id.clone(), Purpose::Answer);
    let mut elapsed = Duration::ZERO;
    let mut run = 0;
    for (step, chance) in chances.iter().cycle().enumerate() {
        prop_assert!(step < 200, "it never ends");
        let next = turn.next(limits, elapsed);
        prop_assert_eq!(&turn.clone().next(limits, elapsed), &next, "the same state leads to the same");
        let input = match next {
            Effect::CallModel => {
                prop_assert!(turn.model_calls() < limits.model_calls.max(1) as usize);
                let calls: Vec<_> = chance.calls.iter().map(|name| call(name, "{}")).collect();
                let usage = Usage { input_tokens: chance.tokens, output_tokens: 1 };
                let reply = planwright_core::model::ModelReply { usage, ..reply(chance.text, &calls) };
                replied(reply, Measure::Bytes)
            }
            Effect::RunTool(pending) => {
                run += 1;
                prop_assert_eq!(pending.number, run, "calls are run once, one after another");
                prop_assert!(run <= limits.tool_calls);
                let last = turn.last_reply().unwrap();
                prop_assert!(last.calls.contains(&pending.call));
                came_to(pending.number, chance.status, "ok")
            }
            Effect::End(over) => {
                let end = match over.clone() {
                    EndReason::Because(end) => end,
                    EndReason::Planned => TurnEnd::PlanReady { plan: planwright_core::ids::PlanId::new("p").unwrap() },
                };
                world.agent(close(&id, &[], end)).unwrap();
                prop_assert_eq!(replayed_turn(&world, &id), None);
                return Ok(over);
            }
        };
        turn.apply(&input);
        elapsed += Duration::from_secs(chance.seconds);
        world.agent(tell(&id, &[input])).unwrap();
        if chance.crash {
            world.agent(resume_turn(&id)).unwrap();
        }
        prop_assert_eq!(replayed_turn(&world, &id), Some(turn.clone()));
        let open = world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap();
        prop_assert_eq!(open.ended, turn.calls_ended());
    }
    unreachable!("there is always another chance")
}

/// The promise is worth something only if the random models come to every end.
#[test]
fn random_turns_come_to_every_end() {
    let mut runner = TestRunner::deterministic();
    let mut ends = BTreeSet::new();
    for _ in 0..300 {
        let chances = prop::collection::vec(any_chance(), 1..12).new_tree(&mut runner).unwrap().current();
        let limits = any_limits().new_tree(&mut runner).unwrap().current();
        ends.insert(match play(&chances, &limits).unwrap() {
            EndReason::Planned => "planned".to_owned(),
            EndReason::Because(TurnEnd::LimitReached { limit }) => format!("{limit:?}"),
            EndReason::Because(end) => end.name().to_owned(),
        });
    }
    let expected = ["ModelCalls", "Time", "Tokens", "ToolCalls", "answered", "looping", "no_answer", "planned"];
    assert_eq!(ends.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_model_does_a_turn_ends_and_can_be_taken_up_anywhere(
        chances in prop::collection::vec(any_chance(), 1..12),
        limits in any_limits(),
    ) {
        play(&chances, &limits)?;
    }
}
