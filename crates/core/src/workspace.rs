//! The folder that a session's file tools work in, and what they change there, as both stand in the journal.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::guarded_files::GuardedFiles;
use crate::ids::{ExecutionId, PlanId, StepId, TurnId};
use crate::refusal::Refusal;
use crate::visible::quoted;
use crate::wire::hex_text;

/// Longer than the path of any folder that an operating system opens.
const MAX_PATH: usize = 4096;

/// A session works in its own folder until a person names a project folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Workspace {
    #[default]
    Own,
    /// The path is absolute and has no links in it.
    Project { path: String },
}

impl Workspace {
    /// The session's own folder for `None`.
    pub fn at(path: Option<String>) -> Self {
        path.map_or(Self::Own, |path| Self::Project { path })
    }

    /// The path of the project folder.
    pub fn project(&self) -> Option<&str> {
        match self {
            Self::Own => None,
            Self::Project { path } => Some(path),
        }
    }

    pub fn is_own(&self) -> bool {
        match self {
            Self::Own => true,
            Self::Project { .. } => false,
        }
    }

    /// Whether it can stand in the journal. The folder itself is checked by the process that opens it.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Own => Ok(()),
            Self::Project { path } if path.trim().is_empty() => {
                Err(Refusal::invalid("The path of a project folder is empty."))
            }
            Self::Project { path } if path.len() > MAX_PATH => Err(Refusal::limit(format!(
                "The path of a project folder has at most {MAX_PATH} bytes; this one has {}.",
                path.len()
            ))),
            Self::Project { path } if path.contains(char::is_control) => Err(Refusal::invalid(format!(
                "{} has control characters, so it cannot be a project folder.",
                quoted(path)
            ))),
            Self::Project { .. } => Ok(()),
        }
    }
}

impl fmt::Display for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("the session's own folder"),
            Self::Project { path } => f.write_str(&quoted(path)),
        }
    }
}

/// SHA-256 of a file's bytes. Kept versions are found by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// For content that is hashed piece by piece.
    pub const fn from_sha256(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

hex_text!(ContentHash, |text| format!("{} is not the hash of a file", quoted(text)));

/// A file as it was at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileVersion {
    pub hash: ContentHash,
    pub bytes: u64,
    /// The permission bits, where the operating system has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// What a tool call did to one file. `before` is `None` for a new file, `after` for one that is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    #[serde(default, skip_serializing_if = "Workspace::is_own")]
    pub workspace: Workspace,
    /// Relative to the workspace, with `/` between names.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileVersion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileVersion>,
}

/// The paths of a workspace that differ between two times, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPaths {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Whether every file was looked at both times, so that nothing is missing here.
    pub complete: bool,
}

impl ChangedPaths {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Those that later run or instruct.
    pub fn guarded(&self, guarded: &GuardedFiles) -> Vec<String> {
        let all = [&self.added, &self.changed, &self.removed].into_iter().flatten();
        all.filter(|path| guarded.contain(path)).cloned().collect()
    }

    /// Without the paths that tools changed, which are kept and can be undone.
    #[must_use]
    pub fn without(mut self, covered: &[FileChange]) -> Self {
        let is_other = |path: &String| !covered.iter().any(|change| change.path == *path);
        for paths in [&mut self.added, &mut self.changed, &mut self.removed] {
            paths.retain(is_other);
        }
        self
    }

    /// At most this many paths of each kind.
    #[must_use]
    pub fn at_most(mut self, paths: usize) -> Self {
        for list in [&mut self.added, &mut self.changed, &mut self.removed] {
            self.complete &= list.len() <= paths;
            list.truncate(paths);
        }
        self
    }
}

/// What one tool call did to files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallChanges {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// What a command changed. It is not kept and cannot be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<ChangedPaths>,
}

impl CallChanges {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.uncovered.as_ref().is_none_or(ChangedPaths::is_empty)
    }
}

impl From<Vec<FileChange>> for CallChanges {
    fn from(changes: Vec<FileChange>) -> Self {
        Self { changes, uncovered: None }
    }
}

/// The call that changed files, and the plan that it was a part of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOrigin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<TurnId>,
    /// 1-based index of the call within the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
}

/// What a person put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The plan that made the changes; `None` if a turn of the conversation made them outside of any plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// Only the changes of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The turn that made the changes outside of any plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<TurnId>,
    /// What the undo itself did to files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_undone: Vec<NotUndone>,
}

/// A file that an undo left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotUndone {
    #[serde(default, skip_serializing_if = "Workspace::is_own")]
    pub workspace: Workspace,
    pub path: String,
    /// A sentence for people.
    pub why: String,
}

/// The path below the workspace without `.` and `..`, or `None` if it leads out of it.
pub(crate) fn normal(path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\\') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
