//! What findings and errors have in common when something is added to a document: the section it belongs to, a time, and
//! foreign text that stays foreign.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::Offset;

use super::outline::{Outline, Section, line_end_of};
use crate::visible::visible;

/// The first section with this title, wherever it stands.
pub(super) fn section<'a>(outline: &'a Outline, title: &str) -> Option<(usize, &'a Section)> {
    outline.sections.iter().enumerate().find(|(_, section)| section.title == title)
}

/// The document with a section at its end.
pub(super) fn with_section(markdown: &str, title: &str) -> String {
    insert(markdown, markdown.len(), &format!("## {title}"))
}

/// Puts a block of lines at the beginning of a line, with a blank line on both sides. Everything else stays as it is.
pub(super) fn insert(markdown: &str, at: usize, block: &str) -> String {
    let line_end = line_end_of(markdown);
    let (before, after) = markdown.split_at(at);
    let blank = format!("{line_end}{line_end}");
    let gap = match before {
        "" | "\u{feff}" => "",
        before if before.ends_with(&blank) => "",
        before if before.ends_with(line_end) => line_end,
        _ => &blank,
    };
    let end = if after.is_empty() { line_end } else { &blank };
    [before, gap, &block.replace('\n', line_end), end, after].concat()
}

/// To the minute; finer would be noise.
pub(super) fn minute(at: Timestamp) -> String {
    at.to_zoned(Offset::UTC.to_time_zone()).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Foreign text in one line of code, where none of its markup means anything.
pub(super) fn code(text: &str, longest: usize) -> String {
    let line = visible(text).split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'").replace('|', "¦");
    let line = clipped(&line, longest);
    if line.is_empty() { "`–`".to_owned() } else { format!("`{line}`") }
}

/// At most so many characters, and a sign where some are missing.
pub(super) fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text[..end].trim_end())),
        None => Cow::Borrowed(text),
    }
}
