//! The life cycle of a plan: one table, asked by every command that touches a plan.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::{Plan, PlanEvent, PlanStyle};
use crate::refusal::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// Ask for changes.
    Revise,
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
    /// A new plan takes its place; this one is `SUPERSEDED` and its execution is stopped.
    Supersedes,
    /// A document stays and is overwritten; a plan of another style is superseded.
    Redrafts,
    /// The execution ends as `COMPLETED` or `PARTIALLY_COMPLETED`, by what was done.
    Ends,
}

impl PlanStatus {
    /// The life cycle, as one table.
    #[rustfmt::skip]
    pub const fn rule(self, action: Action) -> Rule {
        use Rule::{Ends, No, Redrafts, Stays, Supersedes};
        const CANCELS: Rule = Rule::Becomes(PlanStatus::Cancelled);
        const RUNS: Rule = Rule::Becomes(PlanStatus::Executing);
        const READIES: Rule = Rule::Becomes(PlanStatus::Ready);
        const APPROVES: Rule = Rule::Becomes(PlanStatus::Approved);
        const REJECTS: Rule = Rule::Becomes(PlanStatus::Rejected);
        let [set_content, record_step, edit_draft, finalize, approve, reject, revise, execute, cancel] = match self {
            //                           set content  record  edit   finalize  approve   reject   revise      execute  cancel
            Self::Collecting         => [READIES,     Stays,  Stays, READIES,  No,       No,      Stays,      No,      CANCELS],
            Self::Ready              => [Stays,       No,     No,    No,       APPROVES, REJECTS, Redrafts,   No,      CANCELS],
            Self::Approved           => [Supersedes,  No,     No,    No,       No,       No,      Supersedes, RUNS,    CANCELS],
            Self::Executing          => [Supersedes,  No,     No,    No,       No,       No,      Supersedes, Ends,    CANCELS],
            Self::PartiallyCompleted => [Supersedes,  No,     No,    No,       No,       No,      Supersedes, RUNS,    CANCELS],
            Self::Completed | Self::Rejected | Self::Cancelled | Self::Superseded => [No; 9],
        };
        match action {
            Action::SetContent => set_content,
            Action::RecordStep => record_step,
            Action::EditDraft => edit_draft,
            Action::Finalize => finalize,
            Action::Approve => approve,
            Action::Reject => reject,
            Action::Revise => revise,
            Action::Execute => execute,
            Action::Cancel => cancel,
        }
    }

    /// The status after an event. An event is only written where the table permits its action, so the status stays
    /// where the table says no.
    pub(crate) fn after(self, event: &PlanEvent) -> Self {
        let action = match event {
            PlanEvent::ContentSet { .. } => Action::SetContent,
            PlanEvent::StepRecorded { .. } => Action::RecordStep,
            PlanEvent::MetadataSet { .. }
            | PlanEvent::StepAdded { .. }
            | PlanEvent::StepUpdated { .. }
            | PlanEvent::StepRemoved { .. } => Action::EditDraft,
            PlanEvent::Finalized { .. } => Action::Finalize,
            PlanEvent::Approved { .. } => Action::Approve,
            PlanEvent::Rejected { .. } => Action::Reject,
            PlanEvent::Cancelled { .. } => Action::Cancel,
            PlanEvent::ExecutionStarted { .. } | PlanEvent::ExecutionFinished { .. } => Action::Execute,
            // New content and a request for changes both supersede a plan; the request does so wherever content does.
            PlanEvent::Superseded { .. } => Action::Revise,
            // The request is written for the plan that is to be changed: this one, or the new one in its place.
            PlanEvent::RevisionRequested { .. }
            | PlanEvent::ApprovalSigned { .. }
            | PlanEvent::ExecutionPaused { .. }
            | PlanEvent::ExecutionResumed { .. }
            | PlanEvent::StepBegun { .. }
            | PlanEvent::StepEnded { .. }
            | PlanEvent::PermissionsCounted { .. } => return self,
        };
        match self.rule(action) {
            Rule::Becomes(status) => status,
            Rule::Supersedes | Rule::Redrafts => Self::Superseded,
            Rule::Ends => match event {
                PlanEvent::ExecutionFinished { status, .. } => *status,
                _ => self,
            },
            Rule::No | Rule::Stays => self,
        }
    }
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
    pub const ALL: [Self; 9] = [
        Self::SetContent,
        Self::RecordStep,
        Self::EditDraft,
        Self::Finalize,
        Self::Approve,
        Self::Reject,
        Self::Revise,
        Self::Execute,
        Self::Cancel,
    ];

    const fn describe(self) -> &'static str {
        match self {
            Self::SetContent => "its content cannot be set",
            Self::RecordStep => "no step can be recorded",
            Self::EditDraft => "its draft cannot be edited",
            Self::Finalize => "it cannot be finalised",
            Self::Approve => "it cannot be approved",
            Self::Reject => "it cannot be rejected",
            Self::Revise => "there is nothing to revise",
            Self::Execute => "it cannot be executed",
            Self::Cancel => "it cannot be cancelled",
        }
    }
}

impl Plan {
    /// What the table says for a plan of this style, with "no" turned into the refusal that is sent.
    pub fn permits(&self, action: Action) -> Result<Rule, Refusal> {
        match self.status.rule(action) {
            Rule::No => Err(self.wrong_status(action.describe())),
            Rule::Redrafts => match self.style() {
                PlanStyle::Document => Ok(Rule::Stays),
                PlanStyle::Collect | PlanStyle::Build => Ok(Rule::Supersedes),
            },
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
