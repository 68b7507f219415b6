//! Comments on plans.

use jiff::Timestamp;
use planwright_core::plan::Plan;
use planwright_core::plan::review::{CommentAnchor, CommentKind, CommentState, SentWith};
use planwright_engine::reviews::{ReviewReport, ReviewRound, TrackedComment};
use serde::Serialize;
use utoipa::ToSchema;

/// The comments on a plan as one person sees them.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    pub plan_id: String,
    /// The version that the draft is about; the current one if the draft is empty.
    pub version: u32,
    /// The draft.
    pub comments: Vec<CommentView>,
    /// What was sent, the newest first.
    pub rounds: Vec<ReviewRoundView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommentView {
    pub id: String,
    pub anchor: AnchorView,
    pub kind: CommentKind,
    pub text: String,
    /// What became of it, if the plan has a newer version than the one it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub state: Option<CommentState>,
    /// What the agent said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub answer: Option<String>,
    /// Whether the person is satisfied with what became of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub resolved: bool,
}

/// A step, or words with some of the text around them, or nothing for the whole plan.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnchorView {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub quote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub suffix: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRoundView {
    /// The plan that was commented on: this one, or one that it replaced.
    pub plan_id: String,
    pub number: u32,
    pub version: u32,
    pub at: Timestamp,
    pub by: String,
    pub sent_with: SentWith,
    pub comments: Vec<CommentView>,
}

impl ReviewView {
    pub fn new(plan: &Plan, report: &ReviewReport) -> Self {
        Self {
            plan_id: plan.id.to_string(),
            version: report.version,
            comments: report.draft.iter().map(CommentView::from).collect(),
            rounds: report.rounds.iter().map(ReviewRoundView::from).collect(),
        }
    }
}

impl From<&ReviewRound> for ReviewRoundView {
    fn from(round: &ReviewRound) -> Self {
        Self {
            plan_id: round.plan.id.to_string(),
            number: round.plan.number,
            version: round.version,
            at: round.at,
            by: round.by.name.clone(),
            sent_with: round.with,
            comments: round.comments.iter().map(CommentView::from).collect(),
        }
    }
}

impl From<&TrackedComment> for CommentView {
    fn from(tracked: &TrackedComment) -> Self {
        let comment = &tracked.comment;
        Self {
            id: comment.id.to_string(),
            anchor: (&comment.anchor).into(),
            kind: comment.kind,
            text: comment.text.clone(),
            state: tracked.state,
            answer: tracked.answer.clone(),
            resolved: tracked.resolved,
        }
    }
}

impl From<&CommentAnchor> for AnchorView {
    fn from(anchor: &CommentAnchor) -> Self {
        match anchor {
            CommentAnchor::Step { step } => Self { step: Some(step.to_string()), ..Self::default() },
            CommentAnchor::Quote { quote, prefix, suffix } => Self {
                step: None,
                quote: Some(quote.clone()),
                prefix: Some(prefix.clone()),
                suffix: Some(suffix.clone()),
            },
            CommentAnchor::Plan {} => Self::default(),
        }
    }
}
