//! The provider of a model, for messages that a person can act on.

use planwright_core::visible::visible;
use planwright_engine::model::{ModelError, ModelErrorKind};

use crate::choose::{Provider, ProviderSettings, without_secrets};

#[derive(Debug)]
pub(super) struct ProviderInfo {
    pub(super) model: String,
    settings: ProviderSettings,
}

/// How much of a provider's own words is shown.
const QUOTED_CHARACTERS: usize = 400;

/// A shorter key is a placeholder for a server that takes none.
const MIN_SECRET: usize = 6;

/// A key of this length does not occur in other words by accident.
const UNMISTAKABLE: usize = 12;

const REDACTED: &str = "(the key)";

impl ProviderInfo {
    pub(super) fn new(model: &str, settings: ProviderSettings) -> Self {
        Self { model: model.to_owned(), settings }
    }

    pub(super) fn provider(&self) -> Provider {
        self.settings.provider()
    }

    /// The provider, or the server that a person put in its place, inside a sentence.
    pub(super) fn name(&self) -> String {
        if self.settings.is_the_providers() || self.provider() == Provider::Ollama {
            self.provider().title().to_owned()
        } else {
            format!("the server at {}", self.address())
        }
    }

    /// The provider's name at the beginning of a sentence.
    pub(super) fn title(&self) -> String {
        let name = self.name();
        match name.strip_prefix("the ") {
            Some(rest) => format!("The {rest}"),
            None => name,
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

    pub(super) fn revealed_key(&self) -> Option<&str> {
        self.settings.key().map(|key| key.reveal())
    }

    /// An error in our words, followed by the provider's.
    pub(super) fn error(&self, kind: ModelErrorKind, sentence: &str, quoted: &str) -> ModelError {
        let quoted = self.presentable(quoted);
        let message = if quoted.is_empty() { format!("{sentence}.") } else { format!("{sentence}: {quoted}") };
        ModelError::new(kind, message)
    }

    /// The provider's words on one line, shortened, without the key and without invisible characters.
    fn presentable(&self, quoted: &str) -> String {
        let quoted = self.revealed_key().map_or_else(|| quoted.to_owned(), |key| redact(quoted, key));
        let line = quoted.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = match line.char_indices().nth(QUOTED_CHARACTERS) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        };
        visible(&short).into_owned()
    }
}

/// Takes a key out of a text. A short one is taken out only where it stands alone: the letters of a key such as `secret`
/// also occur inside other words.
fn redact(text: &str, key: &str) -> String {
    if key.len() < MIN_SECRET {
        return text.to_owned();
    }
    if key.len() >= UNMISTAKABLE {
        return text.replace(key, REDACTED);
    }
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut redacted = String::new();
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find(key) {
        let after = &rest[at + key.len()..];
        let left = rest[..at].chars().next_back().or(before);
        let alone = !left.is_some_and(in_word) && !after.chars().next().is_some_and(in_word);
        redacted += &rest[..at];
        redacted += if alone { REDACTED } else { key };
        before = key.chars().next_back();
        rest = after;
    }
    redacted + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_and_other_words_stay_whole() {
        for (key, text, expected) in [
            ("x", "The model does not exist", "The model does not exist"),
            ("exist", "does not exist", "does not exist"),
            ("secret", "your secret, secretly: secrets 'secret'", "your (the key), secretly: secrets '(the key)'"),
            ("secret", "secretsecret secret-1 _secret", "secretsecret secret-1 _secret"),
            ("secret", "key=secret", "key=(the key)"),
            ("sk-0123456789", "xsk-0123456789x", "x(the key)x"),
            ("gültig", "ungültig: gültig", "ungültig: (the key)"),
        ] {
            assert_eq!(redact(text, key), expected, "{key}");
        }
    }
}
