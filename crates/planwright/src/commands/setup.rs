//! `planwright setup`: which model answers and which clients Planwright works in, asked one after the other. The first chat begins
//! with it.

use planwright_core::visible::visible;
use planwright_llm::{ModelChoice, OfferedModels, Provider, offered_models};
use planwright_store::Location;
use toml_edit::DocumentMut;

use super::install;
use crate::cli::{ChatArgs, ClientName, Global, InstallArgs};
use crate::config::{Settings, configuration_path};
use crate::context::make_folder;
use crate::failure::{Exit, ExitResult, Failure};
use crate::models;
use crate::terminal::palette::{BOLD, COMMAND, DIM, ERROR, GOOD};
use crate::terminal::screen::{self, Screen};
use crate::terminal::text::{Span, paint, painted, wrap};

/// How many models of a provider are listed.
const MAX_LISTED: usize = 5;
const VARIABLE: &str = "PLANWRIGHT_MODEL";
const GREETING: &str = "Welcome to Planwright: an agent plans, you decide, and then it works.
Two or three questions first; `planwright setup` asks them again.

";

pub(super) async fn run(global: &Global) -> ExitResult {
    let screen = Screen::new(global.json);
    if !screen.interactive {
        return Err(Failure::usage("there is no terminal to ask on")
            .hint("PLANWRIGHT_MODEL=PROVIDER:NAME chooses a model, and `planwright install CLIENT` sets a client up"));
    }
    choose_model(global, &Settings::read(global)?, &screen).await?;
    offer_clients(global, &screen)?;
    screen.print("\n`planwright` opens the chat, and `planwright doctor` checks the installation.\n")?;
    Ok(Exit::Done)
}

/// Asks the same before the first chat of a person who has chosen no model and has no store yet. The answer is stored, so it is asked once.
pub(super) async fn before_first_chat(global: &Global, arguments: &ChatArgs) -> Result<(), Failure> {
    let screen = Screen::new(global.json);
    if !screen.interactive || !arguments.message.is_empty() || arguments.model.is_some() {
        return Ok(());
    }
    let settings = Settings::read(global)?;
    let is_new = match &settings.location {
        Location::Sqlite(store) => !store.exists(),
        Location::Postgres(_) => false,
    };
    if settings.model.is_chosen || !is_new {
        return Ok(());
    }
    screen.print(GREETING)?;
    if let Choosing::Kept = choose_model(global, &settings, &screen).await? {
        remember(global, &settings.model.choice, &screen)?;
    }
    offer_clients(global, &screen)?;
    screen.print("\n")
}

/// What became of the question for a model.
enum Choosing {
    /// The model that was there answers.
    Kept,
    Chosen,
}

/// Asks until a model answers, or until the person keeps the one that is there.
async fn choose_model(global: &Global, settings: &Settings, screen: &Screen) -> Result<Choosing, Failure> {
    let offered = offered().await;
    screen.print(&format!("{}\n{}", paint("Which model answers?", BOLD), listed(&offered)))?;
    loop {
        let question =
            format!("A number, PROVIDER:NAME, or Enter for {}: ", visible(&settings.model.choice.to_string()));
        let answer = screen.ask(&question)?.unwrap_or_default();
        if answer.is_empty() {
            return Ok(Choosing::Kept);
        }
        let named = answer.parse::<usize>().ok().and_then(|number| offered.get(number.checked_sub(1)?));
        match try_model(named.unwrap_or(&answer), settings, screen).await? {
            Some(choice) => return remember(global, &choice, screen).map(|()| Choosing::Chosen),
            None => continue,
        }
    }
}

/// The models that can be asked, by name.
async fn offered() -> Vec<String> {
    let mut names = Vec::new();
    for provider in Provider::ALL {
        if let OfferedModels::Names(found) = offered_models(provider, |name| std::env::var(name).ok()).await {
            names.extend(found.iter().take(MAX_LISTED).map(|name| format!("{provider}:{name}")));
        }
    }
    names.push(ModelChoice::Rehearsal.to_string());
    names
}

