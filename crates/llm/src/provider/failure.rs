//! Why an attempt failed, in words for a person, and whether another one may help.

use std::time::Duration;

use genai::Error;
use planwright_engine::model::{ModelError, ModelErrorKind};
use serde_json::Value;

use crate::choose::Provider;
use crate::provider::party::Party;
use crate::provider::reasons::{self, Trouble};
use crate::provider::watch::Watch;

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) remedy: Remedy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    None,
    TryAgain,
    /// The provider said when.
    TryAgainAfter(Duration),
}

impl Failure {
    pub(super) fn of(party: &Party, error: &Error, watch: &Watch) -> Self {
        match error {
            Error::HttpError { status, body, headers, .. } => {
                let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
                Self::answered(party, status.as_u16(), body, reasons::retry_after(header, body))
            }
            // While streaming, the status is inside.
            Error::WebStream { error, .. } => match error.downcast_ref::<Error>() {
                Some(inner) => Self::of(party, inner, watch),
                None if watch.last_sign().is_some() => Self::broke_off(party, watch),
                None => Self::unreachable(party, error.as_ref()),
            },
            Error::ChatResponse { body, .. } => Self::told(party, body, watch),
            Error::StreamParse { serde_error, .. } => Self::unreadable(party, &serde_error.to_string()),
            Error::JsonValueExt(error) => Self::unreadable(party, &error.to_string()),
            Error::SerdeJson(error) => Self::unreadable(party, &error.to_string()),
            Error::InvalidJsonResponseElement { info } => Self::unreadable(party, info),
            Error::NoChatResponse { .. } => Self::unreadable(party, "it is empty"),
            // Everything else goes wrong before anything is sent, because of the request.
            other => Self {
                error: party.error(ModelErrorKind::Refused, "The request cannot be made", &other.to_string()),
                remedy: Remedy::None,
            },
        }
    }

    /// An answer with a status that is no success.
    fn answered(party: &Party, status: u16, body: &str, retry_after: Option<Duration>) -> Self {
        let words = reasons::message(body);
        let title = party.title();
        let again = retry_after.map_or(Remedy::TryAgain, Remedy::TryAgainAfter);
        let (kind, sentence, remedy) = match status {
            401 | 403 if party.has_key() => {
                let variable = party.key_variable();
                (ModelErrorKind::NotAllowed, format!("The key in {variable} was not accepted ({status})"), Remedy::None)
            }
            401 | 403 => {
                let variable = party.key_variable();
                (ModelErrorKind::NotAllowed, format!("{title} wants a key in {variable} ({status})"), Remedy::None)
            }
            404 => (ModelErrorKind::Refused, not_found(party), Remedy::None),
            413 => (ModelErrorKind::TooLong, format!("The request is too large for {title} (413)"), Remedy::None),
            429 if reasons::is_about_money(body) => {
                (ModelErrorKind::TooManyRequests, format!("The account at {title} is used up (429)"), Remedy::None)
            }
            429 => (ModelErrorKind::TooManyRequests, format!("{title} takes no more requests for now (429)"), again),
            408 | 409 | 500..=599 => (ModelErrorKind::Unavailable, format!("{title} is in trouble ({status})"), again),
            _ if reasons::is_about_length(body) => {
                (ModelErrorKind::TooLong, format!("This is too long for {} ({status})", party.model), Remedy::None)
            }
            _ => (ModelErrorKind::Refused, format!("{title} did not take the request ({status})"), Remedy::None),
        };
        Self { error: party.error(kind, &sentence, &words), remedy }
    }

    /// An error that was told in the middle of an answer.
    fn told(party: &Party, body: &Value, watch: &Watch) -> Self {
        // The body may say less than what came over the wire.
        let on_the_wire = watch.last();
        let body = body.to_string();
        let words = [&body, &on_the_wire].map(|text| reasons::message(text)).into_iter().find(|words| words != "{}");
        let words = words.unwrap_or_default();
        let title = party.title();
        let (kind, sentence, remedy) = match reasons::trouble(&body, &on_the_wire) {
            Trouble::TooMany => {
                (ModelErrorKind::TooManyRequests, format!("{title} takes no more requests for now"), Remedy::TryAgain)
            }
            Trouble::Passing => (ModelErrorKind::Unavailable, format!("{title} is in trouble"), Remedy::TryAgain),
            Trouble::TooLong => {
                (ModelErrorKind::TooLong, format!("This is too long for {}", party.model), Remedy::None)
            }
            Trouble::Lasting => (ModelErrorKind::Refused, format!("{title} refused to answer"), Remedy::None),
        };
        Self { error: party.error(kind, &sentence, &words), remedy }
    }

    /// The connection ended before the answer did.
    pub(super) fn broke_off(party: &Party, watch: &Watch) -> Self {
        if watch.saw_only_foreign_things() {
            let variable = party.address_variable();
            let sentence = format!(
                "What came from {} is not the answer of a model; is the address in {variable} right?",
                party.address()
            );
            return Self { error: ModelError::new(ModelErrorKind::Unreadable, sentence), remedy: Remedy::None };
        }
        // Ollama tells what went wrong in the last line, and the wire library passes over it.
        let last = watch.last();
        if let Some(error) = serde_json::from_str::<Value>(&last).ok().filter(|last| last.get("error").is_some()) {
            return Self::told(party, &error, watch);
        }
        let sentence = format!("{} broke off before the answer was complete", party.title());
        Self { error: party.error(ModelErrorKind::Unavailable, &sentence, ""), remedy: Remedy::TryAgain }
    }

    pub(super) fn stalled(party: &Party, limit: Duration) -> Self {
        let sentence = format!("{} has sent nothing for {limit:?}", party.title());
        Self { error: party.error(ModelErrorKind::Stalled, &sentence, ""), remedy: Remedy::None }
    }

    fn unreachable(party: &Party, error: &(dyn std::error::Error + Send + Sync + 'static)) -> Self {
        // The outer ones repeat the whole address, with whatever is in it.
        let mut innermost = error.source();
        while let Some(inner) = innermost.and_then(|error| error.source()) {
            innermost = Some(inner);
        }
        let words = innermost.map(ToString::to_string).unwrap_or_default();
        let hint = match party.provider() {
            Provider::Ollama => " (is `ollama serve` running?)",
            Provider::OpenAi | Provider::Anthropic | Provider::Gemini => "",
        };
        let sentence = format!("{} cannot be reached at {}{hint}", party.provider().title(), party.address());
        Self { error: party.error(ModelErrorKind::Unavailable, &sentence, &words), remedy: Remedy::TryAgain }
    }

    fn unreadable(party: &Party, words: &str) -> Self {
        let sentence = format!("The answer of {} cannot be read", party.title());
        Self { error: party.error(ModelErrorKind::Unreadable, &sentence, words), remedy: Remedy::None }
    }
}

fn not_found(party: &Party) -> String {
    let Party { model, .. } = party;
    match party.provider() {
        Provider::Ollama => format!("Ollama does not have {model}; `ollama pull {model}` fetches it (404)"),
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => {
            format!("There is no model {model} at {} (404)", party.address())
        }
    }
}
