//! One change of a client's configuration file.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table};

use super::yaml::YamlEntry;
use crate::failure::Failure;

#[derive(Debug)]
pub(super) enum ConfigEdit {
    /// A field of a JSON file.
    JsonField { file: PathBuf, path: &'static [&'static str], value: Value },
    /// An element of a list in a JSON file.
    JsonElement { file: PathBuf, path: &'static [&'static str], value: Value },
    /// A table of a TOML file.
    TomlTable { file: PathBuf, path: &'static [&'static str], text: &'static str },
    /// An entry of a mapping in a YAML file.
    YamlEntry { file: PathBuf, entry: YamlEntry },
    /// A file of our own.
    OwnFile { file: PathBuf, text: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditState {
    There,
    Missing,
}

impl ConfigEdit {
    fn file(&self) -> &Path {
        match self {
            Self::JsonField { file, .. }
            | Self::JsonElement { file, .. }
            | Self::TomlTable { file, .. }
            | Self::YamlEntry { file, .. }
            | Self::OwnFile { file, .. } => file,
        }
    }

    pub(super) fn describe(&self) -> String {
        let file = self.file().display();
        match self {
            Self::JsonField { path, .. } | Self::JsonElement { path, .. } | Self::TomlTable { path, .. } => {
                format!("{file}: {}", path.join("."))
            }
            Self::YamlEntry { entry, .. } => format!("{file}: {}.{}", entry.section, entry.name),
            Self::OwnFile { .. } => format!("{file}"),
        }
    }

    /// What is written, for the person who is asked.
    pub(super) fn shown(&self) -> String {
        let text = match self {
            Self::JsonField { value, .. } | Self::JsonElement { value, .. } => format!("{value:#}"),
            Self::TomlTable { text, .. } | Self::OwnFile { text, .. } => (*text).to_owned(),
            Self::YamlEntry { entry, .. } => entry.text.to_owned(),
        };
        text.lines().map(|line| format!("  + {line}\n")).collect()
    }

    pub(super) fn state(&self) -> Result<EditState, Failure> {
        let is_there = match self {
            Self::JsonField { file, path, value } => at(&read_json(file)?, path) == Some(value),
            Self::JsonElement { file, path, value } => {
                let document = read_json(file)?;
                at(&document, path).and_then(Value::as_array).is_some_and(|list| list.contains(value))
            }
            Self::TomlTable { file, path, .. } => {
                path.iter().try_fold(read_toml(file)?.as_item(), |item, name| item.get(name)).is_some()
            }
            Self::YamlEntry { file, entry } => {
                entry.is_in(&read_text(file)?).map_err(|why| by_hand(file, entry, &why))?
            }
            Self::OwnFile { file, text } => std::fs::read_to_string(file).is_ok_and(|found| found == *text),
        };
        Ok(if is_there { EditState::There } else { EditState::Missing })
    }

    pub(super) fn make(&self) -> Result<(), Failure> {
        match self {
            Self::JsonField { file, path, value } => change_json(file, |document| {
                let (last, before) = path.split_last()?;
                object_at(document, before)?.insert((*last).to_owned(), value.clone());
                Some(())
            }),
            Self::JsonElement { file, path, value } => change_json(file, |document| {
                let (last, before) = path.split_last()?;
                let list = object_at(document, before)?.entry(*last).or_insert_with(|| Value::Array(Vec::new()));
                list.as_array_mut()?.push(value.clone());
                Some(())
            }),
            Self::TomlTable { file, path, text } => {
                let mut document = read_toml(file)?;
                let table: DocumentMut = text.parse().map_err(|error| odd(file, &format!("{error}")))?;
                let mut place = document.as_table_mut();
                let Some((last, before)) = path.split_last() else { return Ok(()) };
                for name in before {
                    let item = place.entry(name).or_insert_with(|| {
                        let mut table = Table::new();
                        table.set_implicit(true);
                        Item::Table(table)
                    });
                    place = item.as_table_mut().ok_or_else(|| odd(file, &format!("`{name}` is not a table")))?;
                }
                place.insert(last, Item::Table(table.as_table().clone()));
                write(file, &document.to_string())
            }
            Self::YamlEntry { file, entry } => {
                let edited = entry.put_in(&read_text(file)?).map_err(|why| by_hand(file, entry, &why))?;
                write(file, &edited)
            }
            Self::OwnFile { file, text } => write(file, text),
        }
    }

    pub(super) fn undo(&self) -> Result<(), Failure> {
        match self {
            Self::JsonField { file, path, .. } => change_json(file, |document| {
                let (last, before) = path.split_last()?;
                object_at(document, before)?.shift_remove(*last);
                prune(document, before);
                Some(())
            }),
            Self::JsonElement { file, path, value } => change_json(file, |document| {
                let (last, before) = path.split_last()?;
                let list = object_at(document, before)?.get_mut(*last)?.as_array_mut()?;
                list.retain(|other| other != value);
                if list.is_empty() {
                    object_at(document, before)?.shift_remove(*last);
                }
                prune(document, before);
                Some(())
            }),
            Self::TomlTable { file, path, .. } => {
                let mut document = read_toml(file)?;
                let mut place = document.as_table_mut();
                let Some((last, before)) = path.split_last() else { return Ok(()) };
                for name in before {
                    let Some(next) = place.get_mut(name).and_then(Item::as_table_mut) else { return Ok(()) };
                    place = next;
                }
                place.remove(last);
                write(file, &document.to_string())
            }
            Self::YamlEntry { file, entry } => {
                let edited = entry.take_out(&read_text(file)?).map_err(|why| {
                    odd(file, &format!("{why}; take `{}` out of `{}` by hand", entry.name, entry.section))
                })?;
                write(file, &edited)
            }
            Self::OwnFile { file, .. } => {
                std::fs::remove_file(file).map_err(|error| unwritten(file, &error.to_string()))
            }
        }
    }
}

fn read_json(file: &Path) -> Result<Value, Failure> {
    let text = read_text(file)?;
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let why = "a file with comments is not changed, add the lines by hand";
    serde_json::from_str(&text).map_err(|error| odd(file, &format!("it is not plain JSON ({error}); {why}")))
}

/// A file that does not exist is an empty one.
fn read_text(file: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::unavailable(format!("{} cannot be read: {error}", file.display()))),
    }
}

