//! A project folder that a person named, checked and opened as a capability.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::visible::quoted;

/// The folders of this process that a project folder is checked against.
#[derive(Debug, Clone)]
pub(super) struct ProjectRules {
    /// Only these folders and what is below them, or any folder for `None`.
    pub(super) allow: Option<Vec<PathBuf>>,
    /// Planwright's own data. No project holds it or lies in it, or tools would reach the token and other sessions.
    pub(super) data: PathBuf,
}

#[derive(Debug)]
pub(super) struct ProjectFolder {
    pub(super) path: PathBuf,
    pub(super) files: Dir,
}

impl ProjectFolder {
    /// Opens a folder that a person names: links on the way are resolved once, here.
    pub(super) fn choose(path: &Path, rules: &ProjectRules) -> Result<Self, Refusal> {
        if !path.is_absolute() {
            return Err(Refusal::invalid(format!("{} is not an absolute path.", shown(path))));
        }
        let real = fs::canonicalize(path).map_err(|error| not_usable(path, &error))?;
        Self::open_real(real, rules)
    }

    /// Opens the folder that the journal names. It must be the same path as when it was chosen.
    pub(super) fn open(path: &str, rules: &ProjectRules) -> Result<Self, Refusal> {
        let path = Path::new(path);
        match fs::canonicalize(path) {
            Ok(real) if real == path => Self::open_real(real, rules),
            Ok(_) => Err(replaced(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(removed(path)),
            Err(error) => Err(not_usable(path, &error)),
        }
    }

    fn open_real(real: PathBuf, rules: &ProjectRules) -> Result<Self, Refusal> {
        if real.to_str().is_none() {
            return Err(Refusal::invalid(format!("{} is not UTF-8, so it cannot be recorded.", shown(&real))));
        }
        if real.parent().is_none() {
            return Err(Refusal::policy_denied("The root of the file system cannot be a project folder."));
        }
        rules.check(&real)?;
        let files = match Dir::open_ambient_dir(&real, ambient_authority()) {
            Ok(files) => files,
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                return Err(Refusal::invalid(format!("{} is not a folder.", shown(&real))));
            }
            Err(error) => return Err(not_usable(&real, &error)),
        };
        let project = Self { path: real, files };
        // A folder on the way may have become a link between the check and the opening.
        project.check_place()?;
        Ok(project)
    }

    /// Fails if the path no longer leads to the folder that was opened. Asked right before something is changed.
    pub(super) fn check_place(&self) -> Result<(), Refusal> {
        match fs::canonicalize(&self.path) {
            Ok(real) if real == self.path => {}
            Ok(_) => return Err(replaced(&self.path)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(removed(&self.path)),
            Err(error) => return Err(not_usable(&self.path, &error)),
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;

            use cap_std::fs::MetadataExt as _;
            let there = fs::symlink_metadata(&self.path).map_err(|error| not_usable(&self.path, &error))?;
            let opened = self.files.dir_metadata().map_err(|error| not_usable(&self.path, &error))?;
            if (there.dev(), there.ino()) != (opened.dev(), opened.ino()) {
                return Err(replaced(&self.path));
            }
        }
        Ok(())
    }
}

impl ProjectRules {
    fn check(&self, project: &Path) -> Result<(), Refusal> {
        if let Some(allow) = &self.allow {
            let allowed = |folder: &PathBuf| fs::canonicalize(folder).is_ok_and(|folder| project.starts_with(folder));
            if !allow.iter().any(allowed) {
                return Err(Refusal::policy_denied(format!(
                    "{} is not below a folder of the setting projects.allow.",
                    shown(project)
                )));
            }
        }
        let data = resolve(&self.data);
        let holds = |outer: &Path, inner: &Path| inner.ancestors().any(|folder| is_same(folder, outer));
        if holds(project, &data) || holds(&data, project) {
            return Err(Refusal::policy_denied(format!(
                "{} holds Planwright's own data or lies in it, so it cannot be a project folder.",
                shown(project)
            )));
        }
        Ok(())
    }
}

/// Whether two paths lead to one folder, also under another spelling or another mount.
fn is_same(one: &Path, other: &Path) -> bool {
    if one == other {
        return true;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
            return (one.dev(), one.ino()) == (other.dev(), other.ino());
        }
    }
    false
}

/// The path without links, also where its last folders do not exist yet.
fn resolve(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for folder in absolute.ancestors() {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(folder), absolute.strip_prefix(folder)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    absolute
}

fn shown(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn removed(path: &Path) -> Refusal {
    Refusal::not_found(format!("The project folder {} was removed. Choose another workspace.", shown(path)))
}

fn replaced(path: &Path) -> Refusal {
    Refusal::conflict(format!(
        "Another folder or a link stands in the place of the project folder {}. Choose the workspace again.",
        shown(path)
    ))
}

fn not_usable(path: &Path, error: &io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::NotFound => Refusal::not_found(format!("There is no folder {}.", shown(path))),
        ErrorKind::NotADirectory => Refusal::invalid(format!("A part of {} is not a folder.", shown(path))),
        ErrorKind::PermissionDenied => {
            Refusal::policy_denied(format!("The operating system does not allow opening {}.", shown(path)))
        }
        _ => Refusal::new(RefusalCode::Unavailable, format!("{} cannot be used: {error}.", shown(path))),
    }
}
