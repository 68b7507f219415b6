//! A copy, made as the shared list says. Every file is put in its place when it is whole.

use std::io::{self, ErrorKind, Write as _};

use cap_std::fs::Dir;
use planwright_core::workspace::ContentHash;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::shared_files::merge::CopyChanges;
use planwright_engine::shared_files::{SharedFile, SharedFolder, SharedItem};
use planwright_engine::temp_file::{TempFile, UNFINISHED, make_folder};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{SHARED, SharedCopy, failed};
use crate::toolbox::files::change::set_mode;

/// What could not be shared is kept here, in a folder for each time.
const ASIDE: &str = "aside";
/// Who may do what with a file; nothing more.
const PERMISSIONS: u32 = 0o777;

/// Returns the files whose content could not be had; they are left out.
pub(super) fn apply(copy: &SharedCopy<'_>, changes: &CopyChanges, shared: &SharedFolder) -> LedgerResult<Vec<String>> {
    let io = |error: io::Error| failed(&error);
    if !changes.aside.is_empty() {
        let aside = make_folder(&copy.own, ASIDE).map_err(io)?;
        let aside = make_folder(&aside, &Uuid::now_v7().to_string()).map_err(io)?;
        for path in &changes.aside {
            put_aside(&copy.own, &aside, path).map_err(io)?;
        }
    }
    for path in &changes.removed {
        remove(&copy.own, path).map_err(io)?;
    }
    let unfinished = make_folder(&copy.own, UNFINISHED).map_err(io)?;
    let mut missing = Vec::new();
    for path in &changes.made {
        let Some(item) = shared.items.get(path) else { continue };
        let (parent, name) = parent(&copy.own, path).map_err(io)?;
        match item {
            SharedItem::Folder => drop(make_folder(&parent, name).map_err(io)?),
            SharedItem::Link { to } => make_link(&parent, name, to).map_err(io)?,
            SharedItem::File(file) => match put_file(copy, &unfinished, &parent, name, file) {
                Err(error @ LedgerError::Damaged { .. }) => {
                    tracing::error!(session_identity = %copy.session, event = "shared_file_damaged", path, %error);
                    // What stands there now is of another time.
                    remove(&copy.own, path).map_err(io)?;
                    missing.push(path.clone());
                }
                outcome => outcome?,
            },
        }
    }
    Ok(missing)
}

fn put_file(copy: &SharedCopy<'_>, unfinished: &Dir, parent: &Dir, name: &str, file: &SharedFile) -> LedgerResult<()> {
    let mut whole = Sha256::new();
    // Errors of the storage are told apart from those of the disk.
    let mut error = None;
    let written = TempFile::create(unfinished, |to| {
        for hash in file.pieces() {
            let content = copy.piece(hash).map_err(|found| {
                error = Some(found);
                io::Error::other("a piece could not be had")
            })?;
            whole.update(&content);
            to.write_all(&content)?;
        }
        match file.mode {
            Some(mode) => set_mode(to, mode & PERMISSIONS),
            None => Ok(()),
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    let written = written.map_err(|error| failed(&error))?;
    if ContentHash::from_sha256(whole.finalize().into()) != file.hash {
        return Err(LedgerError::damaged(format!("the shared file {name}"), "its pieces make another file"));
    }
    written.replace(parent, name).map_err(|error| failed(&error))
}

/// The folder that an item is in, and its name there. Folders on the way that are missing are made.
fn parent<'a>(own: &Dir, path: &'a str) -> io::Result<(Dir, &'a str)> {
    let invalid = || io::Error::new(ErrorKind::InvalidInput, "the list names a path that leads nowhere");
    let mut names: Vec<&str> = path.split('/').collect();
    let is_sound = |name: &&str| !name.is_empty() && *name != "." && *name != ".." && !name.contains('\0');
    if !names.iter().all(is_sound) || !names.first().is_some_and(|first| SHARED.contains(first)) {
        return Err(invalid());
    }
    let name = names.pop().ok_or_else(invalid)?;
    let mut folder = own.try_clone()?;
    for part in names {
        folder = make_folder(&folder, part)?;
    }
    Ok((folder, name))
}

fn remove(own: &Dir, path: &str) -> io::Result<()> {
    let (parent, name) = parent(own, path)?;
    let removed = match parent.symlink_metadata(name) {
        Ok(metadata) if metadata.is_dir() => parent.remove_dir(name),
        Ok(_) => parent.remove_file(name),
        Err(error) => Err(error),
    };
    match removed {
        // A folder in which something was not shared yet stays.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => Ok(()),
        outcome => outcome,
    }
}

fn put_aside(own: &Dir, aside: &Dir, path: &str) -> io::Result<()> {
    let (from, name) = parent(own, path)?;
    let (to, _) = parent(aside, path)?;
    match from.rename(name, &to, name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

fn make_link(parent: &Dir, name: &str, to: &str) -> io::Result<()> {
    match parent.symlink_contents(to, name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            parent.remove_file(name)?;
            parent.symlink_contents(to, name)
        }
        outcome => outcome,
    }
}
