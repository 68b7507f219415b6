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

const ESCAPE: u8 = 0x1b;
const PASTE_BEGINS: &[u8] = b"200~";
const PASTE_ENDS: &[u8] = b"201~";

impl Decoder {
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        for &byte in bytes {
            self.take(byte, &mut keys);
        }
        // A key sends its sequence at once, so an escape at the end is the key itself.
        if matches!(self.state, State::Escape) && !self.pastes {
            self.state = State::Ground;
        }
        if !self.pastes {
            self.give_text(&mut keys);
        }
        keys
    }

    fn take(&mut self, byte: u8, keys: &mut Vec<Key>) {
        match (&mut self.state, byte) {
            (State::Ground, ESCAPE) => self.state = State::Escape,
            (State::Ground, byte) => self.take_plain(byte, keys),
            (State::Escape, b'[') => self.state = State::Sequence(Vec::new()),
            (State::Escape, b'O') => self.state = State::Function,
            // Keys with Alt, and those that move, mean nothing here.
            (State::Escape | State::Function, _) => self.state = State::Ground,
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
        let key = match byte {
            b'\r' | b'\n' => Key::Enter,
            0x08 | 0x7f => Key::Backspace,
            0x15 => Key::DeleteLine,
            0x17 => Key::DeleteWord,
            b'\t' | b' '.. => return self.text.push(byte),
            _ => return,
        };
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
                    keys.push(Key::Text(pasted.replace("\r\n", "\n").replace('\r', "\n")));
                }
            }
            _ => {}
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

    #[test]
    fn bytes_are_keys() {
        for (bytes, keys) in [
            ("hello", vec![text("hello")]),
            ("one\rtwo\n", vec![text("one"), Key::Enter, text("two"), Key::Enter]),
            ("ab\u{7f}\u{8}", vec![text("ab"), Key::Backspace, Key::Backspace]),
            ("a\u{15}\u{17}", vec![text("a"), Key::DeleteLine, Key::DeleteWord]),
            ("é…\r", vec![text("é…"), Key::Enter]),
            // Keys that move, function keys, Alt, a lone escape, and other control characters.
            ("a\u{1b}[A\u{1b}[1;5C\u{1b}OP\u{1b}x\u{1b}", vec![text("a")]),
            ("\u{4}\u{1a}\0", vec![]),
            ("\u{1b}[200~one\r\ntwo\rthree\u{1b}[201~\r", vec![text("one\ntwo\nthree"), Key::Enter]),
            ("a\u{1b}[200~b\u{1b}[201~c", vec![text("a"), text("b"), text("c")]),
        ] {
            assert_eq!(Decoder::default().decode(bytes.as_bytes()), keys, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_cut_in_two_is_put_together() {
        for bytes in ["żółw\r", "\u{1b}[200~one\ntwo\u{1b}[201~\r"] {
            for at in 2..bytes.len() {
                let mut decoder = Decoder::default();
                let mut keys = decoder.decode(&bytes.as_bytes()[..at]);
                keys.extend(decoder.decode(&bytes.as_bytes()[at..]));
                let text: String = keys.iter().map(|key| if let Key::Text(text) = key { text } else { "" }).collect();
                assert!(["żółw", "one\ntwo"].contains(&text.as_str()), "{text:?} at {at}");
                assert_eq!(keys.last(), Some(&Key::Enter));
            }
        }
    }
}
