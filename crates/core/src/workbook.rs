//! The workbook: task plan, findings and progress, kept by the agent beside the conversation.
//!
//! The journal holds every version of every document; the session's state only says which entry has the text that
//! counts. So a document of any size costs a session nothing until it is read.
//!
//! - [`DocumentKind`], [`Documents`]: the three documents
//! - [`WorkbookState`]: what is current, and what was archived
//! - [`WorkbookCommand`]: what can be asked; `decide/workbook.rs` answers
//! - [`PlanningFiles`]: the settings
//! - [`template`]: what a fresh document says
//! - [`sections`]: a document's sections, and replacing one of them
//! - [`completion`]: whether the task plan says that it is complete, and the phase it is in
//! - [`findings`], [`errors`]: what is written down along the way
//! - [`auto_init`]: whether a message is worth a workbook
//! - [`hint`]: what the model is told about all this
//! - `archive`: a workbook that was put away, as one file
//! - `event`: what happens to a session's workbook
//! - `log`: what findings and errors have in common when something is added to a document: the section it belongs to, a
//!   time, and foreign text that stays foreign
//! - `outline`: the tree of a Markdown document as the workbook needs it: its sections with where they stand, its field
//!   lines (`Status: complete`) and its tasks
//! - `settings`: what the configuration says about planning files
//! - `state`: what a session's state says about its workbook, and what events do to it

pub mod archive;
pub mod auto_init;
pub mod completion;
pub mod errors;
mod event;
pub mod findings;
pub mod hint;
mod log;
mod outline;
pub mod sections;
mod settings;
mod state;
pub mod template;

use serde::{Deserialize, Serialize};

pub use event::WorkbookEvent;
pub use settings::PlanningFiles;
pub use state::{Archive, DocumentState, TextDigest, Workbook, WorkbookState};

use crate::refusal::Refusal;
use crate::wire::text_enum;

text_enum! {
    /// One of the three documents.
    pub enum DocumentKind or "is not a document; documents are" {
        TaskPlan = "task_plan",
        Findings = "findings",
        Progress = "progress",
    }
}

impl DocumentKind {
    /// The name of its file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::TaskPlan => "task_plan.md",
            Self::Findings => "findings.md",
            Self::Progress => "progress.md",
        }
    }
}

/// Something about each of the three documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Documents<T> {
    pub task_plan: T,
    pub findings: T,
    pub progress: T,
}

impl<T> Documents<T> {
    pub fn each(mut make: impl FnMut(DocumentKind) -> T) -> Self {
        Self {
            task_plan: make(DocumentKind::TaskPlan),
            findings: make(DocumentKind::Findings),
            progress: make(DocumentKind::Progress),
        }
    }

    pub const fn get(&self, which: DocumentKind) -> &T {
        match which {
            DocumentKind::TaskPlan => &self.task_plan,
            DocumentKind::Findings => &self.findings,
            DocumentKind::Progress => &self.progress,
        }
    }

    pub const fn get_mut(&mut self, which: DocumentKind) -> &mut T {
        match which {
            DocumentKind::TaskPlan => &mut self.task_plan,
            DocumentKind::Findings => &mut self.findings,
            DocumentKind::Progress => &mut self.progress,
        }
    }

    pub fn map<U>(&self, mut change: impl FnMut(&T) -> U) -> Documents<U> {
        Documents::each(|which| change(self.get(which)))
    }
}

/// What led to a version of a document. Who wrote it stands with the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteOrigin {
    /// A workbook tool.
    Tool,
    /// A person edited the document or its file.
    User,
    /// A person edited an older version of the file; the version this one follows is kept beside it.
    Conflict,
    /// Findings and errors are noted along the way.
    Middleware,
}

/// What can be asked of a session's workbook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkbookCommand {
    /// `/plan files on|off`
    Switch {
        on: bool,
    },
    /// A fresh workbook, which switches the planning files on. The current workbook is archived first.
    Begin {
        title: String,
        documents: Documents<String>,
        /// The versions that are archived by it, exactly as they were looked at; `None` without a current workbook.
        replaces: Option<Documents<u32>>,
        /// Names that archives on disk have already.
        taken: Vec<String>,
    },
    /// A new version of a document, made from the version that is named. If that one is not the newest any more, the
    /// answer is `CONFLICT`, and the caller reads the document again.
    Write {
        which: DocumentKind,
        base_version: u32,
        content: String,
        why: WriteOrigin,
    },
    /// Takes the documents away, exactly as they were looked at. Archives stay.
    Clear {
        base_versions: Documents<u32>,
    },
    RecordAssessment(AssessmentRecord),
}

/// Whether a message is worth a workbook, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssessmentRecord {
    pub begin: bool,
    pub score: u32,
    pub reasons: Vec<String>,
}

impl WorkbookCommand {
    /// How much text it brings.
    pub fn size(&self) -> usize {
        match self {
            Self::Begin { documents, .. } => DocumentKind::ALL.iter().map(|which| documents.get(*which).len()).sum(),
            Self::Write { content, .. } => content.len(),
            Self::Switch { .. } | Self::Clear { .. } | Self::RecordAssessment(_) => 0,
        }
    }
}
