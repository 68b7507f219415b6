//! Who is talked to, for messages that a person can act on.

use planwright_core::visible::visible;
use planwright_engine::model::{ModelError, ModelErrorKind};

use crate::choose::{Provider, ProviderSettings, without_secrets};

#[derive(Debug)]
pub(super) struct Party {
    pub(super) model: String,
    settings: ProviderSettings,
}

const FOREIGN_CHARACTERS: usize = 400;

impl Party {
    pub(super) fn new(model: &str, settings: ProviderSettings) -> Self {
        Self { model: model.to_owned(), settings }
    }

    pub(super) fn provider(&self) -> Provider {
        self.settings.provider()
    }

    /// The provider, or the server that someone put in its place.
    pub(super) fn title(&self) -> String {
        if self.settings.is_the_providers() || self.provider() == Provider::Ollama {
            self.provider().title().to_owned()
        } else {
            format!("The server at {}", self.address())
        }
    }

    pub(super) fn address(&self) -> String {
        without_secrets(self.settings.address())
    }

    pub(super) fn key_variable(&self) -> &'static str {
        self.provider().key_variable()
    }

    pub(super) fn address_variable(&self) -> &'static str {
        self.provider().address_variable()
    }

    pub(super) fn has_key(&self) -> bool {
        self.settings.key().is_some()
    }

    /// What may be sent where the wire library sends no key by itself.
    pub(super) fn revealed_key(&self) -> Option<&str> {
        self.settings.key().map(|key| key.reveal())
    }

    /// Foreign words as they may be shown: on one line, short, with nothing hidden in them, and never with the key.
    pub(super) fn presentable(&self, words: &str) -> String {
        let words = match self.revealed_key() {
            Some(key) => words.replace(key, "(the key)"),
            None => words.to_owned(),
        };
        let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = match line.char_indices().nth(FOREIGN_CHARACTERS) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        };
        visible(&short).into_owned()
    }

    pub(super) fn error(&self, kind: ModelErrorKind, sentence: &str, words: &str) -> ModelError {
        let words = self.presentable(words);
        let message = if words.is_empty() { format!("{sentence}.") } else { format!("{sentence}: {words}") };
        ModelError::new(kind, message)
    }
}
