//! The files of the sessions. Links are never followed, neither when they are read nor when they are written.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, File, FileType, OpenOptions};
use planwright_core::session::SessionIdentity;
use sha2::{Digest as _, Sha256};

use super::names::{FileName, UNFINISHED, WORKBOOK_NOTE, leads_down};

/// What is met in the folder.
pub(super) enum Found {
    File(FileName, File),
    Unreadable(String, io::Error),
    /// Something that cannot be taken along, and why.
    Other(String, &'static str),
}

/// Walks through the folders of all sessions. A folder that is not there has nothing in it.
pub(super) fn walk(users: &Path, found: &mut impl FnMut(Found) -> io::Result<()>) -> io::Result<()> {
    let root = match Dir::open_ambient_dir(users, ambient_authority()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        root => root?,
    };
    for name in sorted(&root)? {
        // What is not a session's folder is not ours.
        let Some(session) = name.as_deref().and_then(SessionIdentity::from_folder_name) else { continue };
        let Ok(own) = root.open_dir_nofollow(session.folder_name()) else { continue };
        let taken = |first: &String| first != UNFINISHED && first != WORKBOOK_NOTE;
        for first in sorted(&own)?.into_iter().flatten().filter(taken) {
            meet(&own, &session, vec![first], found)?;
        }
    }
    Ok(())
}

fn meet(
    folder: &Dir,
    session: &SessionIdentity,
    steps: Vec<String>,
    found: &mut impl FnMut(Found) -> io::Result<()>,
) -> io::Result<()> {
    let Some(last) = steps.last() else { return Ok(()) };
    let shown = || format!("users/{}/{}", session.folder_name(), steps.join("/"));
    let kind = match folder.symlink_metadata(last) {
        // It was removed meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata?.file_type(),
    };
    if kind.is_dir() {
        let inner = folder.open_dir_nofollow(last)?;
        for name in sorted(&inner)? {
            match name.filter(|name| leads_down(name)) {
                Some(name) => meet(&inner, session, [steps.clone(), vec![name]].concat(), found)?,
                None => found(Found::Other(shown(), "a name in it cannot be written everywhere"))?,
            }
        }
        return Ok(());
    }
    if !kind.is_file() {
        return found(Found::Other(shown(), kind_words(kind)));
    }
    let file = match open(folder, last) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return found(Found::Unreadable(shown(), error)),
        Ok(file) => file,
    };
    match FileName::new(session.clone(), steps.clone()) {
        Some(name) => found(Found::File(name, file)),
        None => found(Found::Other(shown(), "it is not where files of a session are")),
    }
}

fn kind_words(kind: FileType) -> &'static str {
    if kind.is_symlink() { "it is a link" } else { "it is neither a file nor a folder" }
}

/// `None` for a name that is not text.
fn sorted(folder: &Dir) -> io::Result<Vec<Option<String>>> {
    let mut names = Vec::new();
    for entry in folder.entries()? {
        names.push(entry?.file_name().into_string().ok());
    }
    names.sort_unstable();
    Ok(names)
}

fn open(folder: &Dir, name: &str) -> io::Result<File> {
    folder.open_with(name, OpenOptions::new().read(true).follow(FollowSymlinks::No))
}

/// What is at the place where a file is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    /// The very same file.
    Same,
    /// Something else.
    Taken,
}

pub(super) fn look(users: &Path, name: &FileName, sha256: &str) -> io::Result<Place> {
    let look = || -> io::Result<Place> {
        let root = Dir::open_ambient_dir(users, ambient_authority())?;
        let mut folder = root.open_dir_nofollow(name.session.folder_name())?;
        for step in name.folders() {
            folder = folder.open_dir_nofollow(step)?;
        }
        let metadata = folder.symlink_metadata(name.name())?;
        if !metadata.is_file() {
            return Ok(Place::Taken);
        }
        Ok(if hash(open(&folder, name.name())?)? == sha256 { Place::Same } else { Place::Taken })
    };
    match look() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Place::Free),
        // A link or a file where a folder should be.
        Err(error) if is_in_the_way(&error) => Ok(Place::Taken),
        looked => looked,
    }
}

fn is_in_the_way(error: &io::Error) -> bool {
    let link = rustix::io::Errno::LOOP.raw_os_error();
    error.kind() == ErrorKind::NotADirectory || error.raw_os_error() == Some(link)
}

fn hash(mut file: impl io::Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex::encode(hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}

/// Writes a file, whole or not at all. It must have this hash.
pub(super) fn write(users: &Path, name: &FileName, content: &mut impl io::Read, sha256: &str) -> io::Result<()> {
    let root = Dir::open_ambient_dir(users, ambient_authority())?;
    let own = enter(&root, &name.session.folder_name())?;
    let unfinished = enter(&own, UNFINISHED)?;
    const NAME: &str = "restoring";
    // What an interrupted one left.
    let _ = unfinished.remove_file(NAME);
    let mut file = unfinished.open_with(NAME, OpenOptions::new().write(true).create_new(true))?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match content.read(&mut piece)? {
            0 => break,
            read => {
                hash.update(&piece[..read]);
                file.write_all(&piece[..read])?;
            }
        }
    }
    file.sync_all()?;
    drop(file);
    if hex::encode(hash.finalize()) != sha256 {
        let _ = unfinished.remove_file(NAME);
        return Err(io::Error::new(ErrorKind::InvalidData, "the archive changed while it was read"));
    }
    let mut folder = own;
    for step in name.folders() {
        folder = enter(&folder, step)?;
    }
    unfinished.rename(NAME, &folder, name.name())
}

/// Only for the person whose files these are.
fn enter(folder: &Dir, name: &str) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match folder.create_dir_with(name, &builder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    folder.open_dir_nofollow(name)
}
