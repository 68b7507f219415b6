use planwright_core::plan::execution::StepStatus;

use super::*;
use crate::chat::short_answers::{WordsAfter, answer};

fn plan(name: &str, digit: &str, wants: WaitingFor) -> Option<WaitingPlan> {
    let digest = digit.repeat(64).parse::<Digest>().unwrap();
    Some(WaitingPlan { plan: PlanId::new(name).unwrap(), digest, wants, answers: Vec::new() })
}

fn step(position: usize) -> WaitingFor {
    WaitingFor::StepEnded { position, description: "a step".to_owned(), status: StepStatus::Completed, note: None }
}

fn ask(name: &str, kind: AskKind) -> Cards {
    Cards { plan: None, ask: Some(WaitingAsk { ask: AskId::new(name).unwrap(), kind, answers: Vec::new() }) }
}

/// What can be on the screen.
struct Screens {
    nothing: Cards,
    plan: Cards,
    changed_plan: Cards,
    after_step_1: Cards,
    after_step_2: Cards,
    question: Cards,
    other_question: Cards,
    permission: Cards,
}

fn screens() -> Screens {
    let with = |plan| Cards { plan, ask: None };
    Screens {
        nothing: Cards::default(),
        plan: with(plan("plan-1", "1", WaitingFor::Approval)),
        changed_plan: with(plan("plan-1", "2", WaitingFor::Approval)),
        after_step_1: with(plan("plan-1", "1", step(1))),
        after_step_2: with(plan("plan-1", "1", step(2))),
        question: ask("ask-1", AskKind::Question),
        other_question: ask("ask-2", AskKind::Question),
        permission: ask("ask-3", AskKind::Permission),
    }
}

#[test]
fn what_was_typed_ahead() {
    use SendDecision::{Return, Send};
    let on = screens();
    for (text, then, now, expected) in [
        // A decision needs its card on the screen when it is begun.
        ("/plan approve", &on.nothing, &on.plan, Return(ReturnReason::Plan)),
        ("/plan approve", &on.plan, &on.plan, Send),
        ("/plan approve", &on.plan, &on.changed_plan, Return(ReturnReason::Plan)),
        ("/plan approve 1 only 1", &on.nothing, &on.plan, Return(ReturnReason::Plan)),
        ("/plan reject", &on.nothing, &on.plan, Return(ReturnReason::Plan)),
        ("/plan revise fewer steps", &on.nothing, &on.plan, Return(ReturnReason::Plan)),
        ("/plan cancel", &on.nothing, &on.plan, Return(ReturnReason::Plan)),
        ("/plan done", &on.nothing, &on.plan, Return(ReturnReason::Plan)),
        ("/plan resume", &on.after_step_1, &on.after_step_2, Return(ReturnReason::Plan)),
        ("/plan resume", &on.after_step_1, &on.after_step_1, Send),
        ("/plan resume", &on.plan, &on.after_step_1, Return(ReturnReason::Plan)),
        ("/deny", &on.nothing, &on.permission, Return(ReturnReason::Permission)),
        ("/deny", &on.permission, &on.permission, Send),
        ("/allow 3f2a91c0", &on.nothing, &on.permission, Return(ReturnReason::Permission)),
        ("/answer 3f2a91c0 blue", &on.nothing, &on.question, Return(ReturnReason::Question)),
        ("/deny", &on.nothing, &on.question, Return(ReturnReason::Question)),
        ("/plan approve", &on.nothing, &on.question, Return(ReturnReason::Question)),
        // Nothing came that it could be about: it is not dropped.
        ("/plan approve", &on.nothing, &on.nothing, Return(ReturnReason::NoCard)),
        ("/plan approve", &on.plan, &on.nothing, Return(ReturnReason::NoCard)),
        ("/allow 3f2a91c0", &on.permission, &on.nothing, Return(ReturnReason::NoCard)),
        // Decisions about something that has no card here.
        ("/tools accept github 3f2a91c0", &on.nothing, &on.nothing, Return(ReturnReason::NoCard)),
        ("/memory promote 3f2a91c0", &on.plan, &on.plan, Return(ReturnReason::NoCard)),
        ("/undo", &on.nothing, &on.nothing, Return(ReturnReason::NoCard)),
        ("/reset", &on.nothing, &on.nothing, Return(ReturnReason::NoCard)),
        ("/auto resume", &on.nothing, &on.nothing, Return(ReturnReason::NoCard)),
        // A message is sent in its turn, and answers nothing that came later.
        ("and hurry", &on.nothing, &on.nothing, Send),
        ("and hurry", &on.nothing, &on.plan, Send),
        ("and hurry", &on.nothing, &on.question, Return(ReturnReason::Question)),
        ("and hurry", &on.nothing, &on.permission, Return(ReturnReason::Permission)),
        ("blue", &on.question, &on.question, Send),
        ("blue", &on.question, &on.other_question, Return(ReturnReason::Question)),
        ("blue", &on.question, &on.nothing, Send),
        ("/plan move the blog", &on.nothing, &on.question, Return(ReturnReason::Question)),
        ("/plan on", &on.nothing, &on.nothing, Send),
        ("/stop", &on.nothing, &on.question, Return(ReturnReason::Question)),
        ("/switch another-one", &on.nothing, &on.plan, Send),
        // Looking never hurts, and a mistake does nothing.
        ("/status", &on.nothing, &on.question, Send),
        ("/plan show", &on.nothing, &on.plan, Send),
        ("/allow", &on.nothing, &on.permission, Send),
        ("/plan aprove", &on.nothing, &on.plan, Send),
    ] {
        assert_eq!(rule(text, &TypingStart::Earlier(then.clone()), now), expected, "{text}: {then:?} to {now:?}");
    }
}

