//! Templates of the person's own, from the data folder.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use planwright_core::policy::Policy;
use planwright_core::workbook::DocumentKind;
use planwright_core::workbook::template::Templates;

use super::notes::Note;
use crate::workbook_dir::WorkbookFolders;

/// The person's templates, and the built-in one for each that is missing. A template that cannot be used leads to a note.
pub(super) async fn load(folders: Option<&WorkbookFolders>, policy: &Policy) -> (Templates, Vec<Note>) {
    let Some(folder) = folders.and_then(|folders| folders.templates.clone()) else { return Default::default() };
    let most = policy.limits.document_bytes as u64;
    tokio::task::spawn_blocking(move || read(&folder, most)).await.unwrap_or_default()
}

fn read(folder: &Path, most: u64) -> (Templates, Vec<Note>) {
    let (mut templates, mut notes) = (Templates::default(), Vec::new());
    for which in DocumentKind::ALL {
        let path = folder.join(which.file_name());
        let text = File::open(&path).and_then(|file| {
            let mut text = String::new();
            file.take(most + 1).read_to_string(&mut text)?;
            Ok(text)
        });
        let broken = match text {
            Ok(text) => templates.set(which, &text).err().map(|broken| broken.to_string()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(broken) = broken {
            let reason = format!(
                "The template {} cannot be used ({broken}); the one that comes with Planwright was used.",
                path.display()
            );
            tracing::warn!(event = "planning_files", reason);
            notes.push(Note::Template { reason });
        }
    }
    (templates, notes)
}
