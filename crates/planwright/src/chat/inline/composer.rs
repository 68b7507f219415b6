//! A text that is being typed, and the cursor in it.

use unicode_width::UnicodeWidthChar as _;

use super::layout::{Layout, TextRow};

/// A longer pasted text is shown as one mark, and sent whole.
const MAX_SHOWN_LINES: usize = 6;
const MAX_SHOWN_BYTES: usize = 600;
/// Each pasted text that is not shown is one character of this private plane in the text.
const FIRST_MARK: u32 = 0xf_0000;
const LAST_MARK: u32 = 0xf_fffd;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Composer {
    text: String,
    /// In bytes, between two characters.
    cursor: usize,
    /// What the marks stand for.
    pasted: Vec<String>,
    /// What was deleted last, in one piece.
    deleted: String,
}

fn is_mark(c: char) -> bool {
    (FIRST_MARK..=LAST_MARK).contains(&u32::from(c))
}

impl Composer {
    #[cfg(test)]
    pub(super) fn new(text: &str) -> Self {
        let mut composer = Self::default();
        composer.insert(text);
        composer
    }

    /// As it is sent: with everything that was pasted.
    pub(super) fn text(&self) -> String {
        self.expanded(&self.text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What stands before the cursor, with marks for what was pasted.
    pub(super) fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.cursor == self.text.len()
    }

    /// Empties it. What was deleted can still be put back.
    pub(super) fn take(&mut self) -> String {
        let text = self.text();
        *self = Self { deleted: std::mem::take(&mut self.deleted), ..Self::default() };
        text
    }

    /// Puts another text in its place.
    pub(super) fn replace(&mut self, text: &str) {
        self.take();
        self.insert(text);
    }

    /// Puts another text in the place of the last `length` bytes before the cursor.
    pub(super) fn replace_before(&mut self, length: usize, text: &str) {
        let start = self.text.floor_char_boundary(self.cursor.saturating_sub(length));
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
        self.insert(text);
    }

    pub(super) fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| !is_mark(*c)).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Puts in what was pasted at once. A long text becomes one mark.
    pub(super) fn paste(&mut self, text: String) {
        let is_short = text.lines().count() <= MAX_SHOWN_LINES && text.len() <= MAX_SHOWN_BYTES;
        let mark = char::from_u32(FIRST_MARK + u32::try_from(self.pasted.len()).unwrap_or(u32::MAX - FIRST_MARK));
        match mark.filter(|mark| is_mark(*mark)) {
            Some(mark) if !is_short || text.contains(is_mark) => {
                self.pasted.push(text);
                self.text.insert(self.cursor, mark);
                self.cursor += mark.len_utf8();
            }
            Some(_) | None => self.insert(&text),
        }
    }

    pub(super) fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.text.replace_range(self.cursor..end, "");
    }

    pub(super) fn delete(&mut self) {
        let start = self.cursor;
        self.right();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn delete_word(&mut self) {
        let end = self.cursor;
        self.word_left();
        self.cut(self.cursor, end);
    }

    /// Deletes from the start of the line to the cursor.
    pub(super) fn delete_line(&mut self) {
        let end = self.cursor;
        self.home();
        self.cut(self.cursor, end);
    }

    pub(super) fn delete_to_end(&mut self) {
        let start = self.cursor;
        self.end();
        self.cut(start, self.cursor);
    }

    /// Puts back what was deleted last.
    pub(super) fn yank(&mut self) {
        let deleted = self.deleted.clone();
        self.insert(&deleted);
    }

    /// Empties it. All of it counts as deleted.
    pub(super) fn discard(&mut self) {
        if !self.is_empty() {
            self.deleted = self.text();
        }
        self.take();
    }

    fn cut(&mut self, start: usize, end: usize) {
        if start < end {
            self.deleted = self.expanded(&self.text[start..end]);
            self.text.replace_range(start..end, "");
        }
        self.cursor = start;
    }

    /// Past a character, with the marks that are drawn on top of it.
    pub(super) fn left(&mut self) {
        let before = self.text[..self.cursor].char_indices().rev();
        let mut found = 0;
        for (at, c) in before {
            found = at;
            if has_place(c) {
                break;
            }
        }
        self.cursor = found;
    }

    pub(super) fn right(&mut self) {
        let mut after = self.text[self.cursor..].char_indices().skip(1);
        let next = after.find(|(_, c)| has_place(*c)).map_or(self.text.len(), |(at, _)| self.cursor + at);
        self.cursor = next;
    }

    pub(super) fn word_left(&mut self) {
        let kept = self.text[..self.cursor].trim_end();
        self.cursor = kept.char_indices().rev().find(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8());
    }

    pub(super) fn word_right(&mut self) {
        let rest = &self.text[self.cursor..];
        let word = rest.len() - rest.trim_start().len();
        self.cursor += rest[word..].find(char::is_whitespace).map_or(rest.len(), |end| word + end);
    }

    pub(super) fn home(&mut self) {
        self.cursor = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
    }

    pub(super) fn end(&mut self) {
        self.cursor += self.text[self.cursor..].find('\n').unwrap_or(self.text.len() - self.cursor);
    }

    /// A row up, where rows have this width. `false` on the first one.
    pub(super) fn up(&mut self, width: usize) -> bool {
        self.move_to_row(width, |row| row.checked_sub(1))
    }

    /// A row down. `false` on the last one.
    pub(super) fn down(&mut self, width: usize) -> bool {
        self.move_to_row(width, |row| Some(row + 1))
    }

    fn move_to_row(&mut self, width: usize, other: impl Fn(usize) -> Option<usize>) -> bool {
        let layout = self.layout(width);
        let found = other(layout.cursor.0).and_then(|row| layout.at(row, layout.cursor.1));
        self.cursor = found.unwrap_or(self.cursor);
        found.is_some()
    }

    /// The text in rows of this width.
    pub(super) fn layout(&self, width: usize) -> Layout {
        let mut layout = Layout { rows: vec![TextRow::default()], cursor: (0, 0), places: Vec::new() };
        for (at, c) in self.text.char_indices() {
            let mark = is_mark(c).then(|| self.label(c));
            layout.push(at, c, mark.as_deref(), width);
        }
        layout.finish(self.text.len(), self.cursor, width);
        layout
    }

    /// `[120 lines pasted]`
    fn label(&self, mark: char) -> String {
        let text = self.behind(mark);
        match text.lines().count() {
            0 | 1 => format!("[{} characters pasted]", text.chars().count()),
            lines => format!("[{lines} lines pasted]"),
        }
    }

    fn behind(&self, mark: char) -> &str {
        let index = usize::try_from(u32::from(mark).saturating_sub(FIRST_MARK)).unwrap_or(usize::MAX);
        self.pasted.get(index).map_or("", String::as_str)
    }

    fn expanded(&self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        for c in text.chars() {
            match is_mark(c) {
                true => expanded.push_str(self.behind(c)),
                false => expanded.push(c),
            }
        }
        expanded
    }
}

