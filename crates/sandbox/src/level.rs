//! How much a command may do.

use std::fmt;
use std::str::FromStr;

use crate::SandboxError;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SandboxLevel {
    /// Reads the workspace and the system; writes only to a temporary folder of its own. No network.
    ReadOnly,
    /// Also writes below the workspace. No network.
    #[default]
    Workspace,
    /// No restriction beside the environment variables. Only a person chooses it.
    Open,
}

impl SandboxLevel {
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::Workspace, Self::Open];

    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Workspace => "workspace",
            Self::Open => "open",
        }
    }

    /// Whether the kernel has to enforce something.
    pub const fn is_restricted(self) -> bool {
        match self {
            Self::ReadOnly | Self::Workspace => true,
            Self::Open => false,
        }
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SandboxLevel {
    type Err = SandboxError;

    fn from_str(text: &str) -> Result<Self, SandboxError> {
        let named = Self::ALL.into_iter().find(|level| level.name() == text);
        named.ok_or_else(|| SandboxError::UnknownLevel(text.to_owned()))
    }
}
