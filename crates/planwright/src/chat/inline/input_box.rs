//! The box in which a person types: what each key does to it. It stays as it is while the agent works and at the prompt.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::candidates::CandidateList;
use super::composer::Composer;
use super::files::ProjectFiles;
use super::history::History;
use super::status_line::StatusLine;
use crate::chat::known_arguments::KnownArguments;
use crate::chat::short_answers::ShortAnswer;
use crate::chat::typeahead::{Cards, Key, TypingStart};

/// A letter decides if nothing follows it for so long. Then it is not the beginning of a sentence.
const DECISION_DELAY: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(in crate::chat) struct InputBox {
    pub(super) composer: Composer,
    history: History,
    pub(super) list: Option<CandidateList>,
    pub(super) search: Option<HistorySearch>,
    /// When the person began what is in the box.
    begun: Option<TypingStart>,
    /// What was in the box before a text came back into it, the newest last.
    drafts: Vec<(Composer, Option<TypingStart>)>,
    /// A letter that decides alone was pressed then.
    armed: Option<Instant>,
    /// Whether that was among the keys that were read last, at once.
    armed_in_read: bool,
    arguments: KnownArguments,
    files: ProjectFiles,
    /// The letters that count now.
    pub(super) offered: Vec<ShortAnswer>,
    /// Whether keys count for what is on the screen now.
    keys_count: bool,
    notice: Option<String>,
    pub(super) status: StatusLine,
    /// Whether a line is waited for.
    pub(super) is_at_prompt: bool,
    /// Whether what is in the box was not sent before, and waits for another Enter.
    is_returned: bool,
}

/// A search in what was sent before.
#[derive(Debug, Default)]
pub(super) struct HistorySearch {
    pub(super) query: String,
    pub(super) found: Option<String>,
    skip: usize,
}

/// What a key press comes after.
#[derive(Debug, Clone)]
pub(in crate::chat) struct Pressing {
    /// What it counts as if the box is empty.
    pub(in crate::chat) start: TypingStart,
    /// The columns of the box.
    pub(in crate::chat) width: usize,
    /// Whether a message waits that can be taken back.
    pub(in crate::chat) has_queue: bool,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::chat) enum Pressed {
    /// The box may look different.
    Taken,
    /// The person sends this.
    Sent(Box<SentText>),
    /// Escape, where there was nothing in the box that it could close.
    Escape,
    /// Ctrl+D in an empty box.
    End,
    /// The newest message that waits comes back into the box.
    TakeBack,
    /// What is in the box is edited in the person's editor.
    OpenEditor,
    ClearScreen,
}

/// A text, and when the person began it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::chat) struct SentText {
    pub(in crate::chat) text: String,
    pub(in crate::chat) begun: TypingStart,
}

impl InputBox {
    pub(in crate::chat) fn new(history: PathBuf) -> Self {
        Self {
            composer: Composer::default(),
            history: History::load(history),
            list: None,
            search: None,
            begun: None,
            drafts: Vec::new(),
            armed: None,
            armed_in_read: false,
            arguments: KnownArguments::default(),
            files: ProjectFiles::default(),
            offered: Vec::new(),
            keys_count: false,
            notice: None,
            status: StatusLine::default(),
            is_at_prompt: false,
            is_returned: false,
        }
    }

    pub(in crate::chat) fn know(&mut self, arguments: KnownArguments, project: Option<&str>, status: StatusLine) {
        self.files.refresh(project);
        (self.arguments, self.status) = (arguments, status);
    }

    pub(in crate::chat) fn status(&mut self) -> &mut StatusLine {
        &mut self.status
    }

    /// A line is read from now on. `begun` stands in the box, and what stood there before comes back once that was sent.
    pub(in crate::chat) fn begin_prompt(&mut self, begun: Option<SentText>, notice: Option<String>, is_returned: bool) {
        (self.is_at_prompt, self.notice, self.is_returned) = (true, notice, is_returned);
        if let Some(SentText { text, begun }) = begun {
            self.put(&text, begun);
        } else if self.composer.is_empty()
            && let Some((composer, begun)) = self.drafts.pop()
        {
            (self.composer, self.begun) = (composer, begun);
        }
    }

    /// The agent works from now on. What is in the box was begun before.
    pub(in crate::chat) fn end_prompt(&mut self) {
        (self.is_at_prompt, self.is_returned, self.armed, self.notice) = (false, false, None, None);
        self.offered.clear();
        self.begun = self.begun.take().map(TypingStart::earlier);
    }

    /// These letters count from now on. `None` while keys count for what was on the screen before.
    pub(in crate::chat) fn offer(&mut self, offered: Option<&[ShortAnswer]>) {
        self.keys_count = offered.is_some();
        self.offered = offered.unwrap_or_default().to_vec();
    }

