//! What a Markdown document says about its steps and its title, read from the parsed tree, never by searching text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::ids::StepId;
use crate::plan::commands::{self, CommandReader};
use crate::plan::content::PlanStep;

/// Task-list items if there are any, else the items of top-level numbered lists, else the whole document.
pub fn steps(markdown: &str) -> Vec<PlanStep> {
    if markdown.trim().is_empty() {
        return Vec::new();
    }
    let items = items(markdown);
    let tasks: Vec<_> = items.iter().filter(|item| item.task.is_some()).collect();
    let chosen = if tasks.is_empty() { items.iter().filter(|item| item.top_level_numbered).collect() } else { tasks };
    if chosen.is_empty() {
        let whole = title(markdown).unwrap_or_else(|| "The whole plan".to_owned());
        let id = StepId::nth(1);
        let commands = commands::of_document(markdown);
        return vec![PlanStep { id, description: whole, needs: Vec::new(), ticked: false, commands }];
    }
    chosen.into_iter().zip(1..).map(|(item, n)| item.step(n)).collect()
}

/// The first heading, else the first line of text. A title stands at the beginning, so that is all that is read.
pub fn title(markdown: &str) -> Option<String> {
    plain_heading(markdown).map(str::to_owned).or_else(|| parsed_title(beginning(markdown)))
}

/// A heading on the first line without any markup, which is the common case and needs no parser.
fn plain_heading(markdown: &str) -> Option<&str> {
    let line = markdown.lines().next()?;
    let text = line.trim_start_matches('#');
    let depth = line.len() - text.len();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | ':' | '-' | '/' | '(' | ')');
    let title = text.strip_prefix(' ')?.trim_end_matches(' ');
    let fits = (1..=6).contains(&depth)
        && title.chars().all(plain)
        && title.starts_with(char::is_alphanumeric)
        && !title.contains("  ");
    fits.then_some(title)
}

/// The lines at the beginning that a title may stand in.
fn beginning(markdown: &str) -> &str {
    const FAR_ENOUGH: usize = 4096;
    if markdown.len() <= FAR_ENOUGH {
        return markdown;
    }
    let cut = (0..=FAR_ENOUGH).rev().find(|at| markdown.is_char_boundary(*at)).unwrap_or(0);
    &markdown[..cut]
}

fn parsed_title(markdown: &str) -> Option<String> {
    let mut collected = InlineText::default();
    let mut first_text: Option<String> = None;
    let mut in_heading = false;
    for event in Parser::new_ext(markdown, OPTIONS) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                in_heading = true;
                collected = InlineText::default();
            }
            Event::End(TagEnd::Heading(_)) => {
                if !collected.is_blank() {
                    return Some(collected.finish());
                }
                in_heading = false;
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::CodeBlock) => {
                if first_text.is_none() && !in_heading && !collected.is_blank() {
                    first_text = collected.0.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
                }
                collected = InlineText::default();
            }
            other => collected.take(&other),
        }
    }
    first_text
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Heading {
    /// From 1, the highest, to 6.
    pub level: u8,
    pub text: String,
}

