//! What the configuration decides: limits, the agents there are, and which tools may run while a document is drafted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::AgentRegistry;
use crate::approval::{AgentSandbox, AgentsSeen, ApprovalPolicy, Approvers, Require};
use crate::auto::AutoPolicy;
use crate::plan::execution::{BrakeReason, Execution};
use crate::plan::template::PlanTemplate;
use crate::presence::AgentClient;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::standing_rule::StoredRules;
use crate::turn::TurnLimits;
use crate::workbook::PlanningFiles;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub limits: Limits,
    pub agents: AgentRegistry,
    pub document_tools: DocumentTools,
    pub turn: TurnLimits,
    pub on_failure: OnFailure,
    pub standing_approval: StandingApproval,
    pub planning_files: PlanningFiles,
    /// How many turns in a row the system begins by itself for an approved document when the turn before ended without
    /// any recorded progress.
    pub nudges: u32,
    /// How many turns the system begins by itself for one execution of a document, whatever progress they record. A person
    /// who asks for it to continue lets it begin as many again.
    pub plan_turns: u32,
    /// The sections that every document has.
    pub plan_template: Option<PlanTemplate>,
    /// How a person has to be recognised to approve.
    pub approval: ApprovalPolicy,
    /// The approvers whose signatures count.
    pub approvers: Approvers,
    /// The users of Telegram whom approvers bound, with the approver's name.
    pub bound_users: Arc<BTreeMap<i64, String>>,
    /// Whether the store knows any agent that can start processes of its own.
    pub agents_seen: AgentsSeen,
    /// The programs of the agents of sessions that were deleted, by the session's name.
    pub kept_clients: Arc<BTreeMap<String, Vec<AgentClient>>>,
    /// What persons permitted from now on, in the store.
    pub permissions: StoredRules,
    /// The programs of the agents of all sessions. Read only for a person's command where the session's agent is
    /// not in the sandbox.
    pub other_agents: Arc<[AgentClient]>,
    /// The signs of life of the session's programs on other machines that have stopped. Read like `other_agents`.
    pub silent_agents: Arc<BTreeSet<String>>,
    /// What the commands of Planwright's own agent can reach.
    pub agent_sandbox: AgentSandbox,
    /// What runs may spend, and when they pause.
    pub auto: AutoPolicy,
    /// Whether calls of agents of other programs that change things are recorded in rounds.
    pub has_rounds: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            agents: AgentRegistry::default(),
            document_tools: DocumentTools::default(),
            turn: TurnLimits::default(),
            on_failure: OnFailure::default(),
            standing_approval: StandingApproval::default(),
            planning_files: PlanningFiles::default(),
            nudges: 1,
            plan_turns: 100,
            plan_template: None,
            // A program that embeds the engine recognises people itself. The settings of the binary begin with `separate`.
            approval: ApprovalPolicy::requiring(Require::Any),
            approvers: Approvers::default(),
            bound_users: Arc::default(),
            agents_seen: AgentsSeen::default(),
            kept_clients: Arc::default(),
            permissions: StoredRules::default(),
            other_agents: Arc::default(),
            silent_agents: Arc::default(),
            agent_sandbox: AgentSandbox::default(),
            auto: AutoPolicy::default(),
            has_rounds: false,
        }
    }
}

impl Policy {
    /// The policy that decisions in this session are checked with.
    pub fn in_session(&self, session: Option<&Session>) -> Cow<'_, Self> {
        match session.filter(|session| session.is_joined_by_program()) {
            Some(session) => {
                let approval = self.approval.with_agent_program(session.identity.channel);
                Cow::Owned(Self { approval, ..self.clone() })
            }
            None => Cow::Borrowed(self),
        }
    }

    /// Why the system begins no further turn for this execution by itself, if it does not.
    pub fn brakes(&self, execution: &Execution) -> Option<BrakeReason> {
        let turns = execution.brake().unwrap_or_default().turns;
        if execution.idle_turns() > self.nudges {
            Some(BrakeReason::NoProgress { turns: execution.idle_turns() })
        } else if turns >= self.plan_turns {
            Some(BrakeReason::Turns { turns })
        } else {
            None
        }
    }
}

