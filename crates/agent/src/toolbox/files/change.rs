//! One file, changed: kept as it was, then replaced, made, moved or removed at once, and only if it is still the file
//! that was looked at.

use std::io::{self, ErrorKind, Write as _};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File, Metadata, Permissions};
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_core::workspace::{ContentHash, FileChange, FileVersion};
use planwright_engine::temp_file::{TempFile, sync};
use uuid::Uuid;

use super::folder::make_folders;
use super::git_folders;
use super::io_error;
use super::kept::KeptVersions;
use super::open::{Kind, OpenFile, open_walked};
use super::path::FilePath;
use super::tool::FileCallContext;
use super::workspace::{Staging, WritableFolder};

/// No write takes this long; what is older was left by a process that died.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);
/// The names of files that are not whole yet, in a project.
const BESIDE: &str = ".planwright-";

/// A change was not made.
#[derive(Debug)]
pub(super) enum ChangeError {
    /// Another program changed the file since it was looked at. Nothing was done.
    Raced,
    Refused(Refusal),
}

impl ChangeError {
    pub(super) fn into_refusal(self, path: &FilePath) -> Refusal {
        match self {
            Self::Raced => Refusal::conflict(format!(
                "{} was changed by another program while this call ran, so it was left as it is. Read it again.",
                quoted(path.as_str())
            )),
            Self::Refused(refusal) => refusal,
        }
    }
}

impl From<Refusal> for ChangeError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A file as a call found it, kept.
#[derive(Debug)]
pub(super) struct FoundFile {
    pub(super) version: FileVersion,
    metadata: Metadata,
}

/// One place in a workspace where a call changes a file.
#[derive(Debug)]
pub(super) struct ChangePlace<'a> {
    place: &'a FileCallContext,
    path: &'a FilePath,
    folder: WritableFolder,
    kept: KeptVersions,
}

impl<'a> ChangePlace<'a> {
    pub(super) fn new(place: &'a FileCallContext, path: &'a FilePath) -> Result<Self, Refusal> {
        let folder = place.workspace.make()?;
        git_folders::check(&folder.files, path)?;
        Ok(Self { place, path, folder, kept: KeptVersions::make(&place.own)? })
    }

    fn refusal(&self, error: &io::Error) -> Refusal {
        io_error::refusal(self.path.as_str(), error)
    }

    fn parent_and_name(&self) -> Result<(FilePath, &'a str), Refusal> {
        self.path.parent_and_name().ok_or_else(|| io_error::is_folder("."))
    }

    fn parent(&self) -> Result<(Dir, &'a str), Refusal> {
        let (parent, name) = self.parent_and_name()?;
        let parent = self.folder.files.open_dir(parent.beneath()).map_err(|error| self.refusal(&error))?;
        Ok((parent, name))
    }

    /// The existing file, if there is one and it may be changed, and its content in the store of kept versions.
    pub(super) fn find(&self) -> Result<Option<FoundFile>, Refusal> {
        let Some(before) = changeable(&self.folder.files, self.path)? else { return Ok(None) };
        // The versions before and after both have room.
        let most = self.place.limits.kept_file_bytes.min(self.place.limits.kept_bytes / 2);
        if before.len() > most {
            return Err(Refusal::limit(format!(
                "{} has {} bytes. A file of more than {most} bytes cannot be kept as it was, so it is not changed.",
                quoted(self.path.as_str()),
                before.len()
            )));
        }
        let (parent, name) = self.parent()?;
        let OpenFile { mut file, bytes } = open_walked(&parent, name)?;
        let metadata = file.metadata().map_err(|error| self.refusal(&error))?;
        let (hash, bytes) = self.kept.put_file(&mut file, bytes).map_err(|error| self.refusal(&error))?;
        Ok(Some(FoundFile { version: FileVersion { hash, bytes, mode: mode_of(&metadata) }, metadata }))
    }

    /// The file as it is now, with its content.
    pub(super) fn find_with_content(&self) -> Result<Option<(FoundFile, Vec<u8>)>, Refusal> {
        let Some(found) = self.find()? else { return Ok(None) };
        let content = self.kept.get(&found.version.hash).map_err(|error| self.refusal(&error))?;
        let content = content.ok_or_else(|| self.refusal(&io::Error::other("its kept version cannot be read")))?;
        Ok(Some((found, content)))
    }

