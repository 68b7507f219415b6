//! What the flags, the environment, the configuration file and the defaults come to, in this order.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use planwright_core::agents::AgentRegistry;
use planwright_core::policy::{Limits, Policy};
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_store::Location;
use serde::Deserialize;

use crate::cli::Global;
use crate::failure::Failure;

/// Settled: nothing is left to look up.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) location: Location,
    /// The folder that may be made if it is missing: ours, not one that somebody named for the store alone.
    pub(crate) own_folder: Option<PathBuf>,
    pub(crate) policy: Policy,
}

/// `planwright.toml` as it is written. Every key has a variable: `limits.steps` is `PLANWRIGHT_LIMITS_STEPS`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    database: Option<String>,
    agents: Option<Vec<String>>,
    #[serde(default)]
    limits: LimitsSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsSection {
    plan_bytes: Option<NonZeroUsize>,
    steps: Option<NonZeroUsize>,
}

impl Settings {
    pub(crate) fn read(global: &Global) -> Result<Self, Failure> {
        let data = data_folder(global)?;
        let named = global.config.as_deref().filter(|path| !path.as_os_str().is_empty());
        let path = named.map_or_else(|| data.join("planwright.toml"), Path::to_owned);
        let file = read_file(&path, named.is_some())?;
        let (location, own_folder) = location(global, &file, &path, data)?;
        Ok(Self { location, own_folder, policy: policy(file, &path)? })
    }
}

fn data_folder(global: &Global) -> Result<PathBuf, Failure> {
    if let Some(data) = global.data.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        return Ok(data.clone());
    }
    dirs::data_dir().map(|folder| folder.join("planwright")).ok_or_else(|| {
        Failure::usage("this system does not say where data belongs")
            .hint("give a folder with `--data DIR` or PLANWRIGHT_DATA")
    })
}

fn read_file(path: &Path, must_be_there: bool) -> Result<File, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if !must_be_there && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(File::default());
        }
        Err(error) => {
            return Err(Failure::usage(format!("the configuration {} cannot be read: {error}", path.display())));
        }
    };
    toml::from_str(&text).map_err(|error| Failure::usage(describe(path, &text, &error)))
}

/// Names the file, the line and the key, but never the value: it may be a secret.
fn describe(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let key = line.split('=').next().unwrap_or_default().trim();
    let first = error.message().lines().next().unwrap_or_default();
    if key.is_empty() {
        return format!("{}, line {number}: {first}", path.display());
    }
    format!("{}, line {number}, at {}: {first}", path.display(), quoted(key))
}

fn location(global: &Global, file: &File, path: &Path, data: PathBuf) -> Result<(Location, Option<PathBuf>), Failure> {
    if let Some(url) = global.database.as_deref().filter(|url| !url.is_empty()) {
        return Ok((url.parse()?, None));
    }
    let Some(url) = &file.database else {
        return Ok((Location::Sqlite(data.join("planwright.db")), Some(data)));
    };
    let location = url.parse().map_err(|refusal: Refusal| in_file(path, "database", refusal))?;
    // A path in a file means the same wherever the program is started.
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(match location {
        Location::Sqlite(store) => (Location::Sqlite(folder.join(store)), None),
        postgres @ Location::Postgres(_) => (postgres, None),
    })
}

fn policy(file: File, path: &Path) -> Result<Policy, Failure> {
    let limits = Limits::default();
    let names = variable("PLANWRIGHT_AGENTS", |text| Ok(split(text)))?;
    let agents = match (names, file.agents) {
        (Some(names), _) => {
            AgentRegistry::new(names).map_err(|refusal| in_variable("PLANWRIGHT_AGENTS", refusal.message))?
        }
        (None, Some(names)) => AgentRegistry::new(names).map_err(|refusal| in_file(path, "agents", refusal))?,
        (None, None) => AgentRegistry::default(),
    };
    let plan_bytes = number("PLANWRIGHT_LIMITS_PLAN_BYTES", file.limits.plan_bytes)?;
    let steps = number("PLANWRIGHT_LIMITS_STEPS", file.limits.steps)?;
    Ok(Policy {
        limits: Limits {
            plan_bytes: plan_bytes.map_or(limits.plan_bytes, NonZeroUsize::get),
            steps: steps.map_or(limits.steps, NonZeroUsize::get),
            ..limits
        },
        agents,
        ..Policy::default()
    })
}

fn number(name: &str, in_file: Option<NonZeroUsize>) -> Result<Option<NonZeroUsize>, Failure> {
    let read =
        |text: &str| NonZeroUsize::from_str(text).map_err(|_| format!("{} is not a number from 1 up", quoted(text)));
    Ok(variable(name, read)?.or(in_file))
}

/// A variable that is empty counts as not set.
fn variable<T>(name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
    match std::env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => read(text.trim()).map(Some).map_err(|message| in_variable(name, message)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(in_variable(name, "it is not valid UTF-8".to_owned())),
    }
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn in_variable(name: &str, message: String) -> Failure {
    Failure::usage(format!("the variable {name}: {message}"))
}

fn in_file(path: &Path, key: &str, refusal: Refusal) -> Failure {
    Failure::usage(format!("{}, at `{key}`: {}", path.display(), refusal.message))
}

/// Logs go to stderr, so that stdout stays what was asked for.
pub(crate) fn start_logging(verbose: u8) {
    use tracing_subscriber::EnvFilter;
    let level = match verbose {
        // What an agent gets wrong in the protocol is answered there, and is nothing to warn a person about.
        0 => "warn,rmcp=error",
        1 => "info,planwright=debug,planwright_engine=debug,planwright_store=debug,planwright_surfaces=debug",
        2 => "debug",
        _ => "trace",
    };
    let filter = match std::env::var("PLANWRIGHT_LOG") {
        Ok(given) if verbose == 0 && !given.trim().is_empty() => EnvFilter::new(given),
        Ok(_) | Err(_) => EnvFilter::new(level),
    };
    let colored = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colored).init();
}
