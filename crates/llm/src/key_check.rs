//! Whether a provider takes the key. Its list of models is asked for, which costs nothing.

use std::time::Duration;

use reqwest::{Client, Url};

use crate::choose::{ChooseError, ModelChoice, Provider, ProviderSettings};

const ANTHROPIC_VERSION: &str = "2023-06-01";
const TIMEOUT: Duration = Duration::from_secs(5);

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

async fn ask(provider: Provider, settings: &ProviderSettings) -> Result<KeyCheck, String> {
    let mut url: Url = settings.address().parse().map_err(|_| "its address cannot be read".to_owned())?;
    let query = url.query().map(str::to_owned);
    url = url.join(path(provider)).map_err(|error| error.to_string())?;
    url.set_query(query.as_deref());
    let client = Client::builder().timeout(TIMEOUT).build().map_err(|error| error.to_string())?;
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
    let response = request.send().await.map_err(|error| error.without_url().to_string())?;
    Ok(match response.status().as_u16() {
        200..=299 => KeyCheck::Accepted,
        401 | 403 => KeyCheck::NotAccepted,
        // Gemini answers so to a key that it does not know.
        400 if provider == Provider::Gemini => KeyCheck::NotAccepted,
        status => KeyCheck::Unknown(format!("it answered with HTTP {status}")),
    })
}

const fn path(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => "models",
        Provider::Ollama => "api/tags",
    }
}
