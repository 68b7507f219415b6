//! Sets a bot up: checks its token, and waits for the first message to learn who writes.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::api::{ApiError, BotApi, BotUser, WebhookState};
use crate::options::TelegramOptions;
use crate::update::Update;

/// A person who wrote to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstSender {
    pub user: i64,
    pub name: String,
    /// The chat, if it is a group.
    pub group: Option<i64>,
}

/// Asks Telegram whose token this is.
pub async fn check(options: &TelegramOptions) -> Result<BotUser, ApiError> {
    BotApi::new(options)?.get_me().await
}

/// The webhook as Telegram knows it.
pub async fn webhook(options: &TelegramOptions) -> Result<WebhookState, ApiError> {
    BotApi::new(options)?.webhook_info().await
}

/// Waits for a message to the bot. The update stays at Telegram, so that the server receives it later. `None` if none comes in time.
pub async fn wait_for_sender(options: &TelegramOptions, timeout: Duration) -> Result<Option<FirstSender>, ApiError> {
    let (api, until) = (BotApi::new(options)?, Instant::now() + timeout);
    while Instant::now() < until {
        let left = until.duration_since(Instant::now()).as_secs().clamp(1, 20);
        let updates = match api.get_updates(None, u32::try_from(left).unwrap_or(1)).await {
            Ok(updates) => updates,
            Err(ApiError::TooMany(wait)) => {
                sleep(wait).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        let read: Vec<_> = updates.iter().filter_map(Update::read).collect();
        let newest = read.iter().rev().find_map(Update::sender);
        if let Some((person, chat)) = newest {
            let group = chat.filter(|chat| !chat.is_private()).map(|chat| chat.id);
            return Ok(Some(FirstSender { user: person.id, name: person.name(), group }));
        }
    }
    Ok(None)
}
