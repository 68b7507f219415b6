//! `write_file`: a whole file, new or in the place of the one that was there.

use std::io::{self, ErrorKind, Write as _};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, Metadata};
use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileLimits;
use super::folder::{WritableFolder, make_folders};
use super::io_error;
use super::open::Kind;
use super::path::FilePath;
use super::quota::{Growth, check_quota};
use super::tool::{FileCall, FileCallContext};
use crate::temp_file::TempFile;

/// No write takes this long; what is older was left by a process that died.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteFile {
    /// The file, such as `notes/today.md`. Folders on the way are made.
    #[schemars(with = "String")]
    path: FilePath,
    /// The whole text. It replaces what was there.
    content: String,
    /// Whether a file that is there stays as it is.
    #[serde(skip)]
    only_new: bool,
}

impl FileCall for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/write_file.md");
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

    fn carry_out(self, place: &FileCallContext) -> Result<Value, Refusal> {
        let files = place.folder.open()?;
        let before = match &files {
            Some(files) => what_is_there(files, &self.path)?,
            None => None,
        };
        check_quota(files.as_ref(), self.growth(files.as_ref(), before.as_ref()), place)?;
        if self.only_new && before.is_some() {
            return Err(self.is_there());
        }
        let folder = place.folder.make()?;
        self.store(&folder, before.as_ref(), place)?;
        Ok(json!({
            "path": self.path.as_str(),
            "bytes": self.content.len(),
            "lines": self.content.lines().count(),
            "replaced": before.is_some(),
        }))
    }
}

impl WriteFile {
    pub(super) fn only_new(path: &str, content: String) -> Result<Self, Refusal> {
        Ok(Self { path: FilePath::parse(path)?, content, only_new: true })
    }

    fn is_there(&self) -> Refusal {
        Refusal::conflict(format!("{} is there already and was left as it is.", quoted(self.path.as_str())))
    }

    fn growth(&self, files: Option<&Dir>, before: Option<&Metadata>) -> Growth {
        let is_new = |path: &FilePath| files.is_none_or(|files| files.symlink_metadata(path.as_str()).is_err());
        Growth {
            entries: self.path.ancestors_and_self().filter(is_new).count(),
            bytes: (self.content.len() as u64).saturating_sub(before.map_or(0, Metadata::len)),
        }
    }

    /// A reader sees the old file or the new one and never a part. A file that was reported as written survives a power
    /// failure.
    fn store(
        &self,
        folder: &WritableFolder,
        before: Option<&Metadata>,
        place: &FileCallContext,
    ) -> Result<(), Refusal> {
        let refusal = |error: io::Error| io_error::refusal(self.path.as_str(), &error);
        let (parent, name) = self.path.parent_and_name().ok_or_else(|| io_error::is_folder("."))?;
        clear_left_behind(&folder.unfinished);
        make_folders(&folder.files, &parent).map_err(refusal)?;
        let parent = folder.files.open_dir(parent.beneath()).map_err(refusal)?;
        let temp = TempFile::create(&folder.unfinished, |file| {
            if let Some(before) = before {
                // A script stays one that can be run.
                file.set_permissions(before.permissions())?;
            }
            file.write_all(self.content.as_bytes())
        });
        let temp = temp.map_err(refusal)?;
        if place.deadline.is_over() {
            return Err(io_error::took_too_long());
        }
        // A process that was frozen up to here may not have the session any more.
        let _passed = place.pass_fence()?;
        if !self.only_new {
            return temp.replace(&parent, name).map_err(refusal);
        }
        temp.create_new(&parent, name).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => self.is_there(),
            _ => refusal(error),
        })
    }
}

/// The file that will be replaced, if there is one and it may be.
fn what_is_there(files: &Dir, path: &FilePath) -> Result<Option<Metadata>, Refusal> {
    let metadata = match files.symlink_metadata(path.beneath()) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error::refusal(path.as_str(), &error)),
    };
    match Kind::of(&metadata) {
        Kind::File { .. } if metadata.permissions().readonly() => {
            Err(Refusal::policy_denied(format!("{} may only be read.", quoted(path.as_str()))))
        }
        Kind::File { .. } => Ok(Some(metadata)),
        Kind::Folder => Err(io_error::is_folder(path.as_str())),
        Kind::Link => Err(Refusal::policy_denied(format!(
            "{} is a link; write to the file itself if it is in the session's folder.",
            quoted(path.as_str())
        ))),
        Kind::Special => Err(io_error::not_ordinary(path.as_str())),
    }
}

fn clear_left_behind(unfinished: &Dir) {
    let Ok(entries) = unfinished.entries() else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at.into_std()).ok());
        if age.is_some_and(|age| age > LEFT_BEHIND) {
            let _ = entry.remove_file();
        }
    }
}
