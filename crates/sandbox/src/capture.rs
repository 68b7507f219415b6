//! The output of a command: all of it in a file up to a limit, its beginning and its end in memory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::CommandLimits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// A piece of output as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    pub stream: OutputStream,
    pub bytes: Vec<u8>,
    /// Bytes before this piece that were not delivered because the receiver was slow. The output file has them.
    pub skipped: u64,
}

/// What is kept of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes that the command wrote.
    pub total_bytes: u64,
    /// Bytes that are in the output file.
    pub file_bytes: u64,
    pub file: PathBuf,
    /// Why the file has less than the command wrote.
    pub file_problem: Option<String>,
}

impl CapturedOutput {
    /// Bytes between the head and the tail that [`text`](Self::text) leaves out.
    pub fn omitted_bytes(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// Head and tail as one text, with a line in between that says what is left out. Bytes that are not UTF-8 are
    /// replaced.
    pub fn text(&self) -> String {
        if self.omitted_bytes() == 0 {
            let whole: Vec<u8> = [self.head.as_slice(), self.tail.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = String::from_utf8_lossy(without_cut_end(&self.head));
        let tail = String::from_utf8_lossy(without_cut_beginning(&self.tail));
        let mut text = format!("{head}\n[{} bytes are left out here", self.omitted_bytes());
        if let Some(problem) = &self.file_problem {
            text.push_str(&format!("; {problem}"));
        }
        text.push_str(&format!("]\n{tail}"));
        text
    }
}

/// A character that the cut divided is left out rather than shown as a replacement character.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    let is_first = |byte: u8| byte & 0b1100_0000 != 0b1000_0000;
    let last = bytes.iter().rposition(|byte| is_first(*byte)).unwrap_or(0);
    match std::str::from_utf8(&bytes[last..]) {
        Err(error) if error.error_len().is_none() => &bytes[..last],
        Ok(_) | Err(_) => bytes,
    }
}

fn without_cut_beginning(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    &bytes[cut..]
}

/// Takes the output of a running command.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    head_limit: usize,
    tail_limit: usize,
    file: Option<File>,
    path: PathBuf,
    file_bytes: u64,
    file_limit: u64,
    file_problem: Option<String>,
}

impl Capture {
    pub(crate) fn create(path: &Path, limits: &CommandLimits) -> io::Result<Self> {
        Ok(Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            head_limit: limits.head_bytes,
            tail_limit: limits.tail_bytes,
            file: Some(create_file(path)?),
            path: path.to_owned(),
            file_bytes: 0,
            file_limit: limits.file_bytes,
            file_problem: None,
        })
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.write_file(bytes);
        let to_head = bytes.len().min(self.head_limit - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        let kept = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let over = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..over);
        self.tail.extend(kept);
    }

    /// The file gets whole pieces until the limit or the first error; afterwards the output is only counted.
    fn write_file(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(self.file_limit - self.file_bytes).unwrap_or(usize::MAX);
        let part = &bytes[..bytes.len().min(room)];
        match file.write_all(part) {
            Ok(()) => self.file_bytes += part.len() as u64,
            Err(error) => {
                self.file_problem = Some(format!("the output file is incomplete: {error}"));
                self.file = None;
                return;
            }
        }
        if part.len() < bytes.len() {
            self.file_problem = Some(format!("the output file ends after {} bytes, its limit", self.file_limit));
            self.file = None;
        }
    }

    pub(crate) fn captured(&self) -> CapturedOutput {
        CapturedOutput {
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
            total_bytes: self.total,
            file_bytes: self.file_bytes,
            file: self.path.clone(),
            file_problem: self.file_problem.clone(),
        }
    }
}

/// Readable by this user alone; never through a link that stands in the place.
fn create_file(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(folder: &Path, head_bytes: usize, tail_bytes: usize, file_bytes: u64) -> Capture {
        let limits = CommandLimits { head_bytes, tail_bytes, file_bytes, ..CommandLimits::default() };
        Capture::create(&folder.join("out"), &limits).unwrap()
    }

    #[test]
    fn head_and_tail_are_kept_and_the_file_has_all() {
        let folder = tempfile::tempdir().unwrap();
        for piece in [1, 2, 3, 7, 100] {
            let whole: Vec<u8> = (0..100).map(|n| b'a' + n % 26).collect();
            let mut taken = capture(folder.path(), 10, 5, 1000);
            whole.chunks(piece).for_each(|chunk| taken.take(chunk));
            let output = taken.captured();
            assert_eq!(output.head, whole[..10]);
            assert_eq!(output.tail, whole[95..]);
            assert_eq!(output.omitted_bytes(), 85);
            assert_eq!(output.text(), "abcdefghij\n[85 bytes are left out here]\nrstuv");
            assert_eq!(std::fs::read(&output.file).unwrap(), whole);
        }
    }

    #[test]
    fn a_short_output_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut taken = capture(folder.path(), 4, 4, 100);
        taken.take("äöü".as_bytes());
        assert_eq!(taken.captured().text(), "äöü");
    }

    #[test]
    fn a_cut_divides_no_character() {
        let folder = tempfile::tempdir().unwrap();
        let mut taken = capture(folder.path(), 5, 3, 100);
        taken.take("ääääää".as_bytes());
        assert_eq!(taken.captured().text(), "ää\n[4 bytes are left out here]\nä");
        let mut taken = capture(folder.path(), 2, 2, 100);
        taken.take(&[0xff; 9]);
        assert_eq!(taken.captured().text(), "\u{fffd}\u{fffd}\n[5 bytes are left out here]\n\u{fffd}\u{fffd}");
    }

    #[test]
    fn the_file_ends_at_its_limit_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut taken = capture(folder.path(), 2, 2, 6);
        (0..5).for_each(|_| taken.take(b"abcd"));
        let output = taken.captured();
        assert_eq!(std::fs::read(&output.file).unwrap(), b"abcdab");
        assert_eq!((output.total_bytes, output.file_bytes), (20, 6));
        assert!(output.text().contains("the output file ends after 6 bytes, its limit"), "{}", output.text());
    }

    #[test]
    fn the_file_is_new_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::fs::write(&target, "kept").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&target, folder.path().join("out")).unwrap();
        capture(folder.path(), 2, 2, 6).take(b"new");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
    }
}
