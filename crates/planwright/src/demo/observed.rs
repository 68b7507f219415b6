//! The answers of the program, read: what a command printed, and a plan as `plan show --json` has it.

use std::fmt;

use planwright_core::plan::execution::StepStatus;
use serde_json::Value;

/// The result of a command.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// What a person reads of it: errors and notes if there are any, else the answer.
    pub(super) fn message(&self) -> &str {
        if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_default()
    }

    /// The answer of the MCP server to the call of a tool, which is the last line.
    pub(super) fn called(&self) -> Value {
        let last: Value =
            self.stdout.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        last["result"]["structuredContent"].clone()
    }
}

/// A plan as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenPlan {
    pub(super) status: String,
    pub(super) version: u64,
    pub(super) digest: String,
    pub(super) steps: Vec<String>,
    pub(super) done: usize,
}

impl SeenPlan {
    /// `None` if it is not the answer of `plan show --json`.
    pub(super) fn read(answer: &Value) -> Option<Self> {
        let steps = answer["steps"].as_array()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            status: text(&answer["status"])?,
            version: answer["version"].as_u64()?,
            digest: text(&answer["digest"])?,
            steps: steps.iter().map(|step| text(&step["description"])).collect::<Option<_>>()?,
            done: steps.iter().filter(|step| step["status"] == StepStatus::Completed.as_str()).count(),
        })
    }

    pub(super) fn short_digest(&self) -> &str {
        short(&self.digest)
    }
}

impl fmt::Display for SeenPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, version {}, digest {}…: {}",
            self.status,
            self.version,
            self.short_digest(),
            self.steps.join(", ")
        )
    }
}

/// The first characters of a digest, for people.
pub(super) fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
