//! A refusal is a typed "no": it says why in words and in a code, and nothing has changed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The codes that programs rely on. They are part of the public contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefusalCode {
    PolicyDenied,
    InvalidArgument,
    NotFound,
    WrongStatus,
    StaleApproval,
    Conflict,
    LimitExceeded,
    UnknownAgent,
    Unauthenticated,
    Unavailable,
    Internal,
}

impl RefusalCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PolicyDenied => "POLICY_DENIED",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::NotFound => "NOT_FOUND",
            Self::WrongStatus => "WRONG_STATUS",
            Self::StaleApproval => "STALE_APPROVAL",
            Self::Conflict => "CONFLICT",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::UnknownAgent => "UNKNOWN_AGENT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Unavailable => "UNAVAILABLE",
            Self::Internal => "INTERNAL",
        }
    }

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

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong, and where: `path` is a JSON pointer such as `/steps/2/agent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
