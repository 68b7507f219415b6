//! Putting files on the shelf, moving them aside and taking them away.

use std::io::{self, ErrorKind, Write as _};

use cap_std::fs::{Dir, OpenOptions};
use planwright_core::refusal::Refusal;
use planwright_core::workbook::DocumentKind;
use uuid::Uuid;

use super::{ARCHIVE, OnDisk, Shelf, make_folder, refusal, sync};

/// What became of a document that was to be put on the shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::workbook) enum Put {
    Done,
    /// Somebody changed the file meanwhile; it is as they left it.
    Changed,
}

impl Shelf {
    /// Puts a document where `expected` stands. Whoever reads sees the old text or the new one and never a part.
    pub(in crate::workbook) fn put(&self, which: DocumentKind, text: &str, expected: &OnDisk) -> Result<Put, Refusal> {
        self.put_document(which.file_name(), text, expected).map_err(|error| refusal(&error))
    }

    fn put_document(&self, name: &str, text: &str, expected: &OnDisk) -> io::Result<Put> {
        let (plan, unfinished) = (self.make_plan()?, self.unfinished()?);
        let fresh = Fresh::write(&unfinished, text)?;
        match exchange(&unfinished, &fresh.name, &plan, name) {
            Ok(()) => {
                // What came out is looked at afterwards, when nobody can save anything in between any more.
                if self.read(&unfinished, &fresh.name)? != *expected {
                    exchange(&unfinished, &fresh.name, &plan, name)?;
                    return Ok(Put::Changed);
                }
            }
            // A second name for a file, unlike a new one, never takes the place of another file.
            Err(error) if error.kind() == ErrorKind::NotFound => match unfinished.hard_link(&fresh.name, &plan, name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Put::Changed),
                linked => linked?,
            },
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                if self.read(&plan, name)? != *expected {
                    return Ok(Put::Changed);
                }
                unfinished.rename(&fresh.name, &plan, name)?;
            }
            Err(error) => return Err(error),
        }
        sync(&plan)?;
        Ok(Put::Done)
    }

    /// Writes a copy of a version that had to give way, and says under which name.
    pub(in crate::workbook) fn keep_beside(
        &self,
        which: DocumentKind,
        version: u32,
        text: &str,
    ) -> Result<String, Refusal> {
        let keep = || -> io::Result<String> {
            let (plan, unfinished) = (self.make_plan()?, self.unfinished()?);
            let fresh = Fresh::write(&unfinished, text)?;
            for name in names_beside(which, version) {
                match unfinished.hard_link(&fresh.name, &plan, &name) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        if self.read(&plan, &name)? == OnDisk::Text(text.to_owned()) {
                            return Ok(name);
                        }
                    }
                    linked => {
                        linked?;
                        sync(&plan)?;
                        return Ok(name);
                    }
                }
            }
            Err(ErrorKind::AlreadyExists.into())
        };
        keep().map_err(|error| refusal(&error))
    }

    /// Moves what stands in the place of a document out of the way, whatever it is, and says under which name.
    pub(in crate::workbook) fn set_aside(&self, which: DocumentKind, version: u32) -> Result<String, Refusal> {
        let set_aside = || -> io::Result<String> {
            let plan = self.make_plan()?;
            let is_free = |name: &String| plan.symlink_metadata(name).is_err();
            let name = names_beside(which, version).find(is_free).ok_or(ErrorKind::AlreadyExists)?;
            plan.rename(which.file_name(), &plan, &name)?;
            sync(&plan)?;
            Ok(name)
        };
        set_aside().map_err(|error| refusal(&error))
    }

    pub(in crate::workbook) fn remove(&self, which: DocumentKind) -> Result<(), Refusal> {
        let remove = || -> io::Result<()> {
            let Some(plan) = self.plan()? else { return Ok(()) };
            match plan.remove_file(which.file_name()) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => sync(&plan),
            }
        };
        remove().map_err(|error| refusal(&error))
    }

    /// An archive that is there already stays as it is.
    pub(in crate::workbook) fn put_archive(&self, name: &str, text: &str) -> Result<(), Refusal> {
        let put = || -> io::Result<()> {
            let archive = make_folder(&self.make_plan()?, ARCHIVE)?;
            let unfinished = self.unfinished()?;
            let fresh = Fresh::write(&unfinished, text)?;
            match unfinished.hard_link(&fresh.name, &archive, name) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                Ok(()) | Err(_) => sync(&archive),
            }
        };
        put().map_err(|error| refusal(&error))
    }

    pub(super) fn put_in(&self, folder: &Dir, name: &str, text: &str) -> io::Result<()> {
        let unfinished = self.unfinished()?;
        let fresh = Fresh::write(&unfinished, text)?;
        unfinished.rename(&fresh.name, folder, name)?;
        sync(folder)
    }
}

