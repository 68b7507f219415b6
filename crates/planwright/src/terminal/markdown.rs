//! Markdown for the terminal.
//!
//! People approve what they see here, so nothing of the text may stay unseen: HTML and comments are shown as they are
//! written, links with their targets, character references undecoded, and what Markdown itself would drop is
//! written at its place.

mod table;

use std::ops::Range;

use anstyle::Style;
use planwright_core::plan::hidden::{HiddenKind, HiddenRange, hidden_ranges};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use self::table::Table;
use super::code::{self, Language};
use super::palette::{ADDED, BOLD, CODE, DIM, LINK, PLAIN, REMOVED};
use super::text::{Span, painted, shown, width, wrap};

const OPTIONS: Options = Options::ENABLE_TASKLISTS.union(Options::ENABLE_TABLES).union(Options::ENABLE_STRIKETHROUGH);

/// Not every terminal can strike out, and a step that is struck out must not look like one to do.
const STRUCK_OUT: &str = "~~";

/// How a heading is told from other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Headings {
    /// With the marks that are written before it.
    Marked,
    /// With its style alone.
    Styled,
}

pub(crate) fn render(markdown: &str, width: usize) -> String {
    render_with(markdown, width, Headings::Marked)
}

pub(crate) fn render_with(markdown: &str, width: usize, headings: Headings) -> String {
    let source = shown(markdown);
    let mut renderer = Renderer::new(&source, width, headings);
    let mut hidden = hidden_ranges(&source).into_iter().filter(|hidden| is_left_out(hidden.kind)).peekable();
    for (event, range) in Parser::new_ext(&source, OPTIONS).into_offset_iter() {
        let in_front = if let Event::End(_) = event { range.end } else { range.start };
        // The label of a link stands behind its target.
        let event = match event {
            Event::End(TagEnd::Link | TagEnd::Image) => {
                renderer.end_link();
                None
            }
            event => Some(event),
        };
        while let Some(next) = hidden.next_if(|hidden| hidden.range.end <= in_front) {
            renderer.write_hidden(&next);
        }
        if let Some(event) = event {
            renderer.take(event, range);
        }
    }
    renderer.flush();
    hidden.for_each(|hidden| renderer.write_hidden(&hidden));
    renderer.out
}

/// What the renderer does not write with its element.
fn is_left_out(kind: HiddenKind) -> bool {
    match kind {
        HiddenKind::Definition | HiddenKind::Label | HiddenKind::Other => true,
        HiddenKind::Html | HiddenKind::Destination | HiddenKind::Title | HiddenKind::Fence => false,
    }
}

struct Renderer<'a> {
    source: &'a str,
    width: usize,
    headings: Headings,
    out: String,
    /// The prefix of every line: bars of quotations, bullets and their indentation.
    prefixes: Vec<Prefix>,
    /// The text of the block that is being read.
    inline: Vec<Span>,
    styles: Vec<Style>,
    /// The next number of each open list, if it is numbered.
    lists: Vec<Option<u64>>,
    targets: Vec<LinkTarget>,
    table: Option<Table>,
    in_code: bool,
    /// The code is a difference, whose lines have colours of their own.
    in_diff: bool,
    language: Option<Language>,
    /// A blank line belongs before the next block.
    gap: bool,
}

struct Prefix {
    /// On the first line only.
    first: Option<Span>,
    rest: Span,
}

struct LinkTarget {
    text: String,
    begins: usize,
}

