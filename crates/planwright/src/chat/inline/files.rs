//! The files of a project that a message can name with `@`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::WalkBuilder;

/// How many are known.
const MAX_FILES: usize = 10_000;
/// A large folder is read only so far.
const READ_TIMEOUT: Duration = Duration::from_millis(300);

/// What was found last. It is read beside the conversation, and what is not found yet is not offered.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct ProjectFiles {
    found: Arc<Mutex<Vec<String>>>,
}

impl ProjectFiles {
    /// Reads the folder again, beside the conversation.
    pub(in crate::chat) fn refresh(&self, folder: Option<&str>) {
        let found = Arc::clone(&self.found);
        match folder.map(str::to_owned) {
            Some(folder) => drop(tokio::task::spawn_blocking(move || set(&found, list(Path::new(&folder))))),
            None => set(&found, Vec::new()),
        }
    }

    /// The paths below the folder, without those that git ignores.
    pub(super) fn with<T>(&self, read: impl FnOnce(&[String]) -> T) -> T {
        read(&self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn set(found: &Mutex<Vec<String>>, files: Vec<String>) {
    *found.lock().unwrap_or_else(PoisonError::into_inner) = files;
}

fn list(folder: &Path) -> Vec<String> {
    let begun = Instant::now();
    let mut files = Vec::new();
    for entry in WalkBuilder::new(folder).require_git(false).build().filter_map(Result::ok) {
        if files.len() >= MAX_FILES || begun.elapsed() > READ_TIMEOUT {
            break;
        }
        let path = entry.path().strip_prefix(folder).ok().and_then(Path::to_str);
        if let Some(path) = path.filter(|_| entry.file_type().is_some_and(|kind| kind.is_file())) {
            files.push(path.to_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_and_ignored_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src")).unwrap();
        for (path, text) in [(".gitignore", "*.log\n"), ("src/main.rs", ""), ("a.log", ""), ("README.md", "")] {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let mut files = list(folder.path());
        files.sort();
        assert_eq!(files, ["README.md", "src/main.rs"]);
        assert_eq!(list(&folder.path().join("missing")), [""; 0]);
    }
}