    /// The kept content of a version.
    pub(super) fn kept(&self, version: &FileVersion) -> Result<Option<Vec<u8>>, Refusal> {
        self.kept.get(&version.hash).map_err(|error| self.refusal(&error))
    }

    /// Puts `content` in the place of the file that was found, or where none was.
    pub(super) fn replace(
        &self,
        found: Option<&FoundFile>,
        content: &[u8],
        mode: Option<u32>,
    ) -> Result<FileChange, ChangeError> {
        let refusal = |error: io::Error| self.refusal(&error);
        let (parent_path, name) = self.parent_and_name()?;
        make_folders(&self.folder.files, &parent_path, self.place.workspace.folder_mode()).map_err(refusal)?;
        let (parent, _) = self.parent()?;
        let hash = self.kept.put(content).map_err(refusal)?;
        let mut after = FileVersion { hash, bytes: content.len() as u64, mode: None };
        let write = |file: &mut File| -> io::Result<()> {
            if let Some(found) = found {
                // A script stays one that can be run.
                file.set_permissions(found.metadata.permissions())?;
                keep_owner(file, &found.metadata);
            }
            if let Some(mode) = mode {
                set_mode(file, mode)?;
            }
            after.mode = mode_of(&file.metadata()?);
            file.write_all(content)
        };
        let (staging, prefix) = match &self.folder.staging {
            Staging::Folder(unfinished) => (unfinished, ""),
            Staging::Beside => (&parent, BESIDE),
        };
        clear_left_behind(staging, prefix);
        let temp = TempFile::create_named(staging, format!("{prefix}{}", Uuid::now_v7()), write).map_err(refusal)?;
        let change = self.change(found, Some(after));
        self.begin(&[&change])?;
        let _passed = self.place.pass_fence()?;
        self.check_unchanged(&parent, name, found)?;
        match found {
            Some(_) => temp.replace(&parent, name).map_err(refusal)?,
            // Unlike a hard link, this works on every file system.
            None => match rename_new(staging, temp.name(), &parent, name).and_then(|()| sync(&parent)) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(ChangeError::Raced),
                Err(error) => return Err(refusal(error).into()),
            },
        }
        Ok(change)
    }

    pub(super) fn remove(&self, found: &FoundFile) -> Result<FileChange, ChangeError> {
        let (parent, name) = self.parent()?;
        let change = self.change(Some(found), None);
        self.begin(&[&change])?;
        let _passed = self.place.pass_fence()?;
        self.check_unchanged(&parent, name, Some(found))?;
        let remove = || parent.remove_file(name).and_then(|()| sync(&parent));
        remove().map_err(|error| self.refusal(&error))?;
        Ok(change)
    }

    /// Gives the file another path, where nothing is.
    pub(super) fn rename(&self, found: &FoundFile, to: &FilePath) -> Result<[FileChange; 2], ChangeError> {
        git_folders::check(&self.folder.files, to)?;
        let (parent, name) = self.parent()?;
        let (to_parent, to_name) = to.parent_and_name().ok_or_else(|| io_error::is_folder("."))?;
        let refusal = |error: io::Error| io_error::refusal(to.as_str(), &error);
        make_folders(&self.folder.files, &to_parent, self.place.workspace.folder_mode()).map_err(refusal)?;
        let to_parent = self.folder.files.open_dir(to_parent.beneath()).map_err(refusal)?;
        let made = FileChange {
            workspace: self.place.chosen.clone(),
            path: to.to_string(),
            before: None,
            after: Some(found.version),
        };
        let changes = [self.change(Some(found), None), made];
        self.begin(&[&changes[0], &changes[1]])?;
        let _passed = self.place.pass_fence()?;
        self.check_unchanged(&parent, name, Some(found))?;
        match rename_new(&parent, name, &to_parent, to_name) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(is_there(to).into()),
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                return Err(Refusal::invalid(format!(
                    "{} is on another file system than {}; write a new file and delete this one.",
                    quoted(to.as_str()),
                    quoted(self.path.as_str())
                ))
                .into());
            }
            Err(error) => return Err(refusal(error).into()),
        }
        let synced = sync(&to_parent).and_then(|()| sync(&parent));
        synced.map_err(refusal)?;
        Ok(changes)
    }

    fn change(&self, found: Option<&FoundFile>, after: Option<FileVersion>) -> FileChange {
        FileChange {
            workspace: self.place.chosen.clone(),
            path: self.path.to_string(),
            before: found.map(|found| found.version),
            after,
        }
    }

    /// The last moment at which nothing is done yet.
    fn begin(&self, changes: &[&FileChange]) -> Result<(), Refusal> {
        if self.place.deadline.is_over() {
            return Err(io_error::took_too_long());
        }
        if let Some(call) = &self.place.call {
            let changes: Vec<_> = changes.iter().map(|change| (*change).clone()).collect();
            self.kept.note_call(call, &changes).map_err(|error| self.refusal(&error))?;
        }
        self.place.count_kept(&self.kept, changes);
        self.place.workspace.check_place()
    }

    fn check_unchanged(&self, parent: &Dir, name: &str, found: Option<&FoundFile>) -> Result<(), ChangeError> {
        let there = match open_walked(parent, name) {
            Ok(there) => Some(there),
            Err(refusal) if refusal.code == planwright_core::refusal::RefusalCode::NotFound => None,
            Err(refusal) => return if found.is_some() { Err(ChangeError::Raced) } else { Err(refusal.into()) },
        };
        match (there, found) {
            (None, None) => Ok(()),
            (Some(there), Some(found)) => match is_same(there, found) {
                Ok(true) => Ok(()),
                Ok(false) => Err(ChangeError::Raced),
                Err(error) => Err(self.refusal(&error).into()),
            },
            (Some(_), None) | (None, Some(_)) => Err(ChangeError::Raced),
        }
    }
}

