//! The specialists that steps can be given to: the built-in ones, those that the file describes, or only some of them.
//!
//! `agents` is a list of names, or a table with a table for each specialist and, in `only`, the names that are left.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use planwright_core::agents::{AgentRegistry, Specialist, SpecialistOptions};
use planwright_core::refusal::Refusal;
use planwright_core::visible::{quoted, visible};
use planwright_sandbox::SandboxLevel;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::agent_files;
use super::setting::{Positive, SettingValue as _};
use super::variables::{in_file, in_variable, variable};
use crate::failure::Failure;

/// `agents` as it is written.
#[derive(Debug)]
pub(super) enum AgentsSection {
    Names(Vec<String>),
    Described { only: Option<Vec<String>>, tables: Vec<(String, AgentTable)> },
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentTable {
    /// A file, relative to the folder of the configuration.
    pub(super) prompt: Option<String>,
    /// The same, in the configuration itself.
    pub(super) instructions: Option<String>,
    pub(super) about: Option<String>,
    /// Names of tools, or beginnings of names that end in `*`.
    pub(super) tools: Option<Vec<String>>,
    /// The sandbox level of its commands.
    pub(super) sandbox: Option<String>,
    pub(super) model_calls: Option<Positive<u32>>,
    pub(super) tool_calls: Option<Positive<u32>>,
    pub(super) tokens: Option<Positive<u64>>,
    pub(super) seconds: Option<Positive<u32>>,
}

impl AgentTable {
    fn options(&mut self) -> Result<SpecialistOptions, (&'static str, String)> {
        let tools = self.tools.take();
        let is_name = |tool: &String| !tool.trim_end_matches('*').is_empty() && !tool.contains(char::is_whitespace);
        if let Some(wrong) = tools.iter().flatten().find(|tool| !is_name(tool)) {
            return Err((".tools", format!("{} is not the name of a tool", quoted(wrong))));
        }
        let sandbox = self.sandbox.take();
        if let Some(Err(error)) = sandbox.as_ref().map(|level| level.parse::<SandboxLevel>()) {
            return Err((".sandbox", error.to_string()));
        }
        Ok(SpecialistOptions {
            tools,
            sandbox,
            model_calls: self.model_calls.take().map(Positive::get),
            tool_calls: self.tool_calls.take().map(Positive::get),
            tokens: self.tokens.take().map(Positive::get),
            time: self.seconds.take().map(|seconds| Duration::from_secs(seconds.get().into())),
        })
    }
}

/// `files` is the folder with a file for each specialist.
pub(super) fn registry(section: Option<AgentsSection>, path: &Path, files: &Path) -> Result<AgentRegistry, Failure> {
    let in_variable_named = variable("PLANWRIGHT_AGENTS", |text| Ok(split(text)))?;
    let (in_list, only, tables) = match section {
        None => (None, None, Vec::new()),
        Some(AgentsSection::Names(names)) => (Some(names), None, Vec::new()),
        Some(AgentsSection::Described { only, tables }) => (None, only, tables),
    };
    let mut known = AgentRegistry::default().specialists().to_vec();
    for (name, table) in agent_files::read(files)? {
        let path = files.join(format!("{name}.md"));
        add(&mut known, &name, table, &path)?;
    }
    // The configuration has the last word about a name.
    for (name, table) in tables {
        add(&mut known, &name, table, path)?;
    }
    if let Some(names) = in_variable_named {
        return named(&known, names).map_err(|refusal| in_variable("PLANWRIGHT_AGENTS", refusal.message));
    }
    if let Some(names) = in_list {
        return named(&known, names).map_err(|refusal| in_file(path, "agents", refusal));
    }
    match only {
        Some(names) => narrowed(&known, names).map_err(|refusal| in_file(path, "agents.only", refusal)),
        None => AgentRegistry::new(known).map_err(|refusal| in_file(path, "agents", refusal)),
    }
}

/// Replaces the specialist of this name, or adds one.
fn add(known: &mut Vec<Specialist>, name: &str, table: AgentTable, path: &Path) -> Result<(), Failure> {
    let specialist = described(name, table, path)?;
    match known.iter_mut().find(|other| other.name == name) {
        Some(other) => *other = specialist,
        None => known.push(specialist),
    }
    Ok(())
}

fn described(name: &str, mut table: AgentTable, path: &Path) -> Result<Specialist, Failure> {
    let key = |field: &str| format!("agents.{}{field}", visible(name).replace(['\n', '\t'], " "));
    let wrong = |field: &str, message: String| in_file(path, &key(field), Refusal::invalid(message));
    // A wrong name is told before the files are read.
    Specialist::named(name).check().map_err(|refusal| in_file(path, &key(""), refusal))?;
    let options = table.options().map_err(|(field, message)| wrong(field, message))?;
    if let Some(about) = table.about.clone() {
        Specialist { about, ..Specialist::named(name) }
            .check()
            .map_err(|refusal| in_file(path, &key(".about"), refusal))?;
    }
    let (field, text) = match (table.prompt, table.instructions) {
        (Some(_), Some(_)) => {
            return Err(wrong("", "`prompt` and `instructions` are both given; one of them is taken".to_owned()));
        }
        (Some(file), None) => (".prompt", Some(read(&file, path).map_err(|message| wrong(".prompt", message))?)),
        (None, Some(text)) if text.trim().is_empty() => {
            return Err(wrong(".instructions", "it is empty".to_owned()));
        }
        (None, Some(text)) => (".instructions", Some(text)),
        (None, None) => ("", None),
    };
    let specialist = match (text, table.about, Specialist::built_in(name)) {
        (Some(text), None, _) => Specialist::from_text(name, &text),
        (Some(text), Some(about), _) => {
            let prompt = text.trim_start_matches('\u{feff}').trim().to_owned();
            Specialist { name: name.to_owned(), about, prompt, options: SpecialistOptions::default() }
        }
        (None, Some(about), Some(built_in)) => Specialist { about, ..built_in },
        (None, None, Some(built_in)) => built_in,
        (None, _, None) => {
            return Err(wrong("", "a new agent needs `prompt`, the name of a file, or `instructions`".to_owned()));
        }
    };
    specialist.check().map_err(|refusal| in_file(path, &key(field), refusal))?;
    Ok(Specialist { options, ..specialist })
}

fn read(file: &str, path: &Path) -> Result<String, String> {
    if file.trim().is_empty() {
        return Err("it names no file".to_owned());
    }
    let file = path.parent().unwrap_or(Path::new("")).join(file);
    let shown = file.display().to_string();
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{} cannot be read: {error}", quoted(&shown)))?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(format!("{} is empty", quoted(&shown)));
    }
    Ok(text)
}

