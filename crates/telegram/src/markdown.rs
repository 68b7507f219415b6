//! Markdown as text with the entities of Telegram. Offsets and lengths count UTF-16 units, as Telegram counts.
//!
//! - `split`: a long text in several messages
//!
//! No character of the text is left out: what Telegram cannot show, such as raw HTML, is written as it is.

mod split;

use planwright_core::plan::hidden::{HiddenKind, HiddenRange, hidden_ranges};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

/// The longest text of a message, in UTF-16 units.
pub const MAX_TEXT: usize = 4_096;
/// The most entities of a message. Telegram ignores the rest.
pub const MAX_ENTITIES: usize = 100;
const MAX_URL: usize = 2_048;

/// A text and how its parts look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormattedText {
    pub text: String,
    pub entities: Vec<Entity>,
}

/// The look of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// In UTF-16 units.
    pub offset: usize,
    pub length: usize,
    pub look: Look,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    Bold,
    Italic,
    Strikethrough,
    Quote,
    Code,
    Pre { language: Option<String> },
    Link { url: String },
}

/// Whether the address of a link is written beside its text, with what else a rendering leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStyle {
    Hidden,
    /// For texts that a person decides about: nothing is behind the words, and definitions, titles and labels are written
    /// at their place.
    Written,
}

/// The number of UTF-16 units.
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

impl FormattedText {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entities: Vec::new() }
    }

    pub fn markdown(source: &str, links: LinkStyle) -> Self {
        let mut writer = Writer::new(links);
        let mut hidden = match links {
            LinkStyle::Hidden => Vec::new(),
            LinkStyle::Written => hidden_ranges(source),
        };
        hidden.retain(|hidden| is_left_out(hidden.kind));
        let mut hidden = hidden.into_iter().peekable();
        let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
            let (in_front, is_link) = match event {
                Event::End(end) => (range.end, matches!(end, TagEnd::Link | TagEnd::Image)),
                _ => (range.start, false),
            };
            // The title of a link stands behind its address.
            let mut event = Some(event);
            if is_link {
                event.take().into_iter().for_each(|event| writer.take(event));
            }
            while let Some(next) = hidden.next_if(|hidden| hidden.range.end <= in_front) {
                writer.write_hidden(&source[next.range.clone()], next.kind);
            }
            event.into_iter().for_each(|event| writer.take(event));
        }
        hidden.for_each(|HiddenRange { range, kind }| writer.write_hidden(&source[range], kind));
        writer.finish()
    }

    pub fn units(&self) -> usize {
        units(&self.text)
    }

    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Adds a text behind this one.
    pub fn push(&mut self, other: Self) {
        let shift = self.units();
        self.text.push_str(&other.text);
        self.entities
            .extend(other.entities.into_iter().map(|entity| Entity { offset: entity.offset + shift, ..entity }));
    }

    pub fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn push_bold(&mut self, text: &str) {
        self.entities.push(Entity { offset: self.units(), length: units(text), look: Look::Bold });
        self.text.push_str(text);
    }

    pub fn push_code(&mut self, text: &str) {
        self.entities.push(Entity { offset: self.units(), length: units(text), look: Look::Code });
        self.text.push_str(text);
    }

    /// The whole text in parts of at most `limit` units. Joined they are the text.
    pub fn split(self, limit: usize) -> Vec<Self> {
        split::split(self, limit)
    }
}

/// A part of the text that looks the same throughout.
#[derive(Debug)]
struct Run {
    text: String,
    /// The open elements, each with a number of its own.
    looks: Vec<(usize, Look)>,
}

#[derive(Debug)]
struct Writer {
    links: LinkStyle,
    runs: Vec<Run>,
    open: Vec<(usize, Look)>,
    /// Elements that were opened; `None` for one that has no look.
    elements: Vec<Option<usize>>,
    numbers: usize,
    lists: Vec<Option<u64>>,
    /// Addresses of links that are written behind their text.
    addresses: Vec<Option<String>>,
    quotes: usize,
    in_code: bool,
    cells: usize,
    /// Whether the next text begins a block.
    new_block: bool,
    is_empty: bool,
    /// Whether the text stands at the beginning of a list item.
    item_begun: bool,
}

