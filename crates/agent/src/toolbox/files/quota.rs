//! The quota of a session's own folder. A project folder has none.
//!
//! It is counted at every write, because a person may add and remove files. A write that adds nothing is not counted, so
//! a full folder can always be made smaller.

use std::ops::ControlFlow;

use cap_std::fs::Dir;
use planwright_core::refusal::Refusal;

use super::io_error;
use super::open::Kind;
use super::path::FilePath;
use super::tool::FileCallContext;
use super::walk::Walk;

/// What a write adds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    pub(super) entries: usize,
    pub(super) bytes: u64,
}

impl Growth {
    /// How many folders and files on the way to a path, and at it, do not exist yet.
    pub(super) fn new_entries(files: Option<&Dir>, path: &FilePath) -> usize {
        let is_new = |path: &FilePath| files.is_none_or(|files| files.symlink_metadata(path.as_str()).is_err());
        path.ancestors_and_self().filter(is_new).count()
    }
}

/// `files` is `None` while the session has none.
pub(super) fn check_quota(files: Option<&Dir>, growth: Growth, place: &FileCallContext) -> Result<(), Refusal> {
    let limits = &place.limits;
    let (mut entries, mut bytes) = (growth.entries, growth.bytes);
    if !place.workspace.is_own() || (entries == 0 && bytes == 0) {
        return Ok(());
    }
    let mut uncounted = false;
    let fits = |entries: usize, bytes: u64| entries <= limits.session_entries && bytes <= limits.session_bytes;
    if let Some(files) = files {
        // Counting ends at one more entry than is allowed.
        let mut walk = Walk::new(&place.deadline, limits.session_entries.saturating_add(1));
        let walked = walk.through(files, &FilePath::default(), &mut |kind| {
            entries += 1;
            if let Kind::File { bytes: more } = kind {
                bytes = bytes.saturating_add(more);
            }
            if fits(entries, bytes) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        walked.map_err(|error| io_error::refusal(".", &error))?;
        if place.deadline.is_over() {
            return Err(io_error::took_too_long());
        }
        entries = entries.saturating_add(walk.skipped);
        uncounted = walk.stopped_early;
    }
    if fits(entries, bytes) && !uncounted {
        return Ok(());
    }
    Err(Refusal::limit(format!(
        "The session's folder is full: it holds at most {} files and folders and {} bytes. Nothing was stored.",
        limits.session_entries, limits.session_bytes
    )))
}
