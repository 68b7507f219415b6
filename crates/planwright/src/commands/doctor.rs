//! `planwright doctor`: checks everything Planwright depends on, and changes none of it.
//!
//! - `places`: the data folder, the files of the sessions, the token, the clock
//! - `store`: whether it opens, answers, and what its newest journals say
//! - `database`: how a PostgreSQL server is doing
//! - `model`: who would answer, and whether the provider takes the key
//! - `clients`: whether the clients that have Planwright have all of it
//! - `canary`: whether a plan comes back in them after a compaction
//! - `mcp_servers`: whether upstream MCP servers answer, and offer what was accepted
//! - `sandbox`: what the kernel enforces for commands
//! - `telegram`: whether the token of the bot is accepted
//! - `server`: whether one listens, and whether it is ours

mod canary;
mod clients;
mod database;
mod mcp_servers;
mod model;
mod places;
mod sandbox;
mod server;
mod store;
mod telegram;

use serde::Serialize;
use serde_json::json;

use crate::cli::{DoctorArgs, Global};
use crate::config::Settings;
use crate::failure::{Exit, ExitResult, Failure};
use crate::invocation::Invocation;
use crate::terminal::palette::{BOLD, DIM, ERROR, GOOD, WARNING};
use crate::terminal::screen::Screen;
use crate::terminal::text::{pad, paint, shown_line};

/// The result of one check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    #[serde(rename = "words")]
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    exit: Exit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Fine,
    /// It works, and the operator should know about it.
    Notice,
    Wrong,
}

impl Check {
    fn fine(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, state: State::Fine, message: message.into(), hint: None, exit: Exit::Done }
    }

    fn notice(name: &'static str, message: impl Into<String>) -> Self {
        Self { state: State::Notice, ..Self::fine(name, message) }
    }

    fn wrong(name: &'static str, message: impl Into<String>) -> Self {
        Self { state: State::Wrong, exit: Exit::Unavailable, ..Self::fine(name, message) }
    }

    fn damaged(name: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Damaged, ..Self::wrong(name, message) }
    }

    /// What a command would have failed with.
    fn failed(name: &'static str, failure: &Failure) -> Self {
        let hint = failure.hint_text().map(str::to_owned);
        Self { exit: failure.exit, hint, ..Self::wrong(name, failure.message()) }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub(crate) async fn run(global: &Global, arguments: &DoctorArgs) -> ExitResult {
    let invocation = Invocation::new(global);
    let mut checks = Vec::new();
    match Settings::read(global) {
        Err(failure) => checks.push(Check::failed("configuration", &failure)),
        Ok(own) => {
            let mut settings = match store::guarded_settings(&own).await {
                Some((stored, accepted)) => own.under(global, &stored, &accepted).or_else(|failure| {
                    checks.push(Check::failed("settings", &failure));
                    Settings::read(global)
                })?,
                None => own,
            };
            settings.server.listen = arguments.listen.unwrap_or(settings.server.listen);
            checks.push(configuration(&settings));
            checks.push(places::data(&settings));
            checks.extend(store::look(&settings, &invocation).await);
            checks.push(places::files(&settings));
            checks.push(places::token(&settings, &invocation));
            checks.push(model::look(&settings).await);
            checks.push(sandbox::look(&settings));
            checks.extend(mcp_servers::look(&settings, &invocation).await);
            checks.extend(clients::look(global).await);
            checks.extend(telegram::look(&settings, &invocation).await);
            checks.push(server::look(&settings, &invocation).await);
        }
    }
    checks.push(places::clock());
    let exit = worst(&checks);
    let screen = Screen::new(global.json);
    screen.answer(|| json!({ "fine": exit == Exit::Done, "checks": checks }), || describe(&checks))?;
    Ok(exit)
}

fn configuration(settings: &Settings) -> Check {
    let file = settings.file.display();
    if settings.file.exists() {
        Check::fine("configuration", format!("{file} is valid"))
    } else {
        Check::fine("configuration", format!("{file} does not exist; the defaults are used"))
    }
}

/// Damage comes first, then what the reader can correct.
fn worst(checks: &[Check]) -> Exit {
    let found = |exit: Exit| checks.iter().any(|check| check.exit == exit);
    let first = [Exit::Damaged, Exit::Usage].into_iter().find(|exit| found(*exit));
    first.unwrap_or(if checks.iter().all(|check| check.exit == Exit::Done) { Exit::Done } else { Exit::Unavailable })
}

fn describe(checks: &[Check]) -> String {
    let room = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Check { name, state, message, hint, .. } in checks {
        let mark = match state {
            State::Fine => paint("✔", GOOD),
            State::Notice => paint("!", WARNING),
            State::Wrong => paint("✘", ERROR),
        };
        text.push_str(&format!("{mark} {}  {}\n", paint(&pad(name, room), BOLD), shown_line(message)));
        if let Some(hint) = hint {
            text.push_str(&format!("  {}  {}\n", pad("", room), paint(&shown_line(hint), DIM)));
        }
    }
    text
}