fn by_hand(file: &Path, entry: &YamlEntry, why: &str) -> Failure {
    odd(file, &format!("{why}; add this by hand:\n\n{}", entry.text))
}

fn read_toml(file: &Path) -> Result<DocumentMut, Failure> {
    read_text(file)?.parse().map_err(|error| odd(file, &format!("{error}")))
}

fn at<'a>(document: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(document, |value, name| value.get(name))
}

fn object_at<'a>(document: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    let mut object = document.as_object_mut()?;
    for name in path {
        object = object.entry(*name).or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
    }
    Some(object)
}

/// Takes out objects that are empty now.
fn prune(document: &mut Value, path: &[&str]) {
    for depth in (1..=path.len()).rev() {
        let (last, before) = (path[depth - 1], &path[..depth - 1]);
        let is_empty = at(document, &path[..depth]).and_then(Value::as_object).is_some_and(Map::is_empty);
        if let (true, Some(object)) = (is_empty, object_at(document, before)) {
            object.shift_remove(last);
        }
    }
}

fn change_json(file: &Path, change: impl FnOnce(&mut Value) -> Option<()>) -> Result<(), Failure> {
    let mut document = read_json(file)?;
    change(&mut document).ok_or_else(|| odd(file, "a field in it has another type than the client gives it"))?;
    write(file, &format!("{document:#}\n"))
}

/// The file is replaced at once: a client that reads it meanwhile sees the old or the new one.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let unfinished = file.with_extension(format!("planwright-{}", std::process::id()));
        std::fs::write(&unfinished, text)?;
        if let Ok(before) = std::fs::metadata(file) {
            std::fs::set_permissions(&unfinished, before.permissions())?;
        }
        std::fs::rename(&unfinished, file)
    };
    write().map_err(|error: std::io::Error| unwritten(file, &error.to_string()))
}

fn odd(file: &Path, why: &str) -> Failure {
    Failure::usage(format!("{} was left as it is: {why}", file.display()))
}

fn unwritten(file: &Path, why: &str) -> Failure {
    Failure::unavailable(format!("{} cannot be written: {why}", file.display()))
}
