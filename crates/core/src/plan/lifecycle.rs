//! The life cycle of a plan: one table, asked by every command that touches a plan.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::refusal::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlanStatus {
    Collecting,
    Ready,
    Approved,
    Executing,
    Completed,
    PartiallyCompleted,
    Rejected,
    Cancelled,
    Superseded,
}

/// What can be attempted on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    SetContent,
    RecordStep,
    EditDraft,
    /// Finalise a collected plan, or submit a built one.
    Finalize,
    Approve,
    Reject,
    /// Begin or resume an execution; in `EXECUTING`, bring it to its end.
    Execute,
    Cancel,
}

/// What the table says about an action in a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A typed refusal; nothing changes.
    No,
    /// Allowed, and the status stays.
    Stays,
    Becomes(PlanStatus),
    /// A new plan takes its place and is `READY`; this one is `SUPERSEDED` and its run is stopped.
    Supersedes,
    /// The execution ends as `COMPLETED` or `PARTIALLY_COMPLETED`, by what was done.
    Ends,
}

#[rustfmt::skip]
const TABLE: [(PlanStatus, [Rule; 8]); 9] = {
    use PlanStatus as S;
    use Rule::{Becomes, Ends, No, Stays, Supersedes};
    const CANCELS: Rule = Becomes(S::Cancelled);
    const RUNS: Rule = Becomes(S::Executing);
    const READIES: Rule = Becomes(S::Ready);
    const APPROVES: Rule = Becomes(S::Approved);
    const REJECTS: Rule = Becomes(S::Rejected);
    [
        // status                 set content  record  edit   finalize  approve    reject    execute  cancel
        (S::Collecting,         [READIES,     Stays,  Stays, READIES,  No,        No,       No,      CANCELS]),
        (S::Ready,              [Stays,       No,     No,    No,       APPROVES,  REJECTS,  No,      CANCELS]),
        (S::Approved,           [Supersedes,  No,     No,    No,       No,        No,       RUNS,    CANCELS]),
        (S::Executing,          [Supersedes,  No,     No,    No,       No,        No,       Ends,    CANCELS]),
        (S::PartiallyCompleted, [Supersedes,  No,     No,    No,       No,        No,       RUNS,    CANCELS]),
        (S::Completed,          [No; 8]),
        (S::Rejected,           [No; 8]),
        (S::Cancelled,          [No; 8]),
        (S::Superseded,         [No; 8]),
    ]
};

impl PlanStatus {
    pub const ALL: [Self; 9] = [
        Self::Collecting,
        Self::Ready,
        Self::Approved,
        Self::Executing,
        Self::Completed,
        Self::PartiallyCompleted,
        Self::Rejected,
        Self::Cancelled,
        Self::Superseded,
    ];

    pub fn rule(self, action: Action) -> Rule {
        let (_, row) = TABLE[TABLE.iter().position(|(status, _)| *status == self).unwrap_or_default()];
        row[Action::ALL.iter().position(|known| *known == action).unwrap_or_default()]
    }

    /// Nothing can change it any more.
    pub fn is_final(self) -> bool {
        Action::ALL.iter().all(|action| self.rule(*action) == Rule::No)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Collecting => "COLLECTING",
            Self::Ready => "READY",
            Self::Approved => "APPROVED",
            Self::Executing => "EXECUTING",
            Self::Completed => "COMPLETED",
            Self::PartiallyCompleted => "PARTIALLY_COMPLETED",
            Self::Rejected => "REJECTED",
            Self::Cancelled => "CANCELLED",
            Self::Superseded => "SUPERSEDED",
        }
    }
}

impl fmt::Display for PlanStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Action {
    pub const ALL: [Self; 8] = [
        Self::SetContent,
        Self::RecordStep,
        Self::EditDraft,
        Self::Finalize,
        Self::Approve,
        Self::Reject,
        Self::Execute,
        Self::Cancel,
    ];

    const fn in_words(self) -> &'static str {
        match self {
            Self::SetContent => "its content cannot be set",
            Self::RecordStep => "no step can be recorded",
            Self::EditDraft => "its draft cannot be edited",
            Self::Finalize => "it cannot be finalised",
            Self::Approve => "it cannot be approved",
            Self::Reject => "it cannot be rejected",
            Self::Execute => "it cannot be executed",
            Self::Cancel => "it cannot be cancelled",
        }
    }
}

impl Plan {
    /// What the table says, with "no" turned into the refusal that is sent.
    pub fn permits(&self, action: Action) -> Result<Rule, Refusal> {
        match self.status.rule(action) {
            Rule::No => Err(self.wrong_status(action.in_words())),
            rule @ (Rule::Stays | Rule::Becomes(_) | Rule::Supersedes | Rule::Ends) => Ok(rule),
        }
    }

    pub(crate) fn wrong_status(&self, so: &str) -> Refusal {
        let next = match self.status {
            PlanStatus::Collecting => "it is still being drafted",
            PlanStatus::Ready => "it waits for a person's decision",
            PlanStatus::Approved => "it is approved",
            PlanStatus::Executing => "it is being executed",
            PlanStatus::PartiallyCompleted => "it can be resumed",
            PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled => {
                "it is finished; turning plan work on begins the next one"
            }
            PlanStatus::Superseded => "another plan took its place",
        };
        Refusal::wrong_status(format!("Plan {} is {}, so {so}: {next}.", self.number, self.status))
    }
}
