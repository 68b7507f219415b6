//! What the hooks remember of a session from one call to the next: a small file in the data folder. Losing it costs a note or a
//! reminder more, never a decision.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use planwright_core::session::SessionIdentity;
use planwright_engine::temp_file::{TempFile, make_folder};
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
        serde_json::from_str(&text(data, session).unwrap_or_default()).unwrap_or_default()
    }

    /// A link in the place of the file is replaced, and one in the place of the folder is refused.
    pub(super) fn write(&self, data: &Path, session: &SessionIdentity) -> io::Result<()> {
        std::fs::create_dir_all(data)?;
        let folder = make_folder(&Dir::open_ambient_dir(data, ambient_authority())?, FOLDER)?;
        let text = serde_json::to_string(self)?;
        TempFile::create(&folder, |file| file.write_all(text.as_bytes()))?.replace(&folder, &file_name(session))
    }
}

fn text(data: &Path, session: &SessionIdentity) -> io::Result<String> {
    let folder = Dir::open_ambient_dir(data, ambient_authority())?.open_dir_nofollow(FOLDER)?;
    let mut options = OpenOptions::new();
    let mut file = folder.open_with(file_name(session), options.read(true).follow(FollowSymlinks::No))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

fn file_name(session: &SessionIdentity) -> String {
    format!("{}.json", session.folder_name())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_leads_out_of_the_folder() {
        let data = tempfile::tempdir().unwrap();
        let session: SessionIdentity = "mcp:session-one".parse().unwrap();
        let memory = HookMemory { research: 3, ..HookMemory::default() };
        memory.write(data.path(), &session).unwrap();
        assert_eq!(HookMemory::read(data.path(), &session), memory);

        let (folder, other) = (data.path().join(FOLDER), data.path().join("other"));
        let own = folder.join(file_name(&session));
        std::fs::write(&other, "{\"research\":7}").unwrap();
        std::fs::remove_file(&own).unwrap();
        symlink(&other, &own).unwrap();
        assert_eq!(HookMemory::read(data.path(), &session), HookMemory::default());
        memory.write(data.path(), &session).unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "{\"research\":7}");
        assert_eq!(HookMemory::read(data.path(), &session), memory);

        std::fs::remove_dir_all(&folder).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), &folder).unwrap();
        memory.write(data.path(), &session).unwrap_err();
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