/// `task_plan.conflict-3.md`, and with a further number if that is taken.
fn names_beside(which: DocumentKind, version: u32) -> impl Iterator<Item = String> {
    const MOST: u32 = 1_000;
    let first = format!("{which}.conflict-{version}.md");
    std::iter::once(first).chain((2..MOST).map(move |n| format!("{which}.conflict-{version}-{n}.md")))
}

/// A file that is whole and on disk, under a name that nobody has; what is left of it in the end is removed.
struct Fresh<'a> {
    folder: &'a Dir,
    name: String,
}

impl<'a> Fresh<'a> {
    fn write(folder: &'a Dir, text: &str) -> io::Result<Self> {
        let fresh = Self { folder, name: Uuid::now_v7().to_string() };
        let mut file = folder.open_with(&fresh.name, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(fresh)
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        let _ = self.folder.remove_file(&self.name);
    }
}

/// Two files change places, so that what was there is never gone.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(from: &Dir, name: &str, to: &Dir, other: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;
    renameat_with(from, name, to, other, RenameFlags::EXCHANGE).map_err(|errno| match errno {
        // The file system cannot do it.
        Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => ErrorKind::Unsupported.into(),
        errno => errno.into(),
    })
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Dir, _: &str, _: &Dir, _: &str) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use planwright_core::session::SessionIdentity;

    use super::*;
    use crate::toolbox::files::folder::SessionFolder;

    fn shelf(root: &std::path::Path) -> Shelf {
        let session: SessionIdentity = "cli:k3yk3y8x".parse().unwrap();
        Shelf::make(&SessionFolder::new(root.to_owned(), &session), 1_000).unwrap()
    }

    #[test]
    fn a_document_takes_the_place_of_what_was_looked_at_and_of_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let shelf = shelf(root.path());
        let file = root.path().join("cli-k3yk3y8x/plan/findings.md");
        let put = |text: &str, expected: OnDisk| shelf.put(DocumentKind::Findings, text, &expected).unwrap();
        let text = |text: &str| OnDisk::Text(text.to_owned());
        assert_eq!(put("one", OnDisk::Nothing), Put::Done);
        assert_eq!(put("two", text("one")), Put::Done);
        // Somebody saved after the look.
        std::fs::write(&file, "saved meanwhile").unwrap();
        for expected in [text("two"), OnDisk::Nothing] {
            assert_eq!(put("three", expected), Put::Changed);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "saved meanwhile");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(put("four", text("saved meanwhile")), Put::Done, "what is gone is written again");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "four");
        assert_eq!(std::fs::read_dir(root.path().join("cli-k3yk3y8x/unfinished")).unwrap().count(), 0);
    }

    #[test]
    fn what_gave_way_is_kept_under_a_name_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let shelf = shelf(root.path());
        let keep = |text: &str| shelf.keep_beside(DocumentKind::Progress, 7, text).unwrap();
        assert_eq!(keep("one"), "progress.conflict-7.md");
        assert_eq!(keep("one"), "progress.conflict-7.md", "the same once more");
        assert_eq!(keep("two"), "progress.conflict-7-2.md");
        shelf.put(DocumentKind::Progress, "three", &OnDisk::Nothing).unwrap();
        assert_eq!(shelf.set_aside(DocumentKind::Progress, 7).unwrap(), "progress.conflict-7-3.md");
    }

    #[test]
    fn an_archive_is_never_written_over() {
        let root = tempfile::tempdir().unwrap();
        let shelf = shelf(root.path());
        for text in ["one", "two"] {
            shelf.put_archive("plan-1.md", text).unwrap();
        }
        let kept = std::fs::read_to_string(root.path().join("cli-k3yk3y8x/plan/archive/plan-1.md")).unwrap();
        assert_eq!((kept.as_str(), shelf.archive_names()), ("one", vec!["plan-1.md".to_owned()]));
    }

    #[test]
    fn whoever_has_the_shelf_has_it_alone() {
        let root = tempfile::tempdir().unwrap();
        let first = shelf(root.path());
        let other = std::fs::File::open(root.path().join("cli-k3yk3y8x")).unwrap();
        assert!(other.try_lock().is_err());
        drop(first);
        other.try_lock().unwrap();
    }
}
