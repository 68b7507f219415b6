//! The file in which a project says how work is done in it.

use std::io::Read as _;

use planwright_core::prompt::ProjectGuide;
use planwright_core::workspace::Workspace;

use super::FileTools;
use super::open::open_named;
use super::path::FilePath;
use super::project::ProjectFolder;

/// The first of these that the project has.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// The bytes of it that are read.
const MAX_BYTES: u64 = 32 * 1024;

impl FileTools {
    /// `None` for the session's own folder, and where the project has no such file or it is not readable text.
    pub(crate) async fn guide(&self, workspace: &Workspace) -> Option<ProjectGuide> {
        let Workspace::Project { path } = workspace else { return None };
        let (path, rules) = (path.clone(), self.shared.projects.clone());
        let work = move || {
            let project = ProjectFolder::open(&path, &rules)?;
            Ok(NAMES.into_iter().find_map(|name| read(&project, name)))
        };
        self.shared.blocking("Reading the project's guide", work).await.ok().flatten()
    }
}

fn read(project: &ProjectFolder, name: &str) -> Option<ProjectGuide> {
    let opened = open_named(&project.files, &FilePath::parse(name).ok()?).ok()?;
    let mut content = Vec::new();
    opened.file.take(MAX_BYTES + 1).read_to_end(&mut content).ok()?;
    let cut = content.len() as u64 > MAX_BYTES;
    content.truncate(usize::try_from(MAX_BYTES).unwrap_or(usize::MAX));
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        // The cut may have split a character.
        Err(error) if cut && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut content = error.into_bytes();
            content.truncate(end);
            String::from_utf8(content).ok()?
        }
        Err(_) => return None,
    };
    let has_text = !text.trim().is_empty() && !text.contains('\0');
    has_text.then(|| ProjectGuide { name: name.to_owned(), text, cut })
}
