//! How much a file tool does and answers at most.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLimits {
    /// Text in one answer, in bytes.
    pub answer_bytes: usize,
    /// What one call may write.
    pub write_bytes: usize,
    /// The largest file that `edit_file` changes, before and after.
    pub edit_bytes: u64,
    /// The largest file that `read_file` reads.
    pub read_bytes: u64,
    /// Entries in one answer of `list_files` and `glob_files`.
    pub listed: usize,
    /// Matches in one answer of `grep_files`.
    pub matches: usize,
    /// Files one search opens.
    pub scanned_files: usize,
    /// Bytes one search reads.
    pub scanned_bytes: u64,
    /// Entries one walk through the folders looks at.
    pub walked_entries: usize,
    /// How long one call may take.
    pub time: Duration,
    /// Files and folders that a session's own folder may have.
    pub session_entries: usize,
    /// Bytes that the files in a session's own folder may have together.
    pub session_bytes: u64,
    /// Bytes that a session's kept versions may have together. The oldest ones make room.
    pub kept_bytes: u64,
    /// The largest file that is kept. A larger one is not changed, because the change could not be undone.
    pub kept_file_bytes: u64,
    /// How long a version is kept.
    pub kept_time: Duration,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            answer_bytes: 256 * 1024,
            write_bytes: 1024 * 1024,
            edit_bytes: 16 * 1024 * 1024,
            read_bytes: 64 * 1024 * 1024,
            listed: 1_000,
            matches: 200,
            scanned_files: 10_000_000,
            scanned_bytes: 64 * 1024 * 1024 * 1024,
            walked_entries: 20_000_000,
            time: Duration::from_secs(30),
            session_entries: 10_000,
            session_bytes: 256 * 1024 * 1024,
            kept_bytes: 512 * 1024 * 1024,
            kept_file_bytes: 128 * 1024 * 1024,
            kept_time: Duration::from_secs(30 * 24 * 3600),
        }
    }
}
