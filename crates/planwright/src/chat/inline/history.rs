//! What the person sent before, in the file that the line prompt uses as well.

use std::path::PathBuf;

use rustyline::Config;
use rustyline::history::{FileHistory, History as _};

/// The history of a person who types a lot.
const MAX_ENTRIES: usize = 2_000;

pub(super) struct History {
    file: FileHistory,
    path: PathBuf,
    /// Which entry is in the box, if one is.
    at: Option<usize>,
    /// What was in the box before.
    draft: String,
}

impl std::fmt::Debug for History {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("History").field("path", &self.path).field("at", &self.at).finish_non_exhaustive()
    }
}

impl History {
    pub(super) fn load(path: PathBuf) -> Self {
        let config =
            Config::builder().max_history_size(MAX_ENTRIES).and_then(|builder| builder.history_ignore_dups(true));
        let config = config.map(|builder| builder.history_ignore_space(true).build()).unwrap_or_default();
        let mut file = FileHistory::with_config(&config);
        // The first time there is none yet.
        let _ = file.load(&path);
        Self { file, path, at: None, draft: String::new() }
    }

    /// Written at once, so that a killed program forgets nothing.
    pub(super) fn add(&mut self, text: &str) {
        self.at = None;
        let kept = self.file.add(text).and_then(|_| self.file.append(&self.path));
        if let Err(error) = kept {
            tracing::warn!(path = %self.path.display(), %error, "the history is not kept");
        }
    }

    /// The entry before the one in the box. `text` is what is in the box now.
    pub(super) fn older(&mut self, text: &str) -> Option<String> {
        let at = self.at.unwrap_or(self.file.len()).checked_sub(1)?;
        if self.at.is_none() {
            text.clone_into(&mut self.draft);
        }
        self.at = Some(at);
        self.entry(at)
    }

    /// The entry after the one in the box; after the last one, what was in the box before.
    pub(super) fn newer(&mut self) -> Option<String> {
        let at = self.at? + 1;
        if at < self.file.len() {
            self.at = Some(at);
            return self.entry(at);
        }
        self.at = None;
        Some(std::mem::take(&mut self.draft))
    }

    /// The box has a text of its own.
    pub(super) fn leave(&mut self) {
        self.at = None;
    }

    pub(super) fn is_in_box(&self) -> bool {
        self.at.is_some()
    }

    /// The newest entry that has the text in it, after `skip` of those.
    pub(super) fn search(&self, text: &str, skip: usize) -> Option<String> {
        let text = text.to_lowercase();
        let mut found: Vec<&String> = Vec::new();
        for entry in self.file.iter().rev().filter(|entry| entry.to_lowercase().contains(&text)) {
            if !found.contains(&entry) {
                found.push(entry);
            }
            if found.len() > skip {
                break;
            }
        }
        found.get(skip).map(|entry| (*entry).clone())
    }

    fn entry(&self, at: usize) -> Option<String> {
        self.file.iter().nth(at).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(folder: &tempfile::TempDir) -> History {
        History::load(folder.path().join("history"))
    }

    #[test]
    fn what_was_sent_comes_back_also_in_the_next_chat() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = history(&folder);
        first.add("one");
        first.add("two\nlines");
        let mut history = history(&folder);
        assert_eq!(history.older("draft").as_deref(), Some("two\nlines"));
        assert_eq!(history.older("two\nlines").as_deref(), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two\nlines"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn a_search_goes_from_the_newest_to_the_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = history(&folder);
        for text in ["run the tests", "hello", "Run the build", "hello"] {
            history.add(text);
        }
        assert_eq!(history.search("run", 0).as_deref(), Some("Run the build"));
        assert_eq!(history.search("run", 1).as_deref(), Some("run the tests"));
        assert_eq!(history.search("run", 2), None);
        assert_eq!(history.search("hello", 1), None, "the same text counts once");
    }
}
