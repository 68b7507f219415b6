//! Where servers share the files of sessions, and which project folders this machine has.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planwright_agent::toolbox::files::{FileSharing, FileTools};
use planwright_engine::ledger::Ledger;
use planwright_engine::project_places::ProjectPlaces;
use planwright_engine::shared_files::BlobStore;
use planwright_store::{Location, ObjectBlobs, OpenedStore};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::{FilePlace, Settings};
use crate::failure::Failure;

/// How often a server looks for what is shared and needed by nothing.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(6 * 3600);

/// Where servers share the files of sessions, as the settings say. Nothing is reached yet.
pub(crate) fn sharing(place: &FilePlace, store: OpenedStore) -> Result<Option<Arc<FileSharing>>, Failure> {
    let blobs: Arc<dyn BlobStore> = match place {
        FilePlace::Local => return Ok(None),
        FilePlace::Database => store.pieces,
        FilePlace::Folder(folder) => Arc::new(ObjectBlobs::in_folder(folder)?),
        FilePlace::S3(url) => Arc::new(ObjectBlobs::in_s3(
            url,
            std::env::vars_os().filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok())),
        )?),
    };
    Ok(Some(Arc::new(FileSharing::new(store.folders, blobs))))
}

/// Which machine has the project folders of sessions. Nothing where the store itself is on one machine.
pub(crate) fn project_places(settings: &Settings, store: &OpenedStore) -> Option<ProjectPlaces> {
    match &settings.location {
        Location::Sqlite(_) => None,
        Location::Postgres(_) => {
            let here = settings.projects_id.clone().or_else(machine_id).or_else(|| id_of(&settings.data))?;
            Some(ProjectPlaces::new(Arc::clone(&store.project_places), &here))
        }
    }
}

/// The number of this machine. Most containers have none.
fn machine_id() -> Option<String> {
    let id = std::fs::read_to_string("/etc/machine-id").ok()?.trim().to_owned();
    (id.len() == 32 && id.chars().all(|letter| letter.is_ascii_hexdigit())).then_some(id)
}

/// A number that is kept in the data folder, made where there is none.
fn id_of(data: &Path) -> Option<String> {
    let path = data.join("projects-id");
    let read = || std::fs::read_to_string(&path).ok().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
    read().or_else(|| {
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let id = Uuid::now_v7().simple().to_string();
        // Another process may have been faster.
        let written = made.and_then(|mut file| file.write_all(id.as_bytes()));
        if written.is_ok() { Some(id) } else { read() }
    })
}

/// File tools on what servers share, if they share it.
pub(crate) fn shared(files: FileTools, sharing: Option<&Arc<FileSharing>>) -> FileTools {
    match sharing {
        Some(sharing) => files.shared_through(Arc::clone(sharing)),
        None => files,
    }
}

/// Removes what is shared and needed by nothing, for as long as a server runs.
#[derive(Debug)]
pub(crate) struct Upkeep {
    pub(crate) sharing: Arc<FileSharing>,
    pub(crate) files: FileTools,
    pub(crate) ledger: Arc<dyn Ledger>,
}

impl Upkeep {
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                _ = ticks.tick() => {}
            }
            match self.sharing.remove_unused(self.ledger.as_ref()).await {
                Ok(0) => {}
                Ok(pieces) => tracing::info!(event = "file_pieces_removed", pieces),
                Err(error) => tracing::warn!(event = "file_pieces_not_removed", %error),
            }
            match self.files.remove_deleted_copies(self.ledger.as_ref()).await {
                Ok(0) => {}
                Ok(folders) => tracing::info!(event = "deleted_copies_removed", folders),
                Err(error) => tracing::warn!(event = "deleted_copies_not_removed", %error),
            }
        }
    }
}
