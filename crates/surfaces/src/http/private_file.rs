//! Files that only their owner may read, written so that no reader ever sees half of one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::token::hex;

/// A file beside the place where it belongs. It is removed again unless it gets there.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
}

impl NewFile {
    pub(super) fn write(beside: &Path, contents: &[u8]) -> io::Result<Self> {
        let mut unique = [0; 8];
        getrandom::fill(&mut unique).map_err(io::Error::other)?;
        let mut name = beside.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", hex(&unique)));
        let new = Self { path: beside.with_file_name(name) };

        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new.path)?;
        file.write_all(contents)?;
        file.sync_all()?;
        Ok(new)
    }

    /// Fails if the path exists.
    pub(super) fn create(&self, path: &Path) -> io::Result<()> {
        fs::hard_link(&self.path, path)?;
        sync_folder(path)
    }

    pub(super) fn replace(&self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path).and_then(|()| sync_folder(path))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The name has to be on disk as well as the contents.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
