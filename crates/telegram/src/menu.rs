//! The menu of commands that Telegram shows.

use planwright_core::slash::offered;

use crate::api::{ApiError, BotApi};

const MAX_DESCRIPTION: usize = 256;

/// The commands in the order of the help, each once. A command of several words is found under its first one.
pub(crate) fn commands() -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for spec in offered() {
        let name = spec.name.split_whitespace().next().unwrap_or_default();
        let fits = (1..=32).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if fits && !commands.iter().any(|(known, _)| known == name) {
            let description = if spec.name == name { spec.help } else { "Plan work: on, off, show, approve and more" };
            commands.push((name.to_owned(), description.chars().take(MAX_DESCRIPTION).collect()));
        }
    }
    commands
}

pub(crate) async fn register(api: &BotApi) -> Result<(), ApiError> {
    api.set_commands(commands()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_the_menu_once() {
        let commands = commands();
        for wanted in ["plan", "new", "sessions", "switch", "stop", "status", "help"] {
            assert_eq!(commands.iter().filter(|(name, _)| name == wanted).count(), 1, "{wanted}");
        }
        assert!(commands.iter().all(|(_, description)| !description.is_empty()));
    }
}
