//! What a rendering of Markdown leaves out: link definitions and the comments made of them, destinations, titles and labels
//! of links and pictures, the words after a fence's language, HTML, and cells without a column.
//!
//! A person approves what they see. So every surface that renders a text for a decision shows these ranges as they are
//! written, at their place.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::plan::markdown::OPTIONS;

/// A part of the source that a rendering leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenRange {
    /// Bytes of the source.
    pub range: Range<usize>,
    pub kind: HiddenKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenKind {
    Html,
    /// `[label]: destination "title"`, used or not. Such a line is often a comment.
    Definition,
    /// Where a link leads, or where a picture is.
    Destination,
    /// The title of a link or a picture, with its quotation marks.
    Title,
    /// The second part of `[words][label]`.
    Label,
    /// What follows the language of a fence.
    Fence,
    /// Text that no element shows, such as a cell of a table that has no column.
    Other,
}

impl HiddenKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Definition => "definition",
            Self::Destination => "destination",
            Self::Title => "title",
            Self::Label => "label",
            Self::Fence => "fence",
            Self::Other => "other",
        }
    }
}

/// The hidden parts in the order of the text. They do not overlap.
pub fn hidden_ranges(markdown: &str) -> Vec<HiddenRange> {
    let mut parser = Parser::new_ext(markdown, OPTIONS).into_offset_iter();
    let mut finder = Finder { source: markdown, hidden: Vec::new(), shown: Vec::new(), links: Vec::new() };
    for (event, range) in parser.by_ref() {
        finder.take(&event, range);
    }
    for (_, definition) in parser.reference_definitions().iter() {
        finder.hide(trimmed(markdown, definition.span.clone()), HiddenKind::Definition);
    }
    finder.finish()
}

struct Finder<'a> {
    source: &'a str,
    hidden: Vec<HiddenRange>,
    /// What the elements show.
    shown: Vec<Range<usize>>,
    /// The open links and pictures, each with the end of its words.
    links: Vec<usize>,
}

impl Finder<'_> {
    fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        if let Event::End(TagEnd::Link | TagEnd::Image) = event {
            self.end_link(&range);
        } else if let Some(words_end) = self.links.last_mut() {
            *words_end = (*words_end).max(range.end);
        }
        match event {
            Event::Start(Tag::Link { .. }) => self.links.push(range.start + 1),
            Event::Start(Tag::Image { .. }) => self.links.push(range.start + 2),
            Event::Start(Tag::CodeBlock(_)) => self.start_code(range),
            Event::Html(_) | Event::InlineHtml(_) => self.hide(trimmed(self.source, range), HiddenKind::Html),
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => self.shown.push(range),
            Event::Start(_) | Event::End(_) | Event::SoftBreak | Event::HardBreak | Event::Rule => {}
        }
    }

    fn hide(&mut self, range: Range<usize>, kind: HiddenKind) {
        if !range.is_empty() {
            self.shown.push(range.clone());
            self.hidden.push(HiddenRange { range, kind });
        }
    }

    fn start_code(&mut self, range: Range<usize>) {
        let line = first_line(self.source, range);
        let marks = self.source[line.clone()].bytes().take_while(|byte| matches!(byte, b'`' | b'~')).count();
        if marks < 3 {
            return;
        }
        self.shown.push(line.clone());
        let info = trimmed(self.source, line.start + marks..line.end);
        let language = self.source[info.clone()].find(char::is_whitespace).unwrap_or(info.len());
        self.hide(trimmed(self.source, info.start + language..info.end), HiddenKind::Fence);
    }

    /// What stands behind the words of a link: `](destination "title")` or `][label]`.
    fn end_link(&mut self, range: &Range<usize>) {
        let words_end = self.links.pop().unwrap_or(range.start).min(range.end);
        if let Some(outer) = self.links.last_mut() {
            *outer = (*outer).max(range.end);
        }
        let words = self.source.get(range.start..words_end).unwrap_or_default().trim_start_matches(['!', '[']);
        let Some(tail) = self.source.get(words_end..range.end) else { return };
        let inner = |open: usize| trimmed(self.source, words_end + open..range.end - 1);
        if tail.starts_with("](") && tail.ends_with(')') {
            let inner = inner(2);
            let end = inner.start + destination_length(&self.source[inner.clone()]);
            if self.source[inner.start..end] != *words {
                self.hide(inner.start..end, HiddenKind::Destination);
            }
            self.hide(trimmed(self.source, end..inner.end), HiddenKind::Title);
            self.shown.push(words_end..range.end);
        } else if tail.starts_with("][") && tail.ends_with(']') {
            self.hide(inner(2), HiddenKind::Label);
        }
    }

    /// Adds the lines between what is shown that have text. Digits may be the mark of a list, and punctuation is markup.
    fn finish(mut self) -> Vec<HiddenRange> {
        self.shown.sort_by_key(|range| range.start);
        let mut position = 0;
        let mut unseen = Vec::new();
        let end = self.source.len();
        for range in self.shown.iter().cloned().chain(std::iter::once(end..end)) {
            if range.start > position {
                unseen.extend(lines_with_text(self.source, position..range.start));
            }
            position = position.max(range.end);
        }
        self.hidden.extend(unseen);
        self.hidden.sort_by_key(|hidden| hidden.range.start);
        self.hidden
    }
}

