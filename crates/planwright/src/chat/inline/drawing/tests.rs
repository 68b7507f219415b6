use crate::chat::inline::input_box::{InputBox, Pressing};
use crate::chat::inline::status_line::StatusLine;
use crate::chat::known_arguments::KnownArguments;
use crate::chat::short_answers::{WordsAfter, answer};
use crate::chat::typeahead::{Cards, Key, TypingStart};

struct Drawn {
    input: InputBox,
    _folder: tempfile::TempDir,
}

impl Drawn {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut input = InputBox::new(folder.path().join("history"));
        let status = StatusLine { place: "~/shop".to_owned(), model: "rehearsal".to_owned(), ..StatusLine::default() };
        input.know(KnownArguments::default(), None, status);
        input.begin_prompt(None, None, false);
        Self { input, _folder: folder }
    }

    fn press(&mut self, key: Key) {
        let pressing = Pressing { start: TypingStart::AtPrompt(Cards::default()), width: 38, has_queue: false };
        self.input.press(key, &pressing);
    }

    fn type_in(&mut self, text: &str) {
        self.press(Key::Text(text.to_owned()));
    }

    fn shown(&self, queued: &[&str]) -> (String, (usize, usize)) {
        let queued: Vec<String> = queued.iter().map(|line| (*line).to_owned()).collect();
        let drawn = self.input.draw(40, 24, &queued);
        let lines: Vec<_> = drawn
            .lines
            .iter()
            .map(|line| anstream::adapter::strip_str(line).to_string().trim_end().to_owned())
            .collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:?}");
        (lines.join("\n"), drawn.cursor)
    }
}

const RULE: &str = "────────────────────────────────────────";

#[test]
fn an_empty_box_says_what_can_be_typed() {
    let (shown, cursor) = Drawn::new().shown(&[]);
    assert!(shown.starts_with(&format!("{RULE}\n› write a message; / for commands, @")), "{shown}");
    assert!(shown.ends_with("…\n  ~/shop · rehearsal"), "{shown}");
    assert_eq!(cursor, (1, 2));
}

#[test]
fn a_long_text_has_rows_and_the_cursor_is_among_them() {
    let mut drawn = Drawn::new();
    drawn.type_in("0123456789012345678901234567890123456789");
    drawn.press(Key::NewLine);
    drawn.type_in("second");
    let (shown, cursor) = drawn.shown(&[]);
    let rows = "› 01234567890123456789012345678901234567\n  89\n  second";
    assert_eq!(shown, format!("{RULE}\n{rows}\n  ~/shop · rehearsal"));
    assert_eq!(cursor, (3, 8));
    // Of many rows those around the cursor are shown: a third of the window.
    for number in 0..20 {
        drawn.press(Key::NewLine);
        drawn.type_in(&format!("row {number}"));
    }
    let (shown, cursor) = drawn.shown(&[]);
    assert_eq!(shown.lines().count(), 10);
    assert!(!shown.contains("row 11") && shown.contains("row 12") && shown.contains("row 19"), "{shown}");
    assert_eq!(cursor, (8, 8));
}

#[test]
fn what_waits_and_the_letters_are_above_the_box() {
    let mut drawn = Drawn::new();
    drawn.input.offer(Some(&[
        answer('a', "approve", "/plan approve 2".to_owned(), WordsAfter::Steps),
        answer('r', "reject", "/plan reject 2".to_owned(), WordsAfter::Nothing),
    ]));
    let (shown, _) = drawn.shown(&["queued: and then the tests"]);
    let expected = "  queued: and then the tests\n  ↑ takes the newest back\na or a 1,3 approve · r reject";
    let row = "› press a letter above, or write a mess…";
    assert_eq!(shown, format!("{expected}\n{RULE}\n{row}\n  ~/shop · rehearsal"));
    drawn.type_in("r");
    assert!(drawn.shown(&[]).0.contains("› r  Enter: reject"), "{:?}", drawn.shown(&[]));
}

#[test]
fn candidates_take_the_place_of_the_status_line() {
    let mut drawn = Drawn::new();
    drawn.type_in("/qu");
    let (shown, _) = drawn.shown(&[]);
    assert_eq!(shown, format!("{RULE}\n› /qu\n▸ /quit  leave the chat"));
    drawn.press(Key::Escape);
    assert!(drawn.shown(&[]).0.ends_with("rehearsal"));
}

#[test]
fn a_search_shows_what_it_looks_for_and_what_it_found() {
    let mut drawn = Drawn::new();
    drawn.input.remember("run the tests");
    drawn.press(Key::Search);
    drawn.type_in("tests");
    let (shown, _) = drawn.shown(&[]);
    assert!(shown.contains("› run the tests\n  sent before: tests"), "{shown}");
    drawn.type_in("nothing");
    assert!(drawn.shown(&[]).0.contains("nothing sent before has testsnothing"));
}
