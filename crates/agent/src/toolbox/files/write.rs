//! `write_file`: a whole file, new or in the place of the one that was there.

use cap_std::fs::{Dir, Metadata};
use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::FileLimits;
use super::change::{ChangeError, ChangePlace, changeable, is_there};
use super::io_error;
use super::path::FilePath;
use super::quota::{Growth, check_quota};
use super::tool::{FileCall, FileCallContext};
use crate::toolbox::ToolAnswer;

/// How often a write looks at the file anew that another program changes under its hands.
const MAX_ATTEMPTS: usize = 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteFile {
    /// The file, such as `notes/today.md`. Folders on the way are made.
    #[schemars(with = "String")]
    pub(super) path: FilePath,
    /// The whole text. It replaces what was there.
    pub(super) content: String,
    /// Whether an existing file stays as it is.
    #[serde(skip)]
    only_new: bool,
}

impl FileCall for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/write_file.md");
    // The file has the same content however often it is written.
    const EFFECT: ToolEffect = ToolEffect::Repeatable;

    fn check(&self, limits: &FileLimits) -> Result<(), Refusal> {
        if self.path.is_whole_folder() {
            return Err(io_error::is_folder("."));
        }
        if self.content.len() > limits.write_bytes {
            return Err(Refusal::limit(format!(
                "A file is written with at most {} bytes; this is {}. Nothing was stored.",
                limits.write_bytes,
                self.content.len()
            )));
        }
        Ok(())
    }

    fn paths(&self) -> Vec<&FilePath> {
        vec![&self.path]
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let files = place.workspace.files()?;
        let before = match &files {
            Some(files) => changeable(files, &self.path)?,
            None => None,
        };
        check_quota(files.as_ref(), self.growth(files.as_ref(), before.as_ref()), place)?;
        if self.only_new && before.is_some() {
            return Err(is_there(&self.path));
        }
        let target = ChangePlace::new(place, &self.path)?;
        let mut tries = MAX_ATTEMPTS;
        let change = loop {
            let found = target.find()?;
            if self.only_new && found.is_some() {
                return Err(is_there(&self.path));
            }
            tries -= 1;
            match target.replace(found.as_ref(), self.content.as_bytes(), None) {
                Ok(change) => break change,
                Err(ChangeError::Raced) if tries > 0 => {}
                Err(error) => return Err(error.into_refusal(&self.path)),
            }
        };
        let value = json!({
            "path": self.path.as_str(),
            "bytes": self.content.len(),
            "lines": self.content.lines().count(),
            "replaced": change.before.is_some(),
        });
        Ok(ToolAnswer::changed(value, vec![change]))
    }
}

impl WriteFile {
    pub(super) fn only_new(path: &str, content: String) -> Result<Self, Refusal> {
        Ok(Self { path: FilePath::parse(path)?, content, only_new: true })
    }

    fn growth(&self, files: Option<&Dir>, before: Option<&Metadata>) -> Growth {
        let bytes = (self.content.len() as u64).saturating_sub(before.map_or(0, Metadata::len));
        Growth { entries: Growth::new_entries(files, &self.path), bytes }
    }
}
