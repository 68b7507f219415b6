//! Markdown that comes in pieces: which of it is finished, and what is still being said.

use pulldown_cmark::{Event, Options, Parser};

#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Everything from the block on that is still being said.
    pending: String,
}

impl Stream {
    pub(super) fn push(&mut self, piece: &str) {
        self.pending.push_str(piece);
    }

    /// The blocks that nothing can change any more, whatever comes next: all but the last, of the lines that are whole.
    pub(super) fn take_finished(&mut self) -> Option<String> {
        let whole = self.pending.rfind('\n')? + 1;
        let last = last_block(&self.pending[..whole]);
        if self.pending[..last].trim().is_empty() {
            return None;
        }
        let rest = self.pending.split_off(last);
        Some(std::mem::replace(&mut self.pending, rest))
    }

    /// What is left when nothing more comes.
    pub(super) fn take_rest(&mut self) -> String {
        std::mem::take(&mut self.pending)
    }

    /// The block that is still being said.
    pub(super) fn unfinished(&self) -> &str {
        &self.pending
    }
}

/// Where the last block begins that does not lie within another.
fn last_block(markdown: &str) -> usize {
    let mut depth = 0;
    let mut last = 0;
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        if depth == 0 {
            last = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A title\n\nSome words\nover two lines.\n\n- one\n- two\n\n  still two\n\n```sh\nls\n\nls -l\n```\n\n\
                        | a | b |\n|---|---|\n| c | d |\n\nHeading\n---\n\n[x]: https://example.org\n\nthe end";

    #[test]
    fn blocks_are_finished_when_the_next_one_begins() {
        let mut stream = Stream::default();
        let mut finished = Vec::new();
        for c in TEXT.chars() {
            stream.push(&c.to_string());
            finished.extend(stream.take_finished());
        }
        assert_eq!(
            finished,
            [
                "# A title\n\n",
                "Some words\nover two lines.\n\n",
                "- one\n- two\n\n  still two\n\n",
                "```sh\nls\n\nls -l\n```\n\n",
                "| a | b |\n|---|---|\n| c | d |\n\n",
            ]
        );
        assert_eq!(stream.unfinished(), "Heading\n---\n\n[x]: https://example.org\n\nthe end");
    }

    #[test]
    fn however_it_comes_nothing_is_lost() {
        for size in [1, 2, 3, 7, 50, 1_000] {
            let mut stream = Stream::default();
            let mut all = String::new();
            for piece in TEXT.as_bytes().chunks(size) {
                stream.push(std::str::from_utf8(piece).unwrap());
                all.extend(stream.take_finished());
            }
            all.push_str(&stream.take_rest());
            assert_eq!(all, TEXT, "in pieces of {size}");
        }
    }
}
