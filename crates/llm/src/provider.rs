//! A model at a provider. Every reply is streamed, and requests that fail for a passing reason are sent again.
//!
//! - `attempt`: one request and its answer
//! - `wire`: the wire formats of the providers
//! - `event_reader`, `reply_builder`: the answer while it arrives, within its limits
//! - `attempt_error`, `error_body`, `provider_info`: errors in words for a person
//! - `attempts`: when a request is sent again

mod attempt;
mod attempt_error;
mod attempts;
mod error_body;
mod event_reader;
mod provider_info;
mod reply_builder;
mod wire;

use std::fmt;

use async_trait::async_trait;
use planwright_core::model::{ModelReply, ModelRequest};
use planwright_engine::model::{Listener, Model, ModelError};
use reqwest::{Client, Url};

use crate::choose::{ModelChoice, ProviderSettings};
use crate::http_client;
use crate::options::Options;
use attempts::Attempts;
use provider_info::ProviderInfo;

pub(crate) struct ProviderModel {
    name: String,
    context_tokens: u32,
    info: ProviderInfo,
    client: Client,
    url: Url,
    options: Options,
}

impl ProviderModel {
    /// The error is a reason in words.
    pub(crate) fn new(
        choice: &ModelChoice,
        model: &str,
        settings: ProviderSettings,
        context_tokens: u32,
        options: Options,
    ) -> Result<Self, String> {
        let url = wire::url(settings.provider(), settings.address(), model)?;
        let timeout = options.timeouts.connect;
        let client = http_client::for_address(&url, || Client::builder().connect_timeout(timeout).tcp_nodelay(true))?;
        let info = ProviderInfo::new(model, settings);
        Ok(Self { name: choice.to_string(), context_tokens, info, client, url, options })
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
        let mut attempts = Attempts::new(&self.options.retries);
        loop {
            let failed = match self.attempt(request, listener).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let Some(wait) = attempts.next(failed.retry) else { return Err(attempts.give_up(failed.error)) };
            let why = &failed.error.message;
            tracing::warn!(model = %self.name, attempt = attempts.count(), wait = ?wait, "asking again: {why}");
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