impl<'a> Renderer<'a> {
    fn new(source: &'a str, width: usize, headings: Headings) -> Self {
        Self {
            source,
            width,
            headings,
            out: String::new(),
            prefixes: Vec::new(),
            inline: Vec::new(),
            styles: Vec::new(),
            lists: Vec::new(),
            targets: Vec::new(),
            table: None,
            in_code: false,
            in_diff: false,
            language: None,
            gap: false,
        }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code_lines(&text),
            Event::Text(text) => {
                // A decoded character reference could hide what `visible` shows, so it stays as it was written.
                let written = &self.source[range];
                let text = if written.starts_with('&') { written } else { &text };
                self.push(text, self.style());
            }
            Event::Code(text) => {
                // Without colours the backticks are what tells code from words.
                self.push(&format!("`{text}`"), self.style().fg_color(CODE.get_fg_color()));
            }
            Event::Html(html) => {
                self.push(html.trim_end_matches('\n'), DIM);
                self.flush();
            }
            Event::InlineHtml(html) | Event::InlineMath(html) | Event::DisplayMath(html) => {
                self.push(&html, DIM);
            }
            Event::FootnoteReference(name) => self.push(&format!("[^{name}]"), DIM),
            Event::SoftBreak => self.push(" ", self.style()),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.begin_block();
                self.push(&"─".repeat(self.width.min(40)), DIM);
                self.flush();
                self.gap = true;
            }
            Event::TaskListMarker(ticked) => {
                if let Some(prefix) = self.prefixes.last_mut() {
                    prefix.first = Some(Span::plain(if ticked { "☑ " } else { "☐ " }));
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.gap |= !self.out.is_empty();
                let style = match (self.headings, level) {
                    (Headings::Marked, _) => {
                        self.push(&format!("{} ", "#".repeat(level as usize)), DIM);
                        BOLD
                    }
                    (Headings::Styled, HeadingLevel::H1) => BOLD.underline(),
                    (Headings::Styled, HeadingLevel::H2) => BOLD,
                    (Headings::Styled, _) => BOLD.italic(),
                };
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.prefixes.push(Prefix { first: None, rest: Span::new("│ ", DIM) });
            }
            Tag::CodeBlock(kind) => self.start_code(&kind),
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::Strong => self.styles.push(self.style().bold()),
            Tag::Emphasis => self.styles.push(self.style().italic()),
            Tag::Strikethrough => {
                self.styles.push(self.style().strikethrough());
                self.push(STRUCK_OUT, self.style());
            }
            Tag::Link { dest_url, title, .. } => {
                self.start_link(&dest_url, &title);
            }
            Tag::Image { dest_url, title, .. } => {
                self.push("image: ", DIM);
                self.start_link(&dest_url, &title);
            }
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(Table::default());
            }
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::TableHead => self.styles.push(BOLD),
            Tag::TableRow
            | Tag::TableCell
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.prefixes.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.gap |= self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                if self.prefixes.last().is_some_and(|prefix| prefix.first.is_some()) {
                    self.line(&[]);
                }
                self.prefixes.pop();
            }
            TagEnd::Strikethrough => {
                self.push(STRUCK_OUT, self.style());
                self.styles.pop();
            }
            TagEnd::Strong | TagEnd::Emphasis => {
                self.styles.pop();
            }
            // `render` ends them.
            TagEnd::Link | TagEnd::Image => {}
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead => {
                self.styles.pop();
                self.end_row();
            }
            TagEnd::TableRow => self.end_row(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.add_cell(cell);
                }
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn start_item(&mut self) {
        self.flush();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number = number.saturating_add(1);
                bullet
            }
            Some(None) | None => "• ".to_owned(),
        };
        let bullet = Span::new(&bullet, DIM);
        let rest = Span::plain(&" ".repeat(width(std::slice::from_ref(&bullet))));
        self.prefixes.push(Prefix { first: Some(bullet), rest });
    }

    fn start_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.begin_block();
        self.in_code = true;
        self.language = match kind {
            CodeBlockKind::Fenced(info) => Language::named(info.trim()),
            CodeBlockKind::Indented => None,
        };
        self.in_diff = matches!(kind, CodeBlockKind::Fenced(info) if info.trim() == "diff");
        if let CodeBlockKind::Fenced(info) = kind
            && !info.is_empty()
        {
            self.line(&[Span::plain("  "), Span::new(&shown(info), DIM)]);
        }
    }

    /// Code keeps its line breaks; a long line is left to the terminal.
    fn code_lines(&mut self, text: &str) {
        for line in text.lines() {
            let mut spans = vec![Span::plain("    ")];
            match self.in_diff {
                true => spans.push(Span::new(line, diff_style(line))),
                false => spans.extend(code::spans(line, self.language)),
            }
            self.line(&spans);
        }
    }

    fn start_link(&mut self, target: &str, title: &str) {
        let mut text = shown(target).into_owned();
        if !title.is_empty() {
            text = format!("{text} \"{}\"", shown(title));
        }
        self.targets.push(LinkTarget { text, begins: self.inline.len() });
        self.styles.push(self.style().underline());
    }

    /// A link may say one thing and lead to another, so its target is always shown beside it.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some(LinkTarget { text, begins }) = self.targets.pop() else { return };
        let shown: String = self.inline[begins.min(self.inline.len())..].iter().map(Span::text).collect();
        if shown != text {
            self.push(" (", DIM);
            self.push(&text, LINK);
            self.push(")", DIM);
        }
    }

    fn end_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.end_row();
        }
    }

    fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default().into_lines(self.room());
        for row in rows {
            self.inline = row;
            self.flush();
        }
        self.gap = true;
    }

    /// Text that an agent reads, though Markdown does not show it.
    fn write_hidden(&mut self, hidden: &HiddenRange) {
        let written = &self.source[hidden.range.clone()];
        match (hidden.kind, &mut self.table) {
            (HiddenKind::Label, _) => self.push(&format!(" [{written}]"), DIM),
            (HiddenKind::Other, Some(table)) => table.add_cell(vec![Span::new(written, DIM)]),
            (..) => {
                self.begin_block();
                self.push(written, DIM);
                self.flush();
                self.gap = true;
            }
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(PLAIN)
    }

    fn push(&mut self, text: &str, style: Style) {
        self.inline.push(Span::new(text, style));
    }

    fn begin_block(&mut self) {
        self.flush();
    }

    fn end_block(&mut self) {
        self.flush();
        self.gap = true;
    }

    fn room(&self) -> usize {
        let taken: usize = self.prefixes.iter().map(|prefix| width(std::slice::from_ref(&prefix.rest))).sum();
        self.width.saturating_sub(taken)
    }

    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if !inline.is_empty() {
            for line in wrap(&inline, self.room()) {
                self.line(&line);
            }
        }
    }

    fn line(&mut self, spans: &[Span]) {
        if std::mem::take(&mut self.gap) && !self.out.is_empty() {
            self.out.push('\n');
        }
        let mut line: Vec<Span> = Vec::with_capacity(self.prefixes.len() + spans.len());
        for prefix in &mut self.prefixes {
            line.push(prefix.first.take().unwrap_or_else(|| prefix.rest.clone()));
        }
        line.extend_from_slice(spans);
        self.out.push_str(painted(&line).trim_end());
        self.out.push('\n');
    }
}

/// The style of a line of a difference. The sign says it too.
fn diff_style(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') if !line.starts_with("+++ ") => ADDED,
        Some(b'-') if !line.starts_with("--- ") => REMOVED,
        Some(b'@') => DIM,
        Some(_) | None => PLAIN,
    }
}

#[cfg(test)]
mod tests;
