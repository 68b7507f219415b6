//! Shell lines that a document names. A line is named by a `$` and a space before it, in a code span or as a line of a code
//! block, as manuals do. Code without the sign is only quoted.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::plan::markdown::OPTIONS;

/// Every shell line of the document, in order.
pub fn of_document(markdown: &str) -> Vec<String> {
    // The parser is slow beside a search, and most documents name none.
    if !markdown.contains("$ ") {
        return Vec::new();
    }
    let mut reader = CommandReader::default();
    Parser::new_ext(markdown, OPTIONS).flat_map(|event| reader.take(&event)).collect()
}

/// Finds shell lines in the events of a document.
#[derive(Default)]
pub(crate) struct CommandReader {
    /// The text of the code block that is open.
    block: Option<String>,
}

impl CommandReader {
    /// The lines that end with this event.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Vec<String> {
        match event {
            Event::Code(text) => named(text).into_iter().collect(),
            Event::Start(Tag::CodeBlock(_)) => {
                self.block = Some(String::new());
                Vec::new()
            }
            Event::Text(text) => {
                if let Some(block) = &mut self.block {
                    block.push_str(text);
                }
                Vec::new()
            }
            Event::End(TagEnd::CodeBlock) => self.block.take().unwrap_or_default().lines().filter_map(named).collect(),
            _ => Vec::new(),
        }
    }
}

fn named(text: &str) -> Option<String> {
    let line = text.strip_prefix("$ ")?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
