//! What the program says about itself while it works. Logs go to stderr, so that stdout stays what was asked for.
//!
//! - `json`: one object a line, for machines

mod json;

use std::io::IsTerminal as _;

use serde::Deserialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::JsonFields;

use self::json::JsonLines;

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people
    Pretty,
    /// For machines: one object a line
    Json,
}

impl LogFormat {
    /// People look at terminals; everything else is read by machines.
    pub(crate) fn usual() -> Self {
        if std::io::stderr().is_terminal() { Self::Pretty } else { Self::Json }
    }
}

/// For a command that a person typed, who reads what it answers: only what goes wrong is told, unless more is asked for.
pub(crate) fn start(verbose: u8) {
    let quiet = match verbose {
        // What an agent gets wrong in the protocol is answered there, and is nothing to warn a person about.
        // What goes wrong with a model is told in the conversation.
        0 => "warn,rmcp=error,planwright_llm=error",
        more => louder(more),
    };
    begin(LogFormat::Pretty, filter(verbose, quiet));
}

/// For a process that stays: it tells its operator what it does.
pub(crate) fn start_server(verbose: u8, format: LogFormat) {
    let usual = match verbose {
        0 => "warn,planwright=info,planwright_engine=info,planwright_store=info,planwright_surfaces=info",
        more => louder(more),
    };
    begin(format, filter(verbose, usual));
}

const fn louder(verbose: u8) -> &'static str {
    match verbose {
        0 | 1 => {
            "info,planwright=debug,planwright_engine=debug,planwright_llm=debug,planwright_store=debug,planwright_surfaces=debug"
        }
        2 => "debug",
        _ => "trace",
    }
}

fn filter(verbose: u8, usual: &str) -> EnvFilter {
    match std::env::var("PLANWRIGHT_LOG") {
        Ok(given) if verbose == 0 && !given.trim().is_empty() => EnvFilter::new(given),
        Ok(_) | Err(_) => EnvFilter::new(usual),
    }
}

fn begin(format: LogFormat, filter: EnvFilter) {
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Pretty => {
            let colored = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
            lines.with_ansi(colored).init();
        }
        LogFormat::Json => {
            lines.with_ansi(false).fmt_fields(JsonFields::new()).event_format(JsonLines).init();
        }
    }
}
