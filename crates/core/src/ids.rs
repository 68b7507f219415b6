//! Every id has its own type, so that one cannot be passed where another is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

const MAX_ID: usize = 128;

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[cfg_attr(feature = "schema", schema(pattern = "^[a-zA-Z0-9._:-]{1,128}$", min_length = 1, max_length = 128))]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Result<Self, Refusal> {
                let text = text.into();
                let fits = !text.is_empty()
                    && text.len() <= MAX_ID
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
                if fits {
                    Ok(Self(text))
                } else {
                    Err(Refusal::invalid(format!(
                        "{} is not an id: 1 to {MAX_ID} letters, digits, '-', '_', '.' or ':'",
                        crate::visible::quoted(&text),
                    )))
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Refusal;
            fn try_from(text: String) -> Result<Self, Refusal> {
                Self::new(text)
            }
        }
    )+};
}

text_ids! {
    /// One plan, unique in the whole store.
    PlanId,
    /// One step of a plan, unique in the plan and never used again after the step is removed.
    StepId,
    /// One comment of a review, unique in the review.
    CommentId,
    /// One execution of a plan.
    ExecutionId,
    /// One turn of a conversation.
    TurnId,
    /// One ask of a turn to a person.
    AskId,
    /// One command as it was sent: the same request is never carried out twice.
    RequestId,
    /// One memory item, unique in the whole store.
    MemoryId,
    /// One goal of a session.
    GoalId,
    /// One task, unique in the whole store.
    TaskId,
    /// One run of the agent by itself.
    RunId,
    /// One schedule of a session.
    ScheduleId,
}

/// How many characters of an id people are shown; any piece this long also names the plan, if it is unique.
const SHORT_LENGTH: usize = 8;

impl PlanId {
    /// The end of the id, where time-ordered ids differ from each other.
    pub fn short(&self) -> &str {
        &self.0[self.0.len().saturating_sub(SHORT_LENGTH)..]
    }
}

/// What a request makes is named after the request, so that a repeated request cannot make a second one.
impl From<&RequestId> for PlanId {
    fn from(request: &RequestId) -> Self {
        Self(request.0.clone())
    }
}

impl From<&RequestId> for MemoryId {
    fn from(request: &RequestId) -> Self {
        Self(request.0.clone())
    }
}

macro_rules! named_after_request {
    ($($name:ident),+) => {$(
        impl From<&RequestId> for $name {
            fn from(request: &RequestId) -> Self {
                Self(request.0.clone())
            }
        }

        impl $name {
            /// The end of the id, where time-ordered ids differ from each other.
            pub fn short(&self) -> &str {
                &self.0[self.0.len().saturating_sub(SHORT_LENGTH)..]
            }
        }
    )+};
}

named_after_request!(GoalId, TaskId, RunId, ScheduleId);

impl MemoryId {
    /// The id of the memory that an offer would become.
    pub(crate) fn of_offer(digest: &str) -> Self {
        Self(format!("offer-{digest}"))
    }

    /// The end of the id, where time-ordered ids differ from each other.
    pub fn short(&self) -> &str {
        &self.0[self.0.len().saturating_sub(SHORT_LENGTH)..]
    }
}

impl From<&RequestId> for AskId {
    fn from(request: &RequestId) -> Self {
        Self(request.0.clone())
    }
}

impl From<&RequestId> for TurnId {
    fn from(request: &RequestId) -> Self {
        Self(request.0.clone())
    }
}

impl RequestId {
    /// The request that a call of a turn makes. It is always the same one, so that a call that is made again after a
    /// crash is not carried out again.
    pub fn of_call(turn: &TurnId, call: u32) -> Self {
        Self::within(turn.as_str(), &format!("call {call}"))
    }

    /// The request that records the outcome of a call, or with number 0 what precedes the calls; for the same
    /// reason always the same one.
    pub fn of_note(turn: &TurnId, call: u32) -> Self {
        Self::within(turn.as_str(), &format!("note {call}"))
    }

    /// The request that asks a person about a call.
    pub fn of_ask(turn: &TurnId, call: u32) -> Self {
        Self::within(turn.as_str(), &format!("ask {call}"))
    }

    /// The request that records the outcome of an attempt at a step. It is always the same one for that attempt.
    pub fn of_step_note(execution: &ExecutionId, step: &StepId, attempt: usize) -> Self {
        Self::within(execution.as_str(), &format!("note {step} {attempt}"))
    }

    /// The name of a recorded call in one attempt at its step; for the same reason always the same one.
    pub fn of_step_call(execution: &ExecutionId, step: &StepId, attempt: usize) -> Self {
        Self::within(execution.as_str(), &format!("call {step} {attempt}"))
    }

    fn within(whole: &str, part: &str) -> Self {
        use sha2::{Digest as _, Sha256};
        const HEAD: usize = 18;
        let hash: [u8; 32] = Sha256::new().chain_update(whole).chain_update(" ").chain_update(part).finalize().into();
        // The beginning of a time-ordered id keeps what belongs together together in the store.
        let head = whole.get(..HEAD).unwrap_or(whole);
        let [a, b, c, d, e, f, g, h, ..] = hash;
        Self(format!("{head}-{:016x}", u64::from_be_bytes([a, b, c, d, e, f, g, h])))
    }
}

impl From<&RequestId> for ExecutionId {
    fn from(request: &RequestId) -> Self {
        Self(request.0.clone())
    }
}

/// A plan of the older format has one execution and no name for it.
impl From<&PlanId> for ExecutionId {
    fn from(plan: &PlanId) -> Self {
        Self(plan.0.clone())
    }
}

impl StepId {
    /// The n-th step ever added to a plan.
    pub(crate) fn nth(n: u32) -> Self {
        Self(format!("s{n}"))
    }

    /// Whether it looks like one that [`nth`](Self::nth) makes.
    pub(crate) fn is_made_here(&self) -> bool {
        self.0.strip_prefix('s').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    }
}
