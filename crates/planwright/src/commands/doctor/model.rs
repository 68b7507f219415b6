//! Which model answers. No request is sent, because it could cost money.

use planwright_llm::{ModelChoice, Options, connect};

use super::Check;
use crate::config::Settings;

const NAME: &str = "model";

pub(super) fn look(settings: &Settings) -> Check {
    let choice = &settings.model.choice;
    match connect(choice, |name| std::env::var(name).ok(), Options::default()) {
        Err(error) => Check::wrong(NAME, error.to_string()),
        Ok(_) => match choice {
            ModelChoice::Rehearsal => {
                Check::notice(NAME, "no model is chosen: the built-in rehearsal answers, offline and by rules")
                    .hint("PLANWRIGHT_MODEL=openai:NAME, anthropic:NAME, gemini:NAME or ollama:NAME chooses one")
            }
            ModelChoice::Provided { provider, .. } => {
                let variable = provider.key_variable();
                let key = match std::env::var(variable) {
                    Ok(key) if !key.trim().is_empty() => format!("its key is in {variable}"),
                    Ok(_) | Err(_) => "without a key".to_owned(),
                };
                Check::fine(NAME, format!("{choice}, {key}"))
            }
        },
    }
}