/// Whether the cursor can stand before it: it is not drawn on top of the character before.
fn has_place(c: char) -> bool {
    c == '\n' || c.width() != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Composer {
        Composer::new(text)
    }

    #[test]
    fn the_cursor_moves_by_characters_words_and_lines() {
        let mut composer = typed("one zwei\ndrei");
        composer.home();
        assert_eq!(composer.before(), "one zwei\n");
        composer.left();
        composer.word_left();
        assert_eq!(composer.before(), "one ");
        composer.word_right();
        assert_eq!(composer.before(), "one zwei");
        composer.right();
        composer.right();
        assert_eq!(composer.before(), "one zwei\nd");
        composer.end();
        assert!(composer.is_at_end());
        composer.right();
        assert!(composer.is_at_end());
    }

    #[test]
    fn marks_on_a_letter_are_deleted_with_it() {
        let mut composer = typed("ae\u{301}b");
        composer.left();
        composer.backspace();
        assert_eq!(composer.text(), "ab");
        composer.backspace();
        composer.delete();
        assert!(composer.is_empty());
        composer.backspace();
        composer.delete();
        composer.left();
        assert_eq!(composer.before(), "");
    }

    #[test]
    fn what_was_deleted_can_be_put_back() {
        let mut composer = typed("one two three");
        composer.delete_word();
        assert_eq!(composer.text(), "one two ");
        composer.yank();
        composer.yank();
        assert_eq!(composer.text(), "one two threethree");
        composer.delete_line();
        assert!(composer.is_empty());
        composer.yank();
        composer.home();
        composer.delete_to_end();
        assert!(composer.is_empty());
        composer.insert("all of it");
        composer.discard();
        assert!(composer.is_empty());
        composer.yank();
        assert_eq!(composer.text(), "all of it");
    }

    #[test]
    fn a_long_paste_is_one_mark_and_is_sent_whole() {
        let long = "line\n".repeat(20);
        let mut composer = typed("see ");
        composer.paste(long.clone());
        composer.insert(" there");
        assert_eq!(composer.text(), format!("see {long} there"));
        let shown: String = composer.layout(80).rows.iter().map(TextRow::text).collect();
        assert_eq!(shown, "see [20 lines pasted] there");
        composer.word_left();
        composer.left();
        composer.backspace();
        assert_eq!(composer.text(), "see  there");
        // A short one is shown, and a character that would be taken for a mark is kept.
        let mut composer = typed("");
        composer.paste("one\ntwo".to_owned());
        composer.paste("\u{f0000}".to_owned());
        assert_eq!(composer.text(), "one\ntwo\u{f0000}");
    }

    #[test]
    fn up_and_down_go_through_the_rows() {
        let mut composer = typed("abcdefgh\nxy");
        assert!(composer.up(5), "to the second row of the first line");
        assert_eq!(composer.before(), "abcdefg");
        assert!(composer.up(5));
        assert_eq!(composer.before(), "ab");
        assert!(!composer.up(5));
        assert!(composer.down(5));
        assert!(composer.down(5));
        assert_eq!(composer.before(), "abcdefgh\nxy");
        assert!(!composer.down(5));
    }
}
