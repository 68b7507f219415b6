//! Turns apart from the conversation: what comes next in them, what they may take, and who hears them.

use std::time::Duration;

use planwright_core::conversation::Conversation;
use planwright_core::conversation::token_budget::fit;
use planwright_core::ids::{ExecutionId, PlanId, TurnId};
use planwright_core::model::{ModelMessage, Usage};
use planwright_core::turn::{Effect, EndReason, Purpose, ToolStatus, Turn, TurnEnd, TurnInput, TurnLimits};

use super::machine::{limits, over, run, turn_after, used};
use super::purposes::{begin, built, of_step};
use super::replayed_turn;
use crate::random_conversation::*;
use crate::world::*;

fn step_turn(inputs: &[TurnInput]) -> Turn {
    let purpose = Purpose::Step {
        plan: PlanId::new("p").unwrap(),
        execution: ExecutionId::new("e").unwrap(),
        step: step("s1"),
        agent: "coder".to_owned(),
    };
    let mut turn = Turn::new(TurnId::new("t").unwrap(), purpose);
    inputs.iter().for_each(|input| turn.apply(input));
    turn
}

#[test]
fn a_step_ends_with_a_report_and_not_with_words() {
    let a = || calls(&["a"]);
    let rows: Vec<(&str, Vec<TurnInput>, Effect)> = vec![
        ("the beginning", vec![], Effect::CallModel),
        ("a call", vec![a()], run(1, "a")),
        ("words once", vec![answers("done")], Effect::CallModel),
        ("words twice", vec![answers("done"), answers("really")], over(TurnEnd::Answered)),
        ("words around a call", vec![answers("hm"), a(), done_with(1), answers("hm")], Effect::CallModel),
        ("words, nothing, words", vec![answers("hm"), answers(""), answers("hm")], Effect::CallModel),
        ("nothing twice", vec![answers(""), answers("")], over(TurnEnd::NoAnswer)),
        ("a report", vec![a(), came_to(1, ToolStatus::Settled, "ok")], Effect::End(EndReason::Planned)),
        (
            "a report beside other calls",
            vec![calls(&["a", "b"]), came_to(1, ToolStatus::Settled, "ok")],
            Effect::End(EndReason::Planned),
        ),
        ("a call that failed", vec![a(), came_to(1, ToolStatus::Failed, "no")], Effect::CallModel),
        (
            "a call with an unknown result",
            vec![a(), came_to(1, ToolStatus::Uncertain, "?")],
            over(TurnEnd::Interrupted),
        ),
        (
            "and what was called beside it is left",
            vec![calls(&["a", "b"]), came_to(1, ToolStatus::Uncertain, "?")],
            over(TurnEnd::Interrupted),
        ),
    ];
    for (name, inputs, expected) in rows {
        assert_eq!(step_turn(&inputs).next(&limits(), Duration::ZERO), expected, "{name}");
    }
    let uncertain = [calls(&["a"]), came_to(1, ToolStatus::Uncertain, "?")];
    assert_eq!(turn_after(&uncertain).next(&limits(), Duration::ZERO), Effect::CallModel, "a person can be asked");
}

#[test]
fn a_question_gets_what_is_left_of_the_turn() {
    let asked = || vec![used(100), done_with(1), used(200)];
    let turn = turn_after(&asked());
    let left = turn.left_of(&limits(), Duration::from_secs(20));
    let expected = TurnLimits { model_calls: 4, tool_calls: 4, tokens: 700, time: Duration::from_secs(40), ..limits() };
    assert_eq!(left, expected);
    let nothing = turn_after(&[used(9_000)]).left_of(&limits(), Duration::from_secs(100));
    assert_eq!((nothing.tokens, nothing.time), (0, Duration::ZERO));
}

#[test]
fn what_a_question_took_counts_once() {
    let question = {
        let mut question = Turn::new(
            TurnId::new("q").unwrap(),
            Purpose::Question { agent: "coder".to_owned(), asked_by: TurnId::new("t").unwrap() },
        );
        [used(300), done_with(1), used(50)].iter().for_each(|input| question.apply(input));
        question
    };
    let mut asking = turn_after(&[used(100)]);
    asking.absorb(&question);
    assert_eq!(asking.usage(), Usage { input_tokens: 450, output_tokens: 0 });
    assert_eq!((asking.model_calls(), asking.calls_ended()), (3, 0));
    let left = asking.left_of(&limits(), Duration::ZERO);
    assert_eq!((left.model_calls, left.tool_calls, left.tokens), (3, 4, 550));
    // After a crash its inputs come from the journal, and it continues: they are not counted a second time.
    let mut replayed = turn_after(&[used(100)]);
    [used(300), done_with(1), used(50)].iter().for_each(|input| replayed.note_asked(input));
    assert_eq!(replayed, asking);
    replayed.resume_question(&question);
    assert_eq!(replayed, turn_after(&[used(100)]));
    replayed.absorb(&question);
    assert_eq!(replayed, asking);
}

#[test]
fn a_turn_is_replayed_with_what_its_questions_took() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["ask_agent"])])).unwrap();
    let purpose = Purpose::Question { agent: "coder".to_owned(), asked_by: turn.clone() };
    world.agent(begin(purpose.clone())).unwrap();
    let question =
        world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().question.as_ref().unwrap().id.clone();
    world.agent(tell(&question, &[calls(&["a"]), done_with(1)])).unwrap();
    let replayed = replayed_turn(&world, &turn).unwrap();
    assert_eq!((replayed.model_calls(), replayed.calls_ended()), (2, 0));
    let apart = replayed_turn(&world, &question).unwrap();
    assert_eq!((&apart.purpose, apart.model_calls()), (&purpose, 1));
    world.agent(close(&question, &[answers("so")], TurnEnd::Answered)).unwrap();
    assert_eq!(replayed_turn(&world, &question), None);
    assert_eq!(replayed_turn(&world, &turn).unwrap().model_calls(), 3);
}

