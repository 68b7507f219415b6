//! What failed, written down as a table in the progress: one row for the same call with the same error, and how often it
//! was tried.

use std::ops::Range;

use jiff::Timestamp;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::TextDigest;
use super::log::{code, insert, minute, section, with_section};
use super::outline::{Outline, line_end_of, with_known_line_ends};
use crate::plan::markdown::{InlineText, OPTIONS};

/// The section that the table stands in.
pub const ERRORS: &str = "Errors";
const HEAD: &str = "| Last seen | Call | Error | Attempts |\n|---|---|---|---|";
/// The oldest rows make room for new ones; the history keeps them.
const MAX_ROWS: usize = 100;
const MAX_CELL: usize = 300;

/// The progress with this error in its table, and how many times it has occurred.
pub fn note(progress: &str, call: &str, error: &str, at: Timestamp) -> (String, u32) {
    let progress = match section(&Outline::of(progress), ERRORS) {
        Some(_) => progress.to_owned(),
        None => with_section(progress, ERRORS),
    };
    let (call, error) = (named(call), code(error, MAX_CELL));
    let row = |attempts: u32| format!("| {} | {call} | {error} | {attempts} |", minute(at));
    let Some(table) = table(&progress) else {
        let outline = Outline::of(&progress);
        let end = section(&outline, ERRORS).map_or(progress.len(), |(_, section)| section.own.end);
        return (insert(&progress, end, &format!("{HEAD}\n{}", row(1))), 1);
    };
    let same = |known: &&Row| known.call == call.trim_matches('`') && alike(&known.error, &error);
    let mut noted = progress.clone();
    if let Some(known) = table.rows.iter().find(same) {
        let attempts = known.attempts.saturating_add(1);
        noted.replace_range(known.place.clone(), &row(attempts));
        return (noted, attempts);
    }
    noted.insert_str(table.end, &format!("{}{}", line_end_of(&progress), row(1)));
    if table.rows.len() >= MAX_ROWS {
        let oldest = table.rows[0].place.clone();
        noted.replace_range(oldest.start..table.rows.get(1).map_or(oldest.end, |next| next.place.start), "");
    }
    (noted, 1)
}

struct Table {
    rows: Vec<Row>,
    /// Where the last row ends, without its line end.
    end: usize,
}

#[derive(Default)]
struct Row {
    place: Range<usize>,
    call: String,
    error: String,
    attempts: u32,
}

/// A call in one cell. A long one is told apart from others that begin like it.
fn named(call: &str) -> String {
    if call.chars().count() <= MAX_CELL {
        return code(call, MAX_CELL);
    }
    let digest = TextDigest::of(call).to_string();
    let beginning: String = call.chars().take(MAX_CELL).collect();
    code(&format!("{beginning}… #{}", &digest[..8]), 2 * MAX_CELL)
}

/// Whether two errors differ only in numbers, which are often times, places or ids.
fn alike(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let mut plain = String::new();
        for c in text.trim_matches('`').chars() {
            let c = if c.is_numeric() { '0' } else { c };
            if !(c == '0' && plain.ends_with('0')) {
                plain.push(c);
            }
        }
        plain
    };
    plain(one) == plain(other)
}

/// The table in the section for errors that has our columns.
fn table(progress: &str) -> Option<Table> {
    let outline = Outline::of(progress);
    let place = section(&outline, ERRORS)?.1.own.clone();
    let text = with_known_line_ends(&progress[place.clone()]);
    let mut found: Option<Table> = None;
    let mut cells: Vec<String> = Vec::new();
    let mut cell: Option<InlineText> = None;
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(&text, OPTIONS).into_offset_iter() {
        let range = range.start + place.start..range.end + place.start;
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
            Event::Start(Tag::Table(_)) if depth == 0 && found.is_none() => {
                let end = place_end(progress, &range);
                found = Some(Table { rows: Vec::new(), end });
            }
            Event::End(TagEnd::Table) if found.is_some() => return found,
            Event::Start(Tag::TableHead | Tag::TableRow) => cells.clear(),
            Event::Start(Tag::TableCell) => cell = Some(InlineText::default()),
            Event::End(TagEnd::TableCell) => cells.push(cell.take().unwrap_or_default().finish()),
            Event::End(TagEnd::TableHead) => {
                let head = ["Last seen", "Call", "Error", "Attempts"];
                if found.is_some() && cells != head {
                    found = None;
                }
            }
            Event::End(TagEnd::TableRow) => {
                if let (Some(table), [_, call, error, attempts]) = (&mut found, &cells[..]) {
                    let place = range.start..place_end(progress, &range);
                    let attempts = attempts.parse().unwrap_or(1);
                    table.rows.push(Row { place, call: call.clone(), error: error.clone(), attempts });
                }
            }
            other => {
                if let Some(cell) = &mut cell {
                    cell.take(&other);
                }
            }
        }
    }
    None
}

fn place_end(text: &str, range: &Range<usize>) -> usize {
    range.start + text[range.clone()].trim_end().len()
}