/// Exactly these. A specialist without a description has only its name.
fn named(known: &[Specialist], names: Vec<String>) -> Result<AgentRegistry, Refusal> {
    let of_name = |name: &String| {
        let described = known.iter().find(|specialist| specialist.name == *name);
        described.cloned().unwrap_or_else(|| Specialist::named(name))
    };
    AgentRegistry::new(once_each(names).iter().map(of_name))
}

/// Some of the known specialists. An unknown name is an error: a new specialist is described in the file.
fn narrowed(known: &[Specialist], names: Vec<String>) -> Result<AgentRegistry, Refusal> {
    let all = AgentRegistry::new(known.to_vec())?;
    let names = once_each(names);
    for name in &names {
        all.assignable(name)?;
    }
    AgentRegistry::new(names.iter().filter_map(|name| all.get(name)).cloned())
}

fn once_each(names: Vec<String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl<'de> Deserialize<'de> for AgentsSection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SectionVisitor)
    }
}

/// Not derived, so that an error has its own line and key.
struct SectionVisitor;

impl<'de> Visitor<'de> for SectionVisitor {
    type Value = AgentsSection;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of names or a table for each agent")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(name) = names.next_element()? {
            list.push(name);
        }
        Ok(AgentsSection::Names(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut only = None;
        let mut tables = Vec::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name == "only" {
                only = Some(fields.next_value()?);
            } else {
                tables.push((name, fields.next_value()?));
            }
        }
        Ok(AgentsSection::Described { only, tables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt_of(table: AgentTable) -> String {
        described("coder", table, Path::new("planwright.toml")).unwrap().prompt
    }

    #[test]
    fn the_prompt_is_the_rest_or_all_of_the_text() {
        let built_in = Specialist::built_in("coder").unwrap().prompt;
        for (instructions, about, prompt) in [
            (Some("Codes\n\nSlowly.\n"), None, "Slowly."),
            (Some("# Codes\n"), None, "Codes"),
            (Some("# Codes\n\nSlowly.\n"), Some("Codes slowly"), "# Codes\n\nSlowly."),
            (None, Some("Codes slowly"), built_in.as_str()),
            (None, None, built_in.as_str()),
        ] {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let table = AgentTable { instructions: owned(instructions), about: owned(about), ..AgentTable::default() };
            assert_eq!(prompt_of(table), prompt);
        }
    }
}
