//! The Telegram bot: whether its token is accepted, and whether someone may use it.

use planwright_telegram::setup;

use super::Check;
use crate::config::Settings;
use crate::invocation::Invocation;

const NAME: &str = "telegram";

/// Nothing without a bot.
pub(super) async fn look(settings: &Settings, invocation: &Invocation) -> Option<Check> {
    let options = settings.telegram.as_ref()?;
    let set_up = || format!("`{}` helps to set it up", invocation.command(["telegram"]));
    Some(match setup::check(&options.api_url, &options.token).await {
        Err(error) => Check::wrong(NAME, error.to_string()).hint(set_up()),
        Ok(bot) => {
            let name = bot.username.unwrap_or_else(|| bot.id.to_string());
            match options.allowed_users.len() {
                0 => Check::notice(NAME, format!("@{name} answers, and no person may use it")).hint(set_up()),
                1 => Check::fine(NAME, format!("@{name} answers; one person may use it")),
                people => Check::fine(NAME, format!("@{name} answers; {people} people may use it")),
            }
        }
    })
}
