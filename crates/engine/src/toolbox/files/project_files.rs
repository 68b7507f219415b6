//! What a project says about plans: its specialists, and the template of its documents.

use std::io::Read as _;

use planwright_core::plan::template::{TEMPLATE_BYTES, TEMPLATE_FILE};
use planwright_core::workspace::Workspace;

use super::FileTools;
use super::open::{open_named, open_walked};
use super::path::FilePath;
use super::project::ProjectFolder;

const AGENTS_FOLDER: &str = "agents";
/// More files than a project needs, and few enough to be read at the beginning of every turn.
const MAX_AGENTS: usize = 64;
const AGENT_BYTES: u64 = 32 * 1024;

/// The files as they are, with the name of each specialist.
#[derive(Debug, Default)]
pub(crate) struct ProjectFiles {
    pub(crate) agents: Vec<(String, String)>,
    pub(crate) template: Option<String>,
}

impl FileTools {
    /// Nothing for the session's own folder. A file that cannot be read as text is left out.
    pub(crate) async fn project_files(&self, workspace: &Workspace) -> ProjectFiles {
        let Workspace::Project { path } = workspace else { return ProjectFiles::default() };
        let (path, rules) = (path.clone(), self.shared.projects.clone());
        let work = move || {
            let project = ProjectFolder::open(&path, &rules)?;
            Ok(ProjectFiles { agents: agents(&project), template: template(&project) })
        };
        self.shared.blocking("Reading the project's specialists", work).await.unwrap_or_default()
    }
}

fn template(project: &ProjectFolder) -> Option<String> {
    let opened = open_named(&project.files, &FilePath::parse(TEMPLATE_FILE).ok()?).ok()?;
    text(opened.file, TEMPLATE_BYTES as u64)
}

/// The specialists in order of their names. Links are not followed.
fn agents(project: &ProjectFolder) -> Vec<(String, String)> {
    use cap_fs_ext::DirExt as _;
    let Ok(folder) = project.files.open_dir_nofollow(AGENTS_FOLDER) else { return Vec::new() };
    let Ok(entries) = folder.entries() else { return Vec::new() };
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.len() > ".md".len() && name.ends_with(".md"))
        .collect();
    names.sort();
    names.truncate(MAX_AGENTS);
    let read = |file: &String| {
        let opened = open_walked(&folder, file).ok()?;
        let name = file.strip_suffix(".md")?;
        Some((name.to_owned(), text(opened.file, AGENT_BYTES)?))
    };
    names.iter().filter_map(read).collect()
}

/// `None` for a file that is longer, or that is not text.
fn text(file: cap_std::fs::File, most: u64) -> Option<String> {
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content).ok()?;
    if content.len() as u64 > most {
        return None;
    }
    String::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}
