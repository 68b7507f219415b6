//! The specialists that steps can be given to: the built-in ones, those that the file describes, or only some of them.
//!
//! `agents` is a list of names, or a table with a table for each specialist and, in `only`, the names that are left.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use planwright_core::agents::{AgentRegistry, Specialist, SpecialistFile, SpecialistOptions};
use planwright_core::refusal::Refusal;
use planwright_core::visible::{quoted, visible};
use planwright_llm::ModelChoice;
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
    /// The instructions, in the configuration itself.
    pub(super) instructions: Option<String>,
    pub(super) about: Option<String>,
    /// Names of tools, or beginnings of names that end in `*`.
    pub(super) tools: Option<Vec<String>>,
    /// The model that answers, as in the setting `model`.
    pub(super) model: Option<String>,
    /// The sandbox level of its commands.
    pub(super) sandbox: Option<String>,
    pub(super) model_calls: Option<Positive<u32>>,
    pub(super) tool_calls: Option<Positive<u32>>,
    pub(super) tokens: Option<Positive<u64>>,
    pub(super) seconds: Option<Positive<u32>>,
}

impl AgentTable {
    /// The file of its prompt, and everything else.
    fn split(self) -> (Option<String>, SpecialistFile) {
        let options = SpecialistOptions {
            tools: self.tools,
            model: self.model,
            sandbox: self.sandbox,
            model_calls: self.model_calls.map(Positive::get),
            tool_calls: self.tool_calls.map(Positive::get),
            tokens: self.tokens.map(Positive::get),
            time: self.seconds.map(|seconds| Duration::from_secs(seconds.get().into())),
        };
        let (about, instructions) = (self.about, self.instructions);
        (self.prompt, SpecialistFile { about, instructions, options, unknown: Vec::new() })
    }
}

/// The key that is wrong, and why.
fn check_options(options: &SpecialistOptions) -> Result<(), (&'static str, String)> {
    options.check_tool_names().map_err(|message| (".tools", message))?;
    if let Some(Err(error)) = options.sandbox.as_ref().map(|level| level.parse::<SandboxLevel>()) {
        return Err((".sandbox", error.to_string()));
    }
    if let Some(Err(error)) = options.model.as_ref().map(|model| model.parse::<ModelChoice>()) {
        return Err((".model", error.to_string()));
    }
    Ok(())
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
    for (name, file) in agent_files::read(files)? {
        let path = files.join(format!("{name}.md"));
        add(&mut known, described(&name, None, file, &path)?);
    }
    // The configuration has the last word about a name.
    for (name, table) in tables {
        let (prompt, rest) = table.split();
        add(&mut known, described(&name, prompt, rest, path)?);
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
fn add(known: &mut Vec<Specialist>, specialist: Specialist) {
    match known.iter_mut().find(|other| other.name == specialist.name) {
        Some(other) => *other = specialist,
        None => known.push(specialist),
    }
}

fn described(name: &str, prompt: Option<String>, file: SpecialistFile, path: &Path) -> Result<Specialist, Failure> {
    let key = |field: &str| format!("agents.{}{field}", visible(name).replace(['\n', '\t'], " "));
    let wrong = |field: &str, message: String| in_file(path, &key(field), Refusal::invalid(message));
    // A wrong name is told before the files are read.
    Specialist::named(name).check().map_err(|refusal| in_file(path, &key(""), refusal))?;
    check_options(&file.options).map_err(|(field, message)| wrong(field, message))?;
    if let Some(about) = file.about.clone() {
        Specialist { about, ..Specialist::named(name) }
            .check()
            .map_err(|refusal| in_file(path, &key(".about"), refusal))?;
    }
    let (field, instructions) = match (prompt, file.instructions) {
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
    let whole = SpecialistFile { instructions, ..file };
    whole.specialist(name).map_err(|refusal| in_file(path, &key(field), refusal))
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