    /// Something to read above the box. Why a text came back is told once Enter sends it.
    pub(super) fn shown_notice(&self) -> Option<&str> {
        self.notice.as_deref().filter(|_| self.keys_count || !self.is_returned)
    }

    /// Puts a text into the box. What is in it comes back later.
    pub(in crate::chat) fn put(&mut self, text: &str, begun: TypingStart) {
        if !self.composer.is_empty() {
            self.drafts.push((std::mem::take(&mut self.composer), self.begun.take()));
        }
        self.composer.replace(text);
        self.begun = Some(begun);
        (self.list, self.search, self.armed) = (None, None, None);
    }

    pub(in crate::chat) fn take_back(&mut self, text: &str, begun_under: Cards) {
        self.put(text, TypingStart::Earlier(begun_under));
    }

    pub(in crate::chat) fn text(&self) -> String {
        self.composer.text()
    }

    /// Puts what the person wrote in their editor in the place of what is in the box.
    pub(in crate::chat) fn replace(&mut self, text: &str, start: TypingStart) {
        self.composer.replace(text);
        self.begun.get_or_insert(start);
        self.changed();
    }

    /// Ctrl+C. Whether there was something in the box.
    pub(in crate::chat) fn clear(&mut self) -> bool {
        let had = !self.composer.is_empty() || self.search.is_some();
        self.composer.discard();
        (self.begun, self.list, self.search, self.armed) = (None, None, None, None);
        self.history.leave();
        had
    }

    /// It was sent.
    pub(in crate::chat) fn remember(&mut self, text: &str) {
        self.history.add(text);
    }

    /// When the letter in the box decides, if nothing is typed until then.
    pub(in crate::chat) fn decides_at(&self) -> Option<Instant> {
        self.armed.map(|pressed| pressed + DECISION_DELAY)
    }

    /// The letter, if nothing followed it.
    pub(in crate::chat) fn take_decision(&mut self) -> Option<SentText> {
        self.decides_at().filter(|at| *at <= Instant::now())?;
        self.take_text()
    }

    /// The keys that are pressed from now on were read at once.
    pub(in crate::chat) fn begin_read(&mut self) {
        self.armed_in_read = false;
    }

    pub(in crate::chat) fn press(&mut self, key: Key, pressing: &Pressing) -> Pressed {
        let armed = self.armed.take();
        if self.search.is_some() {
            return self.press_in_search(key, pressing);
        }
        match key {
            Key::Text(text) => self.type_in(&text, pressing),
            Key::Pasted(text) => self.edit(pressing, |composer| composer.paste(text)),
            Key::NewLine => self.edit(pressing, |composer| composer.insert("\n")),
            Key::Backspace => self.edit(pressing, Composer::backspace),
            Key::Delete => self.edit(pressing, Composer::delete),
            Key::DeleteWord => self.edit(pressing, Composer::delete_word),
            Key::DeleteLine => self.edit(pressing, Composer::delete_line),
            Key::DeleteToEnd => self.edit(pressing, Composer::delete_to_end),
            Key::Yank => self.edit(pressing, Composer::yank),
            Key::Left => self.go(Composer::left),
            Key::Right => self.go(Composer::right),
            Key::WordLeft => self.go(Composer::word_left),
            Key::WordRight => self.go(Composer::word_right),
            Key::Home => self.go(Composer::home),
            Key::End => self.go(Composer::end),
            Key::Up => self.up(pressing),
            Key::Down => self.down(pressing),
            Key::BackTab => self.choose(false),
            Key::Tab => self.complete(pressing),
            // Both came at once: they were pasted, in a terminal that does not tell what is pasted.
            Key::Enter if armed.is_some() && self.armed_in_read => Pressed::Taken,
            Key::Enter => self.enter(pressing),
            Key::Escape => self.escape(),
            Key::Search => self.begin_search(),
            Key::EndOfInput if self.composer.is_empty() => Pressed::End,
            Key::EndOfInput => self.edit(pressing, Composer::delete),
            Key::OpenEditor => Pressed::OpenEditor,
            Key::ClearScreen => Pressed::ClearScreen,
        }
    }

    fn type_in(&mut self, text: &str, pressing: &Pressing) -> Pressed {
        let is_alone = self.composer.is_empty() && text.chars().count() == 1;
        self.edit(pressing, |composer| composer.insert(text));
        if let TypingStart::AtPrompt(cards) = &pressing.start
            && is_alone
            && cards.meaning(text).is_some()
        {
            (self.armed, self.armed_in_read) = (Some(Instant::now()), true);
        }
        Pressed::Taken
    }

    fn edit(&mut self, pressing: &Pressing, change: impl FnOnce(&mut Composer)) -> Pressed {
        if self.composer.is_empty() {
            self.begun = Some(pressing.start.clone());
        }
        change(&mut self.composer);
        self.history.leave();
        self.changed();
        Pressed::Taken
    }

