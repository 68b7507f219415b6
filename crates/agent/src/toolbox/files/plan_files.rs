//! The files of plans in a project's folder.

use std::io::{self, ErrorKind, Read as _, Write as _};

use cap_std::fs::Dir;
use planwright_core::ids::PlanId;
use planwright_core::plan::export::ExportedPlan;
use planwright_core::refusal::Refusal;
use planwright_core::workspace::Workspace;
use planwright_engine::temp_file::TempFile;

use super::FileTools;
use super::io_error;
use super::open::open_walked;
use super::project::ProjectFolder;

/// A plan has at most 1 MiB by default; what Planwright adds is short.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// A folder with more files is searched no further, so a plan may get a second file there.
const MAX_FILES: usize = 5_000;

/// A plan's file, found by the id in its front matter, whatever its name is.
#[derive(Debug)]
pub(crate) struct PlanFile {
    pub(crate) name: String,
    pub(crate) content: ExportedPlan,
}

/// What writing a plan's file did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlanFileWrite {
    Written,
    /// The file is from a later entry of the journal.
    Newer,
    /// The file had been edited. The edit is in the file of this name.
    KeptEdit(String),
}

/// Where and what to write.
#[derive(Debug)]
pub(crate) struct PlanFileContent {
    pub(crate) plan: PlanId,
    pub(crate) folder: String,
    pub(crate) stem: String,
    pub(crate) seq: u64,
    /// The text of the plan alone. A file with this text is not an edit.
    pub(crate) markdown: String,
    pub(crate) text: String,
}

impl FileTools {
    /// The file of a plan in this folder of the project. `None` outside of a project.
    pub(crate) async fn plan_file(
        &self,
        workspace: &Workspace,
        folder: &str,
        plan: &PlanId,
    ) -> Result<Option<PlanFile>, Refusal> {
        let Workspace::Project { path } = workspace else { return Ok(None) };
        let (path, rules, folder, plan) = (path.clone(), self.shared.projects.clone(), folder.to_owned(), plan.clone());
        let work = move || {
            let project = ProjectFolder::open(&path, &rules)?;
            match open_folder(&project.files, &folder) {
                Ok(dir) => find(&dir, &plan).map_err(|error| io_error::refusal(&folder, &error)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(io_error::refusal(&folder, &error)),
            }
        };
        self.shared.blocking("Reading the plan's file", work).await
    }

    /// Writes the file of a plan, whole or not at all. An edit that it does not have is kept beside it.
    pub(crate) async fn write_plan_file(
        &self,
        workspace: &Workspace,
        content: PlanFileContent,
    ) -> Result<Option<PlanFileWrite>, Refusal> {
        let Workspace::Project { path } = workspace else { return Ok(None) };
        let (path, rules) = (path.clone(), self.shared.projects.clone());
        let _locked = super::lock(&self.shared.project_locks, &path).await;
        let work = move || {
            let project = ProjectFolder::open(&path, &rules)?;
            project.check_place()?;
            let written = write(&project.files, &content).map_err(|error| io_error::refusal(&content.folder, &error));
            written.map(Some)
        };
        self.shared.blocking("Writing the plan's file", work).await
    }
}

fn open_folder(project: &Dir, folder: &str) -> io::Result<Dir> {
    if folder.is_empty() { project.try_clone() } else { project.open_dir(folder) }
}

fn write(project: &Dir, content: &PlanFileContent) -> io::Result<PlanFileWrite> {
    if !content.folder.is_empty() {
        project.create_dir_all(&content.folder)?;
    }
    let dir = open_folder(project, &content.folder)?;
    let temp = |text: &str| TempFile::create(&dir, |file| file.write_all(text.as_bytes()));
    let Some(found) = find(&dir, &content.plan)? else {
        // The name may belong to another plan, or to a file that is not ours.
        let file = temp(&content.text)?;
        for n in 1.. {
            let stem = &content.stem;
            let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
            match file.create_new(&dir, &name) {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::AlreadyExists && n < 1_000 => {}
                Err(error) => return Err(error),
            }
        }
        return Ok(PlanFileWrite::Written);
    };
    if found.content.seq > content.seq {
        return Ok(PlanFileWrite::Newer);
    }
    let mut outcome = PlanFileWrite::Written;
    if found.content.edited && found.content.markdown != content.markdown.trim_end() {
        let stem = found.name.trim_end_matches(".md");
        let edit = temp(&format!("{}\n", found.content.markdown))?;
        let mut names = (1..1_000).map(|n| match n {
            1 => format!("{stem}.edited.md"),
            n => format!("{stem}.edited-{n}.md"),
        });
        let kept = names.find_map(|name| match edit.create_new(&dir, &name) {
            Ok(()) => Some(Ok(name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(error)),
        });
        outcome = PlanFileWrite::KeptEdit(kept.unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))?);
    }
    temp(&content.text)?.replace(&dir, &found.name)?;
    Ok(outcome)
}

fn find(dir: &Dir, plan: &PlanId) -> io::Result<Option<PlanFile>> {
    for entry in dir.entries()?.take(MAX_FILES) {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        if !name.ends_with(".md") {
            continue;
        }
        let Some(text) = read(dir, &name) else { continue };
        // Most files are not this plan's, and parsing costs more than looking.
        if !text.contains(plan.as_str()) {
            continue;
        }
        if let Some(content) = ExportedPlan::parse(&text).filter(|content| content.plan == *plan) {
            return Ok(Some(PlanFile { name, content }));
        }
    }
    Ok(None)
}

/// `None` for what is not a text file of a moderate size.
fn read(dir: &Dir, name: &str) -> Option<String> {
    let opened = open_walked(dir, name).ok().filter(|opened| opened.bytes <= MAX_BYTES)?;
    let mut content = Vec::new();
    opened.file.take(MAX_BYTES).read_to_end(&mut content).ok()?;
    String::from_utf8(content).ok()
}
