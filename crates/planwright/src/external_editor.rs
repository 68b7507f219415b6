//! The person's editor: VISUAL, else EDITOR.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use planwright_core::visible::quoted;

use crate::failure::Failure;

/// Opens the file, and waits until the editor is closed. The setting may have arguments, such as `code --wait`.
pub(crate) fn open(path: &Path) -> Result<(), Failure> {
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|editor| !editor.trim().is_empty());
    let editor = ["VISUAL", "EDITOR"].iter().find(|name| is_set(name)).and_then(|name| std::env::var(name).ok());
    let editor = editor.ok_or_else(|| {
        Failure::usage("no editor is set").hint(format!("set EDITOR, or open {} yourself", path.display()))
    })?;
    let mut words = editor.split_whitespace().map(OsString::from);
    let program = words.next().unwrap_or_default();
    match Command::new(program).args(words).arg(path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::declined(format!("The editor {} ended with {status}.", quoted(&editor)))),
        Err(error) => Err(Failure::usage(format!("the editor {} cannot be started: {error}", quoted(&editor)))),
    }
}
