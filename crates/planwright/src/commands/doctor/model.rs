//! Which model answers, and whether its provider takes the key. No model is called, because that could cost money.

use planwright_llm::{KeyCheck, ModelChoice, Options, check_key, connect};

use super::Check;
use crate::config::Settings;

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
                KeyCheck::Accepted if has_key => Check::fine(NAME, format!("{choice}, {key} and is accepted")),
                KeyCheck::Accepted => Check::fine(NAME, format!("{choice}, {key}; its server answers")),
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
