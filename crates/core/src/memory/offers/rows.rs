//! The rows of tables and the items of lists that stand below a heading.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::plan::markdown::{InlineText, OPTIONS};

/// The filled rows and items below the headings with one of these titles, each with its cells. An item is one cell. A row
/// with an empty cell says nothing yet.
pub(super) fn below(markdown: &str, titles: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut text: Option<InlineText> = None;
    let mut cells: Vec<String> = Vec::new();
    // The level of the heading that is read below.
    let mut inside: Option<u8> = None;
    let mut depth = 0_usize;
    for event in Parser::new_ext(markdown, OPTIONS) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::TableCell) => text = Some(InlineText::default()),
            Event::End(TagEnd::Heading(level)) => {
                let title = text.take().unwrap_or_default().finish().to_lowercase();
                let level = level as u8;
                if inside.is_none_or(|outer| level <= outer) {
                    inside = titles.contains(&title.trim_end_matches(':')).then_some(level);
                }
            }
            Event::Start(Tag::List(_)) => {
                if let Some(text) = &mut text {
                    text.take(&Event::SoftBreak);
                }
                depth += 1;
            }
            Event::End(TagEnd::List(_)) => depth = depth.saturating_sub(1),
            Event::Start(Tag::Item) if depth == 1 => text = Some(InlineText::default()),
            Event::End(TagEnd::Item) if depth == 1 => {
                let item = text.take().unwrap_or_default();
                if inside.is_some() && !item.is_blank() {
                    found.push(vec![item.finish()]);
                }
            }
            Event::Start(Tag::TableHead | Tag::TableRow) => cells.clear(),
            Event::End(TagEnd::TableCell) => {
                let cell = text.take().unwrap_or_default();
                cells.push(if cell.is_blank() { String::new() } else { cell.finish() });
            }
            Event::End(TagEnd::TableRow) => {
                let filled = cells.iter().all(|cell| !cell.trim().is_empty());
                if inside.is_some() && filled && !cells.is_empty() {
                    found.push(std::mem::take(&mut cells));
                }
            }
            other => {
                if let Some(text) = &mut text {
                    text.take(&other);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_items_below_a_heading() {
        let markdown = "# Move\n\n- not this\n\n## Decisions\n\n| Decision | Why |\n|---|---|\n| Keep `tabs` | habit |\n| | |\n\
                        | open | |\n\n- We **stay**\n  - detail\n\n### More\n\n1. One more\n\n## Steps\n\n1. Pack\n";
        let found = below(markdown, &["decisions"]);
        let expected: [&[&str]; 3] = [&["Keep tabs", "habit"], &["We stay detail"], &["One more"]];
        assert_eq!(found, expected.map(|cells| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()));
        assert!(below(markdown, &["errors"]).is_empty());
    }
}
