//! Changes in words, the same on every surface.

use crate::plan::diff::{ListName, PlanDiffItem, StepField};
use crate::visible::visible;

/// What a change is, for the sign before it and its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Added,
    Removed,
    Changed,
}

impl Mark {
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Added => "+",
            Self::Removed => "-",
            Self::Changed => "~",
        }
    }
}

impl PlanDiffItem {
    /// One line, with nothing hidden in it.
    pub fn describe(&self) -> (Mark, String) {
        let added = |text: String| (Mark::Added, text);
        let removed = |text: String| (Mark::Removed, text);
        let changed = |text: String| (Mark::Changed, text);
        match self {
            Self::StyleChanged { from, to } => changed(format!("style: {from} → {to}")),
            Self::TitleChanged { from, to } => changed(format!("title: {}", from_to(from, to))),
            Self::GoalChanged { from, to } => changed(format!("goal: {}", from_to(from, to))),
            Self::SummaryChanged { from, to } => changed(format!("summary: {}", from_to(from, to))),
            Self::HeadingAdded { level, text } => added(format!("heading {} {}", hashes(*level), line(text))),
            Self::HeadingRemoved { level, text } => removed(format!("heading {} {}", hashes(*level), line(text))),
            Self::ItemAdded { list, text } => added(format!("{}: {}", list.name(), line(text))),
            Self::ItemRemoved { list, text } => removed(format!("{}: {}", list.name(), line(text))),
            Self::ItemsReordered { list } => changed(format!("{} in another order", list.name())),
            Self::StepRemoved { position, description } => removed(format!("step {position}: {}", line(description))),
            Self::StepAdded { position, description } => added(format!("step {position}: {}", line(description))),
            Self::StepReworded { position, from, to } => {
                changed(format!("step {position}: {} → {}", line(from), line(to)))
            }
            Self::StepChanged { position, field, from, to } => {
                changed(format!("step {position}, {}: {}", field.name(), from_to(from, to)))
            }
            Self::StepMoved { from, to, description } => {
                changed(format!("step {from} is step {to} now: {}", line(description)))
            }
            Self::StepTicked { position, description } => {
                changed(format!("step {position} is ticked: {}", line(description)))
            }
            Self::StepUnticked { position, description } => {
                changed(format!("step {position} is no longer ticked: {}", line(description)))
            }
        }
    }
}

impl ListName {
    const fn name(self) -> &'static str {
        match self {
            Self::Assumptions => "assumptions",
            Self::Risks => "risks",
            Self::Verification => "verification",
            Self::Files => "files",
        }
    }
}

impl StepField {
    const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Needs => "needs",
            Self::Verification => "verification",
            Self::Commands => "commands",
            Self::Tool => "tool",
            Self::Arguments => "arguments",
        }
    }
}

fn from_to(from: &Option<String>, to: &Option<String>) -> String {
    let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "(none)".to_owned(), line);
    format!("{} → {}", shown(from), shown(to))
}

fn hashes(level: u8) -> String {
    "#".repeat(usize::from(level))
}

fn line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}
