//! The bytes that a terminal sends, as keys.

use std::mem;

use crate::chat::typeahead::Key;

#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    /// The bytes of text that are not given out yet.
    text: Vec<u8>,
    /// Whether the text is being pasted.
    pastes: bool,
    line_feed: LineFeed,
}

/// What a line feed is. The Enter key sends a carriage return, which a terminal can be told to make a line feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::chat) enum LineFeed {
    #[default]
    Enter,
    /// Ctrl+J
    NewLine,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    /// The bytes of a sequence after `ESC [`.
    Sequence(Vec<u8>),
    /// After `ESC O`.
    Function,
}

/// Keys that one byte stands for.
fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x07 => Key::OpenEditor,
        0x08 | 0x7f => Key::Backspace,
        0x0b => Key::DeleteToEnd,
        0x0c => Key::ClearScreen,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x12 => Key::Search,
        0x15 => Key::DeleteLine,
        0x17 => Key::DeleteWord,
        0x19 => Key::Yank,
        _ => return None,
    })
}

/// Keys with Alt.
fn with_alt(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' | b'\n' => Key::NewLine,
        b'b' => Key::WordLeft,
        b'f' => Key::WordRight,
        0x08 | 0x7f => Key::DeleteWord,
        _ => return None,
    })
}

/// Keys that `ESC [` begins. The last byte, or the number before a `~`, says which.
fn moving(sequence: &[u8]) -> Option<Key> {
    let with_word = |key, word| if sequence.len() > 1 { word } else { key };
    Some(match sequence {
        b"1~" | b"7~" => Key::Home,
        b"4~" | b"8~" => Key::End,
        b"3~" => Key::Delete,
        // Enter with Shift, in the two ways in which terminals tell it.
        b"13;2u" | b"27;2;13~" => Key::NewLine,
        [.., b'A'] => Key::Up,
        [.., b'B'] => Key::Down,
        [.., b'C'] => with_word(Key::Right, Key::WordRight),
        [.., b'D'] => with_word(Key::Left, Key::WordLeft),
        [.., b'H'] => Key::Home,
        [.., b'F'] => Key::End,
        [.., b'Z'] => Key::BackTab,
        _ => return None,
    })
}

const ESCAPE: u8 = 0x1b;
const PASTE_BEGINS: &[u8] = b"200~";
const PASTE_ENDS: &[u8] = b"201~";

impl Decoder {
    pub(super) fn new(line_feed: LineFeed) -> Self {
        Self { line_feed, ..Self::default() }
    }

    pub(super) fn decode(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        for &byte in bytes {
            self.take(byte, &mut keys);
        }
        if !self.pastes {
            self.give_text(&mut keys);
        }
        keys
    }

