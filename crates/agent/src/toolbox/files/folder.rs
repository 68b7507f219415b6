//! The session's folder, opened, made and removed.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::temp_file::{UNFINISHED, make_folder, private, sync};

use super::path::FilePath;

const FILES: &str = "files";

#[derive(Debug, Clone)]
pub(crate) struct SessionFolder {
    root: PathBuf,
    name: String,
}

/// Who may look into a folder that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderMode {
    /// Only the person that Planwright runs for.
    Private,
    /// As the process's umask says, like any other folder of the project.
    Usual,
}

impl SessionFolder {
    pub(crate) fn new(root: PathBuf, session: &SessionIdentity) -> Self {
        Self { root, name: session.folder_name() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path_of(FILES)
    }

    /// Something in the session's folder.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.root.join(&self.name).join(name)
    }

    /// The session's files, or `None` while there are none. Nothing is made.
    pub(super) fn open(&self) -> Result<Option<Dir>, Refusal> {
        let open = || -> io::Result<Dir> {
            // Where the root is, is the person's to say, links included; from there on nothing is followed, or one
            // session's folder could be another's.
            let root = Dir::open_ambient_dir(&self.root, ambient_authority())?;
            root.open_dir_nofollow(&self.name)?.open_dir_nofollow(FILES)
        };
        match open() {
            Ok(files) => Ok(Some(files)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refusal(&error)),
        }
    }

    /// The session's folder as a whole, or `None` while there is none. Nothing is made.
    pub(crate) fn open_whole(&self) -> Result<Option<Dir>, Refusal> {
        let open = || Dir::open_ambient_dir(&self.root, ambient_authority())?.open_dir_nofollow(&self.name);
        match open() {
            Ok(own) => Ok(Some(own)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refusal(&error)),
        }
    }

    pub(crate) fn make_whole(&self) -> Result<Dir, Refusal> {
        let make = || make_folder(&self.make_root()?, &self.name);
        make().map_err(|error| self.refusal(&error))
    }

    /// The session's files, and the folder where a file is until it is whole: on the same file system, and out of
    /// every reader's sight.
    pub(super) fn make(&self) -> Result<(Dir, Dir), Refusal> {
        let make = || -> io::Result<(Dir, Dir)> {
            let own = make_folder(&self.make_root()?, &self.name)?;
            Ok((make_folder(&own, FILES)?, make_folder(&own, UNFINISHED)?))
        };
        make().map_err(|error| self.refusal(&error))
    }

    /// The name of the session's folder, which no other session has.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Removes everything of the session; a link is removed itself.
    pub(super) fn remove(&self) -> Result<(), Refusal> {
        let remove = || -> io::Result<()> {
            let root = Dir::open_ambient_dir(&self.root, ambient_authority())?;
            root.remove_dir_all(&self.name)?;
            sync(&root)
        };
        match remove() {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.refusal(&error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn make_root(&self) -> io::Result<Dir> {
        match Dir::open_ambient_dir(&self.root, ambient_authority()) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mut builder = std::fs::DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(&self.root)?;
                let root = Dir::open_ambient_dir(&self.root, ambient_authority())?;
                sync(&root.open_parent_dir(ambient_authority())?)?;
                Ok(root)
            }
            opened => opened,
        }
    }

    fn refusal(&self, error: &io::Error) -> Refusal {
        match error.kind() {
            // The entry is no folder: it is a file, or a link that was put in its place.
            ErrorKind::NotADirectory => Refusal::policy_denied(
                "The session's folder is not a folder of its own; a person has to look at it first.",
            ),
            _ => Refusal::new(RefusalCode::Unavailable, format!("The session's folder cannot be used: {error}.")),
        }
    }
}

/// Makes the folders on the way to `path`, each on disk before the next.
pub(super) fn make_folders(files: &Dir, path: &FilePath, mode: FolderMode) -> io::Result<()> {
    let builder = match mode {
        FolderMode::Private => private(),
        FolderMode::Usual => DirBuilder::new(),
    };
    for folder in path.ancestors_and_self() {
        match files.create_dir_with(folder.as_str(), &builder) {
            Ok(()) => {
                let parent = folder.parent_and_name().map(|(parent, _)| parent).unwrap_or_default();
                sync(&files.open_dir(parent.beneath())?)?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
