//! What the person types while no line is read, and what they had on the screen meanwhile.

use super::editor::Rest;
use super::keyboard::Keyboard;
use super::typeahead::{Cards, Key, Next, Queue};

#[derive(Debug, Default)]
pub(super) struct Typing {
    /// There while the agent works.
    keyboard: Option<Keyboard>,
    queue: Queue,
    /// What was on the screen when the prompt was drawn last. What is drawn since counts from the next prompt on.
    screen: Cards,
}

impl Typing {
    /// Keys are read here from now on.
    pub(super) fn listen(&mut self) {
        self.keyboard.get_or_insert_with(Keyboard::listen);
    }

    /// The terminal is as it was found, for a line or a passphrase.
    pub(super) fn pause(&mut self) -> Paused {
        match self.keyboard.take() {
            Some(_) => Paused::Listened,
            None => Paused::Rested,
        }
    }

    pub(super) fn resume(&mut self, paused: Paused) {
        match paused {
            Paused::Listened => self.listen(),
            Paused::Rested => {}
        }
    }

    /// Reads the keys that were pressed since.
    pub(super) fn read(&mut self) {
        let pressed = self.keyboard.as_mut().map(Keyboard::pressed).unwrap_or_default();
        pressed.into_iter().for_each(|key| self.queue.press(key, &self.screen));
    }

    /// Takes what was typed at once after a message.
    pub(super) fn push(&mut self, rest: Rest) {
        rest.lines.into_iter().for_each(|line| self.queue.push(line, &self.screen));
        if !rest.unfinished.is_empty() {
            self.queue.press(Key::Text(rest.unfinished), &self.screen);
        }
    }

    /// What comes next, now that these cards are on the screen. What was typed up to here was begun before.
    pub(super) fn next(&mut self, now: &Cards) -> Next {
        self.see(now);
        self.queue.next(now)
    }

    /// These cards are on the screen from now on.
    pub(super) fn see(&mut self, now: &Cards) {
        self.read();
        self.screen = now.clone();
    }

    pub(super) fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }
}

/// Whether keys were read before the pause.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(super) enum Paused {
    Listened,
    Rested,
}
