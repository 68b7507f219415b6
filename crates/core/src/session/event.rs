//! What happens to a session as a whole: plan mode, its conversation and the plans it gets.

use serde_json::Value;

use crate::ask::{CallToPermit, GatewayAsk, GatewayCallRecord, Grant};
use crate::ids::{AskId, CommentId, PlanId, RequestId};
use crate::mode::ModeEnd;
use crate::plan::creation::{Creation, ImportedPlan};
use crate::plan::execution::StepOutcome;
use crate::plan::review::{CommentAnswer, Review, SentWith};
use crate::plan::{Digest, PlanChange, PlanStyle, Touches};
use crate::presence::AgentClient;
use crate::refusal::Refusal;
use crate::session::Compaction;
use crate::turn::ShownPlan;
use crate::wire::events;
use crate::workspace::{CallChanges, ChangeOrigin, Undo};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

events! {
    pub enum SessionEvent {
        "session_opened" Opened => { audit: "a session began" },
        /// The model no longer reads what was said before this entry.
        "conversation_reset" ConversationReset {
            // No entry before this one belongs to the conversation that begins now.
            #[serde(default)]
            history_from: u64,
        },
        "plan_mode_enabled" PlanModeEnabled { style: PlanStyle, plan: PlanId } => {
            plan: plan,
            audit: "plan work was turned on",
        },
        "plan_mode_disabled" PlanModeDisabled { end: ModeEnd } => { audit: "plan work was turned off" },
        "compacted" Compacted {
            #[serde(flatten)]
            compaction: Compaction,
        },
        /// A person was shown this version of a plan. The session remembers it; the plan does not change.
        "plan_shown" PlanShown {
            #[serde(flatten)]
            shown: ShownPlan,
        },
        /// A person gave the session a name, or took it away.
        "session_renamed" Renamed {
            #[serde(default, skip_serializing_if = "Option::is_none")]
            title: Option<String>,
        },
        /// A person's comments on a plan as they are now; they replace the ones before. The agent does not read them.
        "review_drafted" ReviewDrafted { plan: PlanId, review: Review } => { plan: plan },
        /// The comments that a person sent with a decision about the plan.
        "review_sent" ReviewSent { plan: PlanId, with: SentWith, review: Review } => { plan: plan },
        /// What an agent answered to comments of a person.
        "review_answered" ReviewAnswered { plan: PlanId, answers: Vec<CommentAnswer> } => { plan: plan },
        /// A person is satisfied with what became of a comment, or no longer.
        "comment_resolved" CommentResolved { plan: PlanId, comment: CommentId, resolved: bool } => { plan: plan },
        "plan_created" PlanCreated {
            #[serde(flatten)]
            creation: Box<Creation>,
        } => { plan: &creation.plan, plan_change: PlanChange::Plan, adds_plan: true, progress: true },
        "plan_imported" PlanImported { number: u32, plan: Box<ImportedPlan> } => {
            plan: &plan.id,
            plan_change: PlanChange::Everything,
            adds_plan: true,
        },
        /// The file tools work in this project folder from now on, or in the session's own folder for `None`.
        "workspace_chosen" WorkspaceChosen { path: Option<String> } => { audit: "a workspace was chosen" },
        /// A tool call changed files. It is written with the outcome of the call.
        "files_changed" FilesChanged {
            #[serde(flatten)]
            origin: ChangeOrigin,
            #[serde(flatten)]
            call_changes: CallChanges,
        } => { plan: origin.plan.as_ref(), progress: true },
        /// A person had files put back as they were.
        "changes_undone" ChangesUndone {
            #[serde(flatten)]
            undo: Undo,
        } => { plan: undo.plan.as_ref(), audit: "changes of files were undone" },
        /// A program started `planwright mcp` for this session: an agent runs in it.
        "client_seen" ClientSeen {
            client: AgentClient,
            /// Whether those before it stay. Entries of earlier versions do not say it.
            #[serde(default, skip_serializing_if = "is_false")]
            added: bool,
        } => { audit: "a program started an agent's connection" },
        /// The agent of another program asked for a call to an upstream server, or a person answered.
        "gateway_asked" GatewayAsked {
            tool: String,
            arguments: Value,
            state: GatewayAsk,
            /// Entries of earlier versions do not say it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            plan: Option<PlanId>,
        } => { plan: plan.as_ref(), audit: "a call to an upstream server was asked about" },
        /// A call to an upstream server was made for the agent of another program, or is about to be made.
        "gateway_called" GatewayCalled {
            record: GatewayCallRecord,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            plan: Option<PlanId>,
        } => { plan: plan.as_ref() },
        /// The outcome of such a call.
        "gateway_call_ended" GatewayCallEnded {
            call: RequestId,
            tool: String,
            outcome: StepOutcome,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            plan: Option<PlanId>,
        } => { plan: plan.as_ref() },
        /// Such a call was refused.
        "gateway_refused" GatewayRefused {
            tool: String,
            arguments: Value,
            refusal: Refusal,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            plan: Option<PlanId>,
        } => { plan: plan.as_ref(), audit: "a call to an upstream server was refused" },
        /// An upstream server asked the client something during such a call or, with answers, was answered.
        "gateway_questioned" GatewayQuestioned {
            tool: String,
            /// By name, as the server asked them.
            questions: Value,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            answers: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            plan: Option<PlanId>,
        } => { plan: plan.as_ref() },
        /// The hook of an agent's client asked for a call of one of the client's own tools that the approved plan does not cover.
        "client_call_asked" ClientCallAsked { ask: AskId, plan: PlanId, digest: Digest, asked: CallToPermit } => {
            plan: plan,
            audit: "a call of a client's tool was asked about",
        },
        /// A person answered about it.
        "client_call_answered" ClientCallAnswered {
            ask: AskId,
            plan: PlanId,
            grant: Grant,
            #[serde(rename = "words", default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
        } => { plan: plan, audit: "a call of a client's tool was answered about" },
        /// The agent makes a call that was permitted once.
        "client_call_taken" ClientCallTaken { ask: AskId, plan: PlanId } => { plan: plan },
        /// The session was written back from an archive. Approvals before that are history.
        "session_restored" Restored => { audit: "a session was restored from an archive" },
    }
}
