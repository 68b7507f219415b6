//! `planwright.toml` as it is written. Every key has a variable: `limits.steps` is `PLANWRIGHT_LIMITS_STEPS`.
//! Only the descriptions of agents have none.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use planwright_core::policy::{DocumentTools, OnFailure, StandingApproval};
use serde::Deserialize;

use super::agents::AgentsSection;
use super::planning_files::PlanningFilesSection;
use super::reply::ReplySection;
use super::server::ServerSection;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) database: Option<String>,
    pub(super) agents: Option<AgentsSection>,
    pub(super) model: Option<String>,
    pub(super) context_tokens: Option<NonZeroU32>,
    #[serde(default)]
    pub(super) plan: PlanSection,
    #[serde(default)]
    pub(super) turn: TurnSection,
    #[serde(default)]
    pub(super) reply: ReplySection,
    #[serde(default)]
    pub(super) limits: LimitsSection,
    #[serde(default)]
    pub(super) server: ServerSection,
    #[serde(default)]
    pub(super) planning_files: PlanningFilesSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanSection {
    pub(super) tools: Option<DocumentTools>,
    pub(super) on_failure: Option<OnFailure>,
    pub(super) standing_approval: Option<StandingApproval>,
    pub(super) nudges: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnSection {
    pub(super) model_calls: Option<NonZeroU32>,
    pub(super) tool_calls: Option<NonZeroU32>,
    pub(super) tokens: Option<NonZeroU64>,
    pub(super) seconds: Option<NonZeroU32>,
    pub(super) tool_seconds: Option<NonZeroU32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsSection {
    pub(super) plan_bytes: Option<NonZeroUsize>,
    pub(super) steps: Option<NonZeroUsize>,
    pub(super) message_bytes: Option<NonZeroUsize>,
}
