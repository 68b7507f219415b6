//! Writing, moving and removing the files of a workbook, each whole or not at all.

use std::io::{self, ErrorKind, Write as _};

use cap_std::fs::Dir;
use planwright_core::refusal::Refusal;
use planwright_core::workbook::DocumentKind;

use super::{ARCHIVE, OnDisk, WorkbookDir, make_folder, refusal, sync};
use crate::temp_file::TempFile;

/// The result of writing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteResult {
    Written,
    /// The file changed since it was read, and was left as it is.
    Changed,
}

impl WorkbookDir {
    /// Replaces the file if it is still as `expected`. A reader sees the old text or the new one, never a part.
    pub(crate) fn write(&self, which: DocumentKind, text: &str, expected: &OnDisk) -> Result<WriteResult, Refusal> {
        self.replace(which.file_name(), text, expected).map_err(|error| refusal(&error))
    }

    fn replace(&self, name: &str, text: &str, expected: &OnDisk) -> io::Result<WriteResult> {
        let (plan, unfinished) = (self.make_plan()?, self.unfinished()?);
        let temp = temp_file(&unfinished, text)?;
        match exchange(&unfinished, temp.name(), &plan, name) {
            Ok(()) => {
                // The old file is compared after the exchange, when no save can come in between any more.
                if self.read(&unfinished, temp.name())? != *expected {
                    exchange(&unfinished, temp.name(), &plan, name)?;
                    return Ok(WriteResult::Changed);
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match temp.create_new(&plan, name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(WriteResult::Changed),
                created => return created.map(|()| WriteResult::Written),
            },
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                if self.read(&plan, name)? != *expected {
                    return Ok(WriteResult::Changed);
                }
                return temp.replace(&plan, name).map(|()| WriteResult::Written);
            }
            Err(error) => return Err(error),
        }
        sync(&plan)?;
        Ok(WriteResult::Written)
    }

    /// Writes a copy of a version that was replaced, and returns its name.
    pub(crate) fn keep_beside(&self, which: DocumentKind, version: u32, text: &str) -> Result<String, Refusal> {
        let keep = || -> io::Result<String> {
            let (plan, unfinished) = (self.make_plan()?, self.unfinished()?);
            let temp = temp_file(&unfinished, text)?;
            for name in names_beside(which, version) {
                match temp.create_new(&plan, &name) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        if self.read(&plan, &name)? == OnDisk::Text(text.to_owned()) {
                            return Ok(name);
                        }
                    }
                    created => return created.map(|()| name),
                }
            }
            Err(ErrorKind::AlreadyExists.into())
        };
        keep().map_err(|error| refusal(&error))
    }

    /// Renames the entry in the place of a document, whatever it is, and returns its new name.
    pub(crate) fn set_aside(&self, which: DocumentKind, version: u32) -> Result<String, Refusal> {
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

    pub(crate) fn remove(&self, which: DocumentKind) -> Result<(), Refusal> {
        let remove = || -> io::Result<()> {
            let Some(plan) = self.plan()? else { return Ok(()) };
            match plan.remove_file(which.file_name()) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => sync(&plan),
            }
        };
        remove().map_err(|error| refusal(&error))
    }

    /// An archive that exists stays as it is.
    pub(crate) fn write_archive(&self, name: &str, text: &str) -> Result<(), Refusal> {
        let put = || -> io::Result<()> {
            let archive = make_folder(&self.make_plan()?, ARCHIVE)?;
            let unfinished = self.unfinished()?;
            let temp = temp_file(&unfinished, text)?;
            match temp.create_new(&archive, name) {
                // An earlier process may have died before it flushed the folder.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => sync(&archive),
                created => created,
            }
        };
        put().map_err(|error| refusal(&error))
    }

    pub(super) fn write_in(&self, folder: &Dir, name: &str, text: &str) -> io::Result<()> {
        let unfinished = self.unfinished()?;
        temp_file(&unfinished, text)?.replace(folder, name)
    }
}

/// `task_plan.conflict-3.md`, and with a further number if that is taken.
fn names_beside(which: DocumentKind, version: u32) -> impl Iterator<Item = String> {
    const MAX_COPIES: u32 = 1_000;
    let first = format!("{which}.conflict-{version}.md");
    std::iter::once(first).chain((2..MAX_COPIES).map(move |n| format!("{which}.conflict-{version}-{n}.md")))
}

fn temp_file<'a>(folder: &'a Dir, text: &str) -> io::Result<TempFile<'a>> {
    TempFile::create(folder, |file| file.write_all(text.as_bytes()))
}

/// Exchanges two files, so that the old one is never lost.
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
    use cap_std::ambient_authority;

    use super::*;

    fn dir(root: &std::path::Path) -> WorkbookDir {
        let root = Dir::open_ambient_dir(root, ambient_authority()).unwrap();
        WorkbookDir::lock(make_folder(&root, "cli-k3yk3y8x").unwrap(), 1_000).unwrap()
    }

    #[test]
    fn a_document_takes_the_place_of_what_was_looked_at_and_of_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let dir = dir(root.path());
        let file = root.path().join("cli-k3yk3y8x/plan/findings.md");
        let put = |text: &str, expected: OnDisk| dir.write(DocumentKind::Findings, text, &expected).unwrap();
        let text = |text: &str| OnDisk::Text(text.to_owned());
        assert_eq!(put("one", OnDisk::Missing), WriteResult::Written);
        assert_eq!(put("two", text("one")), WriteResult::Written);
        // A person saved the file after it was read.
        std::fs::write(&file, "saved meanwhile").unwrap();
        for expected in [text("two"), OnDisk::Missing] {
            assert_eq!(put("three", expected), WriteResult::Changed);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "saved meanwhile");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(put("four", text("saved meanwhile")), WriteResult::Written, "what is gone is written again");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "four");
        assert_eq!(std::fs::read_dir(root.path().join("cli-k3yk3y8x/unfinished")).unwrap().count(), 0);
    }

    #[test]
    fn what_gave_way_is_kept_under_a_name_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let dir = dir(root.path());
        let keep = |text: &str| dir.keep_beside(DocumentKind::Progress, 7, text).unwrap();
        assert_eq!(keep("one"), "progress.conflict-7.md");
        assert_eq!(keep("one"), "progress.conflict-7.md", "the same once more");
        assert_eq!(keep("two"), "progress.conflict-7-2.md");
        dir.write(DocumentKind::Progress, "three", &OnDisk::Missing).unwrap();
        assert_eq!(dir.set_aside(DocumentKind::Progress, 7).unwrap(), "progress.conflict-7-3.md");
    }

    #[test]
    fn an_archive_is_never_written_over() {
        let root = tempfile::tempdir().unwrap();
        let dir = dir(root.path());
        for text in ["one", "two"] {
            dir.write_archive("plan-1.md", text).unwrap();
        }
        let kept = std::fs::read_to_string(root.path().join("cli-k3yk3y8x/plan/archive/plan-1.md")).unwrap();
        assert_eq!((kept.as_str(), dir.archive_names()), ("one", vec!["plan-1.md".to_owned()]));
    }

    #[test]
    fn an_open_folder_is_locked_against_others() {
        let root = tempfile::tempdir().unwrap();
        let first = dir(root.path());
        let other = std::fs::File::open(root.path().join("cli-k3yk3y8x")).unwrap();
        assert!(other.try_lock().is_err());
        drop(first);
        other.try_lock().unwrap();
    }
}
