//! What a copy has now. Files that look as they did when they were last compared are not read.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions};
use planwright_core::workspace::ContentHash;
use planwright_engine::shared_files::{PIECE_BYTES, SharedFile, SharedItem, SharedItems};
use sha2::{Digest as _, Sha256};

use super::SHARED;
use super::copy_state::{CopyState, SeenFile};
use crate::toolbox::files::change::mode_of;

/// Files that changed this shortly before are read again next time, because the clock of a file system may not tell two
/// changes apart.
const RECENT: Duration = Duration::from_secs(2);

/// Takes a piece of a file that was read.
pub(super) type KeepPiece<'a> = Box<dyn FnMut(&ContentHash, &[u8]) -> io::Result<()> + 'a>;

/// What is done with the pieces of files that are read.
pub(super) enum PieceSink<'a> {
    /// Only their hashes are needed.
    Hash,
    Keep(KeepPiece<'a>),
}

/// What a copy has, and how its files look.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) items: SharedItems,
    pub(super) seen: BTreeMap<String, SeenFile>,
}

pub(super) fn scan(own: &Dir, state: &CopyState, pieces: &mut PieceSink<'_>) -> io::Result<Scan> {
    let since = SystemTime::now().checked_sub(RECENT).unwrap_or(UNIX_EPOCH);
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut walk = Walker { state, pieces, recent: i64::try_from(since).unwrap_or(i64::MAX), found: Scan::default() };
    for name in SHARED {
        match own.open_dir_nofollow(name) {
            Ok(folder) => {
                walk.found.items.insert(name.to_owned(), SharedItem::Folder);
                walk.folder(&folder, name)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let mut found = walk.found;
    for path in &state.missing {
        if let Some(item) = state.items.get(path) {
            found.items.entry(path.clone()).or_insert_with(|| item.clone());
        }
    }
    Ok(found)
}

/// The bytes of all files, without reading them.
pub(super) fn bytes(own: &Dir) -> io::Result<u64> {
    let mut total = 0;
    let mut folders = Vec::new();
    for name in SHARED {
        match own.open_dir_nofollow(name) {
            Ok(folder) => folders.push(folder),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    while let Some(folder) = folders.pop() {
        for entry in folder.entries()? {
            let entry = entry?;
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(folder.open_dir_nofollow(entry.file_name())?),
                Ok(metadata) if metadata.is_file() => total += metadata.len(),
                Ok(_) => {}
                // It went away while it was looked at.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(total)
}

struct Walker<'a, 'b> {
    state: &'a CopyState,
    pieces: &'a mut PieceSink<'b>,
    /// In seconds since 1970.
    recent: i64,
    found: Scan,
}

impl Walker<'_, '_> {
    fn folder(&mut self, folder: &Dir, path: &str) -> io::Result<()> {
        for entry in folder.entries()? {
            // A name that is no text cannot stand in the list.
            let Ok(name) = entry?.file_name().into_string() else { continue };
            let below = format!("{path}/{name}");
            match self.entry(folder, &name, &below) {
                // It went away while it was looked at.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    fn entry(&mut self, folder: &Dir, name: &str, path: &str) -> io::Result<()> {
        let metadata = folder.symlink_metadata(name)?;
        if metadata.is_dir() {
            let below = folder.open_dir_nofollow(name)?;
            self.found.items.insert(path.to_owned(), SharedItem::Folder);
            return self.folder(&below, path);
        }
        if metadata.is_symlink() {
            if let Ok(to) = folder.read_link_contents(name)?.into_os_string().into_string() {
                self.found.items.insert(path.to_owned(), SharedItem::Link { to });
            }
            return Ok(());
        }
        if metadata.is_file() {
            let file = self.file(folder, name, path, &metadata)?;
            self.found.items.insert(path.to_owned(), SharedItem::File(file));
        }
        Ok(())
    }

    fn file(&mut self, folder: &Dir, name: &str, path: &str, metadata: &Metadata) -> io::Result<SharedFile> {
        let seen = seen(metadata);
        let mode = mode_of(metadata);
        let listed = match self.state.items.get(path) {
            Some(SharedItem::File(file)) if self.state.seen.get(path) == Some(&seen) => Some(file.clone()),
            Some(_) | None => None,
        };
        let file = match listed {
            Some(file) => SharedFile { mode, ..file },
            None => {
                let mut options = OpenOptions::new();
                options.read(true).nonblock(true).follow(FollowSymlinks::No);
                self.read(folder.open_with(name, &options)?, mode)?
            }
        };
        if seen.changed.0 < self.recent {
            self.found.seen.insert(path.to_owned(), seen);
        }
        Ok(file)
    }

    fn read(&mut self, mut file: File, mode: Option<u32>) -> io::Result<SharedFile> {
        let (mut whole, mut bytes, mut hashes) = (Sha256::new(), 0, Vec::new());
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        loop {
            piece.clear();
            (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
            if piece.is_empty() {
                break;
            }
            whole.update(&piece);
            bytes += piece.len() as u64;
            let hash = ContentHash::of(&piece);
            if let PieceSink::Keep(keep) = self.pieces {
                keep(&hash, &piece)?;
            }
            hashes.push(hash);
        }
        let hash = ContentHash::from_sha256(whole.finalize().into());
        let pieces = if hashes.len() > 1 { hashes } else { Vec::new() };
        Ok(SharedFile { hash, bytes, mode, pieces })
    }
}

fn seen(metadata: &Metadata) -> SeenFile {
    SeenFile {
        bytes: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}
