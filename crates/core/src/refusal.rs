//! A refusal is a typed "no": it says why in words and in a code, and nothing has changed.

use serde::{Deserialize, Serialize};

use crate::visible::quoted;
use crate::wire::text_enum;

text_enum! {
    /// The codes that programs rely on. They are part of the public contract.
    pub enum RefusalCode {
        PolicyDenied = "POLICY_DENIED",
        InvalidArgument = "INVALID_ARGUMENT",
        NotFound = "NOT_FOUND",
        WrongStatus = "WRONG_STATUS",
        StaleApproval = "STALE_APPROVAL",
        Conflict = "CONFLICT",
        LimitExceeded = "LIMIT_EXCEEDED",
        UnknownAgent = "UNKNOWN_AGENT",
        Unauthenticated = "UNAUTHENTICATED",
        Unavailable = "UNAVAILABLE",
        Internal = "INTERNAL",
    }
}

impl RefusalCode {
    /// Whether Planwright itself could not work. Every other code is about the request.
    pub const fn is_failure(self) -> bool {
        match self {
            Self::Unavailable | Self::Internal => true,
            Self::PolicyDenied
            | Self::InvalidArgument
            | Self::NotFound
            | Self::WrongStatus
            | Self::StaleApproval
            | Self::Conflict
            | Self::LimitExceeded
            | Self::UnknownAgent
            | Self::Unauthenticated => false,
        }
    }
}

/// One thing that is wrong, and where: `path` is a JSON pointer such as `/steps/2/agent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ProblemDetail))]
pub struct Problem {
    pub path: String,
    pub message: String,
}

impl Problem {
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub code: RefusalCode,
    pub message: String,
    /// Every single problem, where there can be several at once; empty otherwise.
    #[serde(default, rename = "errors", skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl Refusal {
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new() }
    }

    pub fn with_problems(mut self, problems: Vec<Problem>) -> Self {
        self.problems = problems;
        self
    }

    pub fn policy_denied(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::PolicyDenied, message)
    }

    /// For a text that is none of the known ones.
    pub(crate) fn not_among(text: &str, refusal: &str, known: &[&str]) -> Self {
        let (last, others) = known.split_last().unwrap_or((&"", &[]));
        Self::invalid(format!("{} {refusal} {} and {last}", quoted(text), others.join(", ")))
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::InvalidArgument, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::NotFound, message)
    }

    pub fn wrong_status(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::WrongStatus, message)
    }

    pub fn stale(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::StaleApproval, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::Conflict, message)
    }

    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::LimitExceeded, message)
    }
}