/// Times of files are coarse, so the content is compared as well.
fn is_same(there: OpenFile, found: &FoundFile) -> io::Result<bool> {
    let metadata = there.file.metadata()?;
    if metadata.len() != found.version.bytes || mode_of(&metadata) != found.version.mode {
        return Ok(false);
    }
    Ok(hash_of(there.file)? == found.version.hash)
}

pub(super) fn hash_of(mut file: impl io::Read) -> io::Result<ContentHash> {
    use sha2::{Digest as _, Sha256};
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 128 * 1024]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(ContentHash::from_sha256(hasher.finalize().into())),
            Ok(read) => hasher.update(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What is at the path, if it is an ordinary file that may be changed.
pub(super) fn changeable(files: &Dir, path: &FilePath) -> Result<Option<Metadata>, Refusal> {
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
            "{} is a link; name the file itself if it is in the workspace.",
            quoted(path.as_str())
        ))),
        Kind::Special => Err(io_error::not_ordinary(path.as_str())),
    }
}

pub(super) fn is_there(path: &FilePath) -> Refusal {
    Refusal::conflict(format!("{} exists already and was left as it is.", quoted(path.as_str())))
}

#[cfg(unix)]
pub(super) fn mode_of(metadata: &Metadata) -> Option<u32> {
    use cap_std::fs::PermissionsExt as _;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
pub(super) fn mode_of(_metadata: &Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use cap_std::fs::PermissionsExt as _;
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// A file of another user stays theirs where this process may give it to them.
#[cfg(unix)]
fn keep_owner(file: &File, before: &Metadata) {
    use cap_std::fs::MetadataExt as _;
    let Ok(now) = file.metadata() else { return };
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        let owner = (rustix::fs::Uid::from_raw(before.uid()), rustix::fs::Gid::from_raw(before.gid()));
        let _ = rustix::fs::fchown(file, Some(owner.0), Some(owner.1));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _before: &Metadata) {}

/// A rename that replaces nothing.
fn rename_new(from: &Dir, name: &str, to: &Dir, to_name: &str) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(from, name, to, to_name, RenameFlags::NOREPLACE) {
            // A few file systems do not know this kind of rename.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            renamed => return renamed.map_err(io::Error::from),
        }
    }
    from.hard_link(name, to, to_name)?;
    from.remove_file(name)
}

fn clear_left_behind(folder: &Dir, prefix: &str) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        if !entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(prefix) && is_temporary(&name[prefix.len()..]))
        {
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at.into_std()).ok());
        if age.is_some_and(|age| age > LEFT_BEHIND) {
            let _ = entry.remove_file();
        }
    }
}

fn is_temporary(name: &str) -> bool {
    Uuid::parse_str(name).is_ok()
}

#[cfg(test)]
mod tests;
