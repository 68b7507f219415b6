//! A memory: what is remembered, who wrote it, and where it came from.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::origin::MemoryOrigin;
use super::scope::MemoryScope;
use crate::actor::{Actor, ActorKind};
use crate::identity::SessionIdentity;
use crate::ids::{MemoryId, PlanId, TurnId};
use crate::refusal::Refusal;
use crate::wire::text_enum;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryItem {
    pub id: MemoryId,
    /// Items from before scopes have none and are global.
    #[serde(default = "before_scopes")]
    pub scope: MemoryScope,
    pub kind: MemoryKind,
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub source: MemorySource,
    pub author: Actor,
    pub trust: MemoryTrust,
    /// When it was written.
    pub at: Timestamp,
    /// From then on it is not found any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Where it was learnt, if that was elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<MemoryOrigin>,
}

const fn before_scopes() -> MemoryScope {
    MemoryScope::Global
}

impl MemoryItem {
    /// The name of who said it: elsewhere, if it was learnt there, else here.
    pub fn said_by(&self) -> &str {
        self.origin.as_ref().and_then(|origin| origin.author.as_deref()).unwrap_or(&self.author.name)
    }

    /// When it was said, elsewhere or here.
    pub fn said_at(&self) -> Timestamp {
        self.origin.as_ref().and_then(|origin| origin.at).unwrap_or(self.at)
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// An item as it is kept. One that was forgotten is not found any more, and can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRecord {
    pub item: MemoryItem,
    pub forgotten: bool,
}

text_enum! {
    /// What is remembered. The kind decides the scope that an item is written to.
    #[derive(Default)]
    pub enum MemoryKind or "is not a kind of memory; kinds are" {
        /// Something that was said or found out.
        #[default]
        Fact = "fact",
        Preference = "preference",
        Decision = "decision",
        Constraint = "constraint",
        /// An intermediate result of a task.
        Result = "result",
    }
}

/// Where an item came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum MemorySource {
    /// A person saved it.
    Person,
    /// A model saved it in a turn.
    Turn { turn: TurnId },
    /// An agent of another program saved it over MCP.
    Tool,
    /// A decision of a finished plan, which was offered and accepted.
    Plan { plan: PlanId },
    /// A resolved error of the workbook, which was offered and accepted.
    Workbook,
    /// An entry of the diary, which was offered and accepted.
    Diary,
    /// A person took it out of a session.
    Promotion { memory: MemoryId, session: SessionIdentity, promoted_by: Actor },
}

impl MemorySource {
    /// Whether a rule offered it.
    pub const fn is_offer(&self) -> bool {
        match self {
            Self::Plan { .. } | Self::Workbook | Self::Diary => true,
            Self::Person | Self::Turn { .. } | Self::Tool | Self::Promotion { .. } => false,
        }
    }
}

text_enum! {
    /// How far an item can be trusted, by who wrote it.
    pub enum MemoryTrust {
        /// A person wrote it.
        Person = "person",
        /// A model wrote it. It may repeat what a web page or a file said.
        Agent = "agent",
        /// A rule of Planwright wrote it.
        System = "system",
    }
}

impl MemoryTrust {
    pub const fn of(author: ActorKind) -> Self {
        match author {
            ActorKind::Person => Self::Person,
            ActorKind::Agent => Self::Agent,
            ActorKind::Policy | ActorKind::System => Self::System,
        }
    }
}