    fn changed(&mut self) {
        if self.composer.is_empty() {
            self.begun = None;
        }
        let before = self.composer.before();
        let found = self.files.with(|files| CandidateList::of(before, &self.arguments, files));
        self.list = found.filter(|_| self.composer.is_at_end());
    }

    fn go(&mut self, movement: impl FnOnce(&mut Composer)) -> Pressed {
        movement(&mut self.composer);
        self.list = None;
        Pressed::Taken
    }

    fn up(&mut self, pressing: &Pressing) -> Pressed {
        if self.list.is_some() {
            return self.choose(false);
        }
        if self.composer.is_empty() && pressing.has_queue {
            return Pressed::TakeBack;
        }
        if !self.composer.up(pressing.width)
            && let Some(older) = self.history.older(&self.composer.text())
        {
            self.recall(&older, pressing);
        }
        Pressed::Taken
    }

    fn down(&mut self, pressing: &Pressing) -> Pressed {
        if self.list.is_some() {
            return self.choose(true);
        }
        if !self.composer.down(pressing.width)
            && self.history.is_in_box()
            && let Some(newer) = self.history.newer()
        {
            self.recall(&newer, pressing);
        }
        Pressed::Taken
    }

    fn recall(&mut self, text: &str, pressing: &Pressing) {
        self.composer.replace(text);
        self.list = None;
        self.begun = (!text.is_empty()).then(|| pressing.start.clone());
    }

    fn choose(&mut self, down: bool) -> Pressed {
        if let Some(list) = &mut self.list {
            list.go(down);
        }
        Pressed::Taken
    }

    /// Puts the selected candidate into the text.
    fn complete(&mut self, pressing: &Pressing) -> Pressed {
        let Some(list) = self.list.take() else { return Pressed::Taken };
        let Some(candidate) = list.current() else { return Pressed::Taken };
        let text = candidate.text.clone();
        self.edit(pressing, |composer| composer.replace_before(list.replaces, &text))
    }

    fn enter(&mut self, pressing: &Pressing) -> Pressed {
        // The person cannot have read yet why it came back.
        if self.is_returned && matches!(pressing.start, TypingStart::Earlier(_)) {
            return Pressed::Taken;
        }
        if let Some(chosen) = self.list.as_ref().filter(|list| list.is_chosen).and_then(CandidateList::current) {
            let goes_on = !chosen.text.starts_with('/') || chosen.text.ends_with(' ');
            self.complete(pressing);
            if goes_on {
                return Pressed::Taken;
            }
        }
        if self.composer.is_at_end() && self.composer.before().ends_with('\\') {
            return self.edit(pressing, |composer| composer.replace_before(1, "\n"));
        }
        let empty = || SentText { text: String::new(), begun: pressing.start.clone() };
        Pressed::Sent(Box::new(self.take_text().unwrap_or_else(empty)))
    }

    fn take_text(&mut self) -> Option<SentText> {
        (self.list, self.armed, self.notice) = (None, None, None);
        self.history.leave();
        let text = self.composer.take();
        let begun = self.begun.take()?;
        Some(SentText { text, begun })
    }

    fn escape(&mut self) -> Pressed {
        match self.list.take() {
            Some(_) => Pressed::Taken,
            None => Pressed::Escape,
        }
    }

    fn begin_search(&mut self) -> Pressed {
        self.list = None;
        self.search = Some(HistorySearch::default());
        Pressed::Taken
    }

    fn press_in_search(&mut self, key: Key, pressing: &Pressing) -> Pressed {
        let Some(mut search) = self.search.take() else { return Pressed::Taken };
        match key {
            Key::Text(text) | Key::Pasted(text) => search.look_for(&self.history, |query| query.push_str(&text)),
            Key::Backspace => search.look_for(&self.history, |query| {
                query.pop();
            }),
            Key::Search | Key::Up => search.go_on(&self.history),
            Key::Escape => return Pressed::Taken,
            Key::Enter | Key::Tab => {
                if let Some(found) = search.found {
                    self.recall(&found, pressing);
                }
                return Pressed::Taken;
            }
            // Other keys take what was found, and do what they do.
            key => {
                if let Some(found) = search.found {
                    self.recall(&found, pressing);
                }
                return self.press(key, pressing);
            }
        }
        self.search = Some(search);
        Pressed::Taken
    }
}

impl HistorySearch {
    fn look_for(&mut self, history: &History, change: impl FnOnce(&mut String)) {
        change(&mut self.query);
        self.skip = 0;
        self.found = if self.query.is_empty() { None } else { history.search(&self.query, 0) };
    }

    /// To the next older one. On the oldest it stays.
    fn go_on(&mut self, history: &History) {
        if let Some(found) = history.search(&self.query, self.skip + 1).filter(|_| !self.query.is_empty()) {
            self.skip += 1;
            self.found = Some(found);
        }
    }
}

#[cfg(test)]
mod tests;
