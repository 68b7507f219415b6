//! The project folder that a chat or an agent works in: the one that is named, else the git work tree around the current
//! folder if the person says so once; and the session of a chat in such a folder.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, Session, SessionIdentity};
use planwright_core::workspace::Workspace;

use crate::chat::lines;
use crate::context::{Context, make_folder};
use crate::failure::Failure;

/// The folders that were asked about, with the person's answers.
const ANSWERS: &str = "projects.json";

/// The folder that was named on the command line, as a workspace.
pub(super) fn workspace(context: &Context, folder: &Path) -> Result<Workspace, Failure> {
    Ok(context.files().project(&absolute(folder)?)?)
}

/// The git work tree around the current folder. `None` for a folder that cannot be a project.
pub(crate) fn here(context: &Context) -> Option<Workspace> {
    let root = work_tree(&std::env::current_dir().ok()?)?;
    context.files().project(&root).ok()
}

/// The session that a chat is in when none is named.
#[derive(Debug)]
pub(crate) enum ChatSession {
    Known(SessionIdentity),
    /// The person was last in a session that works in another project. This folder has none yet.
    NewBeside {
        last: SessionIdentity,
        project: String,
    },
    /// There is none yet.
    First,
}

/// The session for a chat in this folder: the one that the person was in last, unless it works in another project; then the
/// one that works here, or a new one.
pub(crate) async fn chat_session(context: &Context, here: Option<Workspace>) -> Result<ChatSession, Failure> {
    let engine = &context.engine;
    let last = engine.ledger().active_session(&context.terminal_chat()).await?;
    let Some(here) = here else { return Ok(last.map_or(ChatSession::First, ChatSession::Known)) };
    let works_in = match &last {
        Some(last) => Some(engine.sessions().get(last).await?.workspace),
        None => None,
    };
    if let (Some(last), true) = (&last, works_in.as_ref() == Some(&here)) {
        return Ok(ChatSession::Known(last.clone()));
    }
    let declined = here.project().is_some_and(|path| Answers::read(&context.data).by_folder.get(path) == Some(&false));
    if !declined && let Some(session) = working_in(context, &here).await? {
        return Ok(ChatSession::Known(session));
    }
    Ok(match (last, works_in) {
        (Some(last), Some(Workspace::Project { path })) => ChatSession::NewBeside { last, project: path },
        (Some(last), _) => ChatSession::Known(last),
        (None, _) => ChatSession::First,
    })
}

/// The session of a terminal that works in this folder, the most recently active one.
async fn working_in(context: &Context, here: &Workspace) -> Result<Option<SessionIdentity>, Failure> {
    const PAGE: u32 = 64;
    const PAGES: u32 = 16;
    let mut after = None;
    for _ in 0..PAGES {
        let page = context.engine.sessions().list(after, PAGE).await?;
        let works_here = |session: &Session| session.identity.channel == Channel::Cli && session.workspace == *here;
        let found = page.items.into_iter().map(|stored| stored.session).find(works_here);
        match (found, page.next) {
            (Some(session), _) => return Ok(Some(session.identity)),
            (None, None) => return Ok(None),
            (None, next) => after = next,
        }
    }
    Ok(None)
}

/// Chooses the folder that was named on the command line.
pub(super) async fn choose(context: &Context, session: &SessionIdentity, folder: &Path) -> Result<(), Failure> {
    let workspace = workspace(context, folder)?;
    // Whoever names a folder has changed their mind about it.
    let mut answers = Answers::read(&context.data);
    if let Some(answer) = workspace.project().and_then(|path| answers.by_folder.get_mut(path))
        && !std::mem::replace(answer, true)
    {
        answers.write(&context.data)?;
    }
    context.engine.sessions().choose_workspace(session, &context.person, workspace).await?;
    Ok(())
}

/// Chooses the git work tree around the current folder for a session that works in its own folder, if the person said so.
/// A person at a terminal is asked until they have answered for the folder.
pub(super) async fn offer(context: &Context, session: &SessionIdentity) -> Result<(), Failure> {
    let Some(workspace) = here(context) else { return Ok(()) };
    let Some(path) = workspace.project() else { return Ok(()) };
    if !context.engine.sessions().get(session).await?.workspace.is_own() {
        return Ok(());
    }
    let mut answers = Answers::read(&context.data);
    let yes = match answers.by_folder.get(path) {
        Some(answer) => *answer,
        None if context.screen.interactive => {
            let question = format!("Work in the project folder {path}? It is remembered; `/project` changes it.");
            match context.screen.yes_or_no(&question)? {
                Some(yes) => {
                    answers.by_folder.insert(path.to_owned(), yes);
                    answers.write(&context.data)?;
                    yes
                }
                None => false,
            }
        }
        None => {
            if !context.screen.json {
                let text =
                    format!("The session works in its own folder. `--project .` works in the project folder {path}.");
                write!(anstream::stderr().lock(), "{}", lines::note("!", &text, context.screen.width))?;
            }
            false
        }
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
