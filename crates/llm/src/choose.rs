//! The choice of a model, as it is written in a setting: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME` or `rehearsal`.
//!
//! A key in the environment chooses nothing: without a choice, the rehearsal model answers.

mod settings;

use std::fmt;
use std::str::FromStr;

use planwright_core::visible::quoted;

use crate::rehearsal;

pub use settings::ProviderSettings;
pub(crate) use settings::without_secrets;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// The built-in one, which needs no key and no network.
    #[default]
    Rehearsal,
    Provided {
        provider: Provider,
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Also every server that speaks like it, at another base address.
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

const FORMS: &str = "`openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME` or `rehearsal`";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    #[error("There is no model provider {given}; a model is given as {FORMS}.")]
    UnknownProvider { given: String },
    #[error("{given} does not say whose model it is; did you mean `{suggestion}`? A model is given as {FORMS}.")]
    NoProvider { given: String, suggestion: String },
    #[error("The name of the model is missing after `{provider}:`, such as in `{provider}:{}`.", .provider.example())]
    NoName { provider: Provider },
    #[error(
        "`{choice}` needs a key: set {variable}. To try Planwright without one, set PLANWRIGHT_MODEL={}.",
        rehearsal::NAME
    )]
    NoKey { choice: ModelChoice, variable: &'static str },
    /// What was given is not shown: it may be a key in the wrong place.
    #[error("{variable} does not hold a base address, such as `https://host/v1`.")]
    NotAnAddress { variable: &'static str },
    #[error("The key in {variable} has characters that cannot be sent, such as a line end.")]
    UnusableKey { variable: &'static str },
    #[error("The connection to {choice} cannot be set up: {reason}")]
    NotSetUp { choice: ModelChoice, reason: String },
}

impl ModelChoice {
    /// From a setting that may be absent or blank, which means that nothing was chosen.
    pub fn from_setting(setting: Option<&str>) -> Result<Self, ChooseError> {
        match setting.map(str::trim) {
            None | Some("") => Ok(Self::Rehearsal),
            Some(text) => text.parse(),
        }
    }
}

impl FromStr for ModelChoice {
    type Err = ChooseError;

    fn from_str(text: &str) -> Result<Self, ChooseError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case(rehearsal::NAME) {
            return Ok(Self::Rehearsal);
        }
        let given = || quoted(text);
        let (before, name) = text.split_once(':').unwrap_or((text, ""));
        let Some(provider) = Provider::ALL.into_iter().find(|one| one.word().eq_ignore_ascii_case(before.trim()))
        else {
            return Err(match suggestion(text) {
                Some(suggestion) => ChooseError::NoProvider { given: given(), suggestion },
                None => ChooseError::UnknownProvider { given: given() },
            });
        };
        match name.trim() {
            "" => Err(ChooseError::NoName { provider }),
            name => Ok(Self::Provided { provider, name: name.to_owned() }),
        }
    }
}

/// The choice that was probably meant by a name without its provider.
fn suggestion(text: &str) -> Option<String> {
    const MAKERS: [(&str, Provider); 13] = [
        ("gpt", Provider::OpenAi),
        ("chatgpt", Provider::OpenAi),
        ("o1", Provider::OpenAi),
        ("o3", Provider::OpenAi),
        ("o4", Provider::OpenAi),
        ("claude", Provider::Anthropic),
        ("gemini", Provider::Gemini),
        ("llama", Provider::Ollama),
        ("qwen", Provider::Ollama),
        ("mistral", Provider::Ollama),
        ("gemma", Provider::Ollama),
        ("deepseek", Provider::Ollama),
        ("phi", Provider::Ollama),
    ];
    let lower = text.to_lowercase();
    let printable = text.chars().all(|c| c.is_ascii_graphic()) && text.len() <= 80;
    let by_slash = Provider::ALL.into_iter().find_map(|provider| {
        let name = lower.strip_prefix(provider.word())?.strip_prefix('/')?;
        (!name.is_empty()).then(|| format!("{provider}:{}", &text[text.len() - name.len()..]))
    });
    let by_maker = || {
        let (_, provider) = MAKERS.iter().find(|(beginning, _)| lower.starts_with(beginning))?;
        Some(format!("{provider}:{text}"))
    };
    printable.then(|| by_slash.or_else(by_maker)).flatten()
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rehearsal => f.write_str(rehearsal::NAME),
            Self::Provided { provider, name } => write!(f, "{provider}:{name}"),
        }
    }
}

impl Provider {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    const fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// As it is called in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Ollama => "Ollama",
        }
    }

    const fn example(self) -> &'static str {
        match self {
            Self::OpenAi => "gpt-5",
            Self::Anthropic => "claude-sonnet-4-5",
            Self::Gemini => "gemini-2.5-pro",
            Self::Ollama => "qwen3",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
