//! Which folders and files a command sees, and where it may write.
//!
//! The list names what is visible; everything else does not exist for the command. Paths that hold secrets are covered
//! even where a visible folder contains them.

mod known;

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::program::ProgramAccess;
use crate::repositories::Repositories;
use crate::{SandboxError, SandboxLevel};
use known::{
    CARGO_PARTS, CARGO_SECRETS, CARGO_SETTINGS, HOME_SECRETS, HOME_TOOLS, SYSTEM, SYSTEM_SECRETS, TOOL_VARIABLES,
};

/// What a path is for the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathAccess {
    Read,
    Write,
    /// An empty folder or file stands in its place.
    Hidden,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VisiblePath {
    Object {
        path: PathBuf,
        access: PathAccess,
    },
    /// A link of the system's root, such as `/bin` → `usr/bin`.
    Link {
        path: PathBuf,
        text: PathBuf,
    },
    /// A writable folder that is empty at first and gone with the command.
    Temporary {
        path: PathBuf,
    },
}

impl VisiblePath {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Object { path, .. } | Self::Link { path, .. } | Self::Temporary { path } => path,
        }
    }
}

/// Everything a command sees, in the order in which it is put together: a path comes after the paths around it.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) paths: Vec<VisiblePath>,
    pub(crate) workspace: PathBuf,
    pub(crate) home: PathBuf,
    /// Those of a workspace that a command writes in.
    pub(crate) repositories: Option<Repositories>,
}

/// What the view is made from.
#[derive(Debug)]
pub(crate) struct ViewRequest<'a> {
    pub(crate) level: SandboxLevel,
    pub(crate) workspace: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// Folders and files that a person allowed to be read.
    pub(crate) readable: &'a [PathBuf],
    /// Folders and files that are never seen: our data folder, our token.
    pub(crate) hidden: &'a [PathBuf],
    /// What a program reaches beside its folder.
    pub(crate) access: &'a ProgramAccess,
    pub(crate) variables: &'a [(OsString, OsString)],
}

impl View {
    pub(crate) fn new(request: &ViewRequest<'_>) -> Result<Self, SandboxError> {
        let workspace = checked_workspace(request.workspace)?;
        let home = request.home.and_then(|home| home.canonicalize().ok()).filter(|home| home.parent().is_some());
        let home_folder = home.clone();
        let mut paths = Paths { home: home.clone(), found: Vec::new() };
        for path in SYSTEM {
            paths.read(Path::new(path));
        }
        if let Some(home) = &home {
            HOME_TOOLS.iter().for_each(|tool| paths.read(&home.join(tool)));
            CARGO_PARTS.iter().for_each(|part| paths.read(&home.join(".cargo").join(part)));
        }
        paths.read_variables(request.variables);
        let ProgramAccess { readable, writable, passages, network, home: own_home } = request.access;
        for path in request.readable.iter().chain(readable).chain(writable) {
            paths.read(path);
        }
        if *network {
            // Names of machines are looked up as this file says, which often is a link out of `/etc`.
            paths.read(Path::new("/etc/resolv.conf"));
        }
        for temporary in ["/tmp", "/var/tmp"] {
            paths.put_temporary(Path::new(temporary));
        }
        let home = paths.put_home(&workspace);
        let access = match request.level {
            SandboxLevel::ReadOnly => PathAccess::Read,
            SandboxLevel::Workspace | SandboxLevel::Open => PathAccess::Write,
        };
        let writable = match access {
            PathAccess::Write => paths.write(writable.iter().chain(own_home)),
            PathAccess::Read | PathAccess::Hidden => Vec::new(),
        };
        paths.put(&workspace, access);
        let cargo = cargo_secrets(home_folder.as_deref(), request.variables);
        paths.hide(&workspace, request.hidden.iter().chain(&cargo));
        for folder in &writable {
            paths.protect_repositories(folder);
        }
        let repositories = (access == PathAccess::Write).then(|| paths.protect_repositories(&workspace));
        passages.iter().for_each(|folder| paths.pass_through(folder));
        Ok(Self { paths: paths.in_order(), workspace, home, repositories })
    }

    /// At level `open` the command sees the system as it is.
    pub(crate) fn unrestricted(workspace: &Path, home: Option<&Path>) -> Result<Self, SandboxError> {
        let workspace = existing_folder(workspace)?;
        Ok(Self { paths: Vec::new(), workspace, home: home.unwrap_or(Path::new("/")).to_owned(), repositories: None })
    }