/// Every heading in document order.
pub fn headings(markdown: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut text: Option<InlineText> = None;
    for event in Parser::new_ext(markdown, OPTIONS) {
        match event {
            Event::Start(Tag::Heading { .. }) => text = Some(InlineText::default()),
            Event::End(TagEnd::Heading(level)) => {
                let text = text.take().unwrap_or_default().finish();
                found.push(Heading { level: level as u8, text });
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

pub(crate) const OPTIONS: Options =
    Options::ENABLE_TASKLISTS.union(Options::ENABLE_TABLES).union(Options::ENABLE_STRIKETHROUGH);

#[derive(Default)]
struct Item {
    /// `Some(ticked)` if it is a task-list item.
    task: Option<bool>,
    top_level_numbered: bool,
    text: InlineText,
    /// Its own first paragraph is over; what follows belongs to nested blocks.
    closed: bool,
    /// Shell lines in it and in what is nested in it.
    commands: Vec<String>,
}

impl Item {
    fn step(&self, n: u32) -> PlanStep {
        PlanStep {
            id: StepId::nth(n),
            description: self.description(),
            needs: Vec::new(),
            ticked: self.task == Some(true),
            commands: self.commands.clone(),
        }
    }

    fn description(&self) -> String {
        let text = self.text.clone().finish();
        if text.is_empty() { "(no text)".to_owned() } else { text }
    }
}

/// The visible words of inline content.
#[derive(Default, Clone)]
pub(crate) struct InlineText(String);

impl InlineText {
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) | Event::InlineMath(text) => {
                self.0.push_str(text)
            }
            Event::SoftBreak | Event::HardBreak => self.0.push('\n'),
            Event::Start(_) | Event::End(_) | Event::Html(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
            Event::Rule | Event::TaskListMarker(_) => {}
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    pub(crate) fn finish(self) -> String {
        self.0.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Every list item in document order, with the words of its own first paragraph.
fn items(markdown: &str) -> Vec<Item> {
    let mut done: Vec<Item> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut lists: Vec<bool> = Vec::new();
    let mut other_containers = 0_u32;
    let mut lines = CommandReader::default();
    for event in Parser::new_ext(markdown, OPTIONS) {
        for command in lines.take(&event) {
            for item in &open {
                done[*item].commands.push(command.clone());
            }
        }
        match event {
            Event::Start(Tag::List(first)) => {
                close_innermost(&mut done, &open);
                lists.push(first.is_some());
            }
            Event::End(TagEnd::List(_)) => {
                lists.pop();
            }
            Event::Start(Tag::Item) => {
                let top_level_numbered = lists.as_slice() == [true] && other_containers == 0;
                open.push(done.len());
                done.push(Item { top_level_numbered, ..Item::default() });
            }
            Event::End(TagEnd::Item) => {
                open.pop();
            }
            Event::Start(Tag::BlockQuote(_) | Tag::FootnoteDefinition(_)) => {
                close_innermost(&mut done, &open);
                other_containers += 1;
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition) => other_containers -= 1,
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Table(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) => {
                close_innermost(&mut done, &open);
            }
            Event::TaskListMarker(ticked) => {
                if let Some(index) = open.last() {
                    done[*index].task = Some(ticked);
                }
            }
            other => {
                if let Some(item) = open.last().map(|index| &mut done[*index]).filter(|item| !item.closed) {
                    item.text.take(&other);
                }
            }
        }
    }
    done
}

fn close_innermost(items: &mut [Item], open: &[usize]) {
    if let Some(item) = open.last().map(|index| &mut items[*index]) {
        item.closed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &[&str]) {
        let found: Vec<_> = steps(markdown)
            .iter()
            .map(|step| format!("{}{}", if step.ticked { "x " } else { "" }, step.description))
            .collect();
        assert_eq!(found, expected, "{markdown}");
    }

    #[test]
    fn steps_are_read_from_the_tree() {
        check("", &[]);
        check("  \n\t\n", &[]);
        check("# Move house\n\nJust do it.", &["Move house"]);
        check("Just do it.\nAll of it.", &["Just do it."]);
        check("1. one\n2. two\n3. three", &["one", "two", "three"]);
        check("7. seven\n8. eight", &["seven", "eight"]);
        check("1. one\n   - detail\n   1. nested\n2. two", &["one", "two"]);
        check("- a\n- b", &["a"]);
        check("- [ ] open\n- [x] ticked\n- plain", &["open", "x ticked"]);
        check("1. numbered\n\n- [ ] task wins", &["task wins"]);
        check("- [ ] outer\n  - [ ] inner", &["outer", "inner"]);
        check("```\n- [ ] code is not a task\n1. nor a step\n```", &["- [ ] code is not a task"]);
        check("> 1. quoted\n> 2. list\n\n1. real", &["real"]);
        check("1. with `code` and **bold**\n   on two lines\n\n   and more", &["with code and bold on two lines"]);
        check("- [ ] \n", &["(no text)"]);
        check("## A\n1. first\n\n## B\n1. second", &["first", "second"]);
        check("<!-- - [ ] hidden -->\n\n1. real", &["real"]);
        check("- [ ] text\n  ```\n  code\n  ```", &["text"]);
    }

    #[test]
    fn the_title_is_the_first_heading_or_the_first_line() {
        for (markdown, expected) in [
            ("# A `b` *c*\n", Some("A b c")),
            ("intro\n\n## Later\n", Some("Later")),
            ("no heading\nhere", Some("no heading")),
            ("Set\next\n===", Some("Set ext")),
            ("```\n# not a heading\n```\n", Some("# not a heading")),
            ("#\n\n# Second\n", Some("Second")),
            ("\n\n", None),
        ] {
            assert_eq!(title(markdown).as_deref(), expected, "{markdown:?}");
        }
    }

    #[test]
    fn the_short_cut_for_plain_headings_agrees_with_the_parser() {
        for heading in [
            "# Move house",
            "###### Six, deep: a-b (c)",
            "####### seven",
            "#no space",
            "# two  spaces",
            "# trailing   ",
            "# 1. one",
        ] {
            let markdown = format!("{heading}\n\nwords\n");
            if let Some(found) = plain_heading(&markdown) {
                assert_eq!(Some(found.to_owned()), parsed_title(&markdown), "{markdown:?}");
            }
        }
        assert_eq!(plain_heading("# Move house\n- [ ] pack"), Some("Move house"));
    }
}
