//! What happens to a plan that exists.

use crate::ids::{ExecutionId, PlanId, StepId};
use crate::plan::approval::{Approval, IncompleteApproval};
use crate::plan::content::{AgentStep, MetadataChange, RecordedCall};
use crate::plan::execution::{Brake, Execution, PermissionCounts, StepOutcome, StepPause};
use crate::plan::lifecycle::PlanStatus;
use crate::wire::events;

events! {
    pub enum PlanEvent {
        "content_set" ContentSet {
            markdown: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            title: Option<String>,
        },
        "step_recorded" StepRecorded { step: RecordedCall },
        "metadata_set" MetadataSet { change: MetadataChange },
        "step_added" StepAdded { index: usize, step: AgentStep },
        "step_updated" StepUpdated { index: usize, step: AgentStep },
        "step_removed" StepRemoved { step: StepId },
        "plan_finalized" Finalized { summary: Option<String> },

        "plan_approved" Approved { approval: Approval },
        /// One of several people approved it. It waits for the others.
        "approval_signed" ApprovalSigned { signed: IncompleteApproval },
        "plan_rejected" Rejected { reason: Option<String> },
        "revision_requested" RevisionRequested { feedback: String },
        "plan_cancelled" Cancelled { reason: Option<String> },
        "plan_superseded" Superseded { by: PlanId },

        "execution_started" ExecutionStarted { execution: Execution },
        /// No process works on it any more; it waits for a person. `idle_turns` counts the turns in a row that the
        /// system began for it, none of which recorded any progress. `after_step` is the step that the person looks at
        /// before the next one begins.
        "execution_paused" ExecutionPaused {
            execution: ExecutionId,
            idle_turns: u32,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            after_step: Option<StepPause>,
            /// Absent in entries of earlier versions.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            brake: Option<Brake>,
        },
        /// A person asked for a paused execution to continue.
        "execution_resumed" ExecutionResumed { execution: ExecutionId },
        "step_begun" StepBegun {
            execution: ExecutionId,
            step: StepId,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
        },
        "step_ended" StepEnded {
            execution: ExecutionId,
            step: StepId,
            outcome: StepOutcome,
            /// How the call of a recorded step was permitted.
            #[serde(default, skip_serializing_if = "PermissionCounts::is_zero")]
            permissions: PermissionCounts,
        },
        /// How a call that a turn made for this step was permitted.
        "permissions_counted" PermissionsCounted {
            execution: ExecutionId,
            step: StepId,
            permissions: PermissionCounts,
        },
        "execution_finished" ExecutionFinished { execution: ExecutionId, status: PlanStatus },
    }
}

/// Which part of a plan an event changes. The time of the plan's last change always changes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanChange<'a> {
    /// Anything but the states of its execution's steps.
    Plan,
    /// The plan and the state of each of its steps.
    Everything,
    /// The state of this one step.
    Run(&'a StepId),
    /// Whether its execution waits for a person.
    Pause,
}

impl PlanEvent {
    pub const fn change(&self) -> PlanChange<'_> {
        match self {
            Self::ContentSet { .. }
            | Self::StepRecorded { .. }
            | Self::MetadataSet { .. }
            | Self::StepAdded { .. }
            | Self::StepUpdated { .. }
            | Self::StepRemoved { .. }
            | Self::Finalized { .. }
            | Self::Approved { .. }
            | Self::ApprovalSigned { .. }
            | Self::Rejected { .. }
            | Self::RevisionRequested { .. }
            | Self::Cancelled { .. }
            | Self::Superseded { .. }
            | Self::ExecutionFinished { .. } => PlanChange::Plan,
            Self::ExecutionStarted { .. } => PlanChange::Everything,
            Self::ExecutionPaused { .. } | Self::ExecutionResumed { .. } => PlanChange::Pause,
            Self::StepBegun { step, .. } | Self::StepEnded { step, .. } | Self::PermissionsCounted { step, .. } => {
                PlanChange::Run(step)
            }
        }
    }
}