#[test]
fn what_was_typed_at_the_prompt() {
    use SendDecision::{Return, Send};
    let on = screens();
    for (text, then, now, expected) in [
        ("/plan approve", &on.plan, &on.plan, Send),
        // Another surface changed it meanwhile.
        ("/plan approve", &on.plan, &on.changed_plan, Return(ReturnReason::Changed)),
        ("/plan resume", &on.after_step_1, &on.after_step_2, Return(ReturnReason::Changed)),
        ("/deny", &on.permission, &on.nothing, Return(ReturnReason::Changed)),
        ("blue", &on.question, &on.question, Send),
        ("blue", &on.nothing, &on.question, Return(ReturnReason::Question)),
        // The program says what there is to say about these.
        ("/plan approve 7", &on.nothing, &on.nothing, Send),
        ("/memory promote 3f2a91c0", &on.nothing, &on.nothing, Send),
        ("/undo", &on.plan, &on.changed_plan, Send),
    ] {
        assert_eq!(rule(text, &TypingStart::AtPrompt(then.clone()), now), expected, "{text}: {then:?} to {now:?}");
    }
}

fn typed(queue: &mut Queue, text: &str, screen: &Cards) {
    for piece in text.split_inclusive('\n') {
        queue.press(Key::Text(piece.trim_end_matches('\n').to_owned()), screen);
        if piece.ends_with('\n') {
            queue.press(Key::Enter, screen);
        }
    }
}

fn returned(text: &str, why: ReturnReason) -> Next {
    Next::Return { text: text.to_owned(), why }
}

#[test]
fn lines_wait_in_their_order() {
    let on = screens();
    let mut queue = Queue::default();
    typed(&mut queue, "first\n  \n/plan approve\nsecond \\\nline\nunfin", &on.nothing);
    let shown = ["queued: first", "queued: /plan approve", "queued: second line", "› unfin"];
    assert_eq!(queue.shown(), shown);
    assert_eq!(queue.next(&on.plan), Next::Send("first".to_owned()));
    assert_eq!(queue.next(&on.plan), returned("/plan approve", ReturnReason::Plan));
    assert_eq!(queue.next(&on.plan), Next::Send("second \nline".to_owned()));
    let unfinished = Next::Continue { text: "unfin".to_owned(), begun_under: on.nothing.clone() };
    assert_eq!(queue.next(&on.plan), unfinished);
    assert_eq!(queue.next(&on.plan), Next::Nothing);
}

