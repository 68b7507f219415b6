//! What is typed while no line is read: the lines that wait, and the one that is not finished.

use std::collections::VecDeque;

use super::{Cards, Meaning, ReturnReason, SendDecision, TypingStart, rule};
use crate::terminal::text::shown_line;

/// A key that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::chat) enum Key {
    /// Letters.
    Text(String),
    /// Everything that was pasted at once.
    Pasted(String),
    Enter,
    /// The message goes on in the next line.
    NewLine,
    Tab,
    BackTab,
    Escape,
    Backspace,
    Delete,
    DeleteWord,
    DeleteLine,
    DeleteToEnd,
    /// Puts back what was deleted.
    Yank,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    /// Ctrl+R
    Search,
    /// Ctrl+D
    EndOfInput,
    /// Ctrl+G
    OpenEditor,
    /// Ctrl+L
    ClearScreen,
}

#[derive(Debug, Default)]
pub(in crate::chat) struct Queue {
    lines: VecDeque<TypedText>,
    /// Without its Enter.
    unfinished: Option<TypedText>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TypedText {
    text: String,
    begun_under: Cards,
    /// The person stopped the agent after they had typed it, so it waits for their Enter.
    held: bool,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::chat) enum Next {
    Send(String),
    /// It stands in the line again, and Enter sends it.
    Return {
        text: String,
        why: ReturnReason,
    },
    /// The person goes on typing what they began, which was under these cards.
    Continue {
        text: String,
        begun_under: Cards,
    },
    Nothing,
}

/// How many of the lines that wait are shown.
const MAX_SHOWN: usize = 3;

impl Queue {
    /// Takes a key that was pressed while these cards were on the screen.
    pub(in crate::chat) fn press(&mut self, key: Key, screen: &Cards) {
        match key {
            Key::Text(text) | Key::Pasted(text) => self.unfinished(screen).push_str(&text),
            Key::Tab => self.unfinished(screen).push('\t'),
            Key::Enter => self.finish(),
            Key::Backspace => self.delete(|text| {
                text.pop();
            }),
            Key::DeleteWord => self.delete(|text| {
                let kept = text.trim_end();
                let kept = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                text.truncate(kept);
            }),
            Key::DeleteLine => self.unfinished = None,
            // Nothing is drawn in which these keys could move.
            Key::NewLine
            | Key::BackTab
            | Key::Escape
            | Key::Delete
            | Key::DeleteToEnd
            | Key::Yank
            | Key::Left
            | Key::Right
            | Key::WordLeft
            | Key::WordRight
            | Key::Up
            | Key::Down
            | Key::Home
            | Key::End
            | Key::Search
            | Key::EndOfInput
            | Key::OpenEditor
            | Key::ClearScreen => {}
        }
    }

    /// Takes a whole message that the person began while these cards were on the screen.
    pub(in crate::chat) fn push_message(&mut self, text: String, begun_under: Cards) {
        self.lines.push_back(TypedText { text, begun_under, held: false });
    }

    /// Gives the newest line that waits back to the person, with what was on the screen when they began it.
    pub(in crate::chat) fn take_newest(&mut self) -> Option<(String, Cards)> {
        self.lines.pop_back().map(|line| (line.text, line.begun_under))
    }

    pub(in crate::chat) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes a whole line.
    pub(in crate::chat) fn push(&mut self, text: String, screen: &Cards) {
        self.unfinished(screen).push_str(&text);
        self.finish();
    }

    /// The person stopped the agent: what waits is not sent by itself.
    pub(in crate::chat) fn hold(&mut self) {
        self.lines.iter_mut().for_each(|line| line.held = true);
    }

    /// Takes a `/stop` out, which acts at once.
    pub(in crate::chat) fn take_stop(&mut self) -> bool {
        let before = self.lines.len();
        self.lines.retain(|line| !line.text.trim().eq_ignore_ascii_case("/stop"));
        self.lines.len() < before
    }

    /// What becomes of the oldest line while `now` is on the screen.
    pub(in crate::chat) fn next(&mut self, now: &Cards) -> Next {
        match self.lines.pop_front() {
            Some(TypedText { text, held: true, .. }) => Next::Return { text, why: ReturnReason::Stopped },
            Some(TypedText { text, begun_under, held: false }) => {
                match rule(&text, &TypingStart::Earlier(begun_under), now) {
                    SendDecision::Send => match now.meaning(&text) {
                        Some(Meaning::Command(command)) => Next::Send(command),
                        Some(Meaning::Begin(text)) => Next::Continue { text, begun_under: now.clone() },
                        None => Next::Send(text),
                    },
                    SendDecision::Return(why) => Next::Return { text, why },
                }
            }
            None => match self.unfinished.take() {
                Some(TypedText { text, begun_under, .. }) => Next::Continue { text, begun_under },
                None => Next::Nothing,
            },
        }
    }

    /// What waits, a line each: `queued: and then the tests`.
    pub(in crate::chat) fn shown(&self) -> Vec<String> {
        let more = self.lines.len().saturating_sub(MAX_SHOWN);
        let waiting = self.lines.iter().take(MAX_SHOWN).map(|line| format!("queued: {}", shown_line(&line.text)));
        let more = (more > 0).then(|| format!("and {more} more"));
        let unfinished = self.unfinished.iter().map(|line| format!("› {}", shown_line(&line.text)));
        waiting.chain(more).chain(unfinished).collect()
    }

    fn unfinished(&mut self, screen: &Cards) -> &mut String {
        let begin = || TypedText { text: String::new(), begun_under: screen.clone(), held: false };
        &mut self.unfinished.get_or_insert_with(begin).text
    }

    /// A line that ends in a backslash continues.
    fn finish(&mut self) {
        let Some(mut line) = self.unfinished.take() else { return };
        if line.text.ends_with('\\') {
            line.text.pop();
            line.text.push('\n');
            self.unfinished = Some(line);
        } else if !line.text.trim().is_empty() {
            self.lines.push_back(line);
        }
    }

    /// A line that is empty again was not begun.
    fn delete(&mut self, change: impl FnOnce(&mut String)) {
        if let Some(line) = &mut self.unfinished {
            change(&mut line.text);
        }
        self.unfinished.take_if(|line| line.text.is_empty());
    }
}
