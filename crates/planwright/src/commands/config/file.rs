//! The configuration `planwright.toml`: its path, what it and the variables set, and the editor.

use planwright_core::visible::visible;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::config::guarded::is_guarded;
use crate::config::{Settings, all_settings, configuration_path};
use crate::context::make_folder;
use crate::external_editor;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

/// What a new file says.
const NEW_FILE: &str = "\
# The settings of Planwright. docs/configuration.md and `planwright --help` list them.
# Guarded settings live in the store: `planwright config set KEY VALUE` changes those.
#
# model = \"ollama:qwen3\"
";

/// Pieces of the names of settings whose values may hold a secret.
const SECRET: [&str; 9] = ["token", "password", "secret", "key", "database", "url", "webhook", "email", "ntfy"];

/// A setting that this process takes from a variable or from the file.
#[derive(Debug)]
pub(super) struct OwnValue {
    key: String,
    /// `None` where it may hold a secret.
    value: Option<String>,
    /// The variable or the file.
    from: String,
}

impl OwnValue {
    pub(super) fn describe(&self) -> String {
        let value = self.value.as_deref().map_or("(set)".to_owned(), |value| visible(value).into_owned());
        format!("{} = {value}  from {}", self.key, visible(&self.from))
    }

    pub(super) fn view(&self) -> Value {
        json!({ "key": self.key, "value": self.value, "from": self.from })
    }
}

pub(super) fn path(global: &Global) -> ExitResult {
    let path = configuration_path(global)?;
    let shown = path.display().to_string();
    Screen::new(global.json).answer(|| json!({ "path": shown, "exists": path.exists() }), || format!("{shown}\n"))
}

/// The settings that are not guarded and have another value than their default, as far as this process says so itself.
pub(super) fn own_values(global: &Global) -> Result<Vec<OwnValue>, Failure> {
    let path = configuration_path(global)?;
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let table: toml::Table = toml::from_str(&text).unwrap_or_default();
    let mut values = Vec::new();
    for (key, variable) in all_settings().filter(|(key, _)| !is_guarded(key)) {
        let is_secret = SECRET.iter().any(|secret| key.contains(secret));
        let shown = |value: String| (!is_secret).then_some(value);
        if let Some(value) = std::env::var(&variable).ok().filter(|value| !value.trim().is_empty()) {
            values.push(OwnValue { key, value: shown(value), from: variable });
        } else if let Some(value) = at(&table, &key) {
            values.push(OwnValue { key, value: shown(value.to_string()), from: path.display().to_string() });
        }
    }
    Ok(values)
}

fn at<'t>(table: &'t toml::Table, key: &str) -> Option<&'t toml::Value> {
    match key.split_once('.') {
        Some((section, name)) => table.get(section)?.as_table()?.get(name),
        // Tables such as `[mcp]` hold settings of their own.
        None => table.get(key).filter(|value| !value.is_table() && !value.is_array()),
    }
}

/// Opens the file in the person's editor, and says whether it can be used as it is now.
pub(super) fn edit(global: &Global) -> ExitResult {
    let screen = Screen::new(global.json);
    let path = configuration_path(global)?;
    if !screen.interactive {
        return Err(Failure::usage("there is no terminal for an editor").hint(path.display().to_string()));
    }
    if !path.exists() {
        path.parent().map_or(Ok(()), make_folder)?;
        std::fs::write(&path, NEW_FILE)
            .map_err(|error| Failure::unavailable(format!("{} cannot be written: {error}", path.display())))?;
    }
    external_editor::open(&path)?;
    Settings::read(global).map_err(|failure| failure.hint("planwright config edit"))?;
    screen.print(&format!("{} can be used. Running programs use it once they are started again.\n", path.display()))?;
    Ok(Exit::Done)
}
