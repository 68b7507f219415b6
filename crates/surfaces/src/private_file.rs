//! Files that only their owner may read, written so that a reader sees the whole file or none.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempPath};

/// A file that is complete and on disk, beside the place where it belongs. It is removed on drop unless it gets there.
#[derive(Debug)]
pub struct NewFile(NamedTempFile);

impl NewFile {
    pub fn write(beside: &Path, contents: &[u8]) -> io::Result<Self> {
        let mut prefix = beside.file_name().unwrap_or_default().to_owned();
        prefix.push(".");
        // `tempfile` makes files that only their owner may read and never opens one that exists.
        let mut file = Builder::new().prefix(&prefix).suffix(".new").tempfile_in(folder_of(beside))?;
        file.write_all(contents)?;
        file.as_file().sync_all()?;
        Ok(Self(file))
    }

    /// Fails with [`ErrorKind::AlreadyExists`] if the path exists.
    pub fn create(self, path: &Path) -> io::Result<()> {
        create(self.0.into_temp_path(), path)
    }

    pub fn replace(self, path: &Path) -> io::Result<()> {
        replace(self.0.into_temp_path(), path)
    }
}

/// Gives a complete file its name. Fails with [`ErrorKind::AlreadyExists`] if the path exists.
pub fn create(file: TempPath, path: &Path) -> io::Result<()> {
    file.persist_noclobber(path)?;
    sync_folder_of(path)
}

/// Gives a complete file its name, in the place of a file that has it. A link is replaced and not followed.
pub fn replace(file: TempPath, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    sync_folder_of(path)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name has to be on disk as well as the contents.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
        // Not every system can flush a folder, and not every folder may be opened by those who may write in it.
        Err(error) if is_not_possible(error.kind()) => Ok(()),
        synced => synced,
    }
}

fn is_not_possible(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_is_private_and_replaces_a_link_without_following_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("token"), folder.path().join("other"));
        fs::write(&other, "kept").unwrap();
        symlink(&other, &path).unwrap();
        let refused = NewFile::write(&path, b"secret").unwrap().create(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists, "a link is something that exists");
        NewFile::write(&path, b"secret").unwrap().replace(&path).unwrap();
        let metadata = fs::symlink_metadata(&path).unwrap();
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!((fs::read(&path).unwrap(), fs::read(&other).unwrap()), (b"secret".to_vec(), b"kept".to_vec()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    }
}
