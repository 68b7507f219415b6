//! The log of chats: the file `chat.log` in the data folder, which only its owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

const NAME: &str = "chat.log";
/// The file of before, once the file is full.
const EARLIER: &str = "chat.log.1";
/// A file that is larger begins anew.
const MAX_BYTES: u64 = 1 << 20;

static FILE: OnceLock<File> = OnceLock::new();

/// Writes to the file once there is one, and to the sink before.
pub(super) struct Redirected<W>(pub(super) W);

impl<W: Write> Write for Redirected<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match FILE.get() {
            Some(mut file) => file.write(bytes),
            None => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match FILE.get() {
            Some(mut file) => file.flush(),
            None => self.0.flush(),
        }
    }
}

/// Later lines are written to the file in this folder.
pub(super) fn redirect(folder: &Path) -> io::Result<()> {
    let file = open(folder)?;
    // The first file stays.
    let _ = FILE.set(file);
    Ok(())
}

fn open(folder: &Path) -> io::Result<File> {
    let path = folder.join(NAME);
    if fs::metadata(&path).is_ok_and(|file| file.len() > MAX_BYTES) {
        fs::rename(&path, folder.join(EARLIER))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        open(folder.path()).unwrap().write_all(b"one\n").unwrap();
        open(folder.path()).unwrap().write_all(b"two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        File::options().append(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        open(folder.path()).unwrap().write_all(b"three\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        assert!(folder.path().join(EARLIER).exists());
    }
}
