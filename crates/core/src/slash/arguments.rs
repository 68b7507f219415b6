//! What may follow a command's name, piece by piece.

use super::command::SlashCommand;
use crate::plan::reference::{NUMBER_MARK, PlanReference};
use crate::visible::quoted;

/// A command with its arguments, or what is wrong with them.
pub(super) type Read = Result<SlashCommand, ArgumentProblem>;

/// What is wrong with a command's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentProblem {
    /// A sentence that says so.
    Wrong(String),
    /// A text follows a bare number, so the number may be a plan or the first word of the text.
    NumberBeforeText { number: String, text: String },
}

impl<T: Into<String>> From<T> for ArgumentProblem {
    fn from(sentence: T) -> Self {
        Self::Wrong(sentence.into())
    }
}

/// What stands between arguments and free text. Phones turn `--` into the long dash; the shorter one is left to ranges
/// of steps.
pub(super) const MARKS: [&str; 2] = ["--", "—"];

/// The first word, and what follows it without the space between and around.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// The arguments, and the free text after the first `--` that stands alone; blank text counts as there.
pub(super) fn split_at_mark(text: &str) -> (&str, Option<&str>) {
    let mut place = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let end = place + piece.len();
        if MARKS.contains(&piece.trim_end()) {
            return (text[..place].trim(), Some(text[end..].trim()));
        }
        place = end;
    }
    (text.trim(), None)
}

/// `--only` as on a command line, with whatever a phone made of the dashes.
pub(super) fn without_dashes(word: &str) -> &str {
    MARKS.iter().find_map(|mark| word.strip_prefix(mark)).unwrap_or(word)
}

pub(super) fn nothing(rest: &str, command: SlashCommand) -> Read {
    if rest.is_empty() {
        Ok(command)
    } else {
        Err(ArgumentProblem::Wrong(format!("Nothing can follow this command, and {} did.", quoted(rest))))
    }
}

pub(super) fn some_text(rest: &str) -> Option<String> {
    (!rest.is_empty()).then(|| rest.to_owned())
}

pub(super) fn needed_text(rest: &str, what: &str) -> Result<String, ArgumentProblem> {
    some_text(rest).ok_or_else(|| ArgumentProblem::Wrong(format!("Say {what}.")))
}

pub(super) fn at_most_one_word(rest: &str) -> Result<Option<String>, String> {
    match first_word(rest) {
        (word, "") => Ok(some_text(word)),
        (_, more) => Err(format!("Only one word can follow, and {} did too.", quoted(more))),
    }
}

/// At most one reference and nothing after it.
pub(super) fn optional_reference(rest: &str) -> Result<Option<PlanReference>, String> {
    match first_word(rest) {
        ("", _) => Ok(None),
        (word, "") => reference(word).map(Some),
        (word, more) => {
            reference(word)?;
            Err(format!("Nothing can follow the plan here, and {} did.", quoted(more)))
        }
    }
}

/// Where only a reference can stand it may be any id or piece of one, except a word of letters alone, which is far more
/// often a word of a sentence, and one that begins like an option.
pub(super) fn reference(word: &str) -> Result<PlanReference, String> {
    let something_else = word.starts_with('-') || word.chars().all(char::is_alphabetic);
    word.parse().ok().filter(|_| !something_else).ok_or_else(|| {
        format!("{} does not name a plan: give its number, or six or more characters of its id.", quoted(word))
    })
}

/// Whether a word names a plan even where a text may follow it: `#3`, or six or more of `0-9a-f-` with both a digit and a
/// letter or dash among them. `because` does not, and neither do `facade` and `2024`.
pub(super) fn is_plainly_a_reference(word: &str) -> bool {
    let of_an_id = word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && !is_bare_number(word);
    let plain = word.starts_with(NUMBER_MARK) || of_an_id && word.bytes().any(|b| b.is_ascii_digit());
    plain && reference(word).is_ok()
}

fn is_bare_number(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit())
}

/// `[#plan] [text]` or `[plan] -- [text]`. A bare number names a plan where no text follows it or `--` stands between.
pub(super) fn reference_and_text(rest: &str) -> Result<(Option<PlanReference>, &str), ArgumentProblem> {
    match split_at_mark(rest) {
        ("", Some(text)) => return Ok((None, text)),
        (before, Some(text)) => {
            if let Ok(plan) = reference(before) {
                return Ok((Some(plan), text));
            }
        }
        (_, None) => {}
    }
    let (word, text) = first_word(rest);
    match reference(word) {
        Ok(plan) if is_plainly_a_reference(word) => Ok((Some(plan), text)),
        Ok(plan) if is_bare_number(word) && text.is_empty() => Ok((Some(plan), text)),
        Ok(_) if is_bare_number(word) => {
            Err(ArgumentProblem::NumberBeforeText { number: word.to_owned(), text: text.to_owned() })
        }
        Ok(_) | Err(_) => Ok((None, rest)),
    }
}
