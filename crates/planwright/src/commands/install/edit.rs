//! One change of a client's configuration file.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::json;
use super::yaml::YamlEntry;
use crate::cli::HookEvent;
use crate::failure::Failure;

const PROGRAM: &str = "planwright";

#[derive(Debug)]
pub(super) enum ConfigEdit {
    /// A field of a JSON file.
    JsonField { file: PathBuf, path: &'static [&'static str], value: Value },
    /// An element of a list in a JSON file.
    JsonElement { file: PathBuf, path: &'static [&'static str], value: Value },
    /// A hook in a JSON file: an element that is replaced when it is another version of this one. `beside` is what the file
    /// has to say at its top.
    JsonHook {
        file: PathBuf,
        path: &'static [&'static str],
        value: Value,
        event: HookEvent,
        beside: Option<(&'static str, Value)>,
    },
    /// A setting of the client in a JSON file, which stays where the person has one.
    JsonDefault { file: PathBuf, path: &'static [&'static str], value: Value },
    /// A setting of the client at the top of a TOML file, which stays where the person has one.
    TomlDefault { file: PathBuf, key: &'static str, value: &'static str },
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
            | Self::JsonHook { file, .. }
            | Self::JsonDefault { file, .. }
            | Self::TomlDefault { file, .. }
            | Self::TomlTable { file, .. }
            | Self::YamlEntry { file, .. }
            | Self::OwnFile { file, .. } => file,
        }
    }

    pub(super) fn describe(&self) -> String {
        let file = self.file().display();
        match self {
            Self::JsonField { path, .. }
            | Self::JsonElement { path, .. }
            | Self::JsonHook { path, .. }
            | Self::JsonDefault { path, .. }
            | Self::TomlTable { path, .. } => format!("{file}: {}", path.join(".")),
            Self::TomlDefault { key, .. } => format!("{file}: {key}"),
            Self::YamlEntry { entry, .. } => format!("{file}: {}.{}", entry.section, entry.name),
            Self::OwnFile { .. } => format!("{file}"),
        }
    }

    /// What is written, for the person who is asked.
    pub(super) fn shown(&self) -> String {
        let text = match self {
            Self::JsonField { value, .. }
            | Self::JsonElement { value, .. }
            | Self::JsonHook { value, .. }
            | Self::JsonDefault { value, .. } => format!("{value:#}"),
            Self::TomlDefault { key, value, .. } => format!("{key} = \"{value}\""),
            Self::TomlTable { text, .. } | Self::OwnFile { text, .. } => text.clone(),
            Self::YamlEntry { entry, .. } => entry.text.clone(),
        };
        text.lines().map(|line| format!("  + {line}\n")).collect()
    }

    /// Whether it is a setting of the client, which a person may have made already.
    pub(super) fn is_default(&self) -> bool {
        matches!(self, Self::JsonDefault { .. } | Self::TomlDefault { .. })
    }

    /// Whether it is a hook that takes plans of the client's own plan mode in.
    pub(super) fn takes_plans_in(&self) -> bool {
        matches!(self, Self::JsonHook { event: HookEvent::NativePlan, .. })
    }

    pub(super) fn is_own_file(&self) -> bool {
        matches!(self, Self::OwnFile { .. })
    }

    /// The program that the entry of a server in this text starts.
    pub(super) fn program(&self, text: &str) -> Option<PathBuf> {
        let entry = match self {
            Self::JsonField { path, .. } => json::value_at(text, path).ok()??,
            Self::TomlTable { path, .. } => {
                let root: Value = toml::from_str(text).ok()?;
                path.iter().try_fold(&root, |value, name| value.get(name))?.clone()
            }
            Self::YamlEntry { entry, .. } => entry.found(text).ok()??,
            // The extension of Gemini CLI is a file of our own.
            Self::OwnFile { .. } => json::value_at(text, &["mcpServers", "planwright"]).ok()??,
            Self::JsonElement { .. } | Self::JsonHook { .. } => return None,
            Self::JsonDefault { .. } | Self::TomlDefault { .. } => return None,
        };
        let program = command(&entry)?.first().copied().filter(|word| is_program(word))?;
        Some(PathBuf::from(program))
    }

    /// How the change stands in the text of its file.
    pub(super) fn state(&self, text: &str) -> Result<EditState, Failure> {
        Ok(match self {
            Self::JsonField { path, value, .. } => match json::value_at(text, path).map_err(|why| self.odd(&why))? {
                None => EditState::Missing,
                Some(found) => state_of_entry(&found, value),
            },
            Self::JsonDefault { path, value, .. } => {
                let found = json::value_at(text, path).map_err(|why| self.odd(&why))?;
                state_of_default(found.as_ref(), value)
            }
            Self::TomlDefault { key, value, .. } => {
                let root: Value = toml::from_str(text).map_err(|error| self.odd(&format!("{error}")))?;
                state_of_default(root.get(key), &Value::from(*value))
            }
            Self::JsonElement { path, value, .. } => {
                let found = json::value_at(text, path).map_err(|why| self.odd(&why))?;
                let is_there = found.as_ref().and_then(Value::as_array).is_some_and(|list| list.contains(value));
                if is_there { EditState::There } else { EditState::Missing }
            }
            Self::JsonHook { path, value, event, .. } => {
                let found = json::value_at(text, path).map_err(|why| self.odd(&why))?;
                let list = found.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let own: Vec<&Value> = list.iter().filter(|element| is_hook(element, *event)).collect();
                match own.as_slice() {
                    [] => EditState::Missing,
                    [one] if *one == value => EditState::There,
                    own if own.iter().any(|element| has_other_hooks(element)) => EditState::Adapted,
                    _ => EditState::Outdated,
                }
            }
            Self::TomlTable { path, text: own, .. } => {
                let root: Value = toml::from_str(text).map_err(|error| self.odd(&format!("{error}")))?;
                let own: Value = toml::from_str(own).map_err(|error| self.odd(&format!("{error}")))?;
                let found = path.iter().try_fold(&root, |value, name| value.get(name));
                found.map_or(EditState::Missing, |found| state_of_entry(found, &own))
            }
            Self::YamlEntry { entry, .. } => match entry.found(text).map_err(|why| self.by_hand(&why))? {
                None => EditState::Missing,
                Some(found) => {
                    let own = entry.found(&entry.text).map_err(|why| self.by_hand(&why))?.unwrap_or_default();
                    state_of_entry(&found, &own)
                }
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
            Self::JsonField { path, value, .. } | Self::JsonDefault { path, value, .. } => {
                json::set_field(text, path, value).map_err(|why| self.odd(&why))
            }
            Self::TomlDefault { key, value, .. } => {
                let mut document = self.toml(text)?;
                document.as_table_mut().insert(key, toml_edit::value(*value));
                Ok(document.to_string())
            }
            Self::JsonElement { path, value, .. } => json::add_element(text, path, value).map_err(|why| self.odd(&why)),
            Self::JsonHook { path, value, beside, .. } => {
                let mut text = self.undo(text)?;
                if let Some((name, value)) = beside
                    && json::value_at(&text, &[name]).map_err(|why| self.odd(&why))?.is_none()
                {
                    text = json::set_field(&text, &[name], value).map_err(|why| self.odd(&why))?;
                }
                json::add_element(&text, path, value).map_err(|why| self.odd(&why))
            }
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
            Self::JsonField { path, .. } | Self::JsonDefault { path, .. } => {
                json::remove_field(text, path).map_err(|why| self.odd(&why))
            }
            Self::TomlDefault { key, .. } => {
                let mut document = self.toml(text)?;
                document.as_table_mut().remove(key);
                Ok(document.to_string())
            }
            Self::JsonElement { path, value, .. } => {
                json::remove_element(text, path, value).map_err(|why| self.odd(&why))
            }
            Self::JsonHook { path, event, .. } => {
                let found = json::value_at(text, path).map_err(|why| self.odd(&why))?;
                let list = found.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
                let mut own = list.iter().filter(|element| is_hook(element, *event) && !has_other_hooks(element));
                own.try_fold(text.to_owned(), |text, element| {
                    json::remove_element(&text, path, element).map_err(|why| self.odd(&why))
                })
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

fn state_of_default(found: Option<&Value>, own: &Value) -> EditState {
    match found {
        None => EditState::Missing,
        Some(found) if found == own => EditState::There,
        Some(_) => EditState::Adapted,
    }
}

/// How the entry of a server stands beside ours.
fn state_of_entry(found: &Value, own: &Value) -> EditState {
    let is_ours = command(found).is_some_and(|words| is_program(words[0])) || found.get("url").is_some();
    match (found == own, is_ours, is_off(found)) {
        (true, _, _) => EditState::There,
        (false, false, _) => EditState::Foreign,
        (false, true, true) => EditState::Disabled,
        (false, true, false) if is_older(found, own) => EditState::Outdated,
        (false, true, false) => EditState::Adapted,
    }
}

/// Whether the client is told not to start the server of the entry.
pub(crate) fn is_off(entry: &Value) -> bool {
    entry.get("enabled") == Some(&Value::Bool(false)) || entry.get("disabled") == Some(&Value::Bool(true))
}

/// Whether the entry is ours but for the place of the program, or from before the store was named in it.
fn is_older(found: &Value, own: &Value) -> bool {
    let bare = |entry: &Value| {
        let mut entry = entry.clone();
        for field in ["command", "cmd", "args"] {
            if let Some(entry) = entry.as_object_mut() {
                entry.remove(field);
            }
        }
        entry
    };
    let (Some(old), Some(new)) = (command(found), command(own)) else { return false };
    let (old, new) = (&old[1..], &new[1..]);
    bare(found) == bare(own) && (old == new || (old == ["mcp"] && new.last() == Some(&"mcp")))
}

/// The words that start the server.
fn command(entry: &Value) -> Option<Vec<&str>> {
    let mut words = Vec::new();
    for field in ["command", "cmd", "args"] {
        match entry.get(field) {
            Some(Value::String(word)) => words.push(word.as_str()),
            Some(Value::Array(list)) => words.extend(list.iter().filter_map(Value::as_str)),
            Some(_) | None => {}
        }
    }
    (!words.is_empty()).then_some(words)
}

fn is_program(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|name| name == PROGRAM)
}

/// Whether an element of a list of hooks calls ours for this event, in any version.
fn is_hook(element: &Value, event: HookEvent) -> bool {
    let text = element.to_string();
    text.contains(PROGRAM) && text.contains(" hook ") && text.contains(event.name())
}

/// Whether the person put other hooks into the same element.
fn has_other_hooks(element: &Value) -> bool {
    element.get("hooks").and_then(Value::as_array).is_some_and(|hooks| hooks.len() > 1)
}