impl Writer {
    fn new(links: LinkStyle) -> Self {
        Self {
            links,
            runs: Vec::new(),
            open: Vec::new(),
            elements: Vec::new(),
            numbers: 0,
            lists: Vec::new(),
            addresses: Vec::new(),
            quotes: 0,
            in_code: false,
            cells: 0,
            new_block: false,
            is_empty: true,
            item_begun: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.write(&text),
            Event::Code(text) => self.write_code(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::InlineHtml(text) | Event::Html(text) => {
                self.write(&text);
            }
            Event::FootnoteReference(name) => self.write(&format!("[^{name}]")),
            Event::SoftBreak | Event::HardBreak => self.write("\n"),
            Event::Rule => {
                self.begin_block();
                self.write("———");
                self.new_block = true;
            }
            Event::TaskListMarker(done) => self.write(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let look = match tag {
            Tag::Paragraph | Tag::HtmlBlock => {
                self.begin_block();
                None
            }
            Tag::Heading { .. } => {
                self.begin_block();
                Some(Look::Bold)
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.quotes += 1;
                // A quote in a quote is a part of it.
                (self.quotes == 1).then_some(Look::Quote)
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                self.in_code = true;
                let (language, words) = match &kind {
                    CodeBlockKind::Fenced(info) => {
                        let (language, words) = info.split_once(char::is_whitespace).unwrap_or((&**info, ""));
                        (Some(language.to_owned()).filter(|language| !language.is_empty()), words.trim())
                    }
                    CodeBlockKind::Indented => (None, ""),
                };
                // A word that is no name of a language is not lost.
                let is_name = |word: &str| {
                    word.len() <= 32 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-#._".contains(&b))
                };
                match language {
                    Some(word) if !is_name(&word) => {
                        self.write(&format!("{word} {words}\n"));
                        Some(Look::Pre { language: None })
                    }
                    Some(language) if !words.is_empty() => {
                        self.write(&format!("{language} {words}\n"));
                        Some(Look::Pre { language: Some(language) })
                    }
                    language => Some(Look::Pre { language }),
                }
            }
            Tag::List(first) => {
                match self.lists.is_empty() {
                    true => self.begin_block(),
                    false => self.begin_line(),
                }
                self.lists.push(first);
                None
            }
            Tag::Item => {
                self.begin_line();
                let depth = self.lists.len().saturating_sub(1);
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    Some(None) | None => "• ".to_owned(),
                };
                self.write(&format!("{}{mark}", "  ".repeat(depth.min(8))));
                self.item_begun = true;
                None
            }
            Tag::Table(_) => {
                self.begin_block();
                self.in_code = true;
                Some(Look::Pre { language: None })
            }
            Tag::TableHead | Tag::TableRow => {
                self.cells = 0;
                None
            }
            Tag::TableCell => {
                if self.cells > 0 {
                    self.write(" | ");
                }
                self.cells += 1;
                None
            }
            Tag::Emphasis => Some(Look::Italic),
            Tag::Strong => Some(Look::Bold),
            Tag::Strikethrough => Some(Look::Strikethrough),
            Tag::Link { dest_url, .. } => {
                let url = dest_url.to_string();
                let hidden = self.links == LinkStyle::Hidden && is_address(&url) && !self.in_code;
                self.addresses.push((!hidden).then(|| url.clone()));
                hidden.then_some(Look::Link { url })
            }
            Tag::Image { dest_url, .. } => {
                self.addresses.push(Some(dest_url.to_string()));
                None
            }
            Tag::FootnoteDefinition(name) => {
                self.begin_block();
                self.write(&format!("[^{name}]: "));
                None
            }
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => None,
        };
        self.elements.push(look.map(|look| {
            self.numbers += 1;
            self.open.push((self.numbers, look));
            self.numbers
        }));
    }

    fn end(&mut self, tag: TagEnd) {
        if let Some(Some(number)) = self.elements.pop() {
            self.open.retain(|(open, _)| *open != number);
        }
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => {
                self.new_block = true;
            }
            TagEnd::BlockQuote(_) => {
                self.quotes = self.quotes.saturating_sub(1);
                self.new_block = true;
            }
            TagEnd::CodeBlock | TagEnd::Table => {
                self.in_code = false;
                self.new_block = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.new_block = self.lists.is_empty();
            }
            TagEnd::TableHead | TagEnd::TableRow => self.write("\n"),
            TagEnd::Link | TagEnd::Image => {
                if let Some(Some(url)) = self.addresses.pop().filter(|url| url.as_deref() != Some("")) {
                    // An address that is its own text is not written twice.
                    if !self.ends_with(&url) {
                        self.write(&format!(" ({url})"));
                    }
                }
            }
            TagEnd::Item
            | TagEnd::TableCell
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn ends_with(&self, text: &str) -> bool {
        self.runs.last().is_some_and(|run| run.text.ends_with(text))
    }

    /// An empty line before a block, except at the beginning and right behind the mark of a list item.
    fn begin_block(&mut self) {
        if std::mem::take(&mut self.item_begun) {
            self.new_block = false;
            return;
        }
        if !self.is_empty {
            self.newlines(if self.lists.is_empty() { 2 } else { 1 });
        }
        self.new_block = false;
    }

    fn begin_line(&mut self) {
        self.item_begun = false;
        if !self.is_empty {
            self.newlines(if self.new_block && self.lists.is_empty() { 2 } else { 1 });
        }
        self.new_block = false;
    }

    /// At least so many line ends at the end of the text.
    fn newlines(&mut self, wanted: usize) {
        let mut found = 0;
        'runs: for run in self.runs.iter().rev() {
            for letter in run.text.chars().rev() {
                if letter != '\n' || found >= wanted {
                    break 'runs;
                }
                found += 1;
            }
        }
        let missing = wanted.saturating_sub(found);
        if missing > 0 {
            let open: Vec<_> = self.open.iter().filter(|(_, look)| *look == Look::Quote).cloned().collect();
            self.runs.push(Run { text: "\n".repeat(missing), looks: open });
        }
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.new_block && !self.in_code {
            self.begin_block();
        }
        (self.is_empty, self.item_begun) = (false, false);
        let code = self.open.iter().position(|(_, look)| matches!(look, Look::Pre { .. }));
        // Preformatted text has no other look.
        let looks = match code {
            Some(index) => vec![self.open[index].clone()],
            None => self.open.clone(),
        };
        self.runs.push(Run { text: shown(text), looks });
    }

    /// Writes what Markdown does not show, as it is in the source.
    fn write_hidden(&mut self, text: &str, kind: HiddenKind) {
        match kind {
            HiddenKind::Title => self.write(&format!(" {text}")),
            HiddenKind::Label => self.write(&format!(" [{text}]")),
            // A cell without a column.
            HiddenKind::Other if self.in_code => self.write(&format!(" | {text}")),
            HiddenKind::Definition
            | HiddenKind::Other
            | HiddenKind::Html
            | HiddenKind::Destination
            | HiddenKind::Fence => {
                self.begin_block();
                self.write_code(text);
                self.new_block = true;
            }
        }
    }

    fn write_code(&mut self, text: &str) {
        let in_other = self.open.iter().any(|(_, look)| matches!(look, Look::Pre { .. } | Look::Link { .. }));
        if in_other {
            return self.write(text);
        }
        self.numbers += 1;
        let outer = std::mem::replace(&mut self.open, vec![(self.numbers, Look::Code)]);
        self.write(text);
        self.open = outer;
    }

    fn finish(mut self) -> FormattedText {
        // The end of the text is not white space, which Telegram removes.
        while let Some(last) = self.runs.last_mut() {
            let end = last.text.trim_end().len();
            last.text.truncate(end);
            if end > 0 {
                break;
            }
            self.runs.pop();
        }
        let mut formatted = FormattedText::default();
        let mut at = 0;
        // Where each element that is still open began.
        let mut begun: Vec<(usize, Look, usize)> = Vec::new();
        for run in &self.runs {
            begun.retain(|(number, look, offset)| {
                let stays = run.looks.iter().any(|(open, _)| open == number);
                if !stays {
                    formatted.entities.push(Entity { offset: *offset, length: at - offset, look: look.clone() });
                }
                stays
            });
            for (number, look) in &run.looks {
                if !begun.iter().any(|(open, _, _)| open == number) {
                    begun.push((*number, look.clone(), at));
                }
            }
            formatted.text.push_str(&run.text);
            at += units(&run.text);
        }
        for (_, look, offset) in begun {
            formatted.entities.push(Entity { offset, length: at - offset, look });
        }
        formatted.entities.retain(|entity| entity.length > 0);
        // The outer one of two that begin together comes first.
        formatted.entities.sort_by_key(|entity| (entity.offset, std::cmp::Reverse(entity.length)));
        formatted
    }
}

/// What is not written with its element.
fn is_left_out(kind: HiddenKind) -> bool {
    match kind {
        HiddenKind::Definition | HiddenKind::Title | HiddenKind::Label | HiddenKind::Other => true,
        HiddenKind::Html | HiddenKind::Destination | HiddenKind::Fence => false,
    }
}

/// Whether Telegram takes this as the address of a link.
fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-.:".contains(&b);
    url.len() <= MAX_URL
        && url.bytes().all(|b| b.is_ascii_graphic())
        && host.is_some_and(|host| host.contains('.') && !host.starts_with('.') && host.bytes().all(plain))
}

/// Characters that Telegram removes are shown as one that it keeps.
fn shown(text: &str) -> String {
    let removed = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    text.replace("\r\n", "\n").replace(removed, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(source: &str) -> (String, Vec<(String, Look)>) {
        let formatted = FormattedText::markdown(source, LinkStyle::Hidden);
        let wide: Vec<u16> = formatted.text.encode_utf16().collect();
        let part = |entity: &Entity| String::from_utf16_lossy(&wide[entity.offset..entity.offset + entity.length]);
        let parts = formatted.entities.iter().map(|entity| (part(entity), entity.look.clone())).collect();
        (formatted.text.clone(), parts)
    }

    #[test]
    fn the_usual_elements_become_entities() {
        let bold = |text: &str| (text.to_owned(), Look::Bold);
        for (source, text, parts) in [
            ("plain", "plain", vec![]),
            ("a **b** c", "a b c", vec![bold("b")]),
            ("# Head\n\ntext", "Head\n\ntext", vec![bold("Head")]),
            ("🙂 **b**", "🙂 b", vec![bold("b")]),
            ("- one\n- two\n  - three", "• one\n• two\n  • three", vec![]),
            ("3. x\n4. y", "3. x\n4. y", vec![]),
            ("- [ ] a\n- [x] b", "• ☐ a\n• ☑ b", vec![]),
            ("`x*y`", "x*y", vec![("x*y".to_owned(), Look::Code)]),
            ("<b>raw</b>", "<b>raw</b>", vec![]),
            (
                "[go](https://a.example/x)",
                "go",
                vec![("go".to_owned(), Look::Link { url: "https://a.example/x".to_owned() })],
            ),
            ("[go](javascript:x)", "go (javascript:x)", vec![]),
            ("![pic](https://a.example/p.png)", "pic (https://a.example/p.png)", vec![]),
            ("_*[`", "_*[`", vec![]),
        ] {
            assert_eq!(looks(source), (text.to_owned(), parts), "{source}");
        }
        let (text, parts) = looks("```rust\nlet x = 1;\n```\nafter");
        assert_eq!(text, "let x = 1;\n\nafter");
        assert_eq!(parts[0].1, Look::Pre { language: Some("rust".to_owned()) });
    }

    #[test]
    fn code_in_bold_words_splits_them() {
        let (text, parts) = looks("**a `b` c**");
        assert_eq!(text, "a b c");
        let expected = [("a ", Look::Bold), ("b", Look::Code), (" c", Look::Bold)];
        assert_eq!(parts, expected.map(|(text, look)| (text.to_owned(), look)));
    }

    #[test]
    fn a_text_to_decide_about_hides_no_address() {
        let written = FormattedText::markdown("[docs](https://evil.example)", LinkStyle::Written);
        assert_eq!((written.text.as_str(), written.entities.len()), ("docs (https://evil.example)", 0));
    }
}
