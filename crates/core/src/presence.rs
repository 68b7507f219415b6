//! How Planwright recognised the person behind a decision, and what the operating system says about their terminal.

mod act;
mod assertion;
mod processes;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use act::{Act, ActKind, ActSignature, UsedSignature};
pub use assertion::PasskeyAssertion;
pub(crate) use assertion::counter;

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
    Verified {
        approver: String,
        /// Their signature on the act. An approval of a plan has a signature of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>, nullable = false))]
        signed: Option<Box<ActSignature>>,
        #[serde(skip)]
        key: SigningKey,
    },
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
    Channel {
        /// The approver who bound this user with a signed record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schema(nullable = false))]
        bound_by: Option<String>,
        /// The user's number there, until it is known who bound them.
        #[serde(skip)]
        user: Option<i64>,
    },
    /// A rule of the configuration, without a person.
    Rule,
}

/// An approver's key that is unlocked for the acts of one request.
pub trait ActSigner: fmt::Debug + Send + Sync {
    /// In hexadecimal digits.
    fn sign(&self, message: &[u8]) -> String;
}

/// The key of a person who gave their passphrase. It is used and not stored, so two records are the same whatever key it was.
#[derive(Debug, Clone, Default)]
pub struct SigningKey {
    signer: Option<Arc<dyn ActSigner>>,
    /// The digest of what the person was shown, in hexadecimal digits, if the surface knows it.
    shown: Option<String>,
}

impl SigningKey {
    pub fn get(&self) -> Option<&dyn ActSigner> {
        self.signer.as_deref()
    }

    /// The digest that is signed in the place of the one of what is stored now.
    pub fn shown(&self) -> Option<&str> {
        self.shown.as_deref()
    }
}

impl PartialEq for SigningKey {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SigningKey {}

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
    /// An allowed user of a chat service whom no approver bound.
    pub const fn channel() -> Self {
        Self::Channel { bound_by: None, user: None }
    }

    /// A user of Telegram. A record of the store may say that an approver bound them.
    pub const fn chat_user(user: i64) -> Self {
        Self::Channel { bound_by: None, user: Some(user) }
    }

    /// With the approver who bound this user of a chat service, if one did.
    pub fn with_binding(self, bound: &BTreeMap<i64, String>) -> Self {
        match self {
            Self::Channel { user: Some(user), .. } => Self::Channel { bound_by: bound.get(&user).cloned(), user: None },
            presence => presence,
        }
    }

    /// The approver who bound this user of a chat service.
    pub fn bound_by(&self) -> Option<&str> {
        match self {
            Self::Channel { bound_by, .. } => bound_by.as_deref(),
            Self::Verified { .. }
            | Self::Terminal { .. }
            | Self::NoTerminal { .. }
            | Self::Token
            | Self::Browser
            | Self::Rule => None,
        }
    }

    /// An approver whose signature comes with what they decide.
    pub fn verified(approver: impl Into<String>) -> Self {
        Self::Verified { approver: approver.into(), signed: None, key: SigningKey::default() }
    }

    /// An approver who unlocked their key: it signs what they do.
    pub fn unlocked(approver: impl Into<String>, key: Arc<dyn ActSigner>) -> Self {
        Self::Verified { approver: approver.into(), signed: None, key: SigningKey { signer: Some(key), shown: None } }
    }

    /// An approver who unlocked their key signs what they were shown, and not what is stored now.
    pub fn shown(mut self, digest: String) -> Self {
        if let Self::Verified { key, .. } = &mut self {
            key.shown = Some(digest);
        }
        self
    }

    /// An approver who signed one act.
    pub fn signed(approver: impl Into<String>, signature: ActSignature) -> Self {
        let signed = Some(Box::new(signature));
        Self::Verified { approver: approver.into(), signed, key: SigningKey::default() }
    }

    /// The approver's signature on an act.
    pub fn signature(&self) -> Option<&ActSignature> {
        match self {
            Self::Verified { signed, .. } => signed.as_deref(),
            Self::Terminal { .. }
            | Self::NoTerminal { .. }
            | Self::Token
            | Self::Browser
            | Self::Channel { .. }
            | Self::Rule => None,
        }
    }

    /// What was seen of a process: a terminal, or none. Where the operating system does not tell, it is taken for a terminal
    /// that nothing is known about.
    pub fn terminal(evidence: Option<TerminalEvidence>) -> Self {
        let has_terminal = evidence.as_ref().is_none_or(|seen| seen.terminal.is_some());
        let evidence = evidence.map(Evidence::from).unwrap_or_default();
        if has_terminal { Self::Terminal { evidence } } else { Self::NoTerminal { evidence } }
    }

    /// Whether it is a terminal that the operating system says nothing about.
    pub fn is_unseen_terminal(&self) -> bool {
        match self {
            Self::Terminal { evidence } => evidence.get().is_none(),
            Self::Verified { .. }
            | Self::NoTerminal { .. }
            | Self::Token
            | Self::Browser
            | Self::Channel { .. }
            | Self::Rule => false,
        }
    }

    /// What the operating system said about the process, if one decided.
    pub(crate) fn evidence(&self) -> Option<&TerminalEvidence> {
        match self {
            Self::Terminal { evidence } | Self::NoTerminal { evidence } => evidence.get(),
            Self::Verified { .. } | Self::Token | Self::Browser | Self::Channel { .. } | Self::Rule => None,
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
            Self::Channel { .. } => "channel",
            Self::Rule => "rule",
        }
    }
}

/// For people: `verified as ada`.
impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified { approver, .. } => write!(f, "verified as {approver}"),
            Self::Terminal { .. } => f.write_str("at a terminal, not verified"),
            Self::NoTerminal { .. } => f.write_str("by a process without a terminal"),
            Self::Token => f.write_str("with the access token only"),
            Self::Browser => f.write_str("in a browser that was signed in from a terminal"),
            Self::Channel { bound_by: None, .. } => f.write_str("as an allowed user of the chat service"),
            Self::Channel { bound_by: Some(name), .. } => {
                write!(f, "as an allowed user of the chat service, bound by {name}")
            }
            Self::Rule => f.write_str("by a rule, not by a person"),
        }
    }
}
