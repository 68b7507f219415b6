//! An embedding model at OpenAI, or at a server that speaks like it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_engine::model::{EmbeddingModel, ModelError, ModelErrorKind};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use serde_json::{Value, json};

use crate::choose::{ChooseError, ModelChoice, Provider, ProviderSettings};
use crate::http_client;

const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest piece of an error that is shown.
const MAX_ERROR_CHARACTERS: usize = 300;

#[derive(Debug)]
struct OpenAiEmbeddings {
    /// As it was chosen, such as `openai:text-embedding-3-small`.
    choice: String,
    model: String,
    settings: ProviderSettings,
    url: Url,
    client: Client,
}

/// The embedding model of a choice. Its key and its address come from the provider's own variables.
pub fn connect_embeddings(
    choice: &ModelChoice,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Arc<dyn EmbeddingModel>, ChooseError> {
    let (provider, name) = match choice {
        ModelChoice::Provided { provider: provider @ Provider::OpenAi, name } => (*provider, name),
        ModelChoice::Provided { .. } | ModelChoice::Rehearsal => {
            let reason = "embeddings are made by `openai:MODEL` only".to_owned();
            return Err(ChooseError::NotSetUp { choice: choice.clone(), reason });
        }
    };
    let settings = ProviderSettings::read(provider, &lookup)?;
    if settings.needs_a_key() {
        return Err(ChooseError::NoKey { choice: choice.clone(), variable: provider.key_variable() });
    }
    let not_set_up = |reason: String| ChooseError::NotSetUp { choice: choice.clone(), reason };
    let url = Url::parse(settings.address()).and_then(|base| base.join("embeddings"));
    let url = url.map_err(|error| not_set_up(error.to_string()))?;
    let client = http_client::for_address(&url, || Client::builder().timeout(TIMEOUT)).map_err(not_set_up)?;
    Ok(Arc::new(OpenAiEmbeddings { choice: choice.to_string(), model: name.clone(), settings, url, client }))
}

#[async_trait]
impl EmbeddingModel for OpenAiEmbeddings {
    fn name(&self) -> &str {
        &self.choice
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let unavailable =
            |error: reqwest::Error| ModelError::new(ModelErrorKind::Unavailable, error.without_url().to_string());
        let body = json!({ "model": self.model, "input": texts }).to_string();
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = self.settings.key() {
            request = request.bearer_auth(key.reveal());
        }
        let response = request.send().await.map_err(unavailable)?;
        let status = response.status();
        let body = response.text().await.map_err(unavailable)?;
        if !status.is_success() {
            let kind = kind(status.as_u16());
            // The text of a refused key may repeat a part of it.
            let shown: String = match kind {
                ModelErrorKind::NotAllowed => "the key is not accepted".to_owned(),
                _ => body.chars().take(MAX_ERROR_CHARACTERS).collect(),
            };
            return Err(ModelError::new(kind, format!("HTTP {status}: {shown}")));
        }
        read(&body).ok_or_else(|| {
            ModelError::new(ModelErrorKind::Unreadable, "The answer of the embedding model cannot be read.")
        })
    }
}

/// A model that could not be set up: every request fails with the reason, because nothing depends on it.
#[derive(Debug)]
pub struct MissingEmbeddings {
    pub choice: String,
    pub reason: String,
}

#[async_trait]
impl EmbeddingModel for MissingEmbeddings {
    fn name(&self) -> &str {
        &self.choice
    }

    async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::new(ModelErrorKind::NotAllowed, self.reason.clone()))
    }
}

const fn kind(status: u16) -> ModelErrorKind {
    match status {
        401 | 403 => ModelErrorKind::NotAllowed,
        429 => ModelErrorKind::TooManyRequests,
        400..=499 => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    }
}

/// The vectors in the order of the texts.
fn read(body: &str) -> Option<Vec<Vec<f32>>> {
    let answer: Value = serde_json::from_str(body).ok()?;
    let data = answer.get("data")?.as_array()?;
    let mut vectors = Vec::with_capacity(data.len());
    for (place, one) in data.iter().enumerate() {
        let index =
            one.get("index").and_then(Value::as_u64).map_or(Some(place), |index| usize::try_from(index).ok())?;
        let numbers = one.get("embedding")?.as_array()?;
        let vector =
            numbers.iter().map(|number| number.as_f64().map(|number| number as f32)).collect::<Option<Vec<_>>>()?;
        vectors.push((index, vector));
    }
    vectors.sort_by_key(|(index, _)| *index);
    Some(vectors.into_iter().map(|(_, vector)| vector).collect())
}
