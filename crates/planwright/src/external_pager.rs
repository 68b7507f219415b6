//! The person's pager: PAGER, else `less`.

use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use planwright_core::visible::quoted;

use crate::failure::Failure;

/// What `less` does, unless LESS says otherwise: it shows colours.
const LESS: &str = "-R";

/// Shows the text, and waits until the pager is closed. The setting may have arguments, such as `less -S`.
pub(crate) fn show(text: &str) -> Result<(), Failure> {
    let set = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let pager = set.unwrap_or_else(|| "less".to_owned());
    let mut words = pager.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let failed = |error: std::io::Error| {
        Failure::usage(format!("the pager {} cannot be started: {error}", quoted(&pager))).hint("set PAGER to one")
    };
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(text.as_bytes()) {
            // It was closed before the end.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    child.wait().map_err(failed)?;
    Ok(())
}
