//! The program that clients start: by its whole path, and from a place where it stays.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

const NAME: &str = "planwright";
/// Folders that are cleared now and then.
const TEMPORARY_FOLDERS: [&str; 6] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/dev/shm", "/run"];
/// Names of such folders, wherever they are: caches, and what `npx` fetches.
const TEMPORARY_NAMES: [&str; 3] = [".cache", "Caches", "_npx"];

#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// What is copied there first.
    source: Option<PathBuf>,
}

impl Program {
    /// This program, or the copy of it in the data folder if its own place is cleared now and then.
    pub(super) fn settled(data: &Path) -> Result<Self, Failure> {
        let unknown =
            |error: std::io::Error| Failure::unavailable(format!("the place of this program is not known: {error}"));
        let own = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(unknown)?;
        let copy = copy_in(&std::path::absolute(data).map_err(unknown)?);
        if copy.canonicalize().is_ok_and(|path| path == own) {
            return Ok(Self { path: copy, source: None });
        }
        if is_temporary(&own) {
            return Ok(Self { path: copy, source: Some(own) });
        }
        // A package manager keeps the link, and changes the folder with each version.
        let path = on_path(&own).unwrap_or(own);
        Ok(Self { path, source: None })
    }

    /// What is copied, if it is not there as it is.
    pub(super) fn missing_copy(&self) -> Option<&Path> {
        let source = self.source.as_deref()?;
        let is_same = std::fs::read(source).ok().zip(std::fs::read(&self.path).ok()).is_some_and(|(a, b)| a == b);
        (!is_same).then_some(source)
    }

    /// Makes the copy at once: a client that starts it meanwhile starts the old or the new one.
    pub(super) fn copy(&self) -> Result<(), Failure> {
        let Some(source) = self.missing_copy() else { return Ok(()) };
        let write = || {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder)?;
            let mut unfinished = tempfile::Builder::new().prefix(".planwright-").tempfile_in(folder)?;
            std::io::copy(&mut std::fs::File::open(source)?, &mut unfinished)?;
            unfinished.flush()?;
            std::fs::set_permissions(unfinished.path(), executable())?;
            unfinished.persist(&self.path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|error: std::io::Error| {
            Failure::unavailable(format!("the program cannot be copied to {}: {error}", self.path.display()))
        })
    }
}

/// Removes the copy of the program that clients started.
pub(super) fn remove_copy(data: &Path) {
    let copy = copy_in(data);
    // It may never have been made.
    if std::fs::remove_file(&copy).is_ok()
        && let Some(folder) = copy.parent()
    {
        let _ = std::fs::remove_dir(folder);
    }
}

fn copy_in(data: &Path) -> PathBuf {
    data.join("bin").join(NAME)
}

fn is_temporary(path: &Path) -> bool {
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let temporary = [Some(std::env::temp_dir()), caches].into_iter().flatten();
    temporary.chain(TEMPORARY_FOLDERS.map(PathBuf::from)).any(|folder| path.starts_with(folder))
        || path.components().any(|part| TEMPORARY_NAMES.iter().any(|name| part.as_os_str() == *name))
}

/// The name under which the shell finds this program.
fn on_path(own: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join(NAME));
    found.find(|path| path.is_absolute() && !is_temporary(path) && path.canonicalize().is_ok_and(|path| path == own))
}

fn executable() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::Permissions::from_mode(0o755)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cleared_now_and_then_is_known() {
        for (path, expected) in [
            ("/home/ada/.npm/_npx/a1b2/node_modules/planwright/bin/planwright", true),
            ("/home/ada/.cache/uv/archive/bin/planwright", true),
            ("/Users/ada/Library/Caches/x/planwright", true),
            ("/tmp/x/planwright", true),
            ("/usr/local/bin/planwright", false),
            ("/home/ada/.cargo/bin/planwright", false),
            ("/usr/lib/node_modules/planwright/bin/planwright", false),
            ("/home/ada/tmp/planwright", false),
        ] {
            assert_eq!(is_temporary(Path::new(path)), expected, "{path}");
        }
    }
}
