//! A model at a provider. Every request is streamed; trouble that passes is waited out.

mod answer;
mod attempt;
mod backoff;
mod failure;
mod party;
mod reasons;
mod request;
mod signatures;
mod watch;

use std::fmt;

use async_trait::async_trait;
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, WebConfig};
use planwright_core::model::{ModelReply, ModelRequest};
use planwright_engine::model::{Listener, Model, ModelError};

use crate::choose::{ModelChoice, Provider, ProviderSettings};
use crate::options::Options;
use backoff::Backoff;
use party::Party;

pub(crate) struct ProviderModel {
    name: String,
    context_tokens: u32,
    party: Party,
    client: Client,
    target: ServiceTarget,
    options: Options,
}

/// Servers that take no key are sent one all the same, because the wire format has a place for it.
const NO_KEY: &str = "none";

impl ProviderModel {
    /// The error says why, in words.
    pub(crate) fn new(
        choice: &ModelChoice,
        model: &str,
        settings: ProviderSettings,
        context_tokens: u32,
        options: Options,
    ) -> Result<Self, String> {
        let web = WebConfig::default().with_connect_timeout(options.patience.connect);
        let client = Client::builder().with_web_config(web).build().map_err(|error| error.to_string())?;
        // A model is routed by its adapter, never by how its name begins.
        let kind = match settings.provider() {
            Provider::OpenAi => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Gemini => AdapterKind::Gemini,
            Provider::Ollama => AdapterKind::Ollama,
        };
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(settings.address()),
            auth: AuthData::from_single(settings.key().map_or(NO_KEY, |key| key.reveal())),
            model: ModelIden::new(kind, model),
        };
        let party = Party::new(model, settings);
        Ok(Self { name: choice.to_string(), context_tokens, party, client, target, options })
    }
}

#[async_trait]
impl Model for ProviderModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    async fn reply(&self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError> {
        let mut backoff = Backoff::new(&self.options.retries);
        loop {
            let failure = match self.attempt(request, listener).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let Some(wait) = backoff.next(failure.remedy) else { return Err(backoff.give_up(failure.error)) };
            let why = &failure.error.message;
            tracing::warn!(model = %self.name, attempt = backoff.attempts(), wait = ?wait, "asking again: {why}");
            listener.again(why, wait);
            tokio::time::sleep(wait).await;
        }
    }
}

impl fmt::Debug for ProviderModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderModel").field("name", &self.name).finish_non_exhaustive()
    }
}
