//! Reads variables of the environment and tells what is wrong in them.

use std::path::Path;

use planwright_core::refusal::Refusal;

use crate::failure::Failure;

/// An empty variable counts as not set.
pub(super) fn variable<T>(name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
    match std::env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => parse(text.trim()).map(Some).map_err(|message| in_variable(name, message)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(in_variable(name, "it is not valid UTF-8".to_owned())),
    }
}

pub(super) fn in_variable(name: &str, message: String) -> Failure {
    Failure::usage(format!("the variable {name}: {message}"))
}

pub(super) fn in_file(path: &Path, key: &str, refusal: Refusal) -> Failure {
    Failure::usage(format!("{}, at `{key}`: {}", path.display(), refusal.message))
}
