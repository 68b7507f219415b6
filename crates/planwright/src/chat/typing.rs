//! What the person types while no line is read, and what they had on the screen meanwhile. In the inline interface it is all that they
//! type: the same box stays on the screen while the agent works and at the prompt.

use std::time::{Duration, Instant};

use super::editor::Rest;
use super::inline::input_box::{InputBox, Pressed, Pressing, SentText};
use super::inline::text_width;
use super::keyboard::{KeyWait, Keyboard, LineFeed};
use super::typeahead::{Cards, Key, Next, Queue, TypingStart};
use super::view::DrawnInput;

/// A key that comes sooner after a card was drawn was not pressed because of it.
const READING_TIME: Duration = Duration::from_millis(300);
/// A key that comes sooner after a text came back was not pressed because of the reason that is told.
const RETURN_TIME: Duration = Duration::from_millis(600);

#[derive(Debug, Default)]
pub(super) struct Typing {
    /// There while the agent works; in the inline interface also at the prompt.
    keyboard: Option<Keyboard>,
    queue: Queue,
    /// What was on the screen when the prompt was drawn last. What is drawn since counts from the next prompt on.
    screen: Cards,
    /// What was on it before, and until when keys count as pressed then.
    before: Option<(Cards, Instant)>,
    /// Where the person types, in the inline interface.
    input: Option<InputBox>,
    /// The person pressed Escape while the agent worked.
    wants_stop: bool,
    /// The terminal is gone, so nothing more comes.
    is_gone: bool,
}

impl Typing {
    /// The person types in this box from now on.
    pub(super) fn use_box(&mut self, input: InputBox) {
        self.input = Some(input);
    }

    pub(super) fn input(&mut self) -> Option<&mut InputBox> {
        self.input.as_mut()
    }

    /// Keys are read here from now on.
    pub(super) fn listen(&mut self) {
        let line_feed = if self.input.is_some() { LineFeed::NewLine } else { LineFeed::Enter };
        self.keyboard.get_or_insert_with(|| Keyboard::listen(line_feed));
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

    /// Another program used the terminal meanwhile.
    pub(super) fn listen_again(&self) {
        if let Some(keyboard) = &self.keyboard {
            keyboard.listen_again();
        }
    }

    /// Waits until there may be keys for the box. Where lines are read it waits for ever.
    pub(super) async fn wait(&mut self) {
        let (Some(keyboard), Some(_), false) = (&self.keyboard, &self.input, self.is_gone) else {
            return std::future::pending().await;
        };
        if keyboard.wait().await == KeyWait::Gone {
            self.is_gone = true;
        }
    }

    pub(super) const fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// The keys that were pressed since.
    pub(super) fn keys(&mut self) -> Vec<Key> {
        if let Some(input) = &mut self.input {
            input.begin_read();
        }
        self.keyboard.as_mut().map(Keyboard::pressed).unwrap_or_default()
    }

    /// Reads the keys that were pressed since, while no line is waited for.
    pub(super) fn read(&mut self) {
        for key in self.keys() {
            self.press(key);
        }
    }

    /// Takes a key that was pressed while no line is waited for.
    pub(super) fn press(&mut self, key: Key) {
        let pressing = self.pressing(TypingStart::Earlier(self.screen.clone()));
        let Some(input) = &mut self.input else { return self.queue.press(key, &self.screen) };
        match input.press(key, &pressing) {
            Pressed::Sent(sent) if !sent.text.trim().is_empty() => {
                let SentText { text, begun } = *sent;
                input.remember(&text);
                self.queue.push_message(text, begun.cards());
            }
            Pressed::Escape => self.wants_stop = true,
            Pressed::TakeBack => self.take_back(),
            Pressed::Sent(_) | Pressed::Taken | Pressed::End | Pressed::OpenEditor | Pressed::ClearScreen => {}
        }
    }

    /// The newest message that waits comes back into the box.
    pub(super) fn take_back(&mut self) {
        if let Some(input) = &mut self.input
            && let Some((text, begun_under)) = self.queue.take_newest()
        {
            input.take_back(&text, begun_under);
        }
    }

    pub(super) fn pressing(&self, start: TypingStart) -> Pressing {
        let width = text_width(crate::terminal::live::width());
        Pressing { start, width, has_queue: !self.queue.is_empty() }
    }

    /// Whether the person pressed Escape since.
    pub(super) fn take_stop(&mut self) -> bool {
        std::mem::take(&mut self.wants_stop) | self.queue.take_stop()
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
        self.wants_stop = false;
        if self.screen != *now {
            let before = std::mem::replace(&mut self.screen, now.clone());
            self.before = Some((before, Instant::now() + READING_TIME));
        }
    }

    /// A text came back into the box. Keys count once the person can have read why.
    pub(super) fn wait_for_reader(&mut self) {
        self.before = Some((Cards::default(), Instant::now() + RETURN_TIME));
    }

    /// What a key counts as that is pressed now at the prompt.
    pub(super) fn start(&self) -> TypingStart {
        match &self.before {
            Some((before, until)) if *until > Instant::now() => TypingStart::Earlier(before.clone()),
            Some(_) | None => TypingStart::AtPrompt(self.screen.clone()),
        }
    }

    /// From when on keys at the prompt count for what is on the screen.
    pub(super) fn counts_from(&self) -> Option<Instant> {
        self.before.as_ref().map(|(_, until)| *until).filter(|until| *until > Instant::now())
    }

    pub(super) fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// The box in a window of this size, if there is one.
    pub(super) fn drawn(&self, width: usize, rows: usize) -> Option<DrawnInput> {
        Some(self.input.as_ref()?.draw(width, rows, &self.queue.shown()))
    }
}

/// Whether keys were read before the pause.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(super) enum Paused {
    Listened,
    Rested,
}
