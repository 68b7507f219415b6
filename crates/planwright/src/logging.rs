//! The program's log. It goes to stderr, so that stdout holds only what the command was asked for. A chat in a terminal writes it
//! to a file.
//!
//! - `file`: the log of chats
//! - `json`: one JSON object per line
//! - `writer`: the thread that writes the lines; a log that cannot be written neither fails nor delays the program

mod file;
mod json;
mod writer;

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use planwright_surfaces::http::HealthSource;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::JsonFields;

use self::json::JsonLines;
use self::writer::LogWriter;

/// How long the end of the program waits for a log that takes its lines slowly.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// These parts of rmcp log the whole address of an upstream server with each failure, and its query may be a secret. Planwright logs
/// the failure itself, in words.
const WITHOUT_ADDRESSES: &str =
    "rmcp::transport::worker=off,rmcp::transport::streamable_http_client=off,rmcp::transport::common=off";

static LOG: OnceLock<LogWriter> = OnceLock::new();

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people
    Pretty,
    /// For machines: one JSON object per line
    Json,
}

impl LogFormat {
    /// `Pretty` on a terminal, `Json` elsewhere.
    pub(crate) fn detect() -> Self {
        if std::io::stderr().is_terminal() { Self::Pretty } else { Self::Json }
    }
}

/// The log of a command that a person typed: warnings and errors, unless `-v` asks for more.
pub(crate) fn start(verbose: u8) {
    let default = match verbose {
        // A protocol error of an MCP client is answered in the protocol, and a failing model is told in the
        // conversation. A person at the terminal needs no warning about either.
        0 => "warn,rmcp=error,planwright_llm=error",
        more => verbose_filter(more),
    };
    begin(LogFormat::Pretty, filter(verbose, default));
}

/// The log of a server: what it does, for its operator.
pub(crate) fn start_server(verbose: u8, format: LogFormat) {
    let default = match verbose {
        0 => "warn,planwright=info,planwright_engine=info,planwright_store=info,planwright_surfaces=info",
        more => verbose_filter(more),
    };
    begin(format, filter(verbose, default));
    log_panics();
}

/// Reports a log that cannot be written to `/readyz`. `None` before the log is started.
pub(crate) fn health_source() -> Option<Arc<dyn HealthSource>> {
    LOG.get().map(|log| Arc::new(log.clone()) as Arc<dyn HealthSource>)
}

/// Writes the lines to a file from now on, where they would be in the middle of what a person types or reads. Returns whether the
/// file could be opened.
pub(crate) fn write_to_file(folder: &Path) -> bool {
    !std::io::stderr().is_terminal() || file::redirect(folder).is_ok()
}

/// Holds the lines back where they would be in the middle of what a person types or reads.
pub(crate) fn hold() {
    if let Some(log) = LOG.get().filter(|_| std::io::stderr().is_terminal()) {
        log.hold();
    }
}

/// Writes the lines that were held back.
pub(crate) fn write_held() {
    if let Some(log) = LOG.get().filter(|_| std::io::stderr().is_terminal()) {
        log.write_held(SHUTDOWN_TIMEOUT);
    }
}

/// Writes the lines that were held back, and holds none from now on.
pub(crate) fn release() {
    if let Some(log) = LOG.get() {
        log.release();
    }
}

/// Ends the log: what was logged is written before anything else is printed and before the program ends.
pub(crate) fn finish() {
    if let Some(log) = LOG.get() {
        log.finish(SHUTDOWN_TIMEOUT);
    }
}

const fn verbose_filter(verbose: u8) -> &'static str {
    match verbose {
        0 | 1 => {
            "info,planwright=debug,planwright_engine=debug,planwright_llm=debug,planwright_store=debug,planwright_surfaces=debug"
        }
        2 => "debug",
        _ => "trace",
    }
}

fn filter(verbose: u8, default: &str) -> EnvFilter {
    let given = std::env::var("PLANWRIGHT_LOG").ok();
    let given = given.filter(|given| verbose == 0 && !given.trim().is_empty());
    EnvFilter::new(format!("{},{WITHOUT_ADDRESSES}", given.as_deref().unwrap_or(default)))
}

fn begin(format: LogFormat, filter: EnvFilter) {
    // Without a thread there is no log; the program works all the same.
    let Ok(writer) = writer::start(file::Redirected(writer::stderr_sink()), format) else { return };
    let _ = LOG.set(writer.clone());
    subscribe(writer, format, filter);
}

fn subscribe(writer: LogWriter, format: LogFormat, filter: EnvFilter) {
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).log_internal_errors(false);
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

/// The standard panic hook writes to stderr itself, which blocks the panicking request when stderr is a full pipe. It
/// also writes text between the lines of a JSON log.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let backtrace = std::backtrace::Backtrace::capture();
        let backtrace = match backtrace.status() {
            std::backtrace::BacktraceStatus::Captured => Some(backtrace.to_string()),
            _ => None,
        };
        tracing::error!(event = "panicked", place, backtrace, "{}", text.unwrap_or("a panic without a message"));
    }));
}
