//! `delete_file`: one file, kept for undo.

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::FileLimits;
use super::change::{ChangePlace, changeable};
use super::io_error;
use super::path::FilePath;
use super::tool::{FileCall, FileCallContext};
use crate::toolbox::ToolAnswer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteFile {
    /// The file, such as `notes/old.md`.
    #[schemars(with = "String")]
    pub(super) path: FilePath,
}

impl FileCall for DeleteFile {
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/delete_file.md");
    // Deleting again could remove a file that another program made since.
    const EFFECT: ToolEffect = ToolEffect::Changes;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        if self.path.is_whole_folder() { Err(io_error::is_folder(".")) } else { Ok(()) }
    }

    fn paths(&self) -> Vec<&FilePath> {
        vec![&self.path]
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let missing = || Refusal::not_found(format!("There is no {}.", quoted(self.path.as_str())));
        let files = place.workspace.files()?.ok_or_else(missing)?;
        changeable(&files, &self.path)?.ok_or_else(missing)?;
        let target = ChangePlace::new(place, &self.path)?;
        let found = target.find()?.ok_or_else(missing)?;
        let change = target.remove(&found).map_err(|error| error.into_refusal(&self.path))?;
        let value = json!({"path": self.path.as_str(), "bytes": found.version.bytes, "deleted": true});
        Ok(ToolAnswer::changed(value, vec![change]))
    }
}
