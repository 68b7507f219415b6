//! `planwright models`: which model answers, and which models the providers offer.

use planwright_core::visible::{quoted, visible};
use planwright_llm::{ModelChoice, OfferedModels, Provider, offered_models};
use serde_json::{Value, json};

use crate::cli::{Global, ModelsArgs};
use crate::config::Settings;
use crate::failure::ExitResult;
use crate::terminal::palette::{BOLD, COMMAND, DIM};
use crate::terminal::screen::Screen;
use crate::terminal::text::paint;

/// More names than this are cut, unless the person looks for some.
const MAX_NAMES: usize = 12;

pub(super) async fn run(global: &Global, arguments: &ModelsArgs) -> ExitResult {
    let settings = Settings::read(global)?;
    let lookup = |name: &str| std::env::var(name).ok();
    let mut offered = Vec::new();
    for provider in Provider::ALL {
        offered.push((provider, offered_models(provider, lookup).await));
    }
    let filter = arguments.filter.as_deref().map(str::to_lowercase);
    for (_, models) in &mut offered {
        if let (OfferedModels::Names(names), Some(filter)) = (models, &filter) {
            names.retain(|name| name.to_lowercase().contains(filter));
        }
    }
    let most = if filter.is_some() { usize::MAX } else { MAX_NAMES };
    let choice = &settings.model.choice;
    let view = || json!({ "model": choice.to_string(), "providers": offered.iter().map(view).collect::<Vec<_>>() });
    Screen::new(global.json).answer(view, || {
        let lists: String = offered.iter().map(|(provider, models)| describe(*provider, models, most)).collect();
        format!("{}\n{lists}{}\n", in_use(choice), paint("To choose one: planwright chat --model PROVIDER:NAME", DIM))
    })
}

fn in_use(choice: &ModelChoice) -> String {
    let about = match choice {
        ModelChoice::Rehearsal => " answers: built in, offline, by rules",
        ModelChoice::Provided { .. } => " answers",
    };
    format!("{}{about}\n", paint(&visible(&choice.to_string()), BOLD))
}

fn view((provider, models): &(Provider, OfferedModels)) -> Value {
    match models {
        OfferedModels::Names(names) => json!({ "provider": provider.to_string(), "models": names }),
        OfferedModels::NoKey { variable } => {
            json!({ "provider": provider.to_string(), "models": [], "problem": format!("{variable} is not set") })
        }
        OfferedModels::Unknown(reason) => {
            json!({ "provider": provider.to_string(), "models": [], "problem": reason })
        }
    }
}

fn describe(provider: Provider, models: &OfferedModels, most: usize) -> String {
    let title = paint(provider.title(), BOLD);
    match models {
        OfferedModels::NoKey { variable } => format!("{title}  {}\n", paint(&format!("{variable} is not set"), DIM)),
        OfferedModels::Unknown(reason) => {
            format!("{title}  {}\n", paint(&format!("not reached: {}", visible(reason)), DIM))
        }
        OfferedModels::Names(names) if names.is_empty() => format!("{title}  {}\n", paint("no model", DIM)),
        OfferedModels::Names(names) => {
            let shown = names.iter().take(most);
            let line = |name: &String| format!("  {}\n", paint(&visible(&format!("{provider}:{name}")), COMMAND));
            let mut text = format!("{title}\n{}", shown.map(line).collect::<String>());
            if let Some(more) = names.len().checked_sub(most).filter(|more| *more > 0) {
                let hint = format!(
                    "  and {more} more: {} shows those with a word in their name",
                    quoted("planwright models WORD")
                );
                text.push_str(&format!("{}\n", paint(&hint, DIM)));
            }
            text
        }
    }
}
