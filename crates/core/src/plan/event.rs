//! What happens to a plan that exists.

use crate::ids::{ExecutionId, PlanId, RunId, StepId};
use crate::plan::approval::{Approval, IncompleteApproval};
use crate::plan::content::{AgentStep, MetadataChange, RecordedCall};
use crate::plan::execution::{Brake, Execution, PermissionCounts, StepOutcome, StepPause};
use crate::plan::lifecycle::{Action, PlanStatus};
use crate::wire::events;

events! {
    pub enum PlanEvent {
        "content_set" ContentSet {
            markdown: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            title: Option<String>,
        } => { action: Action::SetContent },
        "step_recorded" StepRecorded { step: RecordedCall } => { action: Action::RecordStep },
        "metadata_set" MetadataSet { change: MetadataChange } => { action: Action::EditDraft },
        "step_added" StepAdded { index: usize, step: AgentStep } => { action: Action::EditDraft },
        "step_updated" StepUpdated { index: usize, step: AgentStep } => { action: Action::EditDraft },
        "step_removed" StepRemoved { step: StepId } => { action: Action::EditDraft },
        "plan_finalized" Finalized { summary: Option<String> } => { action: Action::Finalize },

        "plan_approved" Approved { approval: Approval } => { action: Action::Approve, audit: "a plan was approved" },
        /// One of several people approved it. It waits for the others.
        "approval_signed" ApprovalSigned { signed: IncompleteApproval } => {
            audit: "one of several people approved a plan",
        },
        "plan_rejected" Rejected { reason: Option<String> } => {
            action: Action::Reject,
            audit: "a plan was rejected",
        },
        // The request is written for the plan that is to be changed: this one, or the new one in its place.
        "revision_requested" RevisionRequested { feedback: String },
        "plan_cancelled" Cancelled { reason: Option<String> } => {
            action: Action::Cancel,
            ends_work: true,
            audit: "a plan was cancelled",
        },
        // New content and a request for changes both supersede a plan; the request does so wherever content does.
        "plan_superseded" Superseded { by: PlanId } => { action: Action::Revise, ends_work: true },

        "execution_started" ExecutionStarted { execution: Execution } => {
            plan_change: PlanChange::Everything,
            action: Action::Execute,
            audit: "a plan is being carried out",
        },
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
        } => { plan_change: PlanChange::Pause, audit: "an execution is paused" },
        /// A person asked for a paused execution to continue.
        "execution_resumed" ExecutionResumed { execution: ExecutionId } => {
            plan_change: PlanChange::Pause,
            audit: "an execution was resumed",
        },
        "step_begun" StepBegun {
            execution: ExecutionId,
            step: StepId,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
        } => { plan_change: PlanChange::Run(step) },
        "step_ended" StepEnded {
            execution: ExecutionId,
            step: StepId,
            outcome: StepOutcome,
            /// How the call of a recorded step was permitted.
            #[serde(default, skip_serializing_if = "PermissionCounts::is_zero")]
            permissions: PermissionCounts,
        } => { plan_change: PlanChange::Run(step) },
        /// How a call that a turn made for this step was permitted.
        "permissions_counted" PermissionsCounted {
            execution: ExecutionId,
            step: StepId,
            permissions: PermissionCounts,
        } => { plan_change: PlanChange::Run(step) },
        "execution_finished" ExecutionFinished { execution: ExecutionId, status: PlanStatus } => {
            action: Action::Execute,
            ends_work: true,
            audit: "a plan was carried out",
        },
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

/// What an event touches besides the state of its subject. Each event declares it in `events!`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Touches<'a> {
    /// The plan that the entry is listed with. Entries without one belong to the conversation.
    pub plan: Option<&'a PlanId>,
    /// Which part of that plan changes.
    pub plan_change: Option<PlanChange<'a>>,
    /// Whether the session has that plan from now on.
    pub adds_plan: bool,
    /// The action of the life cycle that the event stands for.
    pub action: Option<Action>,
    /// Whether nothing is left to be done for the plan.
    pub ends_work: bool,
    /// Whether it is progress of a run. What a plan's event moves depends on the plan.
    pub progress: bool,
    /// The run that it is about.
    pub run: Option<&'a RunId>,
    /// What the log tells operators. Events that happen many times in a turn, or that a person reads elsewhere, have none.
    pub audit: Option<&'static str>,
}

impl Touches<'_> {
    /// Whether the plan may have other steps afterwards.
    pub fn changes_steps(&self) -> bool {
        let drafts = [Action::SetContent, Action::RecordStep, Action::EditDraft, Action::Finalize];
        self.adds_plan || self.action.is_some_and(|action| drafts.contains(&action))
    }
}
