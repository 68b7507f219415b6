//! Styled text, measured and broken into lines by the room it takes on a screen.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::Style;
use planwright_core::visible::visible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::palette::PLAIN;
use super::theme::Theme;

/// A piece of one line in one style. It never holds a control character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    text: String,
    style: Style,
}

impl Span {
    pub(crate) fn new(text: &str, style: Style) -> Self {
        Self { text: harmless(text), style }
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, PLAIN)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

/// Text from elsewhere, with nothing hidden in it.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    visible(text)
}

/// Text of others with nothing hidden in it, on one line.
pub(crate) fn shown_line(text: &str) -> String {
    one_line(&visible(text))
}

/// Puts visible text on one line. A line break with the spaces around it becomes one space. Other spaces stay as they are:
/// what is shown of a call must be what was approved.
pub(crate) fn one_line(visible: &str) -> String {
    let mut line = String::with_capacity(visible.len());
    let mut gap = String::new();
    for c in visible.trim().chars() {
        if c.is_whitespace() {
            gap.push(c);
            continue;
        }
        line.push_str(if gap.contains(char::is_control) { " " } else { &gap });
        gap.clear();
        line.push(c);
    }
    line
}

/// The last guard before the screen: a control character is written out, whatever way it came.
fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => safe.push_str("    "),
            '\n' => safe.push(' '),
            c if c.is_control() => {
                let _ = write!(safe, "⟦U+{:04X}⟧", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

pub(crate) fn width(spans: &[Span]) -> usize {
    spans.iter().map(Span::width).sum()
}

/// One line as it is written to the terminal. Neighbours of one style share their escape sequences.
pub(crate) fn painted(spans: &[Span]) -> String {
    let (mut line, theme) = (String::new(), Theme::chosen());
    for neighbours in spans.chunk_by(|one, next| one.style == next.style) {
        let style = theme.drawn(neighbours[0].style);
        let texts = neighbours.iter().map(Span::text);
        if style.is_plain() {
            line.extend(texts);
        } else {
            let _ = write!(line, "{style}");
            line.extend(texts);
            let _ = write!(line, "{style:#}");
        }
    }
    line
}

/// `text` in `style`, as it is written to the terminal.
pub(crate) fn paint(text: &str, style: Style) -> String {
    painted(&[Span::new(text, style)])
}

/// Not wider than `width`; what does not fit ends in `…`.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars() {
        let needed = c.width().unwrap_or(0);
        if needed > room {
            break;
        }
        room -= needed;
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// A painted line, cut to `width`. Every escape sequence in it is a style of ours, and those end in `m`.
pub(crate) fn cut(line: &str, width: usize) -> String {
    const ESCAPE: char = '\u{1b}';
    let mut kept = String::new();
    let mut room = width;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == ESCAPE {
            kept.push(c);
            let sequence = chars.by_ref().take_while(|c| *c != 'm');
            kept.extend(sequence);
            kept.push('m');
            continue;
        }
        let needed = c.width().unwrap_or(0);
        if needed > room {
            let style = if kept.contains(ESCAPE) { "\u{1b}[0m" } else { "" };
            return kept + style;
        }
        room -= needed;
        kept.push(c);
    }
    kept
}

/// The end of an id, by which a thing can be named. The id of a step to look at ends in its position.
pub(crate) fn short_id(id: &str) -> &str {
    const LENGTH: usize = 8;
    let end = id.find(':').unwrap_or(id.len());
    &id[end.saturating_sub(LENGTH)..]
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: impl TryInto<u64>, name: &str) -> String {
    match (number.try_into().unwrap_or(u64::MAX), name) {
        (1, name) => format!("1 {name}"),
        (number, "entry") => format!("{number} entries"),
        (number, name) => format!("{number} {name}s"),
    }
}

/// Filled up with spaces to `width`.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Breaks at spaces where it can, and inside words that are longer than a line.
pub(crate) fn wrap(spans: &[Span], width: usize) -> Vec<Vec<Span>> {
    let room = width.max(10);
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    let mut gap: Vec<Span> = Vec::new();
    for (is_space, token) in tokens(spans) {
        if is_space {
            gap = token;
            continue;
        }
        let needed = self::width(&token);
        if used > 0 && used + self::width(&gap) + needed > room {
            lines.push(Vec::new());
            used = 0;
        } else if used > 0 {
            used += self::width(&gap);
            current(&mut lines).append(&mut gap);
        }
        gap.clear();
        for span in token {
            for c in span.text.chars() {
                let needed = c.width().unwrap_or(0);
                if used > 0 && used + needed > room {
                    lines.push(Vec::new());
                    used = 0;
                }
                used += needed;
                push(current(&mut lines), c, span.style);
            }
        }
    }
    lines
}

fn current(lines: &mut [Vec<Span>]) -> &mut Vec<Span> {
    let last = lines.len() - 1;
    &mut lines[last]
}

fn push(spans: &mut Vec<Span>, c: char, style: Style) {
    match spans.last_mut().filter(|last| last.style == style) {
        Some(last) => last.text.push(c),
        None => spans.push(Span { text: c.to_string(), style }),
    }
}

/// Words and the gaps between them; a word may change its style in the middle.
fn tokens(spans: &[Span]) -> Vec<(bool, Vec<Span>)> {
    let mut tokens: Vec<(bool, Vec<Span>)> = Vec::new();
    for span in spans {
        for c in span.text.chars() {
            let is_space = c == ' ';
            match tokens.last_mut().filter(|(kind, _)| *kind == is_space) {
                Some((_, token)) => push(token, c, span.style),
                None => tokens.push((is_space, vec![Span { text: c.to_string(), style: span.style }])),
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        wrap(&[Span::plain(text)], width).iter().map(|line| painted(line)).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_inside() {
        assert_eq!(lines("one two three four", 10), ["one two", "three four"]);
        assert_eq!(lines("abcdefghijklmnop", 10), ["abcdefghij", "klmnop"]);
        assert_eq!(lines("", 10), [""]);
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(lines("漢字漢字漢字", 10), ["漢字漢字漢", "字"]);
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(pad("漢", 4), "漢  ");
    }

    #[test]
    fn painted_lines_are_cut_by_what_is_seen() {
        use crate::terminal::palette::BOLD;
        assert_eq!(cut("one two", 4), "one ");
        assert_eq!(cut("漢字", 3), "漢");
        let bold = paint("bold", BOLD);
        assert_eq!(cut(&bold, 4), bold);
        assert_eq!(cut(&format!("{bold} and more"), 7), format!("{bold} an\u{1b}[0m"));
        assert_eq!(cut(&bold, 2), "\u{1b}[1mbo\u{1b}[0m");
    }

    #[test]
    fn one_line_keeps_its_spaces() {
        for (text, expected) in [
            ("  write_file({\"content\":\"a  b   c\"})\n", "write_file({\"content\":\"a  b   c\"})"),
            ("one\n    two\tthree \r\n four", "one two three four"),
            ("a\u{202e}b", "a⟦U+202E⟧b"),
        ] {
            assert_eq!(shown_line(text), expected);
        }
    }

    #[test]
    fn no_control_character_gets_through() {
        assert_eq!(paint("\u{1b}[31mred\u{7}\tend", PLAIN), "⟦U+001B⟧[31mred⟦U+0007⟧    end");
    }
}
