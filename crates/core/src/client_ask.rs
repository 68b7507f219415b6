//! Calls of a client's own tools that a person is asked about in Planwright's inbox. The client's hook asks while a plan is
//! approved, the agent makes the call again once it is permitted, and all of it ends with the plan.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ask::{Ask, AskAnswer, AskState, AskSubject, CallToPermit};
use crate::ids::{AskId, PlanId};
use crate::plan::Digest;
use crate::plan::digest::is_same;

/// How many such calls a session remembers at most.
pub(crate) const MAX_CLIENT_ASKS: usize = 100;

/// A call that a person is asked about, or has answered about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientAsk {
    pub ask: Ask,
    /// The plan that it was asked beside.
    pub plan: PlanId,
}

impl ClientAsk {
    pub(crate) fn new(id: AskId, digest: Digest, asked: CallToPermit, plan: PlanId, asked_at: Timestamp) -> Self {
        let subject = AskSubject::Permission(asked);
        Self { ask: Ask { id, call: 0, asked_at, subject, digest, state: AskState::Waiting }, plan }
    }

    /// Whether it is about exactly this call, on the same files.
    pub fn is_about(&self, made: &CallToPermit) -> bool {
        match &self.ask.subject {
            AskSubject::Permission(call) => {
                call.tool == made.tool && call.paths == made.paths && is_same(&call.arguments, &made.arguments)
            }
            AskSubject::Questions { .. } => false,
        }
    }

    /// What the person answered.
    pub fn answer(&self) -> Option<&AskAnswer> {
        self.ask.answer()
    }
}

/// The fingerprint of what a person is shown, for this ask only.
pub(crate) fn digest(ask: &AskId, plan: &PlanId, asked: &CallToPermit) -> Digest {
    let mut call = json!({ "tool": asked.tool, "arguments": asked.arguments });
    if !asked.paths.is_empty() {
        call["paths"] = json!(asked.paths);
    }
    Digest::of_value("planwright-client-ask-v1", &json!({ "ask": ask, "plan": plan, "asks": call }))
}
