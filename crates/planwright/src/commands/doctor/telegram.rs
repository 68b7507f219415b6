//! The Telegram bot: whether its token is accepted, and whether someone may use it.

use planwright_telegram::setup;
use planwright_telegram::{TelegramOptions, UpdateMode, WEBHOOK_PATH};

use super::Check;
use crate::config::Settings;
use crate::invocation::Invocation;

const NAME: &str = "telegram";

/// Nothing without a bot.
pub(super) async fn look(settings: &Settings, invocation: &Invocation) -> Option<Check> {
    let options = settings.telegram.as_ref()?;
    let set_up = || format!("`{}` helps to set it up", invocation.command(["telegram"]));
    Some(match setup::check(options).await {
        Err(error) => Check::wrong(NAME, error.to_string()).hint(set_up()),
        Ok(bot) => {
            let name = bot.username.unwrap_or_else(|| bot.id.to_string());
            if let Some(problem) = webhook_problem(settings, options).await {
                return Some(Check::notice(NAME, format!("@{name} answers; {problem}")));
            }
            match options.allowed_users.len() {
                0 => Check::notice(NAME, format!("@{name} answers, and no person may use it")).hint(set_up()),
                1 => Check::fine(NAME, format!("@{name} answers; one person may use it")),
                people => Check::fine(NAME, format!("@{name} answers; {people} people may use it")),
            }
        }
    })
}

/// What is wrong with the webhook, in webhook mode.
async fn webhook_problem(settings: &Settings, options: &TelegramOptions) -> Option<String> {
    match options.mode {
        UpdateMode::Polling => return None,
        UpdateMode::Webhook { .. } => {}
    }
    let webhook = match setup::webhook(options).await {
        Ok(webhook) => webhook,
        Err(error) => return Some(error.to_string()),
    };
    let expected = settings.server.public_url.as_ref().map(|url| format!("{url}{WEBHOOK_PATH}"));
    match (webhook.url.as_str(), webhook.last_error_message) {
        ("", _) => Some("Telegram has no webhook yet; `planwright serve` sets it".to_owned()),
        (url, _) if Some(url) != expected.as_deref() => {
            Some(format!("Telegram sends its messages to {url}; `planwright serve` sets the webhook anew"))
        }
        (_, Some(error)) => Some(format!("Telegram could not send messages to the webhook: {error}")),
        (_, None) => None,
    }
}
