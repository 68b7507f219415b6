//! How Planwright recognised the person behind a decision, and what the operating system says about their terminal.

mod processes;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use processes::AgentProgram;
pub use processes::{
    AgentClient, CLIENT_HEARTBEAT_TIMEOUT, NotSeparate, ProcessId, ProcessPlace, RunningProcess, Terminal,
    TerminalEvidence, TerminalHolder,
};

/// How a person was recognised. It is recorded with every decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Presence {
    /// An enrolled approver unlocked their key.
    Verified { approver: String },
    /// The command line or the terminal chat.
    Terminal {
        #[serde(skip)]
        evidence: Evidence,
    },
    /// A process without a controlling terminal, such as a script or a service.
    #[serde(rename = "none")]
    NoTerminal {
        #[serde(skip)]
        evidence: Evidence,
    },
    /// A caller of the API, or a browser that signed in, with the access token.
    Token,
    /// A browser that signed in with a link of `planwright dashboard`.
    Browser,
    /// An allowed user of a chat service.
    Channel,
    /// A rule of the configuration, without a person.
    Rule,
}

/// What the operating system says about the process that decides. It is looked at and not stored, so two records are the
/// same whatever the evidence was.
#[derive(Debug, Clone, Default)]
pub struct Evidence(Option<Arc<TerminalEvidence>>);

impl Evidence {
    pub fn get(&self) -> Option<&TerminalEvidence> {
        self.0.as_deref()
    }
}

impl From<TerminalEvidence> for Evidence {
    fn from(evidence: TerminalEvidence) -> Self {
        Self(Some(Arc::new(evidence)))
    }
}

impl PartialEq for Evidence {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Evidence {}

impl Presence {
    /// What was seen of a process: a terminal, or none. Where the operating system does not tell, it is taken for a terminal
    /// that nothing is known about.
    pub fn terminal(evidence: Option<TerminalEvidence>) -> Self {
        let has_terminal = evidence.as_ref().is_none_or(|seen| seen.terminal.is_some());
        let evidence = evidence.map(Evidence::from).unwrap_or_default();
        if has_terminal { Self::Terminal { evidence } } else { Self::NoTerminal { evidence } }
    }

    /// What the operating system said about the process, if one decided.
    pub(crate) fn evidence(&self) -> Option<&TerminalEvidence> {
        match self {
            Self::Terminal { evidence } | Self::NoTerminal { evidence } => evidence.get(),
            Self::Verified { .. } | Self::Token | Self::Browser | Self::Channel | Self::Rule => None,
        }
    }

    /// Its name in the journal and in the API.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Verified { .. } => "verified",
            Self::Terminal { .. } => "terminal",
            Self::NoTerminal { .. } => "none",
            Self::Token => "token",
            Self::Browser => "browser",
            Self::Channel => "channel",
            Self::Rule => "rule",
        }
    }
}

/// For people: `verified as ada`.
impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified { approver } => write!(f, "verified as {approver}"),
            Self::Terminal { .. } => f.write_str("at a terminal, not verified"),
            Self::NoTerminal { .. } => f.write_str("by a process without a terminal"),
            Self::Token => f.write_str("with the access token only"),
            Self::Browser => f.write_str("in a browser that was signed in from a terminal"),
            Self::Channel => f.write_str("as an allowed user of the chat service"),
            Self::Rule => f.write_str("by a rule, not by a person"),
        }
    }
}
