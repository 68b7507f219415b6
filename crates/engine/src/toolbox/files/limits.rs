//! How much a file tool does and answers at most.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLimits {
    /// Text in one answer, in bytes.
    pub answer_bytes: usize,
    /// What one call may write.
    pub write_bytes: usize,
    /// Entries in one answer of `list_files` and `glob_files`.
    pub listed: usize,
    /// Matches in one answer of `grep_files`.
    pub matches: usize,
    /// Files one search opens.
    pub scanned_files: usize,
    /// Bytes one search reads; a larger file is not read by `read_file`.
    pub scanned_bytes: u64,
    /// Entries one walk through the folders looks at.
    pub walked_entries: usize,
    /// How long one call may look around.
    pub time: Duration,
    /// Files and folders a session may have.
    pub session_entries: usize,
    /// Bytes a session's files may have together.
    pub session_bytes: u64,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            answer_bytes: 256 * 1024,
            write_bytes: 1024 * 1024,
            listed: 1_000,
            matches: 200,
            scanned_files: 10_000,
            scanned_bytes: 64 * 1024 * 1024,
            walked_entries: 100_000,
            time: Duration::from_secs(5),
            session_entries: 10_000,
            session_bytes: 256 * 1024 * 1024,
        }
    }
}
