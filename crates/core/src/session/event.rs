//! What happens to a session as a whole: plan mode, its conversation and the plans it gets.

use serde_json::Value;

use crate::ask::GatewayAsk;
use crate::ids::PlanId;
use crate::mode::ModeEnd;
use crate::plan::PlanStyle;
use crate::plan::creation::{Creation, ImportedPlan};
use crate::plan::review::{Review, SentWith};
use crate::presence::AgentClient;
use crate::session::Compaction;
use crate::turn::ShownPlan;
use crate::wire::events;
use crate::workspace::{CallChanges, ChangeOrigin, Undo};

events! {
    pub enum SessionEvent {
        "session_opened" Opened,
        /// The model no longer reads what was said before this entry.
        "conversation_reset" ConversationReset {
            // No entry before this one belongs to the conversation that begins now.
            #[serde(default)]
            history_from: u64,
        },
        "plan_mode_enabled" PlanModeEnabled { style: PlanStyle, plan: PlanId },
        "plan_mode_disabled" PlanModeDisabled { end: ModeEnd },
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
        "review_drafted" ReviewDrafted { plan: PlanId, review: Review },
        /// The comments that a person sent with a decision about the plan.
        "review_sent" ReviewSent { plan: PlanId, with: SentWith, review: Review },
        "plan_created" PlanCreated {
            #[serde(flatten)]
            creation: Box<Creation>,
        },
        "plan_imported" PlanImported { number: u32, plan: Box<ImportedPlan> },
        /// The file tools work in this project folder from now on, or in the session's own folder for `None`.
        "workspace_chosen" WorkspaceChosen { path: Option<String> },
        /// A tool call changed files. It is written with the outcome of the call.
        "files_changed" FilesChanged {
            #[serde(flatten)]
            origin: ChangeOrigin,
            #[serde(flatten)]
            call_changes: CallChanges,
        },
        /// A person had files put back as they were.
        "changes_undone" ChangesUndone {
            #[serde(flatten)]
            undo: Undo,
        },
        /// A program started `planwright mcp` for this session: an agent runs in it.
        "client_seen" ClientSeen { client: AgentClient },
        /// The agent of another program asked for a call to an upstream server, or a person answered.
        "gateway_asked" GatewayAsked { tool: String, arguments: Value, state: GatewayAsk },
        /// The session was written back from an archive. Approvals before that are history.
        "session_restored" Restored,
    }
}

impl SessionEvent {
    /// The plan that the entry is listed with.
    pub fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::Opened
            | Self::ConversationReset { .. }
            | Self::PlanModeDisabled { .. }
            | Self::Compacted { .. }
            | Self::Renamed { .. }
            | Self::PlanShown { .. }
            | Self::WorkspaceChosen { .. }
            | Self::ClientSeen { .. }
            | Self::GatewayAsked { .. }
            | Self::Restored => None,
            Self::FilesChanged { origin, .. } => origin.plan.as_ref(),
            Self::ChangesUndone { undo } => undo.plan.as_ref(),
            Self::PlanModeEnabled { plan, .. } | Self::ReviewDrafted { plan, .. } | Self::ReviewSent { plan, .. } => {
                Some(plan)
            }
            Self::PlanCreated { creation } => Some(&creation.plan),
            Self::PlanImported { plan, .. } => Some(&plan.id),
        }
    }

    /// The plan that the session has from this event on.
    pub fn added_plan(&self) -> Option<&PlanId> {
        match self {
            Self::PlanCreated { creation } => Some(&creation.plan),
            Self::PlanImported { plan, .. } => Some(&plan.id),
            Self::Opened
            | Self::ConversationReset { .. }
            | Self::PlanModeEnabled { .. }
            | Self::PlanModeDisabled { .. }
            | Self::Compacted { .. }
            | Self::Renamed { .. }
            | Self::ReviewDrafted { .. }
            | Self::ReviewSent { .. }
            | Self::PlanShown { .. }
            | Self::WorkspaceChosen { .. }
            | Self::FilesChanged { .. }
            | Self::ChangesUndone { .. }
            | Self::ClientSeen { .. }
            | Self::GatewayAsked { .. }
            | Self::Restored => None,
        }
    }
}
