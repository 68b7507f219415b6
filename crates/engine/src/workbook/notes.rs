//! What there is to say about the files of a workbook, for the agent and for people.

use std::fmt;

use planwright_core::workbook::DocumentKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A person edited the file; their text is the newest version now.
    TakenIn { which: DocumentKind, version: u32 },
    /// A person edited an older version. Their text is the newest version now, and the one before it is kept beside it.
    Conflict { which: DocumentKind, version: u32, kept_as: String },
    /// What stood in the place of a document is not one, and was moved out of the way.
    SetAside { which: DocumentKind, kept_as: String, reason: String },
    /// A template of the person's own cannot be used.
    Template { reason: String },
    /// The files are not as they should be; the ledger has everything.
    Trouble { reason: String },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenIn { which, version } => {
                write!(f, "The user edited {}; their text is version {version} now.", which.file_name())
            }
            Self::Conflict { which, version, kept_as } => write!(
                f,
                "The user edited an older version of {} while it was changed here. Their text is version {version} now; \
                 the other one is kept beside it as {kept_as}. Read both before you write again.",
                which.file_name()
            ),
            Self::SetAside { which, kept_as, reason } => {
                write!(f, "What stood in the place of {} was moved to {kept_as}: {reason}.", which.file_name())
            }
            Self::Template { reason } | Self::Trouble { reason } => f.write_str(reason),
        }
    }
}
