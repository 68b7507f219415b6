//! The project folder that a chat or an agent works in: the one that is named, else the git work tree around the current
//! folder if the person says so once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Workspace;

use crate::context::{Context, make_folder};
use crate::failure::Failure;

/// The folders that were asked about, with the person's answers.
const ANSWERS: &str = "projects.json";

/// The folder that was named on the command line, as a workspace.
pub(super) fn workspace(context: &Context, folder: &Path) -> Result<Workspace, Failure> {
    Ok(context.files().project(&absolute(folder)?)?)
}

/// Chooses the folder that was named on the command line.
pub(super) async fn choose(context: &Context, session: &SessionIdentity, folder: &Path) -> Result<(), Failure> {
    let workspace = workspace(context, folder)?;
    context.engine.sessions().choose_workspace(session, &context.person, workspace).await?;
    Ok(())
}

/// Chooses the git work tree around the current folder for a session that works in its own folder, if the person said so.
/// A person at a terminal is asked once for each folder.
pub(super) async fn offer(context: &Context, session: &SessionIdentity) -> Result<(), Failure> {
    let Some(root) = std::env::current_dir().ok().and_then(|folder| work_tree(&folder)) else { return Ok(()) };
    if !context.engine.sessions().get(session).await?.workspace.is_own() {
        return Ok(());
    }
    // A folder that cannot be a project is not offered.
    let Ok(workspace) = context.files().project(&root) else { return Ok(()) };
    let Some(path) = workspace.project() else { return Ok(()) };
    let mut answers = Answers::read(&context.data);
    let yes = match answers.by_folder.get(path) {
        Some(answer) => *answer,
        None if context.screen.interactive => {
            let question = format!("Work in the project folder {path}? It is remembered; `/project` changes it.");
            let yes = context.screen.confirm(&question)?;
            answers.by_folder.insert(path.to_owned(), yes);
            answers.write(&context.data)?;
            yes
        }
        None => false,
    };
    if yes {
        choose_if_idle(context, session, workspace).await?;
    }
    Ok(())
}

/// A session that is at work keeps its folder.
async fn choose_if_idle(context: &Context, session: &SessionIdentity, workspace: Workspace) -> Result<(), Failure> {
    use planwright_engine::ledger::LedgerError;
    match context.engine.sessions().choose_workspace(session, &context.person, workspace).await {
        Ok(_) | Err(LedgerError::Refused(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// An absolute path of what a person typed. `~` is their home folder.
pub(crate) fn absolute(folder: &Path) -> Result<PathBuf, Refusal> {
    let home = folder.strip_prefix("~").ok().and_then(|rest| Some(dirs::home_dir()?.join(rest)));
    let folder = home.unwrap_or_else(|| folder.to_owned());
    std::path::absolute(&folder)
        .map_err(|error| Refusal::invalid(format!("{} is not a path: {error}.", folder.display())))
}

/// The root of the git work tree that the folder is in.
fn work_tree(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

#[derive(Debug, Default)]
struct Answers {
    by_folder: BTreeMap<String, bool>,
}

impl Answers {
    /// Answers that cannot be read are asked for again.
    fn read(data: &Path) -> Self {
        let text = std::fs::read_to_string(data.join(ANSWERS)).unwrap_or_default();
        Self { by_folder: serde_json::from_str(&text).unwrap_or_default() }
    }

    fn write(&self, data: &Path) -> Result<(), Failure> {
        make_folder(data)?;
        let text = serde_json::to_string_pretty(&self.by_folder).unwrap_or_default();
        let path = data.join(ANSWERS);
        let unfinished = data.join(format!("{ANSWERS}.{}", std::process::id()));
        let write = || std::fs::write(&unfinished, text + "\n").and_then(|()| std::fs::rename(&unfinished, &path));
        write().map_err(|error| Failure::unavailable(format!("{} cannot be written: {error}", path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_tree_is_the_nearest_folder_with_git_in_it() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(root.path().join(".git")).unwrap();
        assert_eq!(work_tree(&inner).as_deref(), Some(root.path()));
        // A linked work tree has a file.
        std::fs::write(root.path().join("a/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(work_tree(&inner), Some(root.path().join("a")));
    }

    #[test]
    fn answers_are_kept_by_folder() {
        let data = tempfile::tempdir().unwrap();
        assert!(Answers::read(data.path()).by_folder.is_empty());
        let answers = Answers { by_folder: [("/a".to_owned(), true), ("/b".to_owned(), false)].into() };
        answers.write(data.path()).unwrap();
        assert_eq!(Answers::read(data.path()).by_folder, answers.by_folder);
        std::fs::write(data.path().join(ANSWERS), "not json").unwrap();
        assert!(Answers::read(data.path()).by_folder.is_empty());
    }
}
