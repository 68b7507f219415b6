//! A folder on the disk that all commands of a sandbox share. Namespaces put other folders over its own, so that what
//! commands write stays apart; on the disk it stays empty.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "planwright-command-";

#[derive(Debug)]
pub(crate) struct Scratch {
    folder: Option<tempfile::TempDir>,
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        // The number of this process tells later which folders were left behind. It means another process in another namespace.
        let prefix = format!("{PREFIX}{}-{}-", std::process::id(), process_namespace());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?;
        let path = folder.path().canonicalize()?;
        for name in ["root", "tmp", "home", "empty"] {
            fs::create_dir(path.join(name))?;
        }
        fs::write(path.join("nothing"), "")?;
        Ok(Self { folder: Some(folder), path })
    }

    /// Where the command's root folder is put together. It stays empty on the disk.
    #[cfg(target_os = "linux")]
    pub(crate) fn root(&self) -> PathBuf {
        self.path.join("root")
    }

    pub(crate) fn exists(&self) -> bool {
        ["root", "empty", "nothing"].iter().all(|name| self.path.join(name).exists())
    }

    /// Without namespaces commands share this folder.
    #[cfg(any(not(target_os = "linux"), test))]
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn empty_folder(&self) -> PathBuf {
        self.path.join("empty")
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn empty_file(&self) -> PathBuf {
        self.path.join("nothing")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take()
            && folder.close().is_err()
        {
            // A command may take the rights of its folders away.
            permit(&self.path);
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Gives this user all rights on the folders below. Links are not followed.
fn permit(folder: &Path) {
    #[cfg(unix)]
    let _ = fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        permit(&entry.path());
    }
}

/// Removes the folders of processes that were killed. Returns how many.
pub(crate) fn remove_leftovers(parent: &Path) -> usize {
    let mut removed = 0;
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| {
            let mut parts = name.strip_prefix(PREFIX)?.split('-');
            let pid = parts.next()?.parse::<u32>().ok()?;
            (parts.next()? == process_namespace()).then_some(pid)
        });
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && pid.is_some_and(|pid| !is_alive(pid)) {
            permit(&entry.path());
            removed += usize::from(fs::remove_dir_all(entry.path()).is_ok());
        }
    }
    removed
}

/// Names the processes that this one sees by their numbers.
#[cfg(target_os = "linux")]
fn process_namespace() -> String {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self/ns/pid").map_or_else(|_| "unknown".to_owned(), |namespace| namespace.ino().to_string())
}

#[cfg(not(target_os = "linux"))]
fn process_namespace() -> String {
    "one".to_owned()
}

#[cfg(target_os = "linux")]
fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Without a list of processes nothing is known to be left behind.
#[cfg(not(target_os = "linux"))]
fn is_alive(_pid: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_rights_is_removed_too() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let locked = scratch.temporary().join("a/b");
        fs::create_dir_all(&locked).unwrap();
        fs::write(locked.join("file"), "").unwrap();
        #[cfg(unix)]
        fs::set_permissions(scratch.temporary().join("a"), std::os::unix::fs::PermissionsExt::from_mode(0o0)).unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_folders_of_dead_processes_are_leftovers() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Scratch::new(parent.path()).unwrap();
        let dead = format!("planwright-command-4194305-{}-dead", process_namespace());
        fs::create_dir(parent.path().join(dead)).unwrap();
        // The process of another namespace may live.
        let others =
            ["planwright-command-x", "planwright-command-4194305-1-living"].map(|name| parent.path().join(name));
        others.iter().for_each(|other| fs::create_dir(other).unwrap());
        assert_eq!(remove_leftovers(parent.path()), 1);
        assert!(alive.root().exists() && others.iter().all(|other| other.exists()));
    }
}
