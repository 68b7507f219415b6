//! Settings from the environment, and how mistakes in them are told.

use std::path::Path;
use std::str::FromStr;

use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;

use crate::failure::Failure;

/// A number that is not zero, from the environment or else from the file.
pub(super) fn number<N: FromStr>(name: &str, in_file: Option<N>) -> Result<Option<N>, Failure> {
    let read = |text: &str| text.parse().map_err(|_| format!("{} is not a number from 1 up", quoted(text)));
    Ok(variable(name, read)?.or(in_file))
}

/// A variable that is empty counts as not set.
pub(super) fn variable<T>(name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
    match std::env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => read(text.trim()).map(Some).map_err(|message| in_variable(name, message)),
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
