//! The life cycle of a plan: one table, asked by every command that touches a plan.

use crate::plan::{Plan, PlanEvent, PlanStyle};
use crate::refusal::Refusal;
use crate::wire::text_enum;

text_enum! {
    pub enum PlanStatus {
        Collecting = "COLLECTING",
        Ready = "READY",
        Approved = "APPROVED",
        Executing = "EXECUTING",
        Completed = "COMPLETED",
        PartiallyCompleted = "PARTIALLY_COMPLETED",
        Rejected = "REJECTED",
        Cancelled = "CANCELLED",
        Superseded = "SUPERSEDED",
    }
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
        let Some(action) = event.touches().action else { return self };
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

    /// Nothing can change it any more.
    pub fn is_final(self) -> bool {
        Action::ALL.iter().all(|action| self.rule(*action) == Rule::No)
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
