//! Hands updates that Telegram sends to the server to the bot.

use async_trait::async_trait;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_surfaces::http::UpdateReceiver;
use planwright_telegram::{WebhookError, WebhookHandler};

#[derive(Debug)]
pub(super) struct TelegramUpdates(pub(super) WebhookHandler);

#[async_trait]
impl UpdateReceiver for TelegramUpdates {
    fn is_secret(&self, presented: &[u8]) -> bool {
        self.0.is_secret(presented)
    }

    async fn receive(&self, body: &[u8]) -> Result<(), Refusal> {
        self.0.receive(body).await.map_err(|error| match error {
            WebhookError::Malformed(_) => Refusal::invalid(error.to_string()),
            WebhookError::Store(cause) => {
                tracing::warn!(event = "telegram_store_unavailable", error = %cause);
                Refusal::new(RefusalCode::Unavailable, "the update could not be stored; send it again")
            }
        })
    }
}
