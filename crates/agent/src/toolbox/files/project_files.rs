//! What a project says about plans: its specialists, and the template of its documents.

use std::io::Read as _;

use planwright_core::agents::{Specialist, SpecialistFile};
use planwright_core::plan::template::{PlanTemplate, TEMPLATE_BYTES, TEMPLATE_FILE};
use planwright_core::workspace::Workspace;
use planwright_engine::session_files::ProjectAdditions;
use planwright_sandbox::SandboxLevel;

use super::FileTools;
use super::open::{open_named, open_walked};
use super::path::FilePath;
use super::project::ProjectFolder;

const AGENTS_FOLDER: &str = "agents";
/// More files than a project needs, and few enough to be read at the beginning of every turn.
const MAX_AGENTS: usize = 64;
const AGENT_BYTES: u64 = 32 * 1024;

impl FileTools {
    /// Nothing for the session's own folder. A file that cannot be read as text is left out.
    pub(super) async fn project_additions(&self, workspace: &Workspace) -> ProjectAdditions {
        let Workspace::Project { path } = workspace else { return ProjectAdditions::default() };
        let (path, rules) = (path.clone(), self.shared.projects.clone());
        let work = move || {
            let project = ProjectFolder::open(&path, &rules)?;
            Ok(ProjectAdditions { specialists: specialists(&project), template: template(&project) })
        };
        self.shared.blocking("Reading the project's specialists", work).await.unwrap_or_default()
    }
}

fn template(project: &ProjectFolder) -> Option<PlanTemplate> {
    let opened = open_named(&project.files, &FilePath::parse(TEMPLATE_FILE).ok()?).ok()?;
    PlanTemplate::new(&text(opened.file, TEMPLATE_BYTES as u64)?).ok()
}

/// The specialists in order of their names. Links are not followed.
fn specialists(project: &ProjectFolder) -> Vec<Specialist> {
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
        specialist(name, &text(opened.file, AGENT_BYTES)?)
    };
    names.iter().filter_map(read).collect()
}

/// `None` for a Markdown file that describes no specialist, such as a page about agents. A project narrows what its
/// specialists may do and never widens it.
fn specialist(name: &str, text: &str) -> Option<Specialist> {
    let mut file = SpecialistFile::parse(name, text).ok()?;
    file.about.as_ref()?;
    let read_only = |level: &String| matches!(level.parse(), Ok(SandboxLevel::ReadOnly));
    file.options.sandbox = file.options.sandbox.filter(read_only);
    file.specialist(name).ok()
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
