//! One file, opened for reading.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use planwright_core::refusal::Refusal;

use super::io_error;
use super::path::FilePath;

/// What an entry of a folder is, the entry itself and not what a link points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File {
        bytes: u64,
    },
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl Kind {
    pub(super) fn of(metadata: &Metadata) -> Self {
        if metadata.is_file() {
            Self::File { bytes: metadata.len() }
        } else if metadata.is_dir() {
            Self::Folder
        } else if metadata.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::File { .. } => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Special => "special",
        }
    }
}

#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) bytes: u64,
}

/// Opens the file a path names; links are followed as long as they stay inside.
pub(super) fn open_named(files: &Dir, path: &FilePath) -> Result<OpenFile, Refusal> {
    let look = files.metadata(path.beneath()).map_err(|error| io_error::refusal(path.as_str(), &error))?;
    ordinary(path.as_str(), &look)?;
    open(files, path.beneath(), path.as_str(), FollowSymlinks::Yes)
}

/// Opens a file that was met on a walk, and nothing that has taken its place since.
pub(super) fn open_walked(folder: &Dir, name: &str) -> Result<OpenFile, Refusal> {
    open(folder, name, name, FollowSymlinks::No)
}

fn open(folder: &Dir, beneath: &str, shown: &str, follow: FollowSymlinks) -> Result<OpenFile, Refusal> {
    let mut options = OpenOptions::new();
    // The entry may have become a pipe since it was listed, and opening a pipe waits for a writer.
    options.read(true).nonblock(true).follow(follow);
    let file = folder.open_with(beneath, &options).map_err(|error| io_error::refusal(shown, &error))?;
    let metadata = file.metadata().map_err(|error| io_error::refusal(shown, &error))?;
    let bytes = ordinary(shown, &metadata)?;
    Ok(OpenFile { file, bytes })
}

fn ordinary(shown: &str, metadata: &Metadata) -> Result<u64, Refusal> {
    match Kind::of(metadata) {
        Kind::File { bytes } => Ok(bytes),
        Kind::Folder => Err(io_error::is_folder(shown)),
        Kind::Link => Err(io_error::leads_out(shown)),
        Kind::Special => Err(io_error::not_ordinary(shown)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use cap_std::ambient_authority;
    use rustix::fs::{FileType, Mode, mknodat};

    use super::*;

    /// Between being met and being opened a file may become anything, so what was seen before does not count.
    #[test]
    fn only_an_ordinary_file_is_opened_whatever_was_met() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(temporary.path(), ambient_authority()).unwrap();
        folder.write("file", "text").unwrap();
        folder.create_dir("folder").unwrap();
        folder.symlink("file", "link").unwrap();
        mknodat(&folder, "pipe", FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(open_walked(&folder, "file").unwrap().bytes, 4);
        // A pipe would keep this waiting for ever.
        for other in ["folder", "link", "pipe", "gone"] {
            assert!(open_walked(&folder, other).is_err(), "{other}");
        }
    }
}
