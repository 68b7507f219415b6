//! Which lease may write in a session's folder. A process that was frozen while others took the session over and wrote
//! finds another lease there when it wakes up, and writes nothing.
//!
//! A writer first claims the folder for its lease, then has the store confirm the lease, and looks under a lock whether
//! the claim still stands right before a file is put in its place. Whichever of these a frozen process wakes up at, it
//! meets the claim or the confirmation of the process that took over.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};
use planwright_core::refusal::{Refusal, RefusalCode};

use super::folder::SessionFolder;

/// The file beside the session's files that names the lease.
const LEASE: &str = "lease";
/// How long to wait for another process that puts a file in its place.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);
/// More than the name of any lease.
const MAX_BYTES: u64 = 4096;

/// The lease that a call writes under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) lease: String,
}

/// The right to put one file in its place; no other process does meanwhile.
#[derive(Debug)]
pub(super) struct FenceGuard {
    _locked: File,
}

impl Fence {
    /// Names the lease as the one that may write. Says whether it was another one before, so that the store has to confirm
    /// that this one holds.
    pub(super) fn claim(&self, folder: &SessionFolder) -> Result<bool, Refusal> {
        let own = folder.make_whole()?;
        let claim = || -> io::Result<bool> {
            // Usually the claim is valid, and no other process has to be waited for.
            if own.read_to_string(LEASE).is_ok_and(|named| named == self.lease) {
                return Ok(false);
            }
            let mut file = open_locked(&own, true)?;
            if read(&mut file)? == self.lease {
                return Ok(false);
            }
            file.rewind()?;
            file.set_len(0)?;
            file.write_all(self.lease.as_bytes())?;
            Ok(true)
        };
        claim().map_err(|error| unusable(&error))
    }

    /// Whether a lease was ever named for this folder.
    pub(super) fn is_claimed(folder: &SessionFolder) -> Result<bool, Refusal> {
        let Some(own) = folder.open_whole()? else { return Ok(false) };
        match own.symlink_metadata(LEASE) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unusable(&error)),
        }
    }

    /// Fails if another lease was named since.
    pub(super) fn pass(&self, folder: &SessionFolder) -> Result<FenceGuard, Refusal> {
        let Some(own) = folder.open_whole()? else { return Err(taken_over()) };
        let mut locked = match open_locked(&own, false) {
            Ok(file) => file,
            // The session was deleted.
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(taken_over()),
            Err(error) => return Err(unusable(&error)),
        };
        let named = read(&mut locked).map_err(|error| unusable(&error))?;
        if named == self.lease { Ok(FenceGuard { _locked: locked }) } else { Err(taken_over()) }
    }
}

fn open_locked(own: &Dir, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).follow(FollowSymlinks::No);
    let file = own.open_with(LEASE, &options)?.into_std();
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if since.elapsed() < LOCK_TIMEOUT => thread::sleep(RETRY_INTERVAL),
            Err(error) => return Err(error.into()),
        }
    }
}

fn read(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn unusable(error: &io::Error) -> Refusal {
    Refusal::new(RefusalCode::Unavailable, format!("The session's folder cannot be used: {error}."))
}

pub(super) fn taken_over() -> Refusal {
    Refusal::conflict("Another process took this session over, so the file was not written.")
}

#[cfg(test)]
mod tests {
    use planwright_core::session::SessionIdentity;

    use super::*;

    fn fence(lease: &str) -> Fence {
        Fence { lease: lease.to_owned() }
    }

    #[test]
    fn only_the_lease_that_claimed_the_folder_last_passes() {
        let root = tempfile::tempdir().unwrap();
        let session: SessionIdentity = "cli:k3yk3y8x".parse().unwrap();
        let folder = SessionFolder::new(root.path().to_owned(), &session);
        let (first, second) = (fence("one 1"), fence("two 2"));
        assert!(!Fence::is_claimed(&folder).unwrap());
        assert!(folder.open_whole().unwrap().is_none(), "nothing is made for a session without files");
        assert!(first.claim(&folder).unwrap());
        assert!(!first.claim(&folder).unwrap(), "its claim stands");
        first.pass(&folder).unwrap();
        assert!(Fence::is_claimed(&folder).unwrap());
        assert!(second.claim(&folder).unwrap());
        assert_eq!(first.pass(&folder).unwrap_err().code, RefusalCode::Conflict);
        second.pass(&folder).unwrap();
        folder.remove().unwrap();
        assert_eq!(second.pass(&folder).unwrap_err().code, RefusalCode::Conflict, "the session is gone");
    }
}
