//! Cookies of browsers that signed out, until they would have ended by themselves.
//!
//! They are kept in a file of the data folder, so that a sign-out outlives the process and holds for every server that
//! shares the folder. One line each: the cookie's id and the second at which it ends.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::cookie::now;
use crate::private_file::NewFile;

#[derive(Debug)]
pub(super) struct RevokedCookies {
    path: Option<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// When each cookie ends, by id.
    ends: HashMap<String, u64>,
    /// The state of the file when it was last read.
    file: Option<(SystemTime, u64)>,
}

impl RevokedCookies {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        let revoked = Self { path, known: Mutex::default() };
        revoked.refresh();
        revoked
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.known().ends.contains_key(id)
    }

    /// The cookie is refused at once. An error says that the file does not know of it.
    pub(super) fn add(&self, id: &str, ends: u64) -> io::Result<()> {
        self.known().ends.insert(id.to_owned(), ends);
        let Some(path) = &self.path else { return Ok(()) };
        // Servers that share the folder change the file one after another.
        let lock = File::options().create(true).truncate(false).write(true).open(path.with_extension("lock"))?;
        lock.lock()?;
        let mut all = read(path)?;
        all.insert(id.to_owned(), ends);
        let now = now();
        let lines = all.iter().filter(|(_, ends)| now < **ends).map(|(id, ends)| format!("{id} {ends}\n"));
        NewFile::write(path, lines.collect::<String>().as_bytes())?.replace(path)
    }

    /// Reads the file if it has changed, and tells whether it has.
    pub(super) fn refresh(&self) -> bool {
        let Some(path) = &self.path else { return false };
        let state = fs::metadata(path).and_then(|file| Ok((file.modified()?, file.len()))).ok();
        let mut known = self.known();
        if state.is_none() || known.file == state {
            return false;
        }
        match read(path) {
            Ok(all) => {
                known.file = state;
                let now = now();
                known.ends.retain(|_, ends| now < *ends);
                known.ends.extend(all);
                true
            }
            Err(error) => {
                tracing::warn!(event = "revoked_cookies_unreadable", %error);
                false
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line of another form is skipped.
fn read(path: &Path) -> io::Result<HashMap<String, u64>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.filter_map(|(id, ends)| Some((id.to_owned(), ends.parse().ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_out_is_known_to_every_server_of_the_folder_and_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revoked-cookies");
        let (one, other) = (RevokedCookies::new(Some(path.clone())), RevokedCookies::new(Some(path.clone())));
        one.add("a", now() + 60).unwrap();
        assert!(one.contains("a") && !other.contains("a"));
        assert!(other.refresh() && other.contains("a"));
        other.add("b", now() + 60).unwrap();
        let next = RevokedCookies::new(Some(path));
        assert!(next.contains("a") && next.contains("b") && !next.contains("c"));
    }

    #[test]
    fn many_servers_sign_out_at_once_and_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revoked-cookies");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let revoked = RevokedCookies::new(Some(path.clone()));
                scope.spawn(move || revoked.add(&number.to_string(), now() + 60).unwrap());
            }
        });
        assert_eq!(read(&path).unwrap().len(), 16);
    }

    #[test]
    fn what_has_ended_by_itself_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revoked-cookies");
        let revoked = RevokedCookies::new(Some(path.clone()));
        revoked.add("old", 1).unwrap();
        revoked.add("new", now() + 60).unwrap();
        assert_eq!(read(&path).unwrap().into_keys().collect::<Vec<_>>(), ["new"]);
    }

    #[test]
    fn without_a_file_it_is_known_to_the_process() {
        let revoked = RevokedCookies::new(None);
        revoked.add("a", now() + 60).unwrap();
        assert!(revoked.contains("a") && !revoked.refresh());
    }
}
