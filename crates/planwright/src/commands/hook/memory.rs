//! What the hooks remember of a session from one call to the next: a small file in the data folder. Losing it costs a note or a
//! reminder more, never a decision.

use std::path::{Path, PathBuf};

use planwright_core::session::SessionIdentity;
use serde::{Deserialize, Serialize};

/// The folder in the data folder.
const FOLDER: &str = "hooks";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HookMemory {
    /// The plan and the execution of which the agent was last reminded.
    #[serde(default)]
    pub(super) reminded_of: Option<String>,
    /// How many of its steps were done then.
    #[serde(default)]
    pub(super) reminded_done: usize,
    /// How many calls of the client's tools only looked something up.
    #[serde(default)]
    pub(super) research: u32,
}

impl HookMemory {
    pub(super) fn read(data: &Path, session: &SessionIdentity) -> Self {
        let text = std::fs::read_to_string(file(data, session)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn write(&self, data: &Path, session: &SessionIdentity) -> std::io::Result<()> {
        let file = file(data, session);
        std::fs::create_dir_all(data.join(FOLDER))?;
        std::fs::write(file, serde_json::to_string(self)?)
    }
}

fn file(data: &Path, session: &SessionIdentity) -> PathBuf {
    data.join(FOLDER).join(format!("{}.json", session.folder_name()))
}