fn listed(offered: &[String]) -> String {
    let mut text = String::new();
    for (index, name) in offered.iter().enumerate() {
        text.push_str(&format!("  {:>2}  {}\n", index + 1, paint(&visible(name), COMMAND)));
    }
    let keyed = Provider::ALL.iter().filter(|provider| **provider != Provider::Ollama);
    let others: Vec<_> = keyed.map(|provider| provider.key_variable()).collect();
    let hint = format!(
        "Models of a provider are listed once its key is in the environment ({}), those of a local Ollama while it runs.",
        others.join(", ")
    );
    text + &wrap(&[Span::new(&hint, DIM)], screen::width()).iter().map(|row| painted(row) + "\n").collect::<String>()
}

/// Asks the model for one word. `None` if it does not answer; then the person has read why.
async fn try_model(name: &str, settings: &Settings, screen: &Screen) -> Result<Option<ModelChoice>, Failure> {
    let told = |mark: &str, text: &str| screen.print(&format!("{mark} {}\n", visible(text)));
    let choice: ModelChoice = match name.parse() {
        Ok(choice) => choice,
        Err(error) => return told(&paint("✘", ERROR), &error.to_string()).map(|()| None),
    };
    match models::try_out(&choice, &settings.model).await {
        Ok(()) => told(&paint("✔", GOOD), &format!("{choice} answers.")).map(|()| Some(choice)),
        Err(reason) => told(&paint("✘", ERROR), &reason).map(|()| None),
    }
}

/// Writes the choice into the configuration. Everything else in it stays as it is.
fn remember(global: &Global, choice: &ModelChoice, screen: &Screen) -> Result<(), Failure> {
    let path = configuration_path(global)?;
    let text = if path.exists() { std::fs::read_to_string(&path)? } else { String::new() };
    let document = text.parse::<DocumentMut>();
    let mut document = document.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    document["model"] = toml_edit::value(choice.to_string());
    path.parent().map_or(Ok(()), make_folder)?;
    std::fs::write(&path, document.to_string())
        .map_err(|error| Failure::unavailable(format!("{} cannot be written: {error}", path.display())))?;
    screen.print(&format!("It is the `model` in {}.\n", path.display()))?;
    if std::env::var(VARIABLE).is_ok_and(|value| !value.trim().is_empty()) {
        screen.print(&format!("{VARIABLE} is set, and goes before it.\n"))?;
    }
    Ok(())
}

/// The clients on this machine that do not have Planwright yet.
fn offer_clients(global: &Global, screen: &Screen) -> Result<(), Failure> {
    let connected = install::found(global);
    let is_new = |client: &ClientName| connected.iter().all(|installed| installed.client != *client);
    for client in ClientName::ALL.into_iter().filter(|client| is_on_path(program(*client))).filter(is_new) {
        let question = format!("\n{} is installed. Put Planwright into its configuration?", client.name());
        match screen.yes_or_no(&question)? {
            Some(true) => {}
            Some(false) => continue,
            None => return Ok(()),
        }
        let arguments = InstallArgs { client, scope: None, yes: false, native_plans: false, no_native_plans: false };
        if let Err(failure) = install::install(global, screen, &arguments) {
            screen.print(&format!("{}\n", failure.render()))?;
        }
    }
    Ok(())
}

/// The command that starts a client.
const fn program(client: ClientName) -> &'static str {
    match client {
        ClientName::ClaudeCode => "claude",
        ClientName::Codex => "codex",
        ClientName::Opencode => "opencode",
        ClientName::Gemini => "gemini",
        ClientName::Goose => "goose",
        ClientName::Cursor => "cursor",
        ClientName::Vscode => "code",
        ClientName::Zed => "zed",
    }
}

fn is_on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}
