//! `move_file`: another path for one file, where nothing is yet.

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::FileLimits;
use super::change::{ChangePlace, changeable, is_there};
use super::io_error;
use super::path::FilePath;
use super::quota::{Growth, check_quota};
use super::tool::{FileCall, FileCallContext};
use crate::toolbox::ToolAnswer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveFile {
    /// The file, such as `notes/today.md`.
    #[schemars(with = "String")]
    pub(super) path: FilePath,
    /// Its new path, such as `archive/today.md`. Folders on the way are made; an existing file stays as it is.
    #[schemars(with = "String")]
    pub(super) to: FilePath,
}

impl FileCall for MoveFile {
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/move_file.md");
    // Moving again could move a file that another program made since.
    const EFFECT: ToolEffect = ToolEffect::Changes;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        if self.path.is_whole_folder() || self.to.is_whole_folder() {
            return Err(io_error::is_folder("."));
        }
        if self.path == self.to {
            return Err(Refusal::invalid("The file is at this path already; `to` must be another one."));
        }
        Ok(())
    }

    fn paths(&self) -> Vec<&FilePath> {
        vec![&self.path, &self.to]
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let missing = || Refusal::not_found(format!("There is no {}.", quoted(self.path.as_str())));
        let files = place.workspace.files()?.ok_or_else(missing)?;
        changeable(&files, &self.path)?.ok_or_else(missing)?;
        if files.symlink_metadata(self.to.beneath()).is_ok() {
            return Err(is_there(&self.to));
        }
        // The file itself is there already; only folders on the way to its new path are new.
        let entries = Growth::new_entries(Some(&files), &self.to).saturating_sub(1);
        check_quota(Some(&files), Growth { entries, bytes: 0 }, place)?;
        let source = ChangePlace::new(place, &self.path)?;
        let found = source.find()?.ok_or_else(missing)?;
        let changes = source.rename(&found, &self.to).map_err(|error| error.into_refusal(&self.path))?;
        let value = json!({"path": self.path.as_str(), "to": self.to.as_str(), "bytes": found.version.bytes});
        Ok(ToolAnswer::changed(value, changes.into()))
    }
}
