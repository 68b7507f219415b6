//! How a plan comes into a session: newly begun, in place of another one, or imported.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::PlanId;
use crate::plan::content::PlanContent;
use crate::plan::execution::Execution;
use crate::plan::{LegacyOrigin, PlanStatus, PlanStyle, Round};

/// A new plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creation {
    pub plan: PlanId,
    pub number: u32,
    pub style: PlanStyle,
    /// Set if it replaces another plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<Predecessor>,
    /// Set if it is a round of recorded calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Box<Round>>,
}

/// The plan that a new one replaces, and what the new one takes over from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predecessor {
    pub of: PlanId,
    pub title: Option<String>,
    pub content: PlanContent,
    pub steps_made: u32,
}

/// A plan of the older format, translated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedPlan {
    pub id: PlanId,
    pub status: PlanStatus,
    pub title: Option<String>,
    pub content: PlanContent,
    pub execution: Option<Execution>,
    pub origin: LegacyOrigin,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
