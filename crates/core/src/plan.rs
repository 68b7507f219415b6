//! A plan: what is to be done, in one of three styles, and how far its life has come.

pub mod approval;
pub mod commands;
pub mod completeness;
pub mod content;
pub mod creation;
pub mod diff;
pub mod digest;
pub mod event;
pub mod execution;
pub mod export;
mod files;
pub mod hidden;
pub mod lifecycle;
pub mod markdown;
pub mod needs;
pub mod reference;
pub mod review;
pub mod risk;
pub mod round;
pub mod signed;
pub mod template;
pub mod text;
pub mod waiting;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::copy_on_write::CopyOnWrite;
use crate::identity::{SessionIdentity, TransportChat};
use crate::ids::{PlanId, StepId};
use crate::refusal::Refusal;
use crate::wire::text_enum;

pub use approval::{Approval, ApprovalSignature, IncompleteApproval, SignedApproval};
pub use content::{PlanContent, PlanStep};
pub use digest::Digest;
pub use event::{PlanChange, PlanEvent, Touches};
pub use execution::Execution;
pub use lifecycle::PlanStatus;
pub use needs::PlanNeeds;
pub use round::Round;

text_enum! {
    pub enum PlanStyle or "is not a plan style; styles are" {
        /// One Markdown document is the plan.
        Document = "document",
        /// Tool calls are recorded as steps instead of being run.
        Collect = "collect",
        /// A draft is built piece by piece and handed to specialists, step by step.
        Build = "build",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub id: PlanId,
    pub session: SessionIdentity,
    /// Its number in the session, from 1.
    pub number: u32,
    pub status: PlanStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub content: PlanContent,
    /// Counts the texts of a document; 0 while there is none. The other styles freeze one version when they are ready.
    pub version: u32,
    /// Counts the steps ever added, so that ids are never used twice.
    pub steps_made: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<PlanId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<PlanId>,
    /// What a person asked to be changed, until new content answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<CopyOnWrite<Approval>>,
    /// An approval that needs more people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_approval: Option<CopyOnWrite<IncompleteApproval>>,
    /// Why it was rejected or cancelled, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<PlanEnding>,
    /// The latest execution; earlier ones are in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// Set on rounds of recorded calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Box<Round>>,
    /// Set on plans taken over from the older format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<LegacyOrigin>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    pub by: Actor,
    pub at: Timestamp,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEnding {
    pub by: Actor,
    pub at: Timestamp,
    pub reason: Option<String>,
}

/// What the older format knew about a plan and the plan itself has no place for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyOrigin {
    pub transport_chat: Option<TransportChat>,
    pub description: Option<String>,
    pub model_tier: Option<String>,
}

impl Plan {
    /// A plan at the very beginning of its life.
    pub fn begun(id: PlanId, session: SessionIdentity, number: u32, style: PlanStyle, at: Timestamp) -> Self {
        Self {
            id,
            session,
            number,
            status: PlanStatus::Collecting,
            title: None,
            content: PlanContent::empty(style),
            version: 0,
            steps_made: 0,
            supersedes: None,
            superseded_by: None,
            feedback: None,
            approval: None,
            incomplete_approval: None,
            ending: None,
            execution: None,
            round: None,
            origin: None,
            created_at: at,
            updated_at: at,
        }
    }

    pub fn style(&self) -> PlanStyle {
        self.content.style()
    }

    pub fn digest(&self) -> Digest {
        Digest::of(self)
    }

    /// Nothing was ever put into it, by an agent or a person, so nothing is lost when it is used again or cancelled.
    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.content.is_empty() && self.feedback.is_none() && self.supersedes.is_none()
    }

    /// Its size in bytes of text: its content and the reports on its steps.
    pub fn size(&self) -> usize {
        self.content.size() + self.execution.as_ref().map_or(0, Execution::size)
    }

    /// Whether it is a document with exactly this text and title.
    pub(crate) fn says(&self, markdown: &str, title: Option<&str>) -> bool {
        let same = matches!(&self.content, PlanContent::Document(document) if document.markdown == markdown);
        same && self.title.as_deref() == title
    }

    /// The title it was given, or what its text says first.
    pub fn display_title(&self) -> String {
        self.title
            .clone()
            .or_else(|| self.content.excerpt())
            .or_else(|| self.round.as_ref().map(|round| format!("Round {} of plan {}", round.number, round.plan)))
            .or_else(|| self.origin.as_ref()?.description.clone())
            .unwrap_or_else(|| "Untitled plan".to_owned())
    }

    /// Whether its execution waits for a person.
    pub fn is_paused(&self) -> bool {
        self.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some())
    }

    /// Whether the next open step is a recorded call that the agent of another program makes itself.
    pub fn waits_for_client(&self) -> bool {
        let open = |run: &&execution::StepState| {
            matches!(run.status, execution::StepStatus::Pending | execution::StepStatus::InProgress)
        };
        let next = self.execution.as_ref().and_then(|execution| execution.steps.iter().find(open));
        match (&self.content, next) {
            (PlanContent::Collect(collected), Some(next)) => {
                let call = collected.steps.iter().find(|call| call.id == next.step);
                call.is_some_and(|call| call.runner == content::CallRunner::Client)
            }
            (PlanContent::Document(_) | PlanContent::Build(_), _) | (PlanContent::Collect(_), None) => false,
        }
    }

    /// A plan of the older format keeps its steps' own ids, and those may look like ours: they are stepped over.
    pub(crate) fn next_step_id(&self) -> StepId {
        let mut n = self.steps_made.saturating_add(1);
        while self.content.has_step(&StepId::nth(n)) && n < u32::MAX {
            n += 1;
        }
        StepId::nth(n)
    }
}
