//! The specialists that steps can be given to and that the planner can ask. The planner is one of the agents and never one
//! of them.

mod file;
mod options;

use crate::refusal::{Refusal, RefusalCode};
use crate::visible::{quoted, visible};

pub use file::SpecialistFile;
pub use options::SpecialistOptions;

pub const PLANNER: &str = "planner";

const NAME_CHARACTERS: usize = 64;
/// The planner reads this line of every specialist in every request.
const ABOUT_CHARACTERS: usize = 200;
const PROMPT_BYTES: usize = 32 * 1024;

const BUILT_IN: [(&str, &str); 6] = [
    ("coder", include_str!("prompt/agents/coder.md")),
    ("tester", include_str!("prompt/agents/tester.md")),
    ("reviewer", include_str!("prompt/agents/reviewer.md")),
    ("researcher", include_str!("prompt/agents/researcher.md")),
    ("architect", include_str!("prompt/agents/architect.md")),
    ("writer", include_str!("prompt/agents/writer.md")),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specialist {
    pub name: String,
    /// What it is good at, in one line for the planner.
    pub about: String,
    /// Who it is and how it works, for itself.
    pub prompt: String,
    pub options: SpecialistOptions,
}

impl Specialist {
    /// From the text of a prompt file. Its first line says what the specialist is good at, with or without the mark of a
    /// heading; the rest is its prompt. A text of one line is both.
    pub fn from_text(name: &str, text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim();
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let about = first.trim_start_matches('#').trim();
        let rest = rest.trim();
        let prompt = if rest.is_empty() { about } else { rest };
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
            prompt: prompt.to_owned(),
            options: SpecialistOptions::default(),
        }
    }

    /// A built-in specialist.
    pub fn built_in(name: &str) -> Option<Self> {
        BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(name, text)| Self::from_text(name, text))
    }

    /// A built-in specialist, or else one that has only a name.
    pub fn named(name: &str) -> Self {
        let general = || Self::from_text(name, &include_str!("prompt/agents/named.md").replace("{name}", name));
        Self::built_in(name).unwrap_or_else(general)
    }

    pub fn check(&self) -> Result<(), Refusal> {
        let Self { name, about, prompt, options: _ } = self;
        if name.trim().is_empty() || name != name.trim() || !on_one_line(name) {
            return Err(Refusal::invalid(format!("{} is not a name for an agent", quoted(name))));
        }
        if name == PLANNER {
            return Err(Refusal::invalid("`planner` is always there and cannot be a specialist"));
        }
        if name.chars().count() > NAME_CHARACTERS {
            return Err(Refusal::invalid(format!(
                "{} is too long for a name; at most {NAME_CHARACTERS} characters are taken",
                quoted(name)
            )));
        }
        if prompt.trim().is_empty() {
            return Err(Refusal::invalid(format!("the prompt of {} is blank", quoted(name))));
        }
        if prompt.len() > PROMPT_BYTES {
            let bytes = prompt.len();
            return Err(Refusal::invalid(format!(
                "the prompt of {} has {bytes} bytes; at most {PROMPT_BYTES} are taken",
                quoted(name)
            )));
        }
        if about.trim().is_empty() {
            return Err(Refusal::invalid(format!("the line about {} is blank", quoted(name))));
        }
        if !on_one_line(about) || about.chars().count() > ABOUT_CHARACTERS {
            return Err(Refusal::invalid(format!(
                "what {} is good at (its first line, if nothing else says it) has to be one line of at most \
                 {ABOUT_CHARACTERS} characters",
                quoted(name)
            )));
        }
        Ok(())
    }
}

/// Nothing in it breaks the line, hides or moves other text.
fn on_one_line(text: &str) -> bool {
    !text.contains(['\n', '\t', '\r']) && visible(text) == text
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRegistry {
    specialists: Vec<Specialist>,
}

impl Default for AgentRegistry {
    fn default() -> Self {
        Self { specialists: BUILT_IN.iter().map(|(name, text)| Specialist::from_text(name, text)).collect() }
    }
}

impl AgentRegistry {
    pub fn new(specialists: impl IntoIterator<Item = Specialist>) -> Result<Self, Refusal> {
        let mut known: Vec<Specialist> = Vec::new();
        for specialist in specialists {
            specialist.check()?;
            if known.iter().any(|other| other.name == specialist.name) {
                return Err(Refusal::invalid(format!("{} is listed twice", quoted(&specialist.name))));
            }
            known.push(specialist);
        }
        if known.is_empty() {
            return Err(Refusal::invalid("at least one agent is needed"));
        }
        Ok(Self { specialists: known })
    }

    /// With the specialists of a project. A specialist that a person described keeps its name and its description; a
    /// built-in one is replaced.
    #[must_use]
    pub fn with_project(&self, found: impl IntoIterator<Item = Specialist>) -> Self {
        let mut specialists = self.specialists.clone();
        for specialist in found {
            match specialists.iter_mut().find(|known| known.name == specialist.name) {
                Some(known) if Specialist::built_in(&known.name).as_ref() == Some(known) => *known = specialist,
                Some(_) => {}
                None => specialists.push(specialist),
            }
        }
        Self { specialists }
    }

    /// With other options for each.
    #[must_use]
    pub fn map_options(mut self, change: impl Fn(&mut SpecialistOptions)) -> Self {
        self.specialists.iter_mut().for_each(|specialist| change(&mut specialist.options));
        self
    }

    pub fn specialists(&self) -> &[Specialist] {
        &self.specialists
    }

    pub fn get(&self, name: &str) -> Option<&Specialist> {
        self.specialists.iter().find(|specialist| specialist.name == name)
    }

    /// Every name, as it is listed in a sentence.
    pub fn names(&self) -> String {
        self.specialists.iter().map(|specialist| specialist.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The agent that a step names, if it may name it.
    pub fn assignable(&self, name: &str) -> Result<&Specialist, Refusal> {
        if let Some(specialist) = self.get(name) {
            return Ok(specialist);
        }
        let reason = if name == PLANNER { "the planner cannot be given a step" } else { "there is no such agent" };
        Err(Refusal::new(RefusalCode::UnknownAgent, format!("{}: {reason}; agents are {}", quoted(name), self.names())))
    }
}
