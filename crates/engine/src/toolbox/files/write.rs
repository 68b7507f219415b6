//! `write_file`: a whole file, new or in the place of the one that was there.

use std::io::{self, ErrorKind, Write as _};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, Metadata, OpenOptions};
use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::FileLimits;
use super::folder::{WritableFolder, make_folders, sync};
use super::open::Kind;
use super::path::FilePath;
use super::room::{Growth, check_room};
use super::tool::{FileCall, Workplace};
use super::trouble;

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
            return Err(trouble::is_folder("."));
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

    fn carry_out(self, place: &Workplace) -> Result<Value, Refusal> {
        let files = place.folder.open()?;
        let before = match &files {
            Some(files) => what_is_there(files, &self.path)?,
            None => None,
        };
        check_room(files.as_ref(), self.growth(files.as_ref(), before.as_ref()), place)?;
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

    /// Whoever reads sees the old file or the new one and never a part; whoever is told that it is written finds it
    /// after a power failure.
    fn store(&self, folder: &WritableFolder, before: Option<&Metadata>, place: &Workplace) -> Result<(), Refusal> {
        let refusal = |error: io::Error| trouble::refusal(self.path.as_str(), &error);
        let (parent, name) = self.path.parent_and_name().ok_or_else(|| trouble::is_folder("."))?;
        clear_left_behind(&folder.unfinished);
        make_folders(&folder.files, &parent).map_err(refusal)?;
        let parent = folder.files.open_dir(parent.beneath()).map_err(refusal)?;
        let unfinished = Uuid::now_v7().to_string();
        let stored = self.write_unfinished(&folder.unfinished, &unfinished, before).map_err(refusal).and_then(|()| {
            if place.effort.is_over() {
                return Err(trouble::took_too_long());
            }
            // A process that was frozen up to here may not have the session any more.
            let _passed = place.pass_fence()?;
            if !self.only_new {
                return folder.unfinished.rename(&unfinished, &parent, name).map_err(refusal);
            }
            // Unlike a new name for a file, a second one never takes the place of another file.
            folder.unfinished.hard_link(&unfinished, &parent, name).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => self.is_there(),
                _ => refusal(error),
            })
        });
        if stored.is_err() || self.only_new {
            // If this fails too, a later write clears it away.
            let _ = folder.unfinished.remove_file(&unfinished);
        }
        stored?;
        sync(&parent).map_err(refusal)
    }

    fn write_unfinished(&self, unfinished: &Dir, name: &str, before: Option<&Metadata>) -> io::Result<()> {
        let mut file = unfinished.open_with(name, OpenOptions::new().write(true).create_new(true))?;
        if let Some(before) = before {
            // A script stays one that can be run.
            file.set_permissions(before.permissions())?;
        }
        file.write_all(self.content.as_bytes())?;
        file.sync_all()
    }
}

/// The file that will be replaced, if there is one and it may be.
fn what_is_there(files: &Dir, path: &FilePath) -> Result<Option<Metadata>, Refusal> {
    let metadata = match files.symlink_metadata(path.beneath()) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(trouble::refusal(path.as_str(), &error)),
    };
    match Kind::of(&metadata) {
        Kind::File { .. } if metadata.permissions().readonly() => {
            Err(Refusal::policy_denied(format!("{} may only be read.", quoted(path.as_str()))))
        }
        Kind::File { .. } => Ok(Some(metadata)),
        Kind::Folder => Err(trouble::is_folder(path.as_str())),
        Kind::Link => Err(Refusal::policy_denied(format!(
            "{} is a link; write to the file itself if it is in the session's folder.",
            quoted(path.as_str())
        ))),
        Kind::Special => Err(trouble::not_ordinary(path.as_str())),
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