fn destination_length(inner: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in inner.char_indices() {
        let ends = if inner.starts_with('<') { at > 0 && letter == '>' } else { letter.is_whitespace() };
        if ends && !escaped {
            return if letter == '>' { at + 1 } else { at };
        }
        escaped = letter == '\\' && !escaped;
    }
    inner.len()
}

fn lines_with_text(source: &str, range: Range<usize>) -> Vec<HiddenRange> {
    let Some(gap) = source.get(range.clone()) else { return Vec::new() };
    let is_text = |c: char| !(c.is_whitespace() || c.is_ascii_digit() || c.is_ascii_punctuation());
    let mut found = Vec::new();
    let mut start = range.start;
    for line in gap.split_inclusive('\n') {
        let range = trimmed(source, start..start + line.len());
        start += line.len();
        // A second definition of a label is none for the parser.
        let written = source[range.clone()].trim_start_matches(['>', ' ']);
        let defines = written.starts_with('[') && written.contains("]:");
        if defines || written.contains(is_text) {
            let kind = if defines { HiddenKind::Definition } else { HiddenKind::Other };
            found.push(HiddenRange { range, kind });
        }
    }
    found
}

fn first_line(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    range.start..range.start + text.find('\n').unwrap_or(text.len())
}

fn trimmed(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(markdown: &str) -> Vec<(&str, &str)> {
        hidden_ranges(markdown).into_iter().map(|hidden| (hidden.kind.as_str(), &markdown[hidden.range])).collect()
    }

    #[test]
    fn what_is_planted_is_found_with_its_kind() {
        let plants: Vec<serde_json::Value> = serde_json::from_str(include_str!("hidden/plants.json")).unwrap();
        assert!(plants.len() >= 20);
        for plant in &plants {
            let [name, markdown, kind, shows] =
                ["name", "markdown", "kind", "shows"].map(|key| plant[key].as_str().unwrap());
            let found = found(markdown);
            // The words of a picture are text, but its place is hidden.
            let is_words = name == "words of a picture";
            let fits = |(of, written): &(&str, &str)| {
                *of == kind && (is_words || written.contains(shows.trim_matches(['[', ']'])))
            };
            assert!(found.iter().any(fits), "{name}: {found:?}");
        }
    }

    #[test]
    fn the_ranges_are_exact() {
        for (markdown, expected) in [
            ("plain **text** with `code`\n\n1. one\n2. two\n\n- [x] done\n\n> quoted\n\n---\n", vec![]),
            ("# Head #\n\nSet\n===\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n", vec![]),
            ("```rust\nlet x = 1;\n```\n\n    indented code\n", vec![]),
            ("<https://a.example> and [https://a.example](https://a.example)", vec![]),
            ("\\*no emphasis\\* &amp; one  \ntwo", vec![]),
            (
                "[a](b \"c\") ![d](<e f> 'g')",
                vec![("destination", "b"), ("title", "\"c\""), ("destination", "<e f>"), ("title", "'g'")],
            ),
            (
                "[![a](b \"c\")](d (e))",
                vec![("destination", "b"), ("title", "\"c\""), ("destination", "d"), ("title", "(e)")],
            ),
            ("[a][b] [b][] [b]\n\n[b]: c", vec![("label", "b"), ("definition", "[b]: c")]),
            ("[//]: # (1)\n[//]: # (2)", vec![("definition", "[//]: # (1)"), ("definition", "[//]: # (2)")]),
            ("a <b>c</b>", vec![("html", "<b>"), ("html", "</b>")]),
            ("```sh  x y \nls\n```", vec![("fence", "x y")]),
            ("[a\\]](b\\ c)", vec![]),
            ("[żółć](漢字 \"🙂\")", vec![("destination", "漢字"), ("title", "\"🙂\"")]),
        ] {
            assert_eq!(found(markdown), expected, "{markdown:?}");
        }
    }
}
