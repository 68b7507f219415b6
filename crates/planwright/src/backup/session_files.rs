//! Reads and writes the sessions' files. Links are never followed.

use std::io::{self, ErrorKind};
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, File, FileType, OpenOptions};
use planwright_core::session::SessionIdentity;
use planwright_engine::temp_file::TempFile;
use sha2::{Digest as _, Sha256};

use super::part_name::{FileName, UNFINISHED, is_file_name, is_reserved};

/// Something in a session's folder.
pub(super) enum FolderItem {
    File(FileName, File),
    Unreadable(String, io::Error),
    /// Something that cannot be in an archive, and why.
    Other(String, &'static str),
}

/// Visits everything in the folders of all sessions. A missing folder counts as empty.
pub(super) fn walk(users: &Path, found: &mut impl FnMut(FolderItem) -> io::Result<()>) -> io::Result<()> {
    let root = match Dir::open_ambient_dir(users, ambient_authority()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        root => root?,
    };
    for name in sorted(&root)? {
        // Other folders do not belong to Planwright.
        let Some(session) = name.as_deref().and_then(SessionIdentity::from_folder_name) else { continue };
        let Ok(own) = root.open_dir_nofollow(session.folder_name()) else { continue };
        let taken = |first: &String| !is_reserved(first);
        for first in sorted(&own)?.into_iter().flatten().filter(taken) {
            visit(&own, &session, vec![first], found)?;
        }
    }
    Ok(())
}

fn visit(
    folder: &Dir,
    session: &SessionIdentity,
    steps: Vec<String>,
    found: &mut impl FnMut(FolderItem) -> io::Result<()>,
) -> io::Result<()> {
    let Some(last) = steps.last() else { return Ok(()) };
    let shown = || format!("users/{}/{}", session.folder_name(), steps.join("/"));
    let kind = match folder.symlink_metadata(last) {
        // It was removed since the folder was listed.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata?.file_type(),
    };
    if kind.is_dir() {
        let inner = folder.open_dir_nofollow(last)?;
        for name in sorted(&inner)? {
            match name.filter(|name| is_file_name(name)) {
                Some(name) => visit(&inner, session, [steps.clone(), vec![name]].concat(), found)?,
                None => found(FolderItem::Other(shown(), "a name in it is not valid on every system"))?,
            }
        }
        return Ok(());
    }
    if !kind.is_file() {
        return found(FolderItem::Other(shown(), kind_name(kind)));
    }
    let file = match open(folder, last) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return found(FolderItem::Unreadable(shown(), error)),
        Ok(file) => file,
    };
    match FileName::new(session.clone(), steps.clone()) {
        Some(name) => found(FolderItem::File(name, file)),
        None => found(FolderItem::Other(shown(), "it is outside of the folders for files")),
    }
}

fn kind_name(kind: FileType) -> &'static str {
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

/// What exists under the name of a file that is to be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetState {
    Free,
    /// A file with the same content.
    Same,
    /// Something else.
    Taken,
}

pub(super) fn inspect(users: &Path, name: &FileName, sha256: &str) -> io::Result<TargetState> {
    let inspect = || -> io::Result<TargetState> {
        let root = Dir::open_ambient_dir(users, ambient_authority())?;
        let mut folder = root.open_dir_nofollow(name.session.folder_name())?;
        for step in name.folders() {
            folder = folder.open_dir_nofollow(step)?;
        }
        let metadata = folder.symlink_metadata(name.name())?;
        if !metadata.is_file() {
            return Ok(TargetState::Taken);
        }
        Ok(if copy_and_hash(&mut open(&folder, name.name())?, &mut io::sink())? == sha256 {
            TargetState::Same
        } else {
            TargetState::Taken
        })
    };
    match inspect() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(TargetState::Free),
        // A link or a file is where a folder has to be.
        Err(error) if is_in_the_way(&error) => Ok(TargetState::Taken),
        inspected => inspected,
    }
}

fn is_in_the_way(error: &io::Error) -> bool {
    let link = rustix::io::Errno::LOOP.raw_os_error();
    error.kind() == ErrorKind::NotADirectory || error.raw_os_error() == Some(link)
}

/// Copies the content and returns its hash.
fn copy_and_hash(from: &mut impl io::Read, to: &mut impl io::Write) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(hex::encode(hash.finalize())),
            read => {
                hash.update(&piece[..read]);
                to.write_all(&piece[..read])?;
            }
        }
    }
}

/// Writes a file with this hash. Readers see the whole file or none.
pub(super) fn write(users: &Path, name: &FileName, content: &mut impl io::Read, sha256: &str) -> io::Result<()> {
    let root = Dir::open_ambient_dir(users, ambient_authority())?;
    let own = open_or_make(&root, &name.session.folder_name())?;
    let unfinished = open_or_make(&own, UNFINISHED)?;
    let temp = TempFile::create(&unfinished, |file| {
        if copy_and_hash(content, file)? != sha256 {
            return Err(io::Error::new(ErrorKind::InvalidData, "the archive changed while it was read"));
        }
        Ok(())
    })?;
    let mut folder = own;
    for step in name.folders() {
        folder = open_or_make(&folder, step)?;
    }
    temp.replace(&folder, name.name())
}

/// Opens a folder, and makes it if it is missing, for its owner only.
fn open_or_make(folder: &Dir, name: &str) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match folder.create_dir_with(name, &builder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    folder.open_dir_nofollow(name)
}
