//! Edits applied to a text.

use std::borrow::Cow;

use planwright_core::refusal::{Problem, Refusal};

use super::Edit;

/// Of the places that match too often, how many are named.
const NAMED_LINES: usize = 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) text: String,
    pub(super) replacements: usize,
}

/// Applies each edit to the result of the one before. Fails for the first one that does not fit.
pub(super) fn apply(text: &str, edits: &[Edit], shown: &str) -> Result<Edited, Refusal> {
    let line_ends = LineEnds::of(text);
    let mut edited = Edited { text: text.to_owned(), replacements: 0 };
    for (index, edit) in edits.iter().enumerate() {
        let (old, new) = (line_ends.adapt(&edit.old), line_ends.adapt(&edit.new));
        let places: Vec<usize> = edited.text.match_indices(old.as_ref()).map(|(at, _)| at).collect();
        // Matches that overlap are ambiguous as well: `aa` is twice in `aaa`.
        let overlaps = places.len() == 1
            && edited.text[places[0]..]
                .char_indices()
                .nth(1)
                .is_some_and(|(next, _)| edited.text[places[0] + next..].contains(old.as_ref()));
        match places.len() {
            0 => return Err(refused(index, shown, &not_found(&edited.text, &old))),
            1 if !overlaps || edit.all => {}
            _ if edit.all => {}
            _ => return Err(refused(index, shown, &found_often(&edited.text, &places))),
        }
        edited.replacements += places.len();
        edited.text = edited.text.replace(old.as_ref(), new.as_ref());
    }
    if edited.text == text {
        return Err(Refusal::invalid(format!("The edits leave {shown} as it is. Nothing was changed.")));
    }
    Ok(edited)
}

fn refused(index: usize, shown: &str, why: &str) -> Refusal {
    let message = format!("Edit {} does not fit {shown}: {why} Nothing was changed.", index + 1);
    Refusal::invalid(message).with_problems(vec![Problem::new(format!("/edits/{index}/old"), why)])
}

fn not_found(text: &str, old: &str) -> String {
    let hint = match near(text, old) {
        Some(line) => format!(" Line {line} begins text that differs only in spaces or line ends; read it again."),
        None => String::new(),
    };
    format!("`old` is not in the file.{hint}")
}

fn found_often(text: &str, places: &[usize]) -> String {
    let lines: Vec<_> = places.iter().take(NAMED_LINES).map(|at| line_of(text, *at).to_string()).collect();
    let more = if places.len() > NAMED_LINES { " …" } else { "" };
    let times =
        if places.len() == 1 { "more than once, overlapping".to_owned() } else { format!("{} times", places.len()) };
    format!(
        "`old` is in the file {times} (line {}{more}). Give more of the text around it, or set `all`.",
        lines.join(", ")
    )
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The line where the text would be found if spaces at the ends of lines did not count.
fn near(text: &str, old: &str) -> Option<usize> {
    let wanted: Vec<_> = old.lines().map(str::trim).collect();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    if wanted.iter().all(|line| line.is_empty()) || wanted.len() > lines.len() {
        return None;
    }
    lines.windows(wanted.len()).position(|window| window == wanted).map(|index| index + 1)
}

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    /// All of them with `\r\n`. A model writes `\n`, which then means the same.
    CrLf,
    Other,
}

impl LineEnds {
    fn of(text: &str) -> Self {
        let (ends, crlf) = (text.matches('\n').count(), text.matches("\r\n").count());
        if ends > 0 && ends == crlf { Self::CrLf } else { Self::Other }
    }

    fn adapt(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::CrLf if text.contains('\n') => text.replace("\r\n", "\n").replace('\n', "\r\n").into(),
            Self::CrLf | Self::Other => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit { old: old.to_owned(), new: new.to_owned(), all: false }
    }

    fn edited(text: &str, edits: &[Edit]) -> Result<String, String> {
        apply(text, edits, "`a`").map(|edited| edited.text).map_err(|refusal| refusal.message)
    }

    #[test]
    fn edits_follow_each_other() {
        let all = Edit { all: true, ..edit("x", "y") };
        for (text, edits, expected) in [
            ("one two", vec![edit("one", "1"), edit("1 two", "12")], "12"),
            ("x x x", vec![all.clone()], "y y y"),
            ("x", vec![all], "y"),
            ("a\r\nb\r\n", vec![edit("a\nb", "a\nc\nb")], "a\r\nc\r\nb\r\n"),
            ("a\r\nb\r\n", vec![edit("a", "a\nc")], "a\r\nc\r\nb\r\n"),
            ("a\r\nb\r\n", vec![edit("a\r\nb", "c\r\nd")], "c\r\nd\r\n"),
            ("a\r\nb\n", vec![edit("b\n", "c\n")], "a\r\nc\n"),
            ("\u{feff}a\n", vec![edit("a\n", "b\n")], "\u{feff}b\n"),
            ("no end", vec![edit(" end", "")], "no"),
            ("ä漢", vec![edit("漢", "字")], "ä字"),
            ("aaa", vec![Edit { all: true, ..edit("aa", "b") }], "ba"),
        ] {
            assert_eq!(edited(text, &edits).as_deref(), Ok(expected), "{text:?} {edits:?}");
        }
    }

    #[test]
    fn what_does_not_fit_says_why() {
        for (text, edits, expected) in [
            ("one", vec![edit("two", "2")], "Edit 1 does not fit `a`: `old` is not in the file. Nothing was changed."),
            ("one", vec![edit("one", "1"), edit("one", "2")], "Edit 2"),
            ("x\ny\nx\n", vec![edit("x", "z")], "`old` is in the file 2 times (line 1, 3)"),
            ("aaa", vec![edit("aa", "b")], "more than once, overlapping"),
            ("  if a {\n    b\n", vec![edit("if a {\n  b", "c")], "Line 1 begins text that differs only in spaces"),
            ("a\r\nb\n", vec![edit("a\nb", "c")], "differs only in spaces or line ends"),
            ("one", vec![edit("one", "two"), edit("two", "one")], "leave `a` as it is"),
        ] {
            let refused = edited(text, &edits).unwrap_err();
            assert!(refused.contains(expected), "{text:?}: {refused}");
        }
    }
}
