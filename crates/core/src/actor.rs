//! Who did something, and through which door.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::presence::Presence;
use crate::wire::text_enum;

text_enum! {
    pub enum ActorKind {
        /// A human being, on a surface made for people. Only they decide about plans.
        Person = "person",
        /// A model, or a program that speaks for one.
        Agent = "agent",
        /// A standing rule that a person wrote into the configuration.
        Policy = "policy",
        /// Planwright itself.
        System = "system",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Actor {
    pub kind: ActorKind,
    pub name: String,
    /// The surface it came through, such as `cli` or `mcp`.
    pub through: String,
    /// How a person was recognised. Absent in records of earlier versions, and where no person acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
}

impl Actor {
    pub fn new(kind: ActorKind, name: impl Into<String>, through: impl Into<String>) -> Self {
        Self { kind, name: name.into(), through: through.into(), presence: None }
    }

    pub fn person(name: impl Into<String>, through: impl Into<String>) -> Self {
        Self::new(ActorKind::Person, name, through)
    }

    /// Sets how the actor was recognised.
    pub fn recognised(self, presence: Presence) -> Self {
        Self { presence: Some(presence), ..self }
    }

    /// With the approver who bound this user of a chat service, if one did.
    pub fn with_binding(self, bound: &BTreeMap<i64, String>) -> Self {
        Self { presence: self.presence.map(|presence| presence.with_binding(bound)), ..self }
    }

    pub fn agent(name: impl Into<String>, through: impl Into<String>) -> Self {
        Self::new(ActorKind::Agent, name, through)
    }

    /// The rule that acts, by the name of its setting.
    pub fn policy(rule: impl Into<String>, through: impl Into<String>) -> Self {
        Self::new(ActorKind::Policy, rule, through).recognised(Presence::Rule)
    }

    pub fn system(through: impl Into<String>) -> Self {
        Self::new(ActorKind::System, "planwright", through)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ActorKind::Person => write!(f, "{} through {}", self.name, self.through),
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {
                write!(f, "{} ({}) through {}", self.name, self.kind.as_str(), self.through)
            }
        }
    }
}