/// Which tools may run while a document is drafted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentTools {
    #[default]
    All,
    ReadOnly,
}

/// What becomes of the rest of a plan when one of its steps fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    #[default]
    Stop,
    GoOn,
}

/// Whether plans are approved by a rule, without a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandingApproval {
    #[default]
    Off,
    /// Plans whose every step only reads.
    ReadOnly,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub plan_bytes: usize,
    pub steps: usize,
    /// Titles, goals, reasons, notes: everything a person reads in one go.
    pub line_bytes: usize,
    /// How deeply the arguments of a recorded call may be nested.
    pub depth: usize,
    /// One message of a person.
    pub message_bytes: usize,
    /// One document of the workbook.
    pub document_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            plan_bytes: 1024 * 1024,
            steps: 500,
            line_bytes: 16 * 1024,
            depth: 64,
            message_bytes: 256 * 1024,
            document_bytes: 256 * 1024,
        }
    }
}

impl Limits {
    pub(crate) fn check_line(&self, what: &str, text: &str) -> Result<(), Refusal> {
        if text.len() > self.line_bytes {
            return Err(Refusal::limit(format!(
                "The {what} has {} bytes; at most {} are taken.",
                text.len(),
                self.line_bytes
            )));
        }
        Ok(())
    }

    pub(crate) fn check_message(&self, text: &str) -> Result<(), Refusal> {
        if text.len() > self.message_bytes {
            return Err(Refusal::limit(format!(
                "The message has {} bytes; at most {} are taken.",
                text.len(),
                self.message_bytes
            )));
        }
        Ok(())
    }

    pub(crate) fn check_document(&self, text: &str) -> Result<(), Refusal> {
        if text.len() > self.document_bytes {
            return Err(Refusal::limit(format!(
                "The document would have {} bytes; at most {} are taken.",
                text.len(),
                self.document_bytes
            )));
        }
        Ok(())
    }

    pub(crate) fn check_plan(&self, bytes: usize) -> Result<(), Refusal> {
        if bytes > self.plan_bytes {
            return Err(Refusal::limit(format!(
                "The plan would have {bytes} bytes; at most {} are taken.",
                self.plan_bytes
            )));
        }
        Ok(())
    }

    /// What is stored must be readable again, and readers only follow so many levels.
    pub(crate) fn check_depth(&self, what: &str, value: &Value) -> Result<(), Refusal> {
        fn deeper_than(levels: usize, value: &Value) -> bool {
            match value {
                Value::Array(items) => levels == 0 || items.iter().any(|item| deeper_than(levels - 1, item)),
                Value::Object(fields) => levels == 0 || fields.values().any(|item| deeper_than(levels - 1, item)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            }
        }
        if deeper_than(self.depth, value) {
            return Err(Refusal::invalid(format!("The {what} are nested deeper than {} levels.", self.depth)));
        }
        Ok(())
    }

    pub(crate) fn check_list(&self, what: &str, count: usize) -> Result<(), Refusal> {
        if count > self.steps {
            return Err(Refusal::limit(format!(
                "The list of {what} has {count} items; at most {} are taken.",
                self.steps
            )));
        }
        Ok(())
    }

    pub(crate) fn check_steps(&self, count: usize) -> Result<(), Refusal> {
        if count > self.steps {
            return Err(Refusal::limit(format!(
                "The plan would have {count} steps; at most {} are taken.",
                self.steps
            )));
        }
        Ok(())
    }
}

/// Text with something in it, its surrounding space removed.
pub(crate) fn filled<'a>(what: &str, text: &'a str) -> Result<&'a str, Refusal> {
    let trimmed = text.trim();
    if trimmed.is_empty() { Err(Refusal::invalid(format!("The {what} is blank."))) } else { Ok(trimmed) }
}
