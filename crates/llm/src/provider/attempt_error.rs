//! Why an attempt failed, in words for a person, and whether another attempt may help.

use std::error::Error;
use std::time::Duration;

use planwright_engine::model::{ModelError, ModelErrorKind};
use reqwest::header::HeaderMap;

use crate::choose::Provider;
use crate::provider::error_body::{self, ReportedError};
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::TooLarge;

#[derive(Debug)]
pub(super) struct AttemptError {
    pub(super) error: ModelError,
    pub(super) retry: Retry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    Never,
    WithBackoff,
    /// The provider asked for this wait.
    After(Duration),
}

impl AttemptError {
    /// An error that another attempt does not cure.
    pub(super) fn permanent(info: &ProviderInfo, kind: ModelErrorKind, sentence: &str, quoted: &str) -> Self {
        Self { error: info.error(kind, sentence, quoted), retry: Retry::Never }
    }

    /// The response has a status that is no success.
    pub(super) fn status(info: &ProviderInfo, status: u16, headers: &HeaderMap, body: &str) -> Self {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let again = error_body::retry_after(header, body).map_or(Retry::WithBackoff, Retry::After);
        let (name, title) = (info.name(), info.title());
        let (kind, sentence, retry) = match status {
            401 | 403 if info.has_key() => {
                let variable = info.key_variable();
                let sentence = format!("{title} does not accept the key in {variable} ({status})");
                (ModelErrorKind::NotAllowed, sentence, Retry::Never)
            }
            401 | 403 => {
                let variable = info.key_variable();
                (ModelErrorKind::NotAllowed, format!("{title} requires a key in {variable} ({status})"), Retry::Never)
            }
            404 => (ModelErrorKind::Refused, not_found(info), Retry::Never),
            413 => (ModelErrorKind::TooLong, format!("The request is too large for {name} (413)"), Retry::Never),
            429 if error_body::is_about_money(body) => {
                (ModelErrorKind::TooManyRequests, format!("The account at {name} is used up (429)"), Retry::Never)
            }
            429 => (ModelErrorKind::TooManyRequests, format!("{title} takes no more requests for now (429)"), again),
            408 | 409 | 500..=599 => (ModelErrorKind::Unavailable, format!("{title} has an error ({status})"), again),
            _ if error_body::is_about_length(body) => (
                ModelErrorKind::TooLong,
                format!("The request is too long for {} ({status})", info.model),
                Retry::Never,
            ),
            _ => (ModelErrorKind::Refused, format!("{title} refused the request ({status})"), Retry::Never),
        };
        Self { error: info.error(kind, &sentence, &error_body::message(body)), retry }
    }

    /// An event of the stream reports an error.
    pub(super) fn reported(info: &ProviderInfo, event: &str) -> Self {
        let (name, title) = (info.name(), info.title());
        let (kind, sentence, retry) = match ReportedError::of(event) {
            ReportedError::RateLimit => {
                (ModelErrorKind::TooManyRequests, format!("{title} takes no more requests for now"), Retry::WithBackoff)
            }
            ReportedError::Temporary => {
                (ModelErrorKind::Unavailable, format!("{title} has an error"), Retry::WithBackoff)
            }
            ReportedError::TooLong => {
                (ModelErrorKind::TooLong, format!("The request is too long for {} at {name}", info.model), Retry::Never)
            }
            ReportedError::Permanent => (ModelErrorKind::Refused, format!("{title} refused to answer"), Retry::Never),
        };
        Self { error: info.error(kind, &sentence, &error_body::message(event)), retry }
    }

    /// The connection ended before the answer did.
    pub(super) fn ended_early(info: &ProviderInfo) -> Self {
        let sentence = format!("{} ended the answer before it was complete", info.title());
        Self { error: info.error(ModelErrorKind::Unavailable, &sentence, ""), retry: Retry::WithBackoff }
    }

    /// Something was received, and nothing of it has the form of an answer.
    pub(super) fn not_a_model(info: &ProviderInfo) -> Self {
        let sentence = format!(
            "What {} sent is not the answer of a model; check the address in {}",
            info.address(),
            info.address_variable()
        );
        Self::permanent(info, ModelErrorKind::Unreadable, &sentence, "")
    }

    pub(super) fn stalled(info: &ProviderInfo, waited: Duration) -> Self {
        let sentence = format!("{} has sent nothing for {waited:?}", info.title());
        Self::permanent(info, ModelErrorKind::Stalled, &sentence, "")
    }

    pub(super) fn too_large(info: &ProviderInfo, limit: &TooLarge) -> Self {
        let sentence = format!("The reply of {} is too large and was dropped: {limit}", info.name());
        Self::permanent(info, ModelErrorKind::TooLarge, &sentence, "")
    }

    pub(super) fn unreachable(info: &ProviderInfo, error: &reqwest::Error) -> Self {
        // The outer errors repeat the whole address, with the secrets in it.
        let mut innermost = error.source();
        while let Some(inner) = innermost.and_then(|error| error.source()) {
            innermost = Some(inner);
        }
        let cause = innermost.map(ToString::to_string).unwrap_or_default();
        let hint = match info.provider() {
            Provider::Ollama => " (is `ollama serve` running?)",
            Provider::OpenAi | Provider::Anthropic | Provider::Gemini => "",
        };
        let sentence = format!("{} cannot be reached at {}{hint}", info.provider().title(), info.address());
        Self { error: info.error(ModelErrorKind::Unavailable, &sentence, &cause), retry: Retry::WithBackoff }
    }

    /// The request cannot be put on the wire.
    pub(super) fn unsendable(info: &ProviderInfo, error: &dyn Error) -> Self {
        Self::permanent(info, ModelErrorKind::Refused, "The request cannot be sent", &error.to_string())
    }

    pub(super) fn unreadable(info: &ProviderInfo, error: &serde_json::Error) -> Self {
        let sentence = format!("The answer of {} cannot be read", info.name());
        Self::permanent(info, ModelErrorKind::Unreadable, &sentence, &error.to_string())
    }
}

fn not_found(info: &ProviderInfo) -> String {
    let ProviderInfo { model, .. } = info;
    match info.provider() {
        Provider::Ollama => format!("Ollama does not have {model}; `ollama pull {model}` fetches it (404)"),
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => {
            format!("There is no model {model} at {} (404)", info.address())
        }
    }
}
