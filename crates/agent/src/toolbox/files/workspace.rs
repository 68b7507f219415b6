//! The folder that a call works in: the session's own, or a project.

use cap_std::fs::Dir;
use planwright_core::refusal::Refusal;
use planwright_core::workspace::Workspace;

use super::folder::{FolderMode, SessionFolder};
use super::project::{ProjectFolder, ProjectRules};

#[derive(Debug)]
pub(super) enum WorkspaceFolder {
    Own(SessionFolder),
    Project(ProjectFolder),
}

/// What a writer needs.
#[derive(Debug)]
pub(super) struct WritableFolder {
    pub(super) files: Dir,
    pub(super) staging: Staging,
}

/// Where a file is until it is whole.
#[derive(Debug)]
pub(super) enum Staging {
    /// A folder of its own on the same file system, where no tool looks.
    Folder(Dir),
    /// In the folder that the file will be in. A project may have mounts in it, and a rename does not cross them.
    Beside,
}

impl WorkspaceFolder {
    pub(super) fn open(workspace: &Workspace, own: SessionFolder, rules: &ProjectRules) -> Result<Self, Refusal> {
        match workspace {
            Workspace::Own => Ok(Self::Own(own)),
            Workspace::Project { path } => ProjectFolder::open(path, rules).map(Self::Project),
        }
    }

    /// Its files, or `None` while the session's own folder does not exist. Nothing is made.
    pub(super) fn files(&self) -> Result<Option<Dir>, Refusal> {
        match self {
            Self::Own(own) => own.open(),
            Self::Project(project) => {
                let files = project.files.try_clone();
                files.map(Some).map_err(|error| super::io_error::refusal(".", &error))
            }
        }
    }

    pub(super) fn make(&self) -> Result<WritableFolder, Refusal> {
        match self {
            Self::Own(own) => {
                let (files, unfinished) = own.make()?;
                Ok(WritableFolder { files, staging: Staging::Folder(unfinished) })
            }
            Self::Project(project) => {
                let files = project.files.try_clone().map_err(|error| super::io_error::refusal(".", &error))?;
                Ok(WritableFolder { files, staging: Staging::Beside })
            }
        }
    }

    /// Asked right before something is changed.
    pub(super) fn check_place(&self) -> Result<(), Refusal> {
        match self {
            Self::Own(_) => Ok(()),
            Self::Project(project) => project.check_place(),
        }
    }

    /// Who may look into the folders that a tool makes.
    pub(super) fn folder_mode(&self) -> FolderMode {
        match self {
            Self::Own(_) => FolderMode::Private,
            Self::Project(_) => FolderMode::Usual,
        }
    }

    pub(super) fn is_own(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Project(_) => false,
        }
    }
}