    /// Objects with their access, without links.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&Path, PathAccess)> {
        self.paths.iter().filter_map(|visible| match visible {
            VisiblePath::Object { path, access } => Some((path.as_path(), *access)),
            VisiblePath::Link { .. } | VisiblePath::Temporary { .. } => None,
        })
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn temporary_folders(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().filter_map(|visible| match visible {
            VisiblePath::Temporary { path } => Some(path.as_path()),
            VisiblePath::Object { .. } | VisiblePath::Link { .. } => None,
        })
    }
}

/// Credentials of cargo, and settings that hold a token: cargo works with an empty file in their place.
fn cargo_secrets(home: Option<&Path>, variables: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let named = variables.iter().find(|(name, _)| name == "CARGO_HOME").map(|(_, value)| PathBuf::from(value));
    let folders: Vec<_> = named.into_iter().chain(home.map(|home| home.join(".cargo"))).collect();
    let of_all = |names: [&'static str; 2]| folders.iter().flat_map(move |folder| names.map(|name| folder.join(name)));
    let with_token =
        of_all(CARGO_SETTINGS).filter(|path| fs::read_to_string(path).is_ok_and(|text| holds_token(&text)));
    of_all(CARGO_SECRETS).chain(with_token).collect()
}

fn holds_token(settings: &str) -> bool {
    settings.lines().any(|line| {
        let line = line.trim_start();
        // A password stands in an address: `https://name:password@host`.
        let in_address = line.split_once("://").is_some_and(|(_, rest)| {
            rest.split(['/', '"', '\''])
                .next()
                .is_some_and(|authority| authority.contains('@') && authority.contains(':'))
        });
        let lower = line.to_ascii_lowercase();
        !line.starts_with('#')
            && (in_address || ["token", "secret", "password"].iter().any(|word| lower.contains(word)))
    })
}

fn existing_folder(path: &Path) -> Result<PathBuf, SandboxError> {
    let refuse = |reason: String| SandboxError::Workspace { path: path.to_owned(), reason };
    let folder = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if folder.is_dir() { Ok(folder) } else { Err(refuse("it is not a folder".to_owned())) }
}

fn checked_workspace(path: &Path) -> Result<PathBuf, SandboxError> {
    let refuse = |reason: &str| SandboxError::Workspace { path: path.to_owned(), reason: reason.to_owned() };
    let workspace = existing_folder(path)?;
    let replaced = ["/tmp", "/var/tmp", "/private/tmp", "/proc", "/sys", "/dev"];
    let is_around = |other: &str| Path::new(other).starts_with(&workspace);
    if SYSTEM.into_iter().chain(replaced).any(is_around) {
        return Err(refuse("it is a folder of the system; name a folder below it"));
    }
    if ["/proc", "/sys", "/dev"].into_iter().any(|other| workspace.starts_with(other)) {
        return Err(refuse("it is not on a disk"));
    }
    Ok(workspace)
}

/// Whether a folder can be given to a program: it is none of the system's, and neither the home folder nor around it.
pub fn may_be_shared(folder: &Path, home: Option<&Path>) -> bool {
    let home = home.and_then(|home| home.canonicalize().ok());
    checked_workspace(folder).is_ok_and(|folder| !home.is_some_and(|home| home.starts_with(folder)))
}

struct Paths {
    home: Option<PathBuf>,
    found: Vec<VisiblePath>,
}

impl Paths {
    fn put(&mut self, path: &Path, access: PathAccess) {
        self.found.retain(|other| other.path() != path);
        self.found.push(VisiblePath::Object { path: path.to_owned(), access });
    }

    fn put_temporary(&mut self, path: &Path) {
        self.found.retain(|other| other.path() != path);
        self.found.push(VisiblePath::Temporary { path: path.to_owned() });
    }

    /// A path that does not exist is left out. A link stays a link, and the object it leads to is readable too.
    fn read(&mut self, path: &Path) {
        let clean = path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir));
        let Ok(found) = path.canonicalize() else { return };
        let around_home = self.home.as_ref().is_some_and(|home| home.starts_with(&found));
        if !clean || around_home || found.parent().is_none() {
            return;
        }
        if let Ok(text) = fs::read_link(path)
            && path.parent().and_then(|parent| parent.canonicalize().ok()).as_deref() == path.parent()
            && !self.found.iter().any(|other| path.starts_with(other.path()))
        {
            self.found.push(VisiblePath::Link { path: path.to_owned(), text });
        }
        let covered = |other: &VisiblePath| match other {
            VisiblePath::Object { path, access: PathAccess::Read } => found.starts_with(path),
            VisiblePath::Object { .. } | VisiblePath::Link { .. } | VisiblePath::Temporary { .. } => false,
        };
        if !self.found.iter().any(covered) {
            self.put(&found, PathAccess::Read);
        }
    }

    /// Folders that cannot be given are left out.
    fn write<'a>(&mut self, folders: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
        let home = self.home.clone();
        let given: Vec<_> = folders
            .filter(|folder| may_be_shared(folder, home.as_deref()))
            .filter_map(|folder| folder.canonicalize().ok())
            .collect();
        given.iter().for_each(|folder| self.put(folder, PathAccess::Write));
        given
    }

    /// An empty folder stands where nothing is seen.
    fn pass_through(&mut self, folder: &Path) {
        let is_seen = |other: &VisiblePath| match other {
            VisiblePath::Object { path, .. } => folder.starts_with(path),
            VisiblePath::Link { path, .. } | VisiblePath::Temporary { path } => folder == path,
        };
        if folder.is_absolute() && folder.parent().is_some() && folder.is_dir() && !self.found.iter().any(is_seen) {
            self.put_temporary(folder);
        }
    }

    fn read_variables(&mut self, variables: &[(OsString, OsString)]) {
        let value = |name: &str| variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        for folder in TOOL_VARIABLES.into_iter().filter_map(value) {
            std::env::split_paths(&folder).for_each(|path| self.read(&path));
        }
        if let Some(cargo) = value("CARGO_HOME") {
            CARGO_PARTS.iter().for_each(|part| self.read(&Path::new(&cargo).join(part)));
        }
        if let Some(path) = value("PATH") {
            std::env::split_paths(&path).for_each(|folder| self.read(&folder));
        }
    }

    /// The command's home folder is empty but for the tools. A workspace that contains the home folder stays whole; then
    /// the home folder is another one.
    fn put_home(&mut self, workspace: &Path) -> PathBuf {
        match self.home.clone() {
            Some(home) if !home.starts_with(workspace) => {
                self.put_temporary(&home);
                home
            }
            Some(_) | None => {
                let home = PathBuf::from("/tmp/home");
                self.put_temporary(&home);
                home
            }
        }
    }

    /// What git obeys or runs later, outside of the sandbox, is read-only.
    fn protect_repositories(&mut self, workspace: &Path) -> Repositories {
        let is_elsewhere =
            |visible: &&VisiblePath| visible.path() != workspace && visible.path().starts_with(workspace);
        let skipped = self.found.iter().filter(is_elsewhere).map(|visible| visible.path().to_owned()).collect();
        let repositories = Repositories::find(workspace, self.home.as_deref(), skipped);
        let writable = repositories.writable().map(|path| (path, PathAccess::Write));
        for (path, access) in writable.chain(repositories.read_only().map(|path| (path, PathAccess::Read))) {
            if self.innermost(path) == Some(PathAccess::Write) {
                self.put(path, access);
            }
        }
        repositories
    }

    /// What the innermost object around a path is for the command.
    fn innermost(&self, path: &Path) -> Option<PathAccess> {
        let around = self.found.iter().filter(|other| path.starts_with(other.path()));
        match around.max_by_key(|other| other.path().components().count())? {
            VisiblePath::Object { access, .. } => Some(*access),
            VisiblePath::Link { .. } | VisiblePath::Temporary { .. } => None,
        }
    }

    /// Covers what exists and would be seen. What is shown inside of a hidden folder is put into an empty one of the command's own.
    fn hide<'a>(&mut self, workspace: &Path, hidden: impl Iterator<Item = &'a PathBuf>) {
        let home = self.home.clone();
        let of_home = HOME_SECRETS.iter().filter_map(|path| Some(home.as_ref()?.join(path)));
        let secrets = SYSTEM_SECRETS.iter().map(PathBuf::from).chain(of_home).chain(hidden.cloned());
        for secret in secrets {
            let Ok(secret) = secret.canonicalize() else { continue };
            let seen = matches!(self.innermost(&secret), Some(PathAccess::Read | PathAccess::Write));
            if !seen || secret == workspace {
                continue;
            }
            match self.found.iter().any(|other| other.path() != secret && other.path().starts_with(&secret)) {
                true => self.put_temporary(&secret),
                false => self.put(&secret, PathAccess::Hidden),
            }
        }
    }

    fn in_order(mut self) -> Vec<VisiblePath> {
        self.found.sort_by(|one, other| one.path().cmp(other.path()));
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folders {
        root: tempfile::TempDir,
    }

    impl Folders {
        fn new(folders: &[&str]) -> Self {
            let root = tempfile::tempdir().unwrap();
            for folder in folders {
                fs::create_dir_all(root.path().join(folder)).unwrap();
            }
            Self { root }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(path)
        }

        fn view(&self, workspace: &str, hidden: &[&str]) -> View {
            let hidden: Vec<_> = hidden.iter().map(|path| self.at(path)).collect();
            View::new(&ViewRequest {
                level: SandboxLevel::Workspace,
                workspace: &self.at(workspace),
                home: Some(&self.at("home")),
                readable: &[self.at("tools")],
                hidden: &hidden,
                access: &ProgramAccess::default(),
                variables: &[
                    ("PATH".into(), self.at("home/.local/bin").into()),
                    ("GOPATH".into(), self.at("home").into()),
                ],
            })
            .unwrap()
        }
    }

    fn access(view: &View, path: &Path) -> Option<PathAccess> {
        let around = view.paths.iter().rfind(|visible| path.starts_with(visible.path()));
        match around {
            Some(VisiblePath::Object { access, .. }) => Some(*access),
            Some(VisiblePath::Temporary { .. } | VisiblePath::Link { .. }) | None => None,
        }
    }

    #[test]
    fn the_home_folder_is_not_seen_but_for_tools_and_the_workspace() {
        let folders =
            Folders::new(&["home/.ssh", "home/project/src", "home/.local/bin", "home/.cargo/registry", "tools"]);
        let view = folders.view("home/project", &[]);
        for (path, expected) in [
            ("home/.ssh", None),
            ("home", None),
            ("home/project/src", Some(PathAccess::Write)),
            ("home/.local/bin/x", Some(PathAccess::Read)),
            ("home/.cargo/registry/x", Some(PathAccess::Read)),
            ("home/.cargo/credentials.toml", None),
            ("tools/x", Some(PathAccess::Read)),
            ("other", None),
        ] {
            assert_eq!(access(&view, &folders.at(path)), expected, "{path}");
        }
        assert_eq!(view.home, folders.at("home"));
    }

    #[test]
    fn credentials_below_visible_folders_are_hidden() {
        let folders =
            Folders::new(&["home/.local/share/uv/credentials", "home/.local/share/uv/python", "home/.cargo", "tools"]);
        for (name, text) in [
            ("home/.cargo/config.toml", "[registry]\ntoken = \"secret\"\n"),
            ("home/.cargo/config", "[build]\njobs = 2\n# token = ...\n"),
            ("home/.cargo/credentials.toml", "x"),
            ("tools/credentials", "x"),
            ("tools/config.toml", "[http]\nproxy = \"http://me:pass@proxy:80\"\n"),
            ("tools/config", "[source.x]\nregistry = \"https://host/index\"\n"),
        ] {
            fs::write(folders.at(name), text).unwrap();
        }
        fs::create_dir(folders.at("work")).unwrap();
        let view = View::new(&ViewRequest {
            level: SandboxLevel::Workspace,
            workspace: &folders.at("work"),
            home: Some(&folders.at("home")),
            readable: &[folders.at("tools")],
            hidden: &[],
            access: &ProgramAccess::default(),
            variables: &[("CARGO_HOME".into(), folders.at("tools").into())],
        })
        .unwrap();
        for (path, expected) in [
            ("home/.local/share/uv/credentials/credentials.toml", Some(PathAccess::Hidden)),
            ("home/.local/share/uv/python/bin", Some(PathAccess::Read)),
            ("home/.cargo/config.toml", Some(PathAccess::Hidden)),
            ("home/.cargo/config", Some(PathAccess::Read)),
            ("home/.cargo/credentials.toml", None),
            ("tools/credentials", Some(PathAccess::Hidden)),
            ("tools/config.toml", Some(PathAccess::Hidden)),
            ("tools/config", Some(PathAccess::Read)),
        ] {
            assert_eq!(access(&view, &folders.at(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_is_given_inside_of_a_hidden_folder_is_seen_and_nothing_around_it() {
        let folders = Folders::new(&["tools/data/files", "tools/data/mcp/notes", "tools/data/users"]);
        let view = View::new(&ViewRequest {
            level: SandboxLevel::Workspace,
            workspace: &folders.at("tools/data/files"),
            home: None,
            readable: &[folders.at("tools")],
            hidden: &[folders.at("tools/data")],
            access: &ProgramAccess { writable: vec![folders.at("tools/data/mcp/notes")], ..ProgramAccess::default() },
            variables: &[],
        })
        .unwrap();
        let is_empty = |visible: &&VisiblePath| matches!(visible, VisiblePath::Temporary { path } if *path == folders.at("tools/data"));
        assert_eq!(view.paths.iter().filter(is_empty).count(), 1);
        for (path, expected) in [
            ("tools", Some(PathAccess::Read)),
            ("tools/data/users", None),
            ("tools/data/files", Some(PathAccess::Write)),
            ("tools/data/mcp/notes", Some(PathAccess::Write)),
        ] {
            assert_eq!(access(&view, &folders.at(path)), expected, "{path}");
        }
    }

    #[test]
    fn secrets_inside_of_the_workspace_are_hidden() {
        let folders = Folders::new(&["home/.ssh", "home/data/users/a/files", "home/src", "tools/token"]);
        let view = folders.view("home", &["home/data", "tools/token"]);
        for (path, expected) in [
            ("home/.ssh/id", Some(PathAccess::Hidden)),
            ("home/data/token", Some(PathAccess::Hidden)),
            ("home/src", Some(PathAccess::Write)),
            ("tools/token", Some(PathAccess::Hidden)),
        ] {
            assert_eq!(access(&view, &folders.at(path)), expected, "{path}");
        }
        assert_eq!(view.home, Path::new("/tmp/home"), "the workspace is not covered by an empty home folder");
    }

    #[test]
    fn a_workspace_in_our_data_folder_is_all_that_is_seen_of_it() {
        let folders = Folders::new(&["home", "tools/data/users/a/files", "tools/data/users/b/files"]);
        let view = folders.view("tools/data/users/a/files", &["tools/data"]);
        for (path, expected) in [
            ("tools/data/token", Some(PathAccess::Hidden)),
            ("tools/data/users/b/files/x", Some(PathAccess::Hidden)),
            ("tools/data/users/a/files/x", Some(PathAccess::Write)),
        ] {
            assert_eq!(access(&view, &folders.at(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_git_runs_later_is_read_only() {
        let folders = Folders::new(&["home", "work/.git/objects"]);
        fs::write(folders.at("work/.git/config"), "").unwrap();
        let view = folders.view("work", &[]);
        for (path, expected) in [
            ("work/.git/objects/x", PathAccess::Write),
            ("work/.git/hooks/pre-commit", PathAccess::Read),
            ("work/.git/config", PathAccess::Read),
        ] {
            assert_eq!(access(&view, &folders.at(path)), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_repository_in_a_folder_that_is_not_written_stays_so() {
        let folders = Folders::new(&["home/.pyenv/.git/objects", "home/data/.git/objects", "home/src/.git/objects"]);
        let view = folders.view("home", &["home/data"]);
        for (path, expected) in [
            ("home/.pyenv/.git/objects", PathAccess::Read),
            ("home/data/.git/objects", PathAccess::Hidden),
            ("home/src/.git/objects", PathAccess::Write),
            ("home/src/.git/hooks", PathAccess::Read),
        ] {
            assert_eq!(access(&view, &folders.at(path)), Some(expected), "{path}");
        }
    }

    #[test]
    fn folders_of_the_system_are_no_workspace() {
        for path in ["/", "/usr", "/etc", "/tmp", "/proc/self", "/dev/shm", "/no/such/folder"] {
            let refused = checked_workspace(Path::new(path)).unwrap_err().to_string();
            assert!(refused.contains(path), "{refused}");
        }
    }
}
