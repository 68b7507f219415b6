//! Which model answers: whether its provider takes the key, and then whether the model says a word.

use planwright_llm::{KeyCheck, ModelChoice, Options, check_key, connect};

use super::Check;
use crate::config::Settings;
use crate::models;

const NAME: &str = "model";

pub(super) async fn look(settings: &Settings) -> Check {
    let choice = &settings.model.choice;
    let lookup = |name: &str| std::env::var(name).ok();
    if let Err(error) = connect(choice, lookup, Options::default()) {
        return Check::wrong(NAME, error.to_string());
    }
    let checked = match check_key(choice, lookup).await {
        Ok(checked) => checked,
        Err(error) => return Check::wrong(NAME, error.to_string()),
    };
    match (choice, checked) {
        (ModelChoice::Provided { provider, .. }, Some(checked)) => {
            let variable = provider.key_variable();
            let has_key = lookup(variable).is_some_and(|key| !key.trim().is_empty());
            let key = if has_key { format!("its key is in {variable}") } else { "without a key".to_owned() };
            match checked {
                KeyCheck::Accepted => asked(settings, &format!("{choice}, {key}"), has_key).await,
                KeyCheck::NotAccepted => Check::wrong(NAME, format!("{choice}, {key}, and it is not accepted"))
                    .hint(format!("set {variable} to a key that the provider takes")),
                KeyCheck::Unknown(reason) => {
                    Check::notice(NAME, format!("{choice}, {key}; whether it is accepted is not known: {reason}"))
                }
            }
        }
        (ModelChoice::Rehearsal, _) | (ModelChoice::Provided { .. }, None) => {
            Check::notice(NAME, "no model is chosen: the built-in rehearsal answers, offline and by rules")
                .hint("PLANWRIGHT_MODEL=openai:NAME, anthropic:NAME, gemini:NAME or ollama:NAME chooses one")
        }
    }
}

/// Asks the model for one word.
async fn asked(settings: &Settings, model: &str, has_key: bool) -> Check {
    let accepted = if has_key { " and is accepted" } else { "" };
    match models::try_out(&settings.model.choice, &settings.model).await {
        Ok(()) => Check::fine(NAME, format!("{model}{accepted}; it answers")),
        Err(reason) => Check::wrong(NAME, format!("{model}{accepted}; it does not answer: {reason}"))
            .hint("planwright models lists what the provider offers"),
    }
}
