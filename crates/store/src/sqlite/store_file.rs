//! The file of the store and its write-ahead log, as they were when they were opened. Of a file that was deleted or replaced
//! since, the system takes every write, and no other process finds it again.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use planwright_engine::ledger::{LedgerError, LedgerResult};

/// A cheap handle; clones share what they know.
#[derive(Debug, Clone)]
pub(super) struct StoreFile {
    path: Arc<PathBuf>,
    log_path: Arc<PathBuf>,
    /// `None` if it is not known, as on systems without inodes.
    identity: Option<FileIdentity>,
    log: Arc<OnceLock<FileIdentity>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

/// What is at a path now.
enum Found {
    File(FileIdentity),
    Nothing,
    Unknown,
}

impl StoreFile {
    /// The file at this path, which a connection has just opened.
    pub(super) fn opened(path: PathBuf) -> Self {
        // The log lies beside the file that a link leads to.
        let mut log_path = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone()).into_os_string();
        log_path.push("-wal");
        let identity = match find(&path) {
            Found::File(identity) => Some(identity),
            Found::Nothing | Found::Unknown => None,
        };
        Self { path: Arc::new(path), log_path: Arc::new(log_path.into()), identity, log: Arc::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the file is not the one that was opened.
    pub(super) fn check(&self) -> LedgerResult<()> {
        match (self.identity, find(&self.path)) {
            (Some(opened), Found::File(now)) if opened != now => Err(self.gone("replaced")),
            (Some(_), Found::Nothing) => Err(self.gone("deleted")),
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Fails if the file or its log is not the one that was opened. It is asked inside a transaction, while the log, if
    /// there is one, is open and stays.
    pub(super) fn check_with_log(&self) -> LedgerResult<()> {
        self.check()?;
        match (self.log.get(), find(&self.log_path)) {
            (Some(opened), Found::File(now)) if *opened != now => Err(self.gone("separated from its log")),
            (Some(_), Found::Nothing) => Err(self.gone("separated from its log")),
            (None, Found::File(now)) => {
                let _ = self.log.set(now);
                Ok(())
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn gone(&self, how: &str) -> LedgerError {
        let path = self.path.display();
        LedgerError::Unavailable(format!(
            "{path} was {how} while it was open; nothing is stored. Put the file back, or start again without it"
        ))
    }
}

#[cfg(unix)]
fn find(path: &Path) -> Found {
    use std::os::unix::fs::MetadataExt as _;
    match std::fs::metadata(path) {
        Ok(metadata) => Found::File(FileIdentity { device: metadata.dev(), inode: metadata.ino() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
        Err(_) => Found::Unknown,
    }
}

#[cfg(not(unix))]
fn find(path: &Path) -> Found {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
        // One file is like another here: only that it is gone is seen.
        Ok(_) => Found::File(FileIdentity { device: 0, inode: 0 }),
        Err(_) => Found::Unknown,
    }
}
