//! What the journal says about a session as a whole.

mod compaction;
mod event;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::approval::Require;
use crate::ask::{Ask, GrantedCall};
use crate::auto::AutoState;
use crate::client_ask::ClientAsk;
use crate::ids::{MemoryId, PlanId};
use crate::memory::MemoryChange;
use crate::mode::PlanModeState;
use crate::plan::content::CallRunner;
use crate::plan::{Plan, PlanStatus};
use crate::presence::{AgentClient, Presence, UsedSignature};
use crate::refusal::Refusal;
use crate::turn::{OpenTurn, ShownPlan};
use crate::workbook::{PlanningFiles, Workbook, WorkbookState};
use crate::workspace::Workspace;

pub use crate::identity::{Channel, ConversationKey, SessionIdentity, TransportChat};
pub use compaction::{Compaction, Summarizer};
pub use event::SessionEvent;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub identity: SessionIdentity,
    pub opened_at: Timestamp,
    pub plan_mode: PlanModeState,
    /// How many plans were ever made here; the next one has the number after it.
    pub plans_made: u32,
    /// The first words that were said, for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The name that a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The round that the agent of another program records beside the active plan, or its last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<PlanId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<OpenTurn>,
    /// The journal's number from which on the model reads the conversation; 0 is the beginning.
    #[serde(default)]
    pub history_from: u64,
    /// The first entry that the last compaction kept as it is; 0 if there was none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_from: u64,
    /// The version of a plan that the person saw last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ShownPlan>,
    /// The planning files; `None` until they are switched on or off, or a workbook begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workbook: Option<WorkbookState>,
    /// The folder that the file tools work in.
    #[serde(default, skip_serializing_if = "Workspace::is_own")]
    pub workspace: Workspace,
    /// The calls that a person permitted for the rest of an execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<GrantedCall>,
    /// Calls of a client's own tools that a person is or was asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_asks: Vec<ClientAsk>,
    /// The last changes of its memory, the newest last, that can be taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_changes: Vec<MemoryChange>,
    /// The offers of memories that were accepted or declined, the newest last. They are not made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled_offers: Vec<MemoryId>,
    /// Its goals, tasks, diary, schedules and runs; `None` until there is one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto: Option<Box<AutoState>>,
    /// The programs that started `planwright mcp` for this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<AgentClient>,
    /// The signatures of approvers that were used for acts within the last hour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<UsedSignature>,
    /// When it was written back from an archive. Approvals before that are history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_at: Option<Timestamp>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Session {
    /// The plan that the open turn carries out.
    pub fn worked_on(&self) -> Option<&PlanId> {
        self.turn.as_ref()?.purpose.plan()
    }

    /// What a search looks through, in small letters: its title, its topic, its channel and its key.
    pub fn search_text(&self) -> String {
        let parts = [self.title.as_deref(), self.topic.as_deref()];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ") + " " + &self.identity.to_string();
        text.to_lowercase()
    }

    /// Whether the plan is its active one or its round.
    pub fn names(&self, plan: &PlanId) -> bool {
        self.plan_mode.active_plan.as_ref() == Some(plan) || self.round.as_ref() == Some(plan)
    }

    /// Whether the plan may wait for a person, as far as the two say. Whether a process works on it and whether its next call can be
    /// made is found out where they are listed.
    pub fn may_wait(&self, plan: &Plan) -> bool {
        let has_call = || plan.next_recorded_call().is_some_and(|(_, call)| call.runner == CallRunner::Planwright);
        match plan.status {
            PlanStatus::Ready => true,
            PlanStatus::Approved => has_call(),
            PlanStatus::Executing => plan.wants_a_look().is_some() || has_call(),
            // One that failed waits no more once its session has left it for another.
            PlanStatus::PartiallyCompleted => self.names(&plan.id) && plan.wants_a_look().is_some(),
            PlanStatus::Collecting
            | PlanStatus::Completed
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => false,
        }
    }

    /// What the open turn asks a person, or the hook of a client.
    pub fn waiting_ask(&self) -> Option<&Ask> {
        self.turn.as_ref().and_then(OpenTurn::waiting_ask).or_else(|| Some(&self.waiting_client_ask()?.ask))
    }

    /// The call of a client's tool that a person is asked about, the longest waiting first. A turn that is open comes before it.
    pub fn waiting_client_ask(&self) -> Option<&ClientAsk> {
        let is_free = self.turn.is_none();
        let is_here = |asked: &&ClientAsk| is_free && self.plan_mode.active_plan.as_ref() == Some(&asked.plan);
        self.client_asks.iter().filter(is_here).find(|asked| asked.ask.is_waiting())
    }

    /// Whether plan work was ever turned on or off here.
    pub fn was_plan_work_switched(&self) -> bool {
        self.plans_made > 0 || self.plan_mode.updated_at != self.opened_at
    }

    pub fn opened(identity: SessionIdentity, at: Timestamp) -> Self {
        let plan_mode = PlanModeState::off(identity.clone(), at);
        Self {
            identity,
            opened_at: at,
            plan_mode,
            plans_made: 0,
            topic: None,
            title: None,
            round: None,
            turn: None,
            history_from: 0,
            kept_from: 0,
            shown: None,
            workbook: None,
            workspace: Workspace::Own,
            granted: Vec::new(),
            client_asks: Vec::new(),
            memory_changes: Vec::new(),
            settled_offers: Vec::new(),
            auto: None,
            clients: Vec::new(),
            signatures: Vec::new(),
            restored_at: None,
        }
    }

    /// Whether the plan was approved before the session was written back from an archive.
    pub fn is_history(&self, plan: &Plan) -> bool {
        let approved_at = plan.approval.as_ref().map(|approval| approval.at);
        approved_at.zip(self.restored_at).is_some_and(|(approved, restored)| approved <= restored)
    }

    /// Whether an agent with a program of its own came into a session of another channel than those of such agents.
    pub fn is_joined_by_program(&self) -> bool {
        AgentClient::joined(self.identity.channel, &self.clients)
    }

    /// Why the plan's approval does not count any more, if it does not.
    pub fn earlier_approval(&self, plan: &Plan) -> Option<&'static str> {
        match (self.is_history(plan), self.is_approved_for_own_agent(plan)) {
            (true, _) => Some("was restored from an archive, and its approval is history"),
            (false, true) => Some(
                "was approved for Planwright's own agent, before an agent with a program of its own came into the session",
            ),
            (false, false) => None,
        }
    }

    /// Refuses what an agent with a program of its own does by an approval that does not count any more.
    pub fn check_approval_counts(&self, plan: &Plan) -> Result<(), Refusal> {
        match self.earlier_approval(plan) {
            None => Ok(()),
            Some(why) => Err(Refusal::policy_denied(format!(
                "Plan {} {why}. A person approves it again with `planwright plan resume {}`.",
                plan.number, plan.number
            ))),
        }
    }

    /// As the person was recognised for an agent in the sandbox, they are not for one with a program of its own.
    fn is_approved_for_own_agent(&self, plan: &Plan) -> bool {
        let Some(approval) = plan.approval.as_ref().filter(|_| self.is_joined_by_program()) else { return false };
        let counts = match &approval.by.presence {
            Some(Presence::Verified { .. } | Presence::Browser | Presence::Channel { .. } | Presence::Rule) => true,
            Some(Presence::Token | Presence::Terminal { .. } | Presence::NoTerminal { .. }) | None => {
                approval.required == Some(Require::Any)
            }
        };
        !counts && !approval.with_program
    }

    /// Whether the agent has planning files.
    pub fn has_planning_files(&self, settings: &PlanningFiles) -> bool {
        self.workbook.as_ref().and_then(|workbook| workbook.on).unwrap_or(settings.enabled)
    }

    /// Whether a person switched them off.
    pub fn refuses_planning_files(&self) -> bool {
        self.workbook.as_ref().and_then(|workbook| workbook.on) == Some(false)
    }

    /// The workbook that is being worked with.
    pub fn current_workbook(&self) -> Option<&Workbook> {
        self.workbook.as_ref()?.current.as_ref()
    }

    pub(crate) fn workbook_mut(&mut self) -> &mut WorkbookState {
        self.workbook.get_or_insert_default()
    }
}
