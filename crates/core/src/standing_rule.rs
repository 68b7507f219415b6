//! What a person permitted from now on by answering `always`: a rule that lives in the store. It names the project or the
//! session, and the exact call or the pattern that the person was shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::identity::SessionIdentity;
use crate::visible::quoted;
use crate::workspace::Workspace;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRule {
    pub permits: PermittedCalls,
    pub place: RulePlace,
}

/// Which calls a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PermittedCalls {
    /// A command with these words and no others.
    Command { line: String },
    /// The tool on this path, with any content.
    Path { tool: String, path: String },
    /// The tool with exactly these arguments.
    Call { tool: String, arguments: Value },
    /// What a rule of the settings says, as it was written there.
    Written { rule: Value },
}

/// Where a rule counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RulePlace {
    /// In every session that works in this folder.
    Project { path: String },
    /// In this session, while it works in its own folder.
    Session { session: SessionIdentity },
    /// In every session. No answer makes such a rule.
    Everywhere,
}

/// A rule with who made it, when, and in which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRule {
    pub rule: StandingRule,
    pub by: Actor,
    pub at: Timestamp,
    pub session: Option<SessionIdentity>,
}

/// The rules of the store by their numbers.
pub type StoredRules = Arc<BTreeMap<u64, StoredRule>>;

impl RulePlace {
    /// The narrowest place of a call.
    pub fn of(session: &SessionIdentity, workspace: &Workspace) -> Self {
        match workspace {
            Workspace::Project { path } => Self::Project { path: path.clone() },
            Workspace::Own => Self::Session { session: session.clone() },
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Project { path } => format!("in every session that works in {}", quoted(path)),
            Self::Session { session } => format!("in the session {session}"),
            Self::Everywhere => "in every session".to_owned(),
        }
    }
}

impl StandingRule {
    /// Whether it is a rule for calls that are made here.
    pub fn counts_in(&self, place: &RulePlace) -> bool {
        match &self.place {
            RulePlace::Everywhere => true,
            RulePlace::Project { .. } | RulePlace::Session { .. } => self.place == *place,
        }
    }

    /// What it is about and where, as the part of a sentence after a verb.
    pub fn describe(&self) -> String {
        let what = match &self.permits {
            PermittedCalls::Command { line } => {
                format!("the command {}, with these words and no others", quoted(line))
            }
            PermittedCalls::Path { tool, path } => format!("{} on {}, with any content", quoted(tool), quoted(path)),
            PermittedCalls::Call { tool, .. } => format!("{} with exactly these arguments", quoted(tool)),
            PermittedCalls::Written { rule } => format!("what the rule {} says", quoted(&rule.to_string())),
        };
        format!("{what}, {}", self.place.describe())
    }
}
