//! The bot as a component of the server.

use std::sync::Arc;
use std::time::Duration;

use planwright_agent::Agent;
use planwright_engine::ledger::Ledger;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::api::{ApiError, BotUser};
use crate::context::{API_BACKOFF, BotContext, wait_after};
use crate::inbox_cards::InboxCards;
use crate::options::TelegramOptions;
use crate::webhook::WebhookHandler;
use crate::{card_watch, poller, run_watch, sender};

/// How long the last messages may take when the bot stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// A bot that is set up and does not run yet.
#[derive(Debug, Clone)]
pub struct TelegramBot {
    context: Arc<BotContext>,
}

impl TelegramBot {
    pub fn new(agent: Agent, ledger: Arc<dyn Ledger>, options: TelegramOptions) -> Result<Self, ApiError> {
        Ok(Self { context: Arc::new(BotContext::new(agent, ledger, options)?) })
    }

    /// Cards about what waits in any session.
    pub fn cards(&self) -> InboxCards {
        InboxCards::new(&self.context)
    }

    /// Takes the updates that Telegram sends. `None` in polling mode.
    pub fn webhook(&self) -> Option<WebhookHandler> {
        WebhookHandler::new(&self.context)
    }

    /// Receives, answers and sends until `shutdown`. What is not finished then is finished by the next process.
    pub async fn run(self, shutdown: CancellationToken) {
        let context = self.context;
        let _stopped = context.shutdown.clone().drop_guard();
        let user = tokio::select! {
            user = introduce(&context) => user,
            () = shutdown.cancelled() => return,
        };
        let mut sending = std::pin::pin!(sender::run(&context));
        tokio::select! {
            () = poller::run(&context, user.username.as_deref()) => {}
            () = card_watch::run(&context) => {}
            () = run_watch::run(&context) => {}
            () = &mut sending => {}
            () = shutdown.cancelled() => {}
        }
        context.shutdown.cancel();
        poller::release(&context).await;
        if timeout(SHUTDOWN_TIMEOUT, sending).await.is_err() {
            tracing::warn!(event = "messages_not_sent", "some messages are sent by the next process");
        }
    }
}

/// Asks Telegram who the bot is, until it answers. A token that is not accepted is said once and tried rarely.
async fn introduce(context: &BotContext) -> BotUser {
    let (mut backoff, mut last_error) = (API_BACKOFF, None);
    loop {
        match context.api.get_me().await {
            Ok(user) => return user,
            Err(error) => {
                if last_error.as_ref() != Some(&error) {
                    tracing::error!(event = "telegram_unavailable", %error);
                }
                let wait = wait_after(&context.options, &error, &mut backoff);
                last_error = Some(error);
                sleep(wait).await;
            }
        }
    }
}
