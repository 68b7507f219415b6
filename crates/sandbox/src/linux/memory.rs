//! The memory of a command as a whole: a control group of its own, where this process may make one.

use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Where the second version of control groups is.
const GROUPS: &str = "/sys/fs/cgroup";

const PREFIX: &str = "planwright-command-";

/// The kernel may take a moment until the processes of a group are gone.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// It is removed when this is dropped, after the end of the command.
#[derive(Debug)]
pub(super) struct MemoryGroup {
    folder: PathBuf,
    /// A process that writes `0` to it enters the group.
    processes: File,
}

impl MemoryGroup {
    /// `None` where the system does not count memory, or does not let this process make a group.
    pub(super) fn new(bytes: u64) -> Option<Self> {
        Self::below(Path::new(GROUPS), &fs::read_to_string("/proc/self/cgroup").ok()?, bytes)
    }

    /// `own` says in which group this process is. A group with processes has no limits for those below it, so that it is its
    /// parent in most cases.
    fn below(root: &Path, own: &str, bytes: u64) -> Option<Self> {
        let own = root.join(own.lines().find_map(|line| line.strip_prefix("0::/"))?);
        own.ancestors().take(2).filter(|parent| parent.starts_with(root)).find_map(|parent| Self::make(parent, bytes))
    }

    fn make(parent: &Path, bytes: u64) -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let controllers = fs::read_to_string(parent.join("cgroup.subtree_control")).ok()?;
        controllers.split_whitespace().find(|controller| *controller == "memory")?;
        remove_leftovers(parent);
        let name = format!("{PREFIX}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let folder = parent.join(name);
        fs::create_dir(&folder).ok()?;
        let limited = fs::write(folder.join("memory.max"), bytes.to_string());
        // What does not fit is not moved to the disk either. A kernel without swap does not have the file.
        let _ = fs::write(folder.join("memory.swap.max"), "0");
        let processes = limited.and_then(|()| File::options().write(true).open(folder.join("cgroup.procs")));
        match processes {
            Ok(processes) => Some(Self { folder, processes }),
            Err(_) => {
                let _ = fs::remove_dir(&folder);
                None
            }
        }
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.processes.as_raw_fd()
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        for _ in 0..ATTEMPTS {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
                Ok(()) | Err(_) => return,
            }
        }
    }
}

/// Removes the groups of processes that were killed. One with processes in it stays.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups, of which the outer one has limits for those below it. The kernel makes the files of a new group.
    fn tree(controllers: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("app.slice/shell.scope")).unwrap();
        fs::write(root.path().join("app.slice/cgroup.subtree_control"), controllers).unwrap();
        fs::write(root.path().join("app.slice/shell.scope/cgroup.subtree_control"), "").unwrap();
        root
    }

    #[test]
    fn a_group_is_made_where_memory_is_counted() {
        let root = tree("cpu memory pids\n");
        let slice = root.path().join("app.slice");
        fs::create_dir(slice.join("planwright-command-4194305-0")).unwrap();
        let own = "4:memory:/elsewhere\n0::/app.slice/shell.scope\n";
        // There is no list of processes in a plain folder, so nothing is left of the attempt but the limit.
        assert!(MemoryGroup::below(root.path(), own, 1000).is_none());
        assert!(!slice.join("planwright-command-4194305-0").exists(), "its process was killed");
        let mut entries = fs::read_dir(&slice).unwrap().map(|entry| entry.unwrap().path());
        let made = entries.find(|path| path.to_string_lossy().contains(PREFIX)).unwrap();
        assert_eq!(fs::read_to_string(made.join("memory.max")).unwrap(), "1000");
    }

    #[test]
    fn no_group_is_made_where_memory_is_not_counted() {
        for (controllers, own) in [("cpu pids\n", "0::/app.slice/shell.scope\n"), ("memory\n", "4:memory:/app.slice\n")]
        {
            let root = tree(controllers);
            assert!(MemoryGroup::below(root.path(), own, 1000).is_none());
            assert_eq!(fs::read_dir(root.path().join("app.slice")).unwrap().count(), 2);
        }
    }
}
