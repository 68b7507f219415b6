//! What a plan says, in each of the three styles.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::copy_on_write::CopyOnWrite;
use crate::ids::StepId;
use crate::plan::{PlanStyle, commands, markdown};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "style", rename_all = "lowercase")]
pub enum PlanContent {
    Document(Document),
    Collect(Collected),
    Build(Built),
}

/// One Markdown text, kept byte for byte.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub markdown: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    pub summary: Option<String>,
    pub steps: CopyOnWrite<Vec<RecordedCall>>,
}

/// A tool call that was written down instead of being run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCall {
    pub id: StepId,
    pub tool: String,
    pub arguments: Value,
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "CallRunner::is_planwright")]
    pub runner: CallRunner,
}

/// The program that makes a recorded call once it is approved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallRunner {
    #[default]
    Planwright,
    /// The agent of another program, with a tool of its own.
    Client,
}

impl CallRunner {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_planwright(&self) -> bool {
        *self == Self::Planwright
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    pub goal: Option<String>,
    pub summary: Option<String>,
    pub assumptions: Vec<String>,
    pub risks: Vec<String>,
    pub verification: Vec<String>,
    pub files: Vec<String>,
    pub steps: CopyOnWrite<Vec<AgentStep>>,
}

/// A change of what a built plan says beside its steps. Only what is given changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataChange {
    pub goal: Option<String>,
    pub title: Option<String>,
    pub assumptions: Option<Vec<String>>,
    pub risks: Option<Vec<String>>,
    pub verification: Option<Vec<String>>,
    pub files: Option<Vec<String>>,
}

/// A piece of work for one specialist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStep {
    pub id: StepId,
    pub description: String,
    pub agent: String,
    /// Steps that come before it and whose outcome it builds on.
    pub needs: Vec<StepId>,
    pub verification: Option<String>,
    /// Shell lines that the step may run. The approval covers exactly these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// A step as every style has it: enough to list it, to approve it and to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    pub id: StepId,
    pub description: String,
    pub needs: Vec<StepId>,
    /// The text of a document may have ticked it already.
    pub ticked: bool,
    /// Shell lines that the step names.
    pub commands: Vec<String>,
}

impl PlanContent {
    pub fn empty(style: PlanStyle) -> Self {
        match style {
            PlanStyle::Document => Self::Document(Document::default()),
            PlanStyle::Collect => Self::Collect(Collected::default()),
            PlanStyle::Build => Self::Build(Built::default()),
        }
    }

    pub fn style(&self) -> PlanStyle {
        match self {
            Self::Document(_) => PlanStyle::Document,
            Self::Collect(_) => PlanStyle::Collect,
            Self::Build(_) => PlanStyle::Build,
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Document(document) => document.markdown.trim().is_empty(),
            Self::Collect(collected) => collected.steps.is_empty() && collected.summary.is_none(),
            Self::Build(built) => *built == Built::default(),
        }
    }

    /// The steps in order; those of a document are read from its text.
    pub fn steps(&self) -> Vec<PlanStep> {
        match self {
            Self::Document(document) => markdown::steps(&document.markdown),
            Self::Collect(collected) => collected.steps.iter().map(RecordedCall::as_step).collect(),
            Self::Build(built) => built.steps.iter().map(AgentStep::as_step).collect(),
        }
    }

    /// The steps whose outcome this one builds on.
    pub fn needs(&self, id: &StepId) -> &[StepId] {
        match self {
            Self::Document(_) | Self::Collect(_) => &[],
            Self::Build(built) => {
                built.steps.iter().find(|step| step.id == *id).map(|step| step.needs.as_slice()).unwrap_or_default()
            }
        }
    }

    /// The shell lines that an approval of these steps covers. A document is approved as a whole, with every line in it.
    pub fn commands(&self, approved: impl Fn(&StepId) -> bool) -> Vec<String> {
        match self {
            Self::Document(document) => commands::of_document(&document.markdown),
            Self::Collect(_) => Vec::new(),
            Self::Build(built) => {
                let steps = built.steps.iter().filter(|step| approved(&step.id));
                steps.flat_map(|step| step.commands.iter().cloned()).collect()
            }
        }
    }

    /// Whether it is recorded calls, all of which Planwright makes itself.
    pub fn is_made_by_planwright(&self) -> bool {
        match self {
            Self::Collect(collected) => collected.steps.iter().all(|call| call.runner == CallRunner::Planwright),
            Self::Document(_) | Self::Build(_) => false,
        }
    }

    /// Whether a step that was recorded or built has this id. The steps of a document are not counted: they have no
    /// life of their own.
    pub(crate) fn has_step(&self, id: &StepId) -> bool {
        match self {
            Self::Document(_) => false,
            Self::Collect(collected) => collected.steps.iter().any(|step| step.id == *id),
            Self::Build(built) => built.steps.iter().any(|step| step.id == *id),
        }
    }

    /// What people and programs measure a plan by, in bytes.
    pub fn size(&self) -> usize {
        fn texts(list: &[String]) -> usize {
            list.iter().map(String::len).sum()
        }
        fn text(text: &Option<String>) -> usize {
            text.as_ref().map_or(0, String::len)
        }
        match self {
            Self::Document(document) => document.markdown.len(),
            Self::Collect(collected) => {
                text(&collected.summary) + collected.steps.iter().map(RecordedCall::size).sum::<usize>()
            }
            Self::Build(built) => {
                text(&built.goal)
                    + text(&built.summary)
                    + texts(&built.assumptions)
                    + texts(&built.risks)
                    + texts(&built.verification)
                    + texts(&built.files)
                    + built.steps.iter().map(AgentStep::size).sum::<usize>()
            }
        }
    }

    pub(crate) fn excerpt(&self) -> Option<String> {
        match self {
            Self::Document(document) => markdown::title(&document.markdown),
            Self::Collect(collected) => collected.summary.clone(),
            Self::Build(built) => built.goal.clone(),
        }
    }
}

impl RecordedCall {
    pub(crate) fn as_step(&self) -> PlanStep {
        let description = match (&self.description, self.runner) {
            // The agent's own words never stand in the place of the call that a person approves.
            (Some(purpose), CallRunner::Client) => format!("{}: {purpose}", self.call()),
            (Some(purpose), CallRunner::Planwright) => purpose.clone(),
            (None, CallRunner::Planwright | CallRunner::Client) => self.call(),
        };
        PlanStep { id: self.id.clone(), description, needs: Vec::new(), ticked: false, commands: Vec::new() }
    }

    /// The call as one readable line.
    pub fn call(&self) -> String {
        format!("{}({})", self.tool, self.arguments)
    }

    pub(crate) fn size(&self) -> usize {
        self.tool.len() + self.arguments.to_string().len() + self.description.as_ref().map_or(0, String::len)
    }
}

impl AgentStep {
    fn as_step(&self) -> PlanStep {
        PlanStep {
            id: self.id.clone(),
            description: self.description.clone(),
            needs: self.needs.clone(),
            ticked: false,
            commands: self.commands.clone(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        let needs: usize = self.needs.iter().map(|need| need.as_str().len()).sum();
        let commands: usize = self.commands.iter().map(String::len).sum();
        let verification = self.verification.as_ref().map_or(0, String::len);
        self.description.len() + self.agent.len() + needs + verification + commands
    }
}
