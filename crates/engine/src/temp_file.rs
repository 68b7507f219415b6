//! Files that readers see whole or not at all: written under a temporary name, flushed to disk, then named.
//!
//! The crates for this take paths. Sessions' files are reached through directory capabilities, which no link leads out of,
//! the temporary file lies in a folder of its own, and a workbook's document is exchanged with the one it replaces. So this
//! is written here, once, over [`Dir`].

use std::io::{self, ErrorKind};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirBuilder, File, OpenOptions};
use uuid::Uuid;

/// The folder where a file is until it is whole.
pub const UNFINISHED: &str = "unfinished";

/// A complete file that is on disk under a unique name. That name is removed on drop.
#[derive(Debug)]
pub struct TempFile<'a> {
    folder: &'a Dir,
    name: String,
}

impl<'a> TempFile<'a> {
    /// `write` fills the new file, which is then flushed to disk. If it fails, nothing is left behind.
    pub fn create(folder: &'a Dir, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Self> {
        Self::create_named(folder, Uuid::now_v7().to_string(), write)
    }

    /// Creates a temporary file under a new name that the caller chooses.
    pub fn create_named(
        folder: &'a Dir,
        name: String,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut file = folder.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        let temp = Self { folder, name };
        write(&mut file)?;
        file.sync_all()?;
        Ok(temp)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the file its name, in the place of a file that has it. A link with that name is replaced, not followed.
    pub fn replace(self, to: &Dir, name: &str) -> io::Result<()> {
        self.folder.rename(&self.name, to, name)?;
        sync(to)
    }

    /// Gives the file its name. Fails with [`io::ErrorKind::AlreadyExists`] if something has it, which stays as it is.
    pub fn create_new(&self, to: &Dir, name: &str) -> io::Result<()> {
        // A hard link, unlike a rename, never replaces a file.
        self.folder.hard_link(&self.name, to, name)?;
        sync(to)
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        let _ = self.folder.remove_file(&self.name);
    }
}

/// Flushes the names in a folder to disk, which the files' own flush does not do.
pub fn sync(folder: &Dir) -> io::Result<()> {
    #[cfg(unix)]
    folder.open(".")?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Opens a folder that only the person may look into, made where it is missing.
pub fn make_folder(parent: &Dir, name: &str) -> io::Result<Dir> {
    match parent.create_dir_with(name, &private()) {
        Ok(()) => sync(parent)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    parent.open_dir_nofollow(name)
}

/// The mode of new folders: files are the person's own business.
pub fn private() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use cap_std::ambient_authority;

    use super::*;

    fn folders(root: &std::path::Path) -> (Dir, Dir) {
        let root = Dir::open_ambient_dir(root, ambient_authority()).unwrap();
        for name in ["unfinished", "files"] {
            root.create_dir(name).unwrap();
        }
        (root.open_dir("unfinished").unwrap(), root.open_dir("files").unwrap())
    }

    fn temp<'a>(folder: &'a Dir, text: &str) -> TempFile<'a> {
        TempFile::create(folder, |file| file.write_all(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_file_gets_its_name_and_leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        let (unfinished, files) = folders(root.path());
        temp(&unfinished, "one").create_new(&files, "note").unwrap();
        let refused = temp(&unfinished, "two").create_new(&files, "note").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(files.read_to_string("note").unwrap(), "one");
        temp(&unfinished, "three").replace(&files, "note").unwrap();
        assert_eq!(files.read_to_string("note").unwrap(), "three");
        TempFile::create(&unfinished, |_| Err(ErrorKind::StorageFull.into())).unwrap_err();
        assert_eq!(unfinished.entries().unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (unfinished, files) = folders(root.path());
        files.write("target", "kept").unwrap();
        files.symlink("target", "note").unwrap();
        temp(&unfinished, "new").replace(&files, "note").unwrap();
        assert!(files.symlink_metadata("note").unwrap().is_file());
        assert_eq!(files.read_to_string("target").unwrap(), "kept");
    }
}
