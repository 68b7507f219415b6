use planwright_core::ids::PlanId;
use planwright_core::plan::waiting::WaitingFor;

use super::*;
use crate::chat::short_answers::{WordsAfter, answer};
use crate::chat::typeahead::WaitingPlan;

fn input() -> (InputBox, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (InputBox::new(folder.path().join("history")), folder)
}

/// A plan that waits on the screen.
fn plan() -> Cards {
    let answers = vec![
        answer('a', "approve", "/plan approve 2".to_owned(), WordsAfter::Steps),
        answer('c', "request changes", "/plan revise #2".to_owned(), WordsAfter::Must),
    ];
    let (plan, digest) = (PlanId::new("plan-1").unwrap(), "ab".repeat(32).parse().unwrap());
    Cards { plan: Some(WaitingPlan { plan, digest, wants: WaitingFor::Approval, answers }), ask: None }
}

fn after(start: TypingStart) -> Pressing {
    Pressing { start, width: 40, has_queue: false }
}

fn at_prompt(cards: Cards) -> Pressing {
    after(TypingStart::AtPrompt(cards))
}

fn text(text: &str) -> Key {
    Key::Text(text.to_owned())
}

#[track_caller]
fn sent(pressed: Pressed) -> SentText {
    match pressed {
        Pressed::Sent(sent) => *sent,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_counts_from_the_moment_in_which_it_was_begun() {
    let (mut input, _folder) = input();
    let (earlier, now) = (after(TypingStart::Earlier(Cards::default())), at_prompt(plan()));
    input.press(text("/plan "), &earlier);
    input.press(text("approve"), &now);
    assert_eq!(sent(input.press(Key::Enter, &now)).begun, earlier.start);
    // Once the box is empty, what comes next is begun anew.
    input.press(text("a"), &earlier);
    input.press(Key::Backspace, &now);
    input.press(text("hello"), &now);
    let sent = sent(input.press(Key::Enter, &now));
    assert_eq!((sent.text.as_str(), sent.begun), ("hello", now.start));
}

#[test]
fn what_is_left_in_the_box_was_begun_earlier_at_the_next_prompt() {
    let (mut input, _folder) = input();
    input.press(text("/undo"), &at_prompt(Cards::default()));
    input.end_prompt();
    input.begin_prompt(None, None, false);
    let sent = sent(input.press(Key::Enter, &at_prompt(Cards::default())));
    assert_eq!(sent.begun, TypingStart::Earlier(Cards::default()));
}

#[test]
fn a_letter_decides_only_alone_and_only_at_its_prompt() {
    let (mut input, _folder) = input();
    let prompt = at_prompt(plan());
    input.press(text("a"), &prompt);
    assert!(input.decides_at().is_some());
    assert_eq!(input.take_decision(), None, "not at once");
    // Anything that follows makes it the beginning of a text.
    input.press(text("nd"), &prompt);
    assert_eq!(input.decides_at(), None);
    input.clear();
    for (key, pressing) in [
        (text("a"), after(TypingStart::Earlier(plan()))),
        (text("a"), at_prompt(Cards::default())),
        (text("x"), prompt.clone()),
        (text("ac"), prompt.clone()),
        (Key::Pasted("a".to_owned()), prompt.clone()),
    ] {
        input.press(key.clone(), &pressing);
        assert_eq!(input.decides_at(), None, "{key:?} {pressing:?}");
        input.clear();
    }
    input.press(text("see "), &prompt);
    input.press(text("a"), &prompt);
    assert_eq!(input.decides_at(), None, "behind other text");
    // An Enter that comes at once with the letter was pasted with it.
    input.clear();
    input.press(text("a"), &prompt);
    assert_eq!(input.press(Key::Enter, &prompt), Pressed::Taken);
    assert_eq!(sent(input.press(Key::Enter, &prompt)).text, "a");
    input.press(text("a"), &prompt);
    input.begin_read();
    assert_eq!(sent(input.press(Key::Enter, &prompt)).text, "a");
}

#[test]
fn what_came_back_waits_until_its_reason_can_be_read() {
    let (mut input, _folder) = input();
    let begun = Some(SentText { text: "/plan approve 2".to_owned(), begun: TypingStart::AtPrompt(plan()) });
    input.press(text("a draft"), &at_prompt(Cards::default()));
    input.begin_prompt(begun, Some("Read it again.".to_owned()), true);
    let too_soon = after(TypingStart::Earlier(Cards::default()));
    assert_eq!(input.press(Key::Enter, &too_soon), Pressed::Taken);
    assert_eq!(sent(input.press(Key::Enter, &at_prompt(plan()))).text, "/plan approve 2");
    // What was in the box before comes back.
    input.end_prompt();
    input.begin_prompt(None, None, false);
    assert_eq!(input.text(), "a draft");
}

#[test]
fn keys_up_and_down_go_to_the_queue_the_rows_and_the_history() {
    let (mut input, _folder) = input();
    let prompt = at_prompt(Cards::default());
    input.remember("sent before");
    assert_eq!(input.press(Key::Up, &Pressing { has_queue: true, ..prompt.clone() }), Pressed::TakeBack);
    input.press(text("one"), &prompt);
    input.press(Key::NewLine, &prompt);
    input.press(text("two"), &prompt);
    input.press(Key::Up, &prompt);
    assert_eq!(input.text(), "one\ntwo", "in the text first");
    input.press(Key::Up, &prompt);
    assert_eq!(input.text(), "sent before");
    input.press(Key::Down, &prompt);
    assert_eq!(input.text(), "one\ntwo");
}

#[test]
fn a_candidate_is_taken_with_tab_or_chosen_with_the_arrows() {
    let (mut input, _folder) = input();
    let prompt = at_prompt(Cards::default());
    input.press(text("/plan sta"), &prompt);
    input.press(Key::Tab, &prompt);
    assert_eq!(input.text(), "/plan status");
    input.clear();
    input.press(text("/qu"), &prompt);
    assert_eq!(sent(input.press(Key::Enter, &prompt)).text, "/qu", "what is typed, unless another was chosen");
    input.press(text("/qu"), &prompt);
    input.press(Key::Down, &prompt);
    assert_eq!(sent(input.press(Key::Enter, &prompt)).text, "/quit");
    input.press(text("/plan"), &prompt);
    assert_eq!(input.press(Key::Escape, &prompt), Pressed::Taken, "closes the list");
    assert_eq!(input.press(Key::Escape, &prompt), Pressed::Escape);
}

#[test]
fn what_was_sent_is_found_again() {
    let (mut input, _folder) = input();
    let prompt = at_prompt(Cards::default());
    input.remember("run the tests");
    input.remember("run the build");
    input.press(Key::Search, &prompt);
    input.press(text("run"), &prompt);
    input.press(Key::Search, &prompt);
    input.press(Key::Search, &prompt);
    input.press(Key::Enter, &prompt);
    assert_eq!(input.text(), "run the tests", "found, and not sent");
    input.clear();
    input.press(Key::Search, &prompt);
    input.press(text("run"), &prompt);
    input.press(Key::Escape, &prompt);
    assert_eq!(input.text(), "");
}

#[test]
fn a_message_of_several_lines_is_sent_whole() {
    let (mut input, _folder) = input();
    let prompt = at_prompt(Cards::default());
    input.press(text("one\\"), &prompt);
    assert_eq!(input.press(Key::Enter, &prompt), Pressed::Taken);
    input.press(Key::Pasted("two\nthree".to_owned()), &prompt);
    assert_eq!(sent(input.press(Key::Enter, &prompt)).text, "one\ntwo\nthree");
    assert_eq!(sent(input.press(Key::Enter, &prompt)).text, "");
}
