//! The tree of a Markdown document as the workbook needs it: its sections with where they stand, its field lines
//! (`Status: complete`) and its tasks. Only what stands at the top level counts: a heading, a field or a task inside code, a
//! quotation, HTML or a table is text.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::plan::markdown::{InlineText, OPTIONS};

#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) sections: Vec<Section>,
    pub(super) fields: Vec<Field>,
    pub(super) tasks: Vec<ChecklistItem>,
}

/// A heading and what belongs to it. Places are bytes of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// From 1, the highest, to 6.
    pub level: u8,
    /// The visible words of the heading.
    pub title: String,
    /// The number of the section this one is a part of, from 0.
    pub parent: Option<usize>,
    /// The lines of the heading.
    pub heading: Range<usize>,
    /// Everything up to the next heading, whatever its level.
    pub own: Range<usize>,
    /// Everything up to the next heading that is not below this one.
    pub whole: Range<usize>,
}

/// A line of the form `Key: value`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) at: usize,
    pub(super) key: String,
    pub(super) value: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChecklistItem {
    pub(super) at: usize,
    pub(super) done: bool,
    pub(super) text: String,
}

impl Outline {
    pub(super) fn of(markdown: &str) -> Self {
        let text = with_known_line_ends(without_mark(markdown));
        let mut reading = Reading { shift: markdown.len() - text.len(), ..Reading::default() };
        for (event, range) in Parser::new_ext(&text, OPTIONS).into_offset_iter() {
            reading.take(&event, range);
        }
        let mut outline = reading.outline;
        outline.place(markdown);
        outline
    }

    /// The parts of a section, one level below it.
    pub(super) fn children(&self, parent: usize) -> impl Iterator<Item = (usize, &Section)> {
        self.sections.iter().enumerate().filter(move |(_, section)| section.parent == Some(parent))
    }

    /// The fields of these bytes.
    pub(super) fn fields_in(&self, range: &Range<usize>) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| range.contains(&field.at))
    }

    pub(super) fn tasks_in(&self, range: &Range<usize>) -> impl Iterator<Item = &ChecklistItem> {
        self.tasks.iter().filter(|task| range.contains(&task.at))
    }

    /// The titles from the top down to this section.
    pub(super) fn path(&self, index: usize) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = Some(index);
        while let Some(section) = at.map(|index| &self.sections[index]) {
            path.push(section.title.as_str());
            at = section.parent;
        }
        path.reverse();
        path
    }

    /// Whole lines for headings, and where each section ends.
    fn place(&mut self, markdown: &str) {
        for section in &mut self.sections {
            let Range { start, end } = section.heading.clone();
            section.heading = line_start(markdown, start)..line_end(markdown, end);
        }
        let starts: Vec<_> = self.sections.iter().map(|section| (section.level, section.heading.start)).collect();
        let mut open: Vec<usize> = Vec::new();
        for index in 0..starts.len() {
            let (level, start) = starts[index];
            while let Some(last) = open.pop_if(|last| starts[*last].0 >= level) {
                self.sections[last].whole.end = start;
            }
            let next = starts.get(index + 1).map_or(markdown.len(), |(_, start)| *start);
            let section = &mut self.sections[index];
            section.parent = open.last().copied();
            section.own = section.heading.end..next;
            section.whole = section.heading.end..markdown.len();
            open.push(index);
        }
    }
}

/// A document without the mark that some editors put before it.
fn without_mark(markdown: &str) -> &str {
    markdown.strip_prefix('\u{feff}').unwrap_or(markdown)
}

/// The parser reads the line ends of very old systems only in some places. With others, nothing is moved.
pub(super) fn with_known_line_ends(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut chars = text.chars().peekable();
    let mut known = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let alone = c == '\r' && chars.peek() != Some(&'\n');
        known.push(if alone { '\n' } else { c });
    }
    Cow::Owned(known)
}

