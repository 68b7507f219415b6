//! Specialists as files: `agents/NAME.md` in the data folder, with front matter.

use std::io::ErrorKind;
use std::path::Path;

use planwright_core::agents::SpecialistFile;
use planwright_core::visible::quoted;

use crate::failure::Failure;

/// The names and descriptions in the folder, by name. A missing folder has none.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, SpecialistFile)>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("the specialists in {} cannot be read: {error}", folder.display()))
    };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let wrong = |message: String| Failure::usage(format!("{}: {message}", path.display()));
        let name =
            path.file_stem().and_then(|name| name.to_str()).ok_or_else(|| wrong("its name is not UTF-8".to_owned()))?;
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        let file = SpecialistFile::parse(name, &text).map_err(wrong)?;
        if let Some(key) = file.unknown.first() {
            let keys = SpecialistFile::KEYS;
            return Err(wrong(format!("{} is not a key of a specialist; the keys are {keys}", quoted(key))));
        }
        found.push((name.to_owned(), file));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}
