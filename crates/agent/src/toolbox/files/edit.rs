//! `edit_file`: exact text in a file replaced by other text, all edits or none.

mod replace;

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::FileLimits;
use super::change::{ChangePlace, changeable};
use super::diff;
use super::io_error;
use super::path::FilePath;
use super::quota::{Growth, check_quota};
use super::text::{self, Encoding};
use super::tool::{FileCall, FileCallContext};
use crate::toolbox::ToolAnswer;

/// More edits than a person would look through.
const MAX_EDITS: usize = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditFile {
    /// The file, such as `src/main.rs`.
    #[schemars(with = "String")]
    pub(super) path: FilePath,
    /// The edits, made one after the other. If one does not fit, none is made.
    edits: Vec<Edit>,
}

impl EditFile {
    /// The text of the file after the edits.
    pub(super) fn edited(&self, text: &str) -> Result<String, Refusal> {
        replace::apply(text, &self.edits, &quoted(self.path.as_str())).map(|edited| edited.text)
    }
}

/// One text replaced by another.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The exact text in the file, with its spaces and line breaks. It must be there once, unless `all` is set.
    pub(super) old: String,
    /// The text that takes its place; empty to delete it.
    pub(super) new: String,
    /// Whether every occurrence is replaced.
    #[serde(default)]
    pub(super) all: bool,
}

impl FileCall for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/edit_file.md");
    // The new text may hold the old one, so editing again can change more.
    const EFFECT: ToolEffect = ToolEffect::Changes;

    fn check(&self, limits: &FileLimits) -> Result<(), Refusal> {
        if self.path.is_whole_folder() {
            return Err(io_error::is_folder("."));
        }
        if self.edits.is_empty() || self.edits.len() > MAX_EDITS {
            return Err(Refusal::invalid(format!("edit_file takes 1 to {MAX_EDITS} edits.")));
        }
        for (index, edit) in self.edits.iter().enumerate() {
            let number = index + 1;
            if edit.old.is_empty() {
                return Err(Refusal::invalid(format!(
                    "Edit {number}: `old` is empty. write_file writes a new file or a whole one."
                )));
            }
            if edit.old == edit.new {
                return Err(Refusal::invalid(format!("Edit {number}: `old` and `new` are the same.")));
            }
        }
        let bytes: usize = self.edits.iter().map(|edit| edit.old.len() + edit.new.len()).sum();
        if bytes > limits.write_bytes {
            return Err(Refusal::limit(format!(
                "The edits have {bytes} bytes together, more than the {} of one call. Nothing was changed.",
                limits.write_bytes
            )));
        }
        Ok(())
    }

    fn paths(&self) -> Vec<&FilePath> {
        vec![&self.path]
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let shown = quoted(self.path.as_str());
        let missing = || Refusal::not_found(format!("There is no {shown}. write_file makes a new file."));
        let files = place.workspace.files()?.ok_or_else(missing)?;
        let metadata = changeable(&files, &self.path)?.ok_or_else(missing)?;
        let most = place.limits.edit_bytes;
        if metadata.len() > most {
            return Err(Refusal::limit(format!(
                "{shown} has {} bytes; edit_file changes files of at most {most}.",
                metadata.len()
            )));
        }
        let target = ChangePlace::new(place, &self.path)?;
        let (found, before) = target.find_with_content()?.ok_or_else(missing)?;
        let text = match text::encoding_of(&before) {
            Encoding::Utf8(text) => text,
            other => return Err(Refusal::invalid(format!("{shown} {} It was not changed.", other.why()))),
        };
        let edited = replace::apply(text, &self.edits, &shown)?;
        if edited.text.len() as u64 > most {
            return Err(Refusal::limit(format!(
                "{shown} would have {} bytes; edit_file changes files of at most {most}. Nothing was changed.",
                edited.text.len()
            )));
        }
        let bytes = (edited.text.len() as u64).saturating_sub(metadata.len());
        check_quota(Some(&files), Growth { entries: 0, bytes }, place)?;
        let replaced = target.replace(Some(&found), edited.text.as_bytes(), None);
        let change = replaced.map_err(|error| error.into_refusal(&self.path))?;
        let diff =
            diff::of_change(&change, Some(&before), Some(edited.text.as_bytes())).shortened(place.limits.answer_bytes);
        let mut value = json!({
            "path": self.path.as_str(),
            "replacements": edited.replacements,
            "bytes": edited.text.len(),
            "diff": diff.text,
        });
        if diff.truncated {
            value["truncated"] = true.into();
        }
        Ok(ToolAnswer::changed(value, vec![change]))
    }
}
