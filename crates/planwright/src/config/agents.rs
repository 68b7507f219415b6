//! Who steps can be given to: the usual specialists, those that are described in the file, or only some of them.
//!
//! `agents` is a list of names, or a table with a table for each specialist and, in `only`, the names that are left.

use std::fmt;
use std::path::Path;

use planwright_core::agents::{AgentRegistry, Specialist};
use planwright_core::refusal::Refusal;
use planwright_core::visible::{quoted, visible};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::variables::{in_file, in_variable, variable};
use crate::failure::Failure;

/// `agents` as it is written.
#[derive(Debug)]
pub(super) enum AgentsSection {
    Names(Vec<String>),
    Described { only: Option<Vec<String>>, tables: Vec<(String, AgentTable)> },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentTable {
    /// A file, counted from the folder of the configuration.
    prompt: Option<String>,
    /// The same in place.
    instructions: Option<String>,
    about: Option<String>,
}

pub(super) fn registry(section: Option<AgentsSection>, path: &Path) -> Result<AgentRegistry, Failure> {
    let in_variable_named = variable("PLANWRIGHT_AGENTS", |text| Ok(split(text)))?;
    let (in_list, only, tables) = match section {
        None => (None, None, Vec::new()),
        Some(AgentsSection::Names(names)) => (Some(names), None, Vec::new()),
        Some(AgentsSection::Described { only, tables }) => (None, only, tables),
    };
    let known = known(tables, path)?;
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

/// The usual ones, as the file changes them, and then those it adds.
fn known(tables: Vec<(String, AgentTable)>, path: &Path) -> Result<Vec<Specialist>, Failure> {
    let mut known = AgentRegistry::default().specialists().to_vec();
    for (name, table) in tables {
        let specialist = described(&name, table, path)?;
        match known.iter_mut().find(|other| other.name == name) {
            Some(usual) => *usual = specialist,
            None => known.push(specialist),
        }
    }
    Ok(known)
}

fn described(name: &str, table: AgentTable, path: &Path) -> Result<Specialist, Failure> {
    let key = |field: &str| format!("agents.{}{field}", visible(name).replace(['\n', '\t'], " "));
    let wrong = |field: &str, message: String| in_file(path, &key(field), Refusal::invalid(message));
    // A name that cannot be one is told before anything is looked for.
    Specialist::named(name).check().map_err(|refusal| in_file(path, &key(""), refusal))?;
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
            return Err(wrong(".instructions", "there is nothing in it".to_owned()));
        }
        (None, Some(text)) => (".instructions", Some(text)),
        (None, None) => ("", None),
    };
    let specialist = match (text, table.about, Specialist::built_in(name)) {
        (Some(text), None, _) => Specialist::from_text(name, &text),
        (Some(text), Some(about), _) => {
            Specialist { name: name.to_owned(), about, prompt: text.trim_start_matches('\u{feff}').trim().to_owned() }
        }
        (None, Some(about), Some(usual)) => Specialist { about, ..usual },
        (None, None, Some(usual)) => usual,
        (None, _, None) => {
            return Err(wrong("", "a new agent needs `prompt`, the name of a file, or `instructions`".to_owned()));
        }
    };
    specialist.check().map_err(|refusal| in_file(path, &key(field), refusal))?;
    Ok(specialist)
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

/// Exactly these. Of one that nobody described, the name has to do.
fn named(known: &[Specialist], names: Vec<String>) -> Result<AgentRegistry, Refusal> {
    let of_name = |name: &String| {
        let described = known.iter().find(|specialist| specialist.name == *name);
        described.cloned().unwrap_or_else(|| Specialist::named(name))
    };
    AgentRegistry::new(once_each(names).iter().map(of_name))
}

/// Some of those that are known: a name that is not is a slip, since there is a place to describe it.
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

/// Written out, so that a mistake is told with its own line and key.
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
        let usual = Specialist::built_in("coder").unwrap().prompt;
        for (instructions, about, prompt) in [
            (Some("Codes\n\nSlowly.\n"), None, "Slowly."),
            (Some("# Codes\n"), None, "Codes"),
            (Some("# Codes\n\nSlowly.\n"), Some("Codes slowly"), "# Codes\n\nSlowly."),
            (None, Some("Codes slowly"), usual.as_str()),
            (None, None, usual.as_str()),
        ] {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let table = AgentTable { prompt: None, instructions: owned(instructions), about: owned(about) };
            assert_eq!(prompt_of(table), prompt);
        }
    }
}