/// What counts is what was on the screen at the first letter, and not at the last.
#[test]
fn a_line_is_begun_with_its_first_letter() {
    let on = screens();
    let mut queue = Queue::default();
    typed(&mut queue, "/plan app", &on.nothing);
    typed(&mut queue, "rove\n", &on.plan);
    assert_eq!(queue.next(&on.plan), returned("/plan approve", ReturnReason::Plan));
    // A line that was emptied is begun anew.
    typed(&mut queue, "/plan", &on.nothing);
    queue.press(Key::DeleteLine, &on.nothing);
    typed(&mut queue, "x", &on.nothing);
    queue.press(Key::Backspace, &on.plan);
    typed(&mut queue, "/plan approve\n", &on.plan);
    assert_eq!(queue.next(&on.plan), Next::Send("/plan approve".to_owned()));
}

#[test]
fn what_waits_when_the_agent_is_stopped_is_not_sent_by_itself() {
    let on = screens();
    let mut queue = Queue::default();
    typed(&mut queue, "one\ntwo\n", &on.nothing);
    queue.hold();
    typed(&mut queue, "three\n", &on.nothing);
    assert_eq!(queue.next(&on.nothing), returned("one", ReturnReason::Stopped));
    assert_eq!(queue.next(&on.nothing), returned("two", ReturnReason::Stopped));
    assert_eq!(queue.next(&on.nothing), Next::Send("three".to_owned()));
}

#[test]
fn a_stop_is_taken_out_of_the_queue() {
    let on = screens();
    let mut queue = Queue::default();
    typed(&mut queue, "one\n /STOP\n", &on.nothing);
    assert!(queue.take_stop() && !queue.take_stop());
    assert_eq!(queue.shown(), ["queued: one"]);
    queue.press(Key::Text("two words".to_owned()), &on.nothing);
    queue.press(Key::DeleteWord, &on.nothing);
    assert_eq!(queue.shown(), ["queued: one", "› two"]);
}

/// A letter is a decision about the card under which it was typed, and about no other.
#[test]
fn a_letter_decides_only_what_was_on_the_screen() {
    use SendDecision::{Return, Send};
    let on = screens();
    let (mut plan, mut changed, mut permission) = (on.plan.clone(), on.changed_plan.clone(), on.permission.clone());
    let approve = || vec![answer('a', "approve", "/plan approve 1".to_owned(), WordsAfter::Steps)];
    plan.plan.as_mut().unwrap().answers = approve();
    changed.plan.as_mut().unwrap().answers = approve();
    let always = answer('a', "always", "/allow 3f2a91c0 always".to_owned(), WordsAfter::Nothing);
    permission.ask.as_mut().unwrap().answers = vec![always];
    for (text, then, now, ahead, at_prompt) in [
        ("a", &plan, &plan, Send, Send),
        ("a", &plan, &changed, Return(ReturnReason::Plan), Return(ReturnReason::Changed)),
        ("a", &on.nothing, &plan, Return(ReturnReason::Plan), Return(ReturnReason::Changed)),
        ("a", &plan, &on.nothing, Return(ReturnReason::NoCard), Return(ReturnReason::Changed)),
        // The letter stood for something else when it was typed.
        ("a", &plan, &permission, Return(ReturnReason::Permission), Return(ReturnReason::Changed)),
        ("a", &permission, &permission, Send, Send),
        ("a", &on.nothing, &on.nothing, Send, Send),
        ("a 1,3", &on.nothing, &plan, Return(ReturnReason::Plan), Return(ReturnReason::Changed)),
        ("a better idea", &on.nothing, &plan, Send, Send),
    ] {
        assert_eq!(rule(text, &TypingStart::Earlier(then.clone()), now), ahead, "{text}: {then:?} to {now:?}");
        assert_eq!(rule(text, &TypingStart::AtPrompt(then.clone()), now), at_prompt, "{text}: {then:?} to {now:?}");
    }
    let mut queue = Queue::default();
    typed(&mut queue, "a\n", &plan);
    assert_eq!(queue.next(&plan), Next::Send("/plan approve 1".to_owned()));
}
