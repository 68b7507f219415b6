//! What is shared, checked, and what nothing needs any more, removed.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, ErrorKind};

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::{ContentHash, Workspace};
use planwright_engine::ledger::{DamagedRow, Ledger, LedgerError, LedgerResult};
use planwright_engine::shared_files::{SharedItem, pieces_of, read_piece};

use super::copy_state::is_copy;
use super::{FileSharing, UNUSED_TIME, unusable};
use crate::toolbox::files::FileTools;
use crate::toolbox::files::folder::SessionFolder;

impl FileSharing {
    /// Where the content of files is, for people.
    pub fn place(&self) -> String {
        self.blobs.place()
    }

    /// Reads everything that is shared of a session and compares it with its hash. Names the files whose content is not there.
    pub async fn check(&self, session: &SessionIdentity) -> LedgerResult<Vec<DamagedRow>> {
        let shared = match self.index.shared_folder(session).await {
            Ok(shared) => shared,
            Err(LedgerError::Damaged { what, reason }) => return Ok(vec![DamagedRow { what, reason }]),
            Err(error) => return Err(error),
        };
        let (mut damaged, mut whole) = (Vec::new(), HashSet::new());
        for (path, item) in shared.unwrap_or_default().items {
            let SharedItem::File(file) = item else { continue };
            for hash in file.pieces() {
                if whole.contains(hash) {
                    continue;
                }
                match read_piece(self.blobs.as_ref(), session, hash).await {
                    Ok(_) => {
                        whole.insert(*hash);
                    }
                    Err(LedgerError::Damaged { reason, .. }) => {
                        damaged.push(DamagedRow { what: format!("the shared file {path} of {session}"), reason });
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(damaged)
    }

    /// Removes the pieces of sessions that are gone, and those that no list names any more. Returns how many there were.
    pub async fn remove_unused(&self, ledger: &dyn Ledger) -> LedgerResult<u64> {
        let mut removed = self.blobs.remove_orphans().await?;
        for session in self.blobs.sessions().await? {
            removed += match ledger.session(&session).await {
                Ok(None) => self.blobs.remove_all(&session).await?,
                Ok(Some(_)) => self.remove_unnamed(&session).await?,
                // A damaged session keeps what it has.
                Err(LedgerError::Damaged { .. }) => 0,
                Err(error) => return Err(error),
            };
        }
        Ok(removed)
    }

    /// Removes the pieces of a session that its list does not name, but for those that a server may be about to name.
    pub(super) async fn remove_unnamed(&self, session: &SessionIdentity) -> LedgerResult<u64> {
        // They are listed first, so that a piece that is named meanwhile is found in the list.
        let kept = self.blobs.list(session).await?;
        let shared = self.index.shared_folder(session).await?.unwrap_or_default();
        let named: BTreeSet<&ContentHash> = pieces_of(&shared.items).collect();
        let unused: Vec<_> = kept
            .iter()
            .filter(|blob| blob.age > UNUSED_TIME && !named.contains(&blob.hash))
            .map(|blob| blob.hash)
            .collect();
        self.blobs.remove(session, &unused, UNUSED_TIME).await?;
        Ok(unused.len() as u64)
    }
}

impl FileTools {
    /// Removes the copies that this server has of sessions that are gone. Returns how many there were.
    pub async fn remove_deleted_copies(&self, ledger: &dyn Ledger) -> LedgerResult<u64> {
        let root = self.shared.root.clone();
        let names = move || -> io::Result<Vec<String>> {
            let entries = match fs::read_dir(root) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries?,
            };
            Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
        };
        let names =
            self.shared.blocking("Listing sessions' folders", move || names().map_err(|error| unusable(&error)));
        let mut removed = 0;
        for session in names.await?.iter().filter_map(|name| SessionIdentity::from_folder_name(name)) {
            let folder = self.shared.folder(&session);
            if !is_shared_copy(&folder)? {
                continue;
            }
            // A session that is begun again under this name writes its first file behind this.
            let _write_lock = self.shared.write_locks(&session, &Workspace::Own).await;
            if ledger.session(&session).await?.is_none() {
                self.shared.blocking("Removing a session's files", move || folder.remove()).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

fn is_shared_copy(folder: &SessionFolder) -> Result<bool, Refusal> {
    Ok(folder.open_whole()?.is_some_and(|own| is_copy(&own)))
}