    /// Whether an escape came last, which is a key of its own or begins another one.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.state, State::Escape) && !self.pastes
    }

    /// Nothing came for a while. A key sends its sequence at once, so an escape at the end is the key itself.
    pub(super) fn settle(&mut self) -> Option<Key> {
        self.is_undecided().then(|| {
            self.state = State::Ground;
            Key::Escape
        })
    }

    fn take(&mut self, byte: u8, keys: &mut Vec<Key>) {
        match (&mut self.state, byte) {
            (State::Ground, ESCAPE) => self.state = State::Escape,
            (State::Ground, byte) => self.take_plain(byte, keys),
            (State::Escape, b'[') => self.state = State::Sequence(Vec::new()),
            (State::Escape, b'O') => self.state = State::Function,
            (State::Escape, ESCAPE) if self.pastes => {}
            (State::Escape, ESCAPE) => self.push(Key::Escape, keys),
            (State::Escape, byte) => {
                self.state = State::Ground;
                if let Some(key) = with_alt(byte).filter(|_| !self.pastes) {
                    self.push(key, keys);
                }
            }
            (State::Function, byte) => {
                self.state = State::Ground;
                if let Some(key) = moving(&[byte]).filter(|_| !self.pastes) {
                    self.push(key, keys);
                }
            }
            (State::Sequence(sequence), byte) => {
                sequence.push(byte);
                if (0x40..=0x7e).contains(&byte) {
                    let sequence = mem::take(sequence);
                    self.state = State::Ground;
                    self.end_sequence(&sequence, keys);
                }
            }
        }
    }

    fn take_plain(&mut self, byte: u8, keys: &mut Vec<Key>) {
        if self.pastes {
            self.text.push(byte);
            return;
        }
        let key = match (byte, self.line_feed) {
            (b'\n', LineFeed::Enter) => Some(Key::Enter),
            (b'\n', LineFeed::NewLine) => Some(Key::NewLine),
            (byte, _) => control(byte),
        };
        match key {
            Some(key) => self.push(key, keys),
            None if byte >= b' ' => self.text.push(byte),
            None => {}
        }
    }

    /// A key comes after the text before it.
    fn push(&mut self, key: Key, keys: &mut Vec<Key>) {
        self.give_text(keys);
        keys.push(key);
    }

    fn end_sequence(&mut self, sequence: &[u8], keys: &mut Vec<Key>) {
        match sequence {
            PASTE_BEGINS => {
                self.give_text(keys);
                self.pastes = true;
            }
            PASTE_ENDS => {
                self.pastes = false;
                let pasted = String::from_utf8_lossy(&mem::take(&mut self.text)).into_owned();
                if !pasted.is_empty() {
                    keys.push(Key::Pasted(pasted.replace("\r\n", "\n").replace('\r', "\n")));
                }
            }
            sequence => {
                if let Some(key) = moving(sequence).filter(|_| !self.pastes) {
                    self.push(key, keys);
                }
            }
        }
    }

    /// All but a letter whose last bytes are still to come.
    fn give_text(&mut self, keys: &mut Vec<Key>) {
        let bytes = mem::take(&mut self.text);
        let whole = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => bytes.len(),
        };
        self.text = bytes[whole..].to_vec();
        if whole > 0 {
            keys.push(Key::Text(String::from_utf8_lossy(&bytes[..whole]).into_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Key {
        Key::Text(text.to_owned())
    }

    fn pasted(text: &str) -> Key {
        Key::Pasted(text.to_owned())
    }

    #[test]
    fn bytes_are_keys() {
        for (bytes, keys) in [
            ("hello", vec![text("hello")]),
            ("one\rtwo\n", vec![text("one"), Key::Enter, text("two"), Key::Enter]),
            ("ab\u{7f}\u{8}", vec![text("ab"), Key::Backspace, Key::Backspace]),
            ("a\u{15}\u{17}", vec![text("a"), Key::DeleteLine, Key::DeleteWord]),
            ("é…\r", vec![text("é…"), Key::Enter]),
            // Function keys, unknown keys with Alt, and other control characters mean nothing.
            ("a\u{1b}OP\u{1b}[15~\u{1b}x\u{1a}\0", vec![text("a")]),
            (
                "\u{1b}[A\u{1b}OB\u{1b}[C\u{1b}[1;5C\u{1b}b",
                vec![Key::Up, Key::Down, Key::Right, Key::WordRight, Key::WordLeft],
            ),
            ("\u{1b}[H\u{1b}[4~\u{1b}[3~\u{1b}[Z\t", vec![Key::Home, Key::End, Key::Delete, Key::BackTab, Key::Tab]),
            ("a\u{1b}\r\u{1b}[13;2ub", vec![text("a"), Key::NewLine, Key::NewLine, text("b")]),
            (
                "\u{12}\u{4}\u{7}\u{c}\u{b}\u{19}",
                vec![Key::Search, Key::EndOfInput, Key::OpenEditor, Key::ClearScreen, Key::DeleteToEnd, Key::Yank],
            ),
            ("\u{1b}[200~one\r\ntwo\rthree\u{1b}[201~\r", vec![pasted("one\ntwo\nthree"), Key::Enter]),
            ("a\u{1b}[200~b\u{1b}[Ac\u{1b}[201~d", vec![text("a"), pasted("bc"), text("d")]),
        ] {
            assert_eq!(Decoder::default().decode(bytes.as_bytes()), keys, "{bytes:?}");
        }
    }

    #[test]
    fn an_escape_is_a_key_once_nothing_follows_it() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.settle(), None);
        assert_eq!(decoder.decode(b"a\x1b"), [text("a")]);
        assert!(decoder.is_undecided());
        assert_eq!(decoder.settle(), Some(Key::Escape));
        assert_eq!(decoder.decode(b"\x1b"), []);
        assert_eq!(decoder.decode(b"[A"), [Key::Up]);
        assert_eq!(decoder.settle(), None);
    }

    #[test]
    fn a_line_feed_can_be_a_key_of_its_own() {
        let keys = Decoder::new(LineFeed::NewLine).decode(b"a\nb\r");
        assert_eq!(keys, [text("a"), Key::NewLine, text("b"), Key::Enter]);
    }

    #[test]
    fn what_is_cut_in_two_is_put_together() {
        for bytes in ["żółw\r", "\u{1b}[200~one\ntwo\u{1b}[201~\r"] {
            for at in 2..bytes.len() {
                let mut decoder = Decoder::default();
                let mut keys = decoder.decode(&bytes.as_bytes()[..at]);
                keys.extend(decoder.decode(&bytes.as_bytes()[at..]));
                let mut text = String::new();
                for key in &keys {
                    if let Key::Text(piece) | Key::Pasted(piece) = key {
                        text.push_str(piece);
                    }
                }
                assert!(["żółw", "one\ntwo"].contains(&text.as_str()), "{text:?} at {at}");
                assert_eq!(keys.last(), Some(&Key::Enter));
            }
        }
    }
}
