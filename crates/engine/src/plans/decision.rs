//! What a person says with a decision about a plan.

use planwright_core::plan::approval::Selection;
use planwright_core::plan::review::Review;
use planwright_core::plan::{ApprovalSignature, Plan};

/// What a person approves besides the text: which steps, with what note and which comments, and at what pace.
#[derive(Debug, Clone, Default)]
pub struct Approving {
    pub selection: Selection,
    pub note: Option<String>,
    pub review: Option<Review>,
    /// Whether the execution pauses after each step until a person has looked at it.
    pub step_by_step: bool,
    /// The approver's signature, where the policy asks for one.
    pub signature: Option<ApprovalSignature>,
}

impl Approving {
    /// The note as it is recorded: what the person said, and their comments in words.
    pub fn note_of(&self, plan: &Plan) -> Option<String> {
        let note = self.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
        let comments = self.review.as_ref().filter(|review| !review.comments.is_empty());
        match (note, comments.map(|review| review.to_text(plan))) {
            (Some(note), Some(comments)) => Some(format!("{note}\n\n{comments}")),
            (note, comments) => note.map(str::to_owned).or(comments),
        }
    }
}

/// What a person wants changed: in words, with comments on the text, or both.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    pub feedback: String,
    pub review: Option<Review>,
}

impl From<String> for Changes {
    fn from(feedback: String) -> Self {
        Self { feedback, review: None }
    }
}

impl Changes {
    /// In words, for the agent.
    pub fn to_text(&self, plan: &Plan) -> String {
        let comments = self.review.as_ref().filter(|review| !review.comments.is_empty());
        match (self.feedback.trim(), comments.map(|review| review.to_text(plan))) {
            ("", Some(comments)) => comments,
            (feedback, Some(comments)) => format!("{feedback}\n\n{comments}"),
            (_, None) => self.feedback.clone(),
        }
    }
}
