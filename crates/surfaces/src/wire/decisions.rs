//! Decisions about a plan as JSON.

use jiff::Timestamp;
use planwright_core::plan::execution::StepStatus;
use planwright_core::presence::Presence;
use planwright_engine::history::{DecisionMade, PlanDecision};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApprovalView, SignatureView, SkippedView};

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionView {
    pub seq: u64,
    pub at: Timestamp,
    pub decision: &'static str,
    pub by: String,
    /// `person`, or `policy` for a standing rule.
    pub given: &'static str,
    pub through: String,
    /// How the person was recognised: `verified`, `terminal`, `browser`, `token`, `channel` or `rule`. `null` if it was
    /// not recorded.
    #[schema(required = true)]
    pub presence: Option<&'static str>,
    /// The positions of the steps it is about, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedView>,
    /// The signatures on an approval so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<SignatureView>,
    /// The new status of a step whose result was unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<StepStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
    /// The note, the reason or what is to be changed.
    #[schema(required = true)]
    pub note: Option<String>,
}

impl From<&PlanDecision> for DecisionView {
    fn from(decided: &PlanDecision) -> Self {
        let mut view = Self {
            seq: decided.seq,
            at: decided.at,
            decision: decided.what.name(),
            by: decided.by.name.clone(),
            given: decided.by.kind.as_str(),
            through: decided.by.through.clone(),
            presence: decided.by.presence.as_ref().map(Presence::as_str),
            steps: Vec::new(),
            skipped: Vec::new(),
            signatures: Vec::new(),
            status: None,
            digest: None,
            note: None,
        };
        match &decided.what {
            DecisionMade::Approved { approval, steps } => {
                let approval = ApprovalView::from(approval.as_ref());
                view.steps.clone_from(steps);
                view.signatures = approval.signatures;
                (view.skipped, view.note, view.digest) = (approval.skipped, approval.note, Some(approval.digest));
            }
            DecisionMade::ApprovalSigned { signed, steps } => {
                let approval = ApprovalView::from(&signed.approval);
                view.steps.clone_from(steps);
                view.signatures = approval.signatures;
                (view.skipped, view.note, view.digest) = (approval.skipped, approval.note, Some(approval.digest));
            }
            DecisionMade::Rejected { reason } | DecisionMade::Cancelled { reason } => view.note.clone_from(reason),
            DecisionMade::RevisionRequested { feedback } => view.note = Some(feedback.clone()),
            DecisionMade::Settled { position, status, note } => {
                view.steps.extend(position);
                (view.status, view.note) = (Some(*status), note.clone());
            }
        }
        view
    }
}
