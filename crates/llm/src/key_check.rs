//! Whether a provider takes the key, and which models it offers. Its list of models is asked for, which costs nothing.

use std::time::Duration;

use reqwest::{Client, Response, Url};
use serde_json::Value;

use crate::choose::{ChooseError, ModelChoice, Provider, ProviderSettings};
use crate::http_client;

const ANTHROPIC_VERSION: &str = "2023-06-01";
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest lists of providers have some hundred kilobytes.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyCheck {
    Accepted,
    NotAccepted,
    /// It could not be asked, or it did not tell: the reason.
    Unknown(String),
}

/// Asks the provider of the model. `None` for the rehearsal, which has no provider.
pub async fn check_key(
    choice: &ModelChoice,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Option<KeyCheck>, ChooseError> {
    let provider = match choice {
        ModelChoice::Rehearsal => return Ok(None),
        ModelChoice::Provided { provider, .. } => *provider,
    };
    let settings = ProviderSettings::read(provider, &lookup)?;
    Ok(Some(ask(provider, &settings).await.unwrap_or_else(KeyCheck::Unknown)))
}

/// The models of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferedModels {
    /// As they follow the provider in a setting, in alphabetical order.
    Names(Vec<String>),
    /// The provider was not asked, since it takes a key.
    NoKey { variable: &'static str },
    /// It could not be asked, or its list was not understood: the reason.
    Unknown(String),
}

/// Asks the provider for its list of models, if no key is missing.
pub async fn offered_models(provider: Provider, lookup: impl Fn(&str) -> Option<String>) -> OfferedModels {
    let settings = match ProviderSettings::read(provider, &lookup) {
        Ok(settings) => settings,
        Err(error) => return OfferedModels::Unknown(error.to_string()),
    };
    if settings.needs_a_key() {
        return OfferedModels::NoKey { variable: provider.key_variable() };
    }
    match listed(provider, &settings).await {
        Ok(names) => OfferedModels::Names(names),
        Err(reason) => OfferedModels::Unknown(reason),
    }
}

async fn listed(provider: Provider, settings: &ProviderSettings) -> Result<Vec<String>, String> {
    let mut response = request(provider, settings).await?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("it answered with HTTP {}", status.as_u16()));
    }
    let mut list = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| error.without_url().to_string())? {
        list.extend_from_slice(&piece);
        if list.len() > MAX_LIST_BYTES {
            return Err("its list of models is too long".to_owned());
        }
    }
    let names = serde_json::from_slice(&list).ok().and_then(|list| names(&list));
    names.ok_or_else(|| "its list of models was not understood".to_owned())
}

/// `data` with an `id` each, or `models` with a `name` each.
fn names(list: &Value) -> Option<Vec<String>> {
    let items = list.get("data").or_else(|| list.get("models"))?.as_array()?;
    let name = |item: &Value| {
        let name = item.get("id").or_else(|| item.get("name"))?.as_str()?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    let mut names: Vec<_> = items.iter().filter_map(name).collect();
    names.sort();
    Some(names)
}

async fn ask(provider: Provider, settings: &ProviderSettings) -> Result<KeyCheck, String> {
    let response = request(provider, settings).await?;
    Ok(match response.status().as_u16() {
        200..=299 => KeyCheck::Accepted,
        401 | 403 => KeyCheck::NotAccepted,
        // Gemini answers so to a key that it does not know.
        400 if provider == Provider::Gemini => KeyCheck::NotAccepted,
        status => KeyCheck::Unknown(format!("it answered with HTTP {status}")),
    })
}

/// The answer to the question for the list of models.
async fn request(provider: Provider, settings: &ProviderSettings) -> Result<Response, String> {
    let mut url: Url = settings.address().parse().map_err(|_| "its address cannot be read".to_owned())?;
    let query = url.query().map(str::to_owned);
    url = url.join(path(provider)).map_err(|error| error.to_string())?;
    url.set_query(query.as_deref());
    let client = http_client::for_address(&url, || Client::builder().timeout(TIMEOUT))?;
    let mut request = client.get(url);
    if let Some(key) = settings.key() {
        request = match provider {
            Provider::OpenAi | Provider::Ollama => request.bearer_auth(key.reveal()),
            Provider::Anthropic => {
                request.header("x-api-key", key.reveal()).header("anthropic-version", ANTHROPIC_VERSION)
            }
            Provider::Gemini => request.header("x-goog-api-key", key.reveal()),
        };
    }
    // The words of an error have the address in them, which may have secrets.
    request.send().await.map_err(|error| error.without_url().to_string())
}

const fn path(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => "models",
        Provider::Ollama => "api/tags",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_list_is_read() {
        for (list, expected) in [
            (r#"{"data":[{"id":"gpt-5"},{"id":"gpt-4"}]}"#, Some(vec!["gpt-4", "gpt-5"])),
            (r#"{"models":[{"name":"models/gemini-2.5-pro"}]}"#, Some(vec!["gemini-2.5-pro"])),
            (r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b"}]}"#, Some(vec!["qwen3:8b"])),
            (r#"{"data":[]}"#, Some(vec![])),
            (r#"{"error":"no"}"#, None),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(names(&serde_json::from_str(list).unwrap()), expected, "{list}");
        }
    }
}
