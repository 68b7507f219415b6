//! One change of a client's configuration file.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::json;
use super::yaml::YamlEntry;
use crate::failure::Failure;

const PROGRAM: &str = "planwright";

#[derive(Debug)]
pub(super) enum ConfigEdit {
    /// A field of a JSON file.
    JsonField { file: PathBuf, path: &'static [&'static str], value: Value },
    /// An element of a list in a JSON file.
    JsonElement { file: PathBuf, path: &'static [&'static str], value: Value },
    /// A table of a TOML file.
    TomlTable { file: PathBuf, path: &'static [&'static str], text: String },
    /// An entry of a mapping in a YAML file.
    YamlEntry { file: PathBuf, entry: YamlEntry },
    /// A file of our own.
    OwnFile { file: PathBuf, text: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditState {
    There,
    /// It is there with other words of a person, such as `--session`, and stays.
    Adapted,
    /// It is there and turned off.
    Disabled,
    /// Something else has its name.
    Foreign,
    /// A file of ours, as another version of Planwright wrote it.
    Outdated,
    Missing,
}

impl ConfigEdit {
    pub(super) fn file(&self) -> &Path {
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
            Self::TomlTable { text, .. } | Self::OwnFile { text, .. } => text.clone(),
            Self::YamlEntry { entry, .. } => entry.text.clone(),
        };
        text.lines().map(|line| format!("  + {line}\n")).collect()
    }

    pub(super) fn is_own_file(&self) -> bool {
        matches!(self, Self::OwnFile { .. })
    }

    /// How the change stands in the text of its file.
    pub(super) fn state(&self, text: &str) -> Result<EditState, Failure> {
        Ok(match self {
            Self::JsonField { path, value, .. } => match json::value_at(text, path).map_err(|why| self.odd(&why))? {
                None => EditState::Missing,
                Some(found) if found == *value => EditState::There,
                Some(found) => state_of_entry(&found),
            },
            Self::JsonElement { path, value, .. } => {
                let found = json::value_at(text, path).map_err(|why| self.odd(&why))?;
                let is_there = found.as_ref().and_then(Value::as_array).is_some_and(|list| list.contains(value));
                if is_there { EditState::There } else { EditState::Missing }
            }
            Self::TomlTable { path, text: own, .. } => {
                let document = self.toml(text)?;
                match path.iter().try_fold(document.as_item(), |item, name| item.get(name)) {
                    None => EditState::Missing,
                    Some(found) => {
                        let field = |name: &str| found.get(name);
                        let program = field("command").and_then(Item::as_str).is_some_and(is_program);
                        let is_off = field("enabled").and_then(Item::as_bool) == Some(false);
                        let is_same = found.to_string().trim() == own.trim();
                        state_of(program, is_off, is_same)
                    }
                }
            }
            Self::YamlEntry { entry, .. } => match entry.found(text).map_err(|why| self.by_hand(&why))? {
                None => EditState::Missing,
                Some((command, is_off)) => state_of(is_program(&command), is_off, true),
            },
            Self::OwnFile { text: own, .. } => match text {
                "" => EditState::Missing,
                text if text == own => EditState::There,
                text if text.contains(PROGRAM) => EditState::Outdated,
                _ => EditState::Foreign,
            },
        })
    }

    /// The text with the change.
    pub(super) fn make(&self, text: &str) -> Result<String, Failure> {
        match self {
            Self::JsonField { path, value, .. } => json::set_field(text, path, value).map_err(|why| self.odd(&why)),
            Self::JsonElement { path, value, .. } => json::add_element(text, path, value).map_err(|why| self.odd(&why)),
            Self::TomlTable { path, text: own, .. } => {
                let mut document = self.toml(text)?;
                let table: DocumentMut = own.parse().map_err(|error| self.odd(&format!("{error}")))?;
                let mut place = document.as_table_mut();
                let Some((last, before)) = path.split_last() else { return Ok(text.to_owned()) };
                for name in before {
                    let item = place.entry(name).or_insert_with(|| {
                        let mut table = Table::new();
                        table.set_implicit(true);
                        Item::Table(table)
                    });
                    place = item.as_table_mut().ok_or_else(|| self.odd(&format!("`{name}` is not a table")))?;
                }
                place.insert(last, Item::Table(table.as_table().clone()));
                Ok(document.to_string())
            }
            Self::YamlEntry { entry, .. } => entry.put_in(text).map_err(|why| self.by_hand(&why)),
            Self::OwnFile { text: own, .. } => Ok(own.clone()),
        }
    }

    /// The text without the change.
    pub(super) fn undo(&self, text: &str) -> Result<String, Failure> {
        match self {
            Self::JsonField { path, .. } => json::remove_field(text, path).map_err(|why| self.odd(&why)),
            Self::JsonElement { path, value, .. } => {
                json::remove_element(text, path, value).map_err(|why| self.odd(&why))
            }
            Self::TomlTable { path, .. } => {
                let mut document = self.toml(text)?;
                let mut place = document.as_table_mut();
                let Some((last, before)) = path.split_last() else { return Ok(text.to_owned()) };
                for name in before {
                    let Some(next) = place.get_mut(name).and_then(Item::as_table_mut) else {
                        return Ok(text.to_owned());
                    };
                    place = next;
                }
                place.remove(last);
                Ok(document.to_string())
            }
            Self::YamlEntry { entry, .. } => entry
                .take_out(text)
                .map_err(|why| self.odd(&format!("{why}; take `{}` out of `{}` by hand", entry.name, entry.section))),
            Self::OwnFile { .. } => Ok(String::new()),
        }
    }

    fn toml(&self, text: &str) -> Result<DocumentMut, Failure> {
        text.parse().map_err(|error| self.odd(&format!("{error}")))
    }

    fn odd(&self, why: &str) -> Failure {
        Failure::usage(format!("{} was left as it is: {why}", self.file().display()))
    }

    fn by_hand(&self, why: &str) -> Failure {
        let block = if let Self::YamlEntry { entry, .. } = self { entry.text.as_str() } else { "" };
        self.odd(&format!("{why}; add this by hand:\n\n{block}"))
    }
}

fn state_of(is_program: bool, is_off: bool, is_same: bool) -> EditState {
    match (is_program, is_off, is_same) {
        (false, _, _) => EditState::Foreign,
        (true, true, _) => EditState::Disabled,
        (true, false, true) => EditState::There,
        (true, false, false) => EditState::Adapted,
    }
}

/// An entry of a server with other words than ours.
fn state_of_entry(entry: &Value) -> EditState {
    let command = entry.get("command");
    let command = command.and_then(|command| command.as_str().or_else(|| command.get(0)?.as_str()));
    let is_ours = command.is_some_and(is_program) || entry.get("url").is_some();
    let is_off = entry.get("enabled") == Some(&Value::Bool(false)) || entry.get("disabled") == Some(&Value::Bool(true));
    state_of(is_ours, is_off, false)
}

fn is_program(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|name| name == PROGRAM)
}
