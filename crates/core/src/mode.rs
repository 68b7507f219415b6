//! Plan mode belongs to one session and says whether plan work is on, in which style, and on which plan.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::identity::SessionIdentity;
use crate::ids::PlanId;
use crate::plan::PlanStyle;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanModeState {
    pub session: SessionIdentity,
    pub enabled: bool,
    pub style: PlanStyle,
    pub active_plan: Option<PlanId>,
    pub updated_at: Timestamp,
}

impl PlanModeState {
    pub fn off(session: SessionIdentity, at: Timestamp) -> Self {
        Self { session, enabled: false, style: PlanStyle::Document, active_plan: None, updated_at: at }
    }
}

/// Why plan mode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeEnd {
    /// `/plan off`: the plan is parked as it is.
    Off,
    /// `/plan done`: plan work is over.
    Done,
    /// `/reset`: the conversation starts afresh.
    Reset,
    /// A collected plan was finalised without a single step.
    NothingCollected,
}