fn lines(conversation: &Conversation) -> Vec<String> {
    let line = |message: ModelMessage| match message {
        ModelMessage::User { text } => format!("user: {text}"),
        ModelMessage::Assistant { text, calls } => format!("agent: {text}{}", "*".repeat(calls.len())),
        ModelMessage::ToolResult { text, .. } => format!("result: {text}"),
    };
    conversation.messages().into_iter().map(line).collect()
}

fn only(world: &World, turn: &TurnId) -> Conversation {
    let mut conversation = Conversation::of_turn(turn.clone());
    world.entries().iter().for_each(|(seq, event)| conversation.apply(*seq, event));
    conversation
}

#[test]
fn a_question_sees_only_its_own_conversation() {
    let mut world = World::talking();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["ask_agent"])])).unwrap();
    world.agent(begin(Purpose::Question { agent: "coder".to_owned(), asked_by: turn.clone() })).unwrap();
    let question =
        world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().question.as_ref().unwrap().id.clone();
    world.agent(tell(&question, &[calls(&["a"]), came_to(1, ToolStatus::Done, "seen")])).unwrap();
    let unanswered = "result: [No outcome: the turn ended before this call did.]";
    assert_eq!(lines(&world.conversation()), ["user: hello", "agent: *", unanswered]);
    world.agent(close(&question, &[answers("three")], TurnEnd::Answered)).unwrap();
    world.agent(close(&turn, &[done_with(1), answers("it is three")], TurnEnd::Answered)).unwrap();
    assert_eq!(lines(&world.conversation()), ["user: hello", "agent: *", "result: ok", "agent: it is three"]);
    assert_eq!(lines(&only(&world, &question)), ["user: do it", "agent: *", "result: seen", "agent: three"]);
    world.person(say("next")).unwrap();
    assert_eq!(lines(&world.conversation()).last().unwrap(), "user: next");
    assert_eq!(lines(&only(&world, &question)).len(), 4, "later turns are not its business");
}

#[test]
fn a_step_sees_only_its_own_conversation() {
    let mut world = built();
    world.person(say("hello")).unwrap();
    let turn = world.turn();
    world.agent(close(&turn, &[answers("hi")], TurnEnd::Answered)).unwrap();
    world.agent(begin(of_step(&world, "s1"))).unwrap();
    let apart = world.turn();
    world.agent(tell(&apart, &[calls(&["a"]), came_to(1, ToolStatus::Done, "seen"), answers("I think so")])).unwrap();
    let own = lines(&only(&world, &apart));
    assert_eq!(own[..4], ["user: do it", "agent: *", "result: seen", "agent: I think so"]);
    assert!(own[4].starts_with("user: [Words alone do not end a step."), "{own:?}");
    assert_eq!(lines(&world.conversation()), ["user: hello", "agent: hi"]);
    world.person(stop()).unwrap();
    assert_eq!(lines(&world.conversation()), ["user: hello", "agent: hi"], "nor is its end");
    world.person(say("next")).unwrap();
    assert_eq!(lines(&world.conversation()), ["user: hello", "agent: hi", "user: next"]);
}

#[test]
fn what_a_specialist_is_to_do_is_told_whole_however_much_was_done() {
    let mut world = built();
    world.agent(begin(of_step(&world, "s1"))).unwrap();
    let apart = world.turn();
    for number in 1..=20 {
        world.agent(tell(&apart, &[calls(&["a"]), came_to(number, ToolStatus::Done, "many words")])).unwrap();
    }
    world.agent(tell(&apart, &[answers("I think so")])).unwrap();
    let conversation = only(&world, &apart);
    let room = conversation.tokens() / 2;
    let sent = fit(&conversation, room, &Measure::Bytes).unwrap();
    let reply = |text: &str| {
        sent.iter().any(|message| matches!(message, ModelMessage::User { text: reply } if reply.contains(text)))
    };
    assert!(sent.len() < 40, "{}", sent.len());
    assert!(reply("do it") && reply("Words alone do not end a step"), "{sent:#?}");
    check_sendable(&sent).unwrap();
}

#[test]
fn a_document_is_carried_out_in_the_conversation() {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(planwright_core::plan::approval::Selection::All).unwrap();
    world.start().unwrap();
    let plan = world.active().id.clone();
    world.agent(begin(Purpose::Document { plan })).unwrap();
    let turn = world.turn();
    world.agent(close(&turn, &[answers("done")], TurnEnd::Answered)).unwrap();
    assert_eq!(lines(&world.conversation()), ["user: do it", "agent: done"]);
    assert_eq!(world.snapshot.session.as_ref().unwrap().topic, None, "no person said it");
}

#[test]
fn a_compaction_and_a_reset_do_not_touch_a_turn_apart() {
    let mut world = built();
    world.agent(begin(of_step(&world, "s1"))).unwrap();
    let apart = world.turn();
    world.agent(tell(&apart, &[calls(&["a"]), done_with(1)])).unwrap();
    let before = only(&world, &apart);
    world.agent(compact(compaction(3, None))).unwrap();
    assert_eq!(only(&world, &apart), before);
}