/// The line end that a document uses first.
pub(super) fn line_end_of(markdown: &str) -> &'static str {
    let Some(end) = markdown.find(['\n', '\r']) else { return "\n" };
    match &markdown[end..] {
        rest if rest.starts_with("\r\n") => "\r\n",
        rest if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

fn line_start(text: &str, at: usize) -> usize {
    let from = text.len() - without_mark(text).len();
    text[..at].rfind(['\n', '\r']).map_or(from, |end| end + 1).max(from)
}

/// The end of the line that `at` is in, with its line end. Right behind a line end is the end of the line before.
fn line_end(text: &str, at: usize) -> usize {
    if at > 0 && text[..at].ends_with(['\n', '\r']) && !(text[..at].ends_with('\r') && text[at..].starts_with('\n')) {
        return at;
    }
    let Some(end) = text[at..].find(['\n', '\r']) else { return text.len() };
    let end = at + end;
    if text[end..].starts_with("\r\n") { end + 2 } else { end + 1 }
}

#[derive(Default)]
struct Reading {
    outline: Outline,
    shift: usize,
    /// How many containers are open: lists, items, quotations and the like.
    depth: usize,
    lists: usize,
    heading: Option<(InlineText, usize)>,
    /// The paragraph that may hold fields, if there is one.
    lines: Option<Vec<Line>>,
    /// The item of a top-level list, until its own first paragraph is over.
    item: Option<Item>,
}

#[derive(Default)]
struct Line {
    at: usize,
    text: String,
    /// Whether it holds more than plain and emphasised words.
    odd: bool,
}

struct Item {
    at: usize,
    task: Option<bool>,
    text: InlineText,
}

impl Reading {
    fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        let at = range.start + self.shift;
        match event {
            Event::Start(Tag::Heading { level, .. }) if self.depth == 0 => {
                self.heading = Some((InlineText::default(), at));
                let empty = 0..0;
                self.outline.sections.push(Section {
                    level: *level as u8,
                    title: String::new(),
                    parent: None,
                    heading: at..range.end + self.shift,
                    own: empty.clone(),
                    whole: empty,
                });
            }
            Event::End(TagEnd::Heading(_)) if self.heading.is_some() => {
                let text = self.heading.take().map(|(text, _)| text.finish()).unwrap_or_default();
                if let Some(section) = self.outline.sections.last_mut() {
                    section.title = text;
                }
            }
            Event::Start(Tag::Paragraph) if self.depth == 0 => self.lines = Some(vec![Line { at, ..Line::default() }]),
            Event::End(TagEnd::Paragraph) => {
                self.close_lines();
                self.close_item();
            }
            Event::Start(Tag::List(_)) => {
                self.close_lines();
                self.close_item();
                self.depth += 1;
                self.lists += 1;
            }
            Event::End(TagEnd::List(_)) => {
                self.depth -= 1;
                self.lists -= 1;
            }
            Event::Start(Tag::Item) => {
                self.depth += 1;
                if self.depth == 2 && self.lists == 1 {
                    self.lines = Some(vec![Line { at, ..Line::default() }]);
                    self.item = Some(Item { at, task: None, text: InlineText::default() });
                }
            }
            Event::End(TagEnd::Item) => {
                self.close_lines();
                self.close_item();
                self.depth -= 1;
            }
            Event::Start(
                Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Table(_) | Tag::FootnoteDefinition(_),
            ) => {
                self.close_lines();
                self.close_item();
                self.depth += 1;
            }
            Event::End(
                TagEnd::BlockQuote(_)
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock
                | TagEnd::Table
                | TagEnd::FootnoteDefinition,
            ) => self.depth -= 1,
            Event::TaskListMarker(done) => {
                if let Some(item) = &mut self.item {
                    item.task = Some(*done);
                }
                self.spoil();
            }
            inline => self.take_inline(inline, range.end + self.shift),
        }
    }

    fn take_inline(&mut self, event: &Event<'_>, end: usize) {
        if let Some((text, _)) = &mut self.heading {
            text.take(event);
        }
        if let Some(item) = &mut self.item {
            item.text.take(event);
        }
        let Some(lines) = &mut self.lines else { return };
        match event {
            Event::SoftBreak | Event::HardBreak => lines.push(Line { at: end, ..Line::default() }),
            Event::Text(text) => {
                if let Some(line) = lines.last_mut() {
                    line.text.push_str(text);
                }
            }
            Event::Start(Tag::Strong | Tag::Emphasis | Tag::Paragraph)
            | Event::End(TagEnd::Strong | TagEnd::Emphasis) => {}
            _ => self.spoil(),
        }
    }

    fn spoil(&mut self) {
        if let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) {
            line.odd = true;
        }
    }

    /// A line of fields is one among nothing but such lines; in the middle of prose it is prose.
    fn close_lines(&mut self) {
        let lines = self.lines.take().unwrap_or_default();
        let fields: Option<Vec<_>> = lines.iter().map(Line::field).collect();
        self.outline.fields.extend(fields.unwrap_or_default());
    }

    fn close_item(&mut self) {
        if let Some(Item { at, task: Some(done), text }) = self.item.take() {
            self.outline.tasks.push(ChecklistItem { at, done, text: text.finish() });
        }
    }
}

impl Line {
    fn field(&self) -> Option<Field> {
        const MAX_KEY: usize = 3;
        let (key, value) = self.text.split_once(':')?;
        let (key, value) = (key.trim(), value.trim());
        let text = key.split_whitespace().count();
        let plain = !self.odd && (1..=MAX_KEY).contains(&text);
        plain.then(|| Field { at: self.at, key: key.to_owned(), value: value.to_owned() })
    }
}
