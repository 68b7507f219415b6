//! What changed between two versions of a plan, in the terms of the plan: steps, goals, lists and, for documents, lines.

mod describe;
mod fields;
mod lines;
mod pairs;
mod steps;

use serde::{Deserialize, Serialize};

use crate::plan::{PlanContent, PlanStyle, markdown};

pub use describe::Mark;
pub use lines::{DiffLine, Piece};

/// What a plan said at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version<'a> {
    pub title: Option<&'a str>,
    pub content: &'a PlanContent,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanDiff {
    pub changes: Vec<PlanDiffItem>,
    /// The text of a document line by line; empty for the other styles, and where the text is the same.
    pub lines: Vec<DiffLine>,
}

impl PlanDiff {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.lines.is_empty()
    }
}

/// One change. Positions count from 1; the ids of steps do not matter to a person and are not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Change))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PlanDiffItem {
    StyleChanged {
        from: PlanStyle,
        to: PlanStyle,
    },
    TitleChanged {
        from: Option<String>,
        to: Option<String>,
    },
    GoalChanged {
        from: Option<String>,
        to: Option<String>,
    },
    SummaryChanged {
        from: Option<String>,
        to: Option<String>,
    },
    HeadingAdded {
        level: u8,
        text: String,
    },
    HeadingRemoved {
        level: u8,
        text: String,
    },
    ItemAdded {
        list: ListName,
        text: String,
    },
    ItemRemoved {
        list: ListName,
        text: String,
    },
    ItemsReordered {
        list: ListName,
    },
    /// `position` is the one it had.
    StepRemoved {
        position: usize,
        description: String,
    },
    StepAdded {
        position: usize,
        description: String,
    },
    StepReworded {
        position: usize,
        from: String,
        to: String,
    },
    StepChanged {
        position: usize,
        field: StepField,
        from: Option<String>,
        to: Option<String>,
    },
    StepMoved {
        from: usize,
        to: usize,
        description: String,
    },
    StepTicked {
        position: usize,
        description: String,
    },
    StepUnticked {
        position: usize,
        description: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum ListName {
    Assumptions,
    Risks,
    Verification,
    Files,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum StepField {
    Agent,
    Needs,
    Verification,
    Commands,
    Tool,
    Arguments,
}

/// Compares two versions. The result depends on them alone, and a version compared with itself gives an empty one.
pub fn diff(from: Version<'_>, to: Version<'_>) -> PlanDiff {
    let mut changes = Vec::new();
    let mut lines = Vec::new();
    if let Some((from, to)) = fields::changed(from.title, to.title) {
        changes.push(PlanDiffItem::TitleChanged { from, to });
    }
    match (from.content, to.content) {
        (PlanContent::Document(from), PlanContent::Document(to)) => {
            lines = lines::diff(&from.markdown, &to.markdown);
            // A text that is the same has nothing else to compare, and is not parsed for it.
            if !lines.is_empty() {
                fields::headings(&markdown::headings(&from.markdown), &markdown::headings(&to.markdown), &mut changes);
                steps::read_from_text(&markdown::steps(&from.markdown), &markdown::steps(&to.markdown), &mut changes);
            }
        }
        (PlanContent::Collect(from), PlanContent::Collect(to)) => {
            fields::summary(from.summary.as_deref(), to.summary.as_deref(), &mut changes);
            steps::recorded(&from.steps, &to.steps, &mut changes);
        }
        (PlanContent::Build(from), PlanContent::Build(to)) => {
            fields::built(from, to, &mut changes);
            steps::built(&from.steps, &to.steps, &mut changes);
        }
        (older, newer) => {
            changes.push(PlanDiffItem::StyleChanged { from: older.style(), to: newer.style() });
            steps::read_from_text(&older.steps(), &newer.steps(), &mut changes);
        }
    }
    PlanDiff { changes, lines }
}
