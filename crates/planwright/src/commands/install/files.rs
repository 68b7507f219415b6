//! The files of one client: changed in memory, then written all or not at all, and written back as they were.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::edit::{ConfigEdit, EditState};
use crate::failure::Failure;

/// The file in the data folder that says what was written.
const RECORD: &str = "clients.json";

/// What was put into each file, so that it can be taken out byte for byte.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    files: BTreeMap<PathBuf, Vec<Patch>>,
}

/// One place of a file: what stood there, and what was put in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Patch {
    /// The change, as it is named to people.
    change: String,
    before: String,
    after: String,
    /// Whether the file was made.
    #[serde(default)]
    made: bool,
    /// The folders that were made for it.
    #[serde(default)]
    folders: Vec<PathBuf>,
}

/// The texts of files, as they are and as they will be. `None` is a file that does not exist.
#[derive(Debug, Default)]
pub(super) struct Files {
    texts: BTreeMap<PathBuf, (Option<String>, Option<String>)>,
}

impl Record {
    pub(super) fn read(data: &Path) -> Self {
        let text = std::fs::read_to_string(data.join(RECORD)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn has_written(&self, edit: &ConfigEdit) -> bool {
        self.files.get(edit.file()).is_some_and(|patches| patches.iter().any(|patch| patch.change == edit.describe()))
    }

    /// Whether no file has anything of ours.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn write(&self, data: &Path) -> Result<(), Failure> {
        let file = data.join(RECORD);
        let text = serde_json::to_string_pretty(self).map_err(|error| unwritten(&file, &error.to_string()))?;
        replace(&file, Some(&format!("{text}\n")))
    }
}

impl Files {
    pub(super) fn text(&mut self, file: &Path) -> Result<&str, Failure> {
        if !self.texts.contains_key(file) {
            let text = match std::fs::read_to_string(file) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => {
                    return Err(Failure::unavailable(format!("{} cannot be read: {error}", file.display())));
                }
            };
            self.texts.insert(file.to_owned(), (text.clone(), text));
        }
        Ok(self.texts.get(file).and_then(|(_, text)| text.as_deref()).unwrap_or_default())
    }

    /// Makes a change, and notes how it is undone.
    pub(super) fn make(&mut self, edit: &ConfigEdit, record: &mut Record) -> Result<(), Failure> {
        let file = edit.file();
        let before = self.text(file)?.to_owned();
        let after = edit.make(&before)?;
        let made = self.texts.get(file).is_some_and(|(_, text)| text.is_none());
        let folders = if made { missing_folders(file) } else { Vec::new() };
        let (before, changed) = difference(&before, &after);
        let patch =
            Patch { change: edit.describe(), before: before.to_owned(), after: changed.to_owned(), made, folders };
        record.files.entry(file.to_owned()).or_default().push(patch);
        self.set(file, Some(after));
        Ok(())
    }

    /// Undoes changes of a file: as it was noted, where the text is still there, and else by what the file says.
    pub(super) fn undo(
        &mut self,
        file: &Path,
        edits: &[&ConfigEdit],
        record: &mut Record,
    ) -> Result<Vec<PathBuf>, Failure> {
        let mut text = self.text(file)?.to_owned();
        let mut folders = Vec::new();
        let mut is_made = false;
        for patch in record.files.remove(file).unwrap_or_default().into_iter().rev() {
            is_made |= patch.made;
            folders.extend(patch.folders);
            if !patch.after.is_empty() && text.matches(&patch.after).count() == 1 {
                text = text.replacen(&patch.after, &patch.before, 1);
            }
        }
        for edit in edits.iter().rev() {
            if !matches!(edit.state(&text)?, EditState::Missing | EditState::Foreign) {
                text = edit.undo(&text)?;
            }
        }
        let is_own = edits.iter().any(|edit| edit.is_own_file());
        let is_gone = text.is_empty() && (is_made || is_own);
        self.set(file, (!is_gone).then_some(text));
        Ok(if is_gone { folders } else { Vec::new() })
    }

    fn set(&mut self, file: &Path, text: Option<String>) {
        if let Some((_, changed)) = self.texts.get_mut(file) {
            *changed = text;
        }
    }

    /// Writes every file that changed. If one cannot be written, the others are as they were.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let mut written: Vec<(&Path, Option<&str>)> = Vec::new();
        for (file, (before, after)) in self.texts.iter().filter(|(_, (before, after))| before != after) {
            if let Err(failure) = replace(file, after.as_deref()) {
                for (file, before) in written {
                    replace(file, before)?;
                }
                return Err(failure);
            }
            written.push((file, before.as_deref()));
        }
        Ok(())
    }
}

/// Removes folders that were made for files and are empty again, in this order.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders {
        // One with other files in it stays.
        let _ = std::fs::remove_dir(folder);
    }
}

/// The folders that a new file needs, the innermost first.
fn missing_folders(file: &Path) -> Vec<PathBuf> {
    file.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// What differs between two texts, without what they begin and end with.
fn difference<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let begin: usize = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (before, after) = (&before[begin..], &after[begin..]);
    let same = before.chars().rev().zip(after.chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = same.map(|(a, _)| a.len_utf8()).sum();
    (&before[..before.len() - end], &after[..after.len() - end])
}

/// Replaces a file at once: a client that reads it meanwhile sees the old or the new one. A link stays a link, and the
/// file keeps its permissions.
fn replace(file: &Path, text: Option<&str>) -> Result<(), Failure> {
    let write = || {
        let target = target_of(file)?;
        let Some(text) = text else {
            return match std::fs::remove_file(&target) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        };
        let folder = target.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let before = std::fs::metadata(&target).ok().map(|about| about.permissions());
        let mut unfinished = tempfile::Builder::new().prefix(".planwright-").tempfile_in(folder)?;
        unfinished.write_all(text.as_bytes())?;
        let permissions = before.unwrap_or_else(new_file);
        std::fs::set_permissions(unfinished.path(), permissions)?;
        unfinished.persist(&target).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error: std::io::Error| unwritten(file, &error.to_string()))
}

/// The permissions of a new file: those that other programs write a configuration with.
fn new_file() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::Permissions::from_mode(0o644)
}

/// The file that is written: where a link leads to, whether it is there or not.
fn target_of(file: &Path) -> std::io::Result<PathBuf> {
    let mut target = file.to_owned();
    for _ in 0..40 {
        match std::fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(std::io::Error::other("the link leads in a circle"))
}

fn unwritten(file: &Path, why: &str) -> Failure {
    Failure::unavailable(format!("{} cannot be written: {why}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_what_neither_text_begins_nor_ends_with() {
        for (before, after, expected) in [
            ("", "a", ("", "a")),
            ("ab", "axb", ("", "x")),
            ("a\"ask\"b", "a{ x }b", ("\"ask\"", "{ x }")),
            ("aa", "aaa", ("", "a")),
            ("ä", "ää", ("", "ä")),
            ("same", "same", ("", "")),
        ] {
            assert_eq!(difference(before, after), expected);
        }
    }
}
